"""What came out: standings, crosstables, leaderboards."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlmodel import col, select

from arena.errors import UnknownError
from arena.matches.duplicate import deal_scores
from arena.models import (
    BotVersion,
    Entrant,
    Match,
    MatchState,
    Rating,
    Round,
    Seat,
    Session,
    StoredRuleset,
    Tournament,
)
from arena.ratings.elo import spread, uncertainty
from arena.standings.outcomes import current_standings, list_entrants, played_deals
from arena.standings.ranking import Standing
from arena.standings.ranking import crosstable as count_deals
from arena.storage import Storage, Transaction
from arena.tournaments.lifecycle import find_tournament

CROSSED = 50
"""Lines of a crosstable, if no other number is asked for."""


@dataclass(frozen=True, slots=True)
class StandingLine:
    """A line of the standings with its name."""

    standing: Standing
    name: str
    """``owner/bot@version``."""
    raw: int
    """Points of all deals as they were scored; in a duplicate tournament other than those that count."""
    deals: int
    """Deals that the points come from."""
    plus_minus: float | None
    """Half the width of the 95 % interval around the points that count, as if the deals were drawn again;
    None for fewer than two deals."""


@dataclass(frozen=True, slots=True)
class Crosstable:
    """Who finished before whom how often, of some neighbours in the standings."""

    names: tuple[str, ...]
    """In the order of the standings."""
    before: Mapping[tuple[int, int], tuple[int, int]]
    """For two places in ``names``: deals that the first finished before the second, and that both sat in."""
    offset: int = 0
    """Lines of the standings before the first name."""
    entrants: int = 0
    """Lines of the standings in all."""


@dataclass(frozen=True, slots=True)
class LeaderboardLine:
    """A bot version's place in a pool."""

    ruleset: str
    """Name and version, as ``hong-kong@1``."""
    table_size: int
    rank: int
    """From 1; by rating, then by age."""
    name: str
    """``owner/bot@version``."""
    rating: float
    plus_minus: float
    """Half the width of the 95 % interval around the rating (``arena.ratings.elo.uncertainty``)."""
    matches: int
    deals: int


def standings(storage: Storage, name: str) -> list[StandingLine]:
    """The standings after all matches that are done, best first. UnknownError."""
    with storage.read() as tx:
        tournament = find_tournament(tx, name)
        entrants = list_entrants(tx, tournament)
        names = {entrant.number: entrant.name for entrant in entrants}
        lines = current_standings(tx, tournament, entrants)
        scored = _scored(tx, tournament)
        nothing = _Scored()
        return [
            StandingLine(line, names[line.entrant], found.raw, found.deals, found.spread())
            for line in lines
            for found in [scored.get(line.entrant, nothing)]
        ]


@dataclass(slots=True)
class _Scored:
    """What an entrant has made of its deals."""

    raw: int = 0
    deals: int = 0
    total: float = 0.0
    squares: float = 0.0

    def add(self, raw: int, score: float) -> None:
        self.raw += raw
        self.deals += 1
        self.total += score
        self.squares += score * score

    def spread(self) -> float | None:
        return spread(self.deals, self.total, self.squares)


def _scored(tx: Transaction, tournament: Tournament) -> dict[int, _Scored]:
    """By entrant what it made of each of its deals."""
    seats = (
        select(Round.number, Match.table_number, Entrant.number)
        .select_from(Seat)
        .join(Entrant, col(Entrant.id) == Seat.entrant_id)
        .join(Match, col(Match.id) == Seat.match_id)
        .join(Round, col(Round.id) == Match.round_id)
        .where(Match.tournament_id == tournament.id)
        .order_by(col(Seat.match_id), col(Seat.position))
    )
    sits: dict[tuple[int, int], list[int]] = {}
    for round, table, number in tx.exec(seats):
        sits.setdefault((round, table), []).append(number)
    found: dict[int, _Scored] = {}
    for round, tables in played_deals(tx, tournament):
        points = [{one.number: one.points for one in sessions} for sessions in tables.values()]
        compared = deal_scores(points) if tournament.duplicate else None
        for place, (table, sessions) in enumerate(tables.items()):
            sitting = sits[round, table]
            deals = [(one.seating, raw) for one in sessions for raw in one.points]
            counted = compared[place] if compared is not None else [raw for _, raw in deals]
            for (seating, raw), scores in zip(deals, counted, strict=True):
                for position, own, score in zip(seating, raw, scores, strict=True):
                    found.setdefault(sitting[position], _Scored()).add(own, score)
    return found


def crosstable(storage: Storage, name: str, limit: int = CROSSED, offset: int = 0) -> Crosstable:
    """Who finished before whom how often, in the deals of all matches that are done.

    Of the standings' lines, ``limit`` after the first ``offset``; what is held in memory grows with the
    square of ``limit`` alone. UnknownError.
    """
    with storage.read() as tx:
        tournament = find_tournament(tx, name)
        entrants = list_entrants(tx, tournament)
        names = {entrant.number: entrant.name for entrant in entrants}
        lines = current_standings(tx, tournament, entrants)
        shown = lines[offset : offset + limit]
        place = {line.entrant: at for at, line in enumerate(shown)}
        deals = _deals(tx, tournament, place)
        return Crosstable(
            tuple(names[line.entrant] for line in shown),
            count_deals(list(place.values()), deals),
            offset,
            len(lines),
        )


def _deals(tx: Transaction, tournament: Tournament, place: Mapping[int, int]) -> Iterator[dict[int, int]]:
    """For each deal the points by place, of those who have one; the records themselves are not read."""
    done = (col(Match.tournament_id) == tournament.id, col(Match.state) == MatchState.DONE)
    seats = (
        select(Seat.match_id, Seat.position, Entrant.number)
        .join(Entrant, col(Entrant.id) == Seat.entrant_id)
        .join(Match, col(Match.id) == Seat.match_id)
        .where(*done)
    )
    sits: dict[int, dict[int, int]] = {}
    for match_id, position, number in tx.exec(seats):
        if number in place:
            sits.setdefault(match_id, {})[position] = place[number]
    sessions = (
        select(Session.match_id, Session.seating, Session.deal_points)
        .join(Match, col(Match.id) == Session.match_id)
        .where(*done)
        .execution_options(yield_per=100)
    )
    for match_id, seating, deals in tx.exec(sessions):
        here = sits.get(match_id, {})
        if len(here) > 1:
            who = [(seat, here[position]) for seat, position in enumerate(seating) if position in here]
            for points in deals:
                yield {at: points[seat] for seat, at in who}


def leaderboard(storage: Storage, pool: str | None = None, limit: int = 100) -> list[LeaderboardLine]:
    """The best of a pool; ``pool`` is a ruleset's name, ``name@version`` or the beginning of its hash.

    Without ``pool``, or where several have that name, one pool after another. UnknownError if there is none.
    """
    with storage.read() as tx:
        chosen = [one for one in _pools(tx) if pool is None or _is_called(one[0], pool)]
        if pool is not None and not chosen:
            raise UnknownError(f"no ratings under {pool!r}")
        return [line for ruleset, size in chosen for line in _lines(tx, ruleset, size, limit)]


def _is_called(ruleset: StoredRuleset, name: str) -> bool:
    return name in (ruleset.label, ruleset.name) or (len(name) > 3 and ruleset.hash.startswith(name))


def _pools(tx: Transaction) -> list[tuple[StoredRuleset, int]]:
    """The rulesets and table sizes under which there are ratings."""
    rated = select(Rating.ruleset_id, Rating.table_size).where(Rating.matches > 0).distinct()
    found = [(tx.get_one(StoredRuleset, ruleset_id), size) for ruleset_id, size in tx.exec(rated).all()]
    return sorted(found, key=lambda one: (one[0].label, one[1], one[0].id))


def _lines(tx: Transaction, ruleset: StoredRuleset, size: int, limit: int) -> Iterator[LeaderboardLine]:
    best = (
        select(Rating, BotVersion.name)
        .join(BotVersion, col(BotVersion.id) == Rating.version_id)
        .where(Rating.ruleset_id == ruleset.id, Rating.table_size == size, Rating.matches > 0)
        .order_by(col(Rating.value).desc(), col(Rating.version_id))
        .limit(limit)
    )
    for rank, (rating, name) in enumerate(tx.exec(best), start=1):
        yield LeaderboardLine(
            ruleset=ruleset.label,
            table_size=size,
            rank=rank,
            name=name,
            rating=rating.value,
            plus_minus=uncertainty(rating.matches, size),
            matches=rating.matches,
            deals=rating.deals,
        )
