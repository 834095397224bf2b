"""Standings and crosstables as they are shown."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlmodel import col, select

from arena.matches.duplicate import deal_scores
from arena.models import Entrant, Match, MatchState, Round, Seat, Session, Tournament
from arena.ratings.elo import spread
from arena.standings.outcomes import current_standings, played_deals
from arena.standings.ranking import Standing
from arena.standings.ranking import crosstable as count_deals
from arena.storage import Storage, Transaction
from arena.tournaments.entrants import list_entrants
from arena.tournaments.overview import find_tournament

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


def standings(storage: Storage, name: str) -> list[StandingLine]:
    """Return the standings after all finished matches, best first; raise UnknownError."""
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
    """Return by entrant what it made of each of its deals."""
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
        attempts = [{one.number: one.attempts for one in sessions} for sessions in tables.values()]
        compared = deal_scores(points, attempts) if tournament.duplicate else None
        for place, (table, sessions) in enumerate(tables.items()):
            sitting = sits[round, table]
            deals = [(one.seating, raw) for one in sessions for raw in one.points]
            counted = compared[place] if compared is not None else [raw for _, raw in deals]
            for (seating, raw), scores in zip(deals, counted, strict=True):
                for position, own, score in zip(seating, raw, scores, strict=True):
                    found.setdefault(sitting[position], _Scored()).add(own, score)
    return found


def crosstable(storage: Storage, name: str, limit: int = CROSSED, offset: int = 0) -> Crosstable:
    """Return how often each bot finished before each other one, in the deals of all finished matches.

    Covers ``limit`` lines of the standings after the first ``offset``; memory use grows with the square of
    ``limit`` alone. Raise UnknownError if there is no such tournament.
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
    """Yield for each deal the points by place, of those who have one; the records themselves are not read."""
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
