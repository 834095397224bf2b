"""The rated rounds of a ruleset, rated again from the points of their deals."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlmodel import col, func, select

from arena.core.duplicate import PlayedSession
from arena.core.ranking import ScoreKind
from arena.results.ledgers import (
    CLOSE,
    LEFT,
    MEETINGS,
    RATINGS,
    SCORES,
    SEATS,
    TOTALS,
    Part,
    WrongRow,
)
from arena.results.luck.taking import adjusted_sums, weighed_sessions
from arena.results.ratings.apply import add_tables, kind_of, new_rating, rate_tables
from arena.results.standings.outcomes import played_in, tables_of
from arena.results.strength.sums import SeatSum, Sums
from arena.store.models import (
    BotVersion,
    Match,
    MatchState,
    Rating,
    RatingChange,
    Round,
    StoredRuleset,
    StrengthSums,
    Tournament,
)
from arena.store.storage import Transaction


@dataclass(slots=True)
class Replay:
    """The pools of one ruleset, built again as far as rounds have been replayed."""

    ruleset_id: int
    ratings: dict[tuple[int, int], Rating] = field(default_factory=dict)
    """By table size and bot version; none of them is stored."""
    sums: dict[tuple[int, ScoreKind], Sums] = field(default_factory=dict)
    """The sums from which strengths follow, by table size and kind of score; maybe empty."""
    seats: dict[int, dict[tuple[int, int], SeatSum]] = field(default_factory=dict)
    """By table size, the results by bot version and seat, of plain and duplicate deals together."""
    matches: int = 0
    adjusted: set[int] = field(default_factory=set)
    """The rounds of which it counts what was made of the cards."""
    last: int = 0
    """The highest id of the rating changes that were replayed: rounds under one ruleset are rated one at a
    time, so whatever is rated later has higher ones."""

    @property
    def pools(self) -> int:
        """The number of its pools."""
        return len({size for size, _ in self.ratings})

    def sums_of(self, size: int, kind: ScoreKind) -> Sums:
        """Return the sums of deals at tables of this size."""
        seats = self.seats.setdefault(size, {})
        return self.sums.setdefault((size, kind), Sums(size, seats=seats))


class Wrong(Exception):
    """The first difference, in words."""


def catch_up(tx: Transaction, replay: Replay, tell: Callable[[int], None] = lambda _: None) -> None:
    """Replay the rounds that were rated after those already replayed. Raise Wrong.

    ``tell`` is told how many matches have been replayed in all.
    """
    for round_id, last in _rated_rounds(tx, replay):
        round = tx.get_one(Round, round_id)
        tournament = tx.get_one(Tournament, round.tournament_id)
        try:
            _replay_round(tx, tournament, round, replay)
        except Wrong as wrong:
            raise Wrong(f"{tournament.name}, round {round.number}, {wrong}") from None
        replay.last = last
        tx.expunge_all()
        tell(replay.matches)
    _adjust(tx, replay)


def _adjust(tx: Transaction, replay: Replay) -> None:
    """Count what was made of the cards in the rounds that were taken in since."""
    taken_in = (
        select(Round, Tournament)
        .join(Tournament, col(Tournament.id) == Round.tournament_id)
        .where(Tournament.ruleset_id == replay.ruleset_id, col(Tournament.rated))
        .where(col(Tournament.duplicate).is_(False), col(Round.beta).is_not(None))
        .order_by(col(Round.id))
    )
    for round, tournament in tx.exec(taken_in).all():
        if round.id not in replay.adjusted:
            weighed = [*weighed_sessions(tx, tournament, round)]
            plain, made = adjusted_sums(tournament, weighed, round.beta or 0)
            replay.sums_of(tournament.table_size, ScoreKind.PLAIN).merge(plain)
            replay.sums_of(tournament.table_size, ScoreKind.MADE).merge(made)
            replay.adjusted.add(round.id)
            tx.expunge_all()


def _rated_rounds(tx: Transaction, replay: Replay) -> Sequence[tuple[int, int]]:
    """Return the rounds in the order in which they were rated, each with the id of its last change."""
    first, last = func.min(RatingChange.id), func.max(RatingChange.id)
    rounds = (
        select(Match.round_id, last)
        .join(RatingChange, col(RatingChange.match_id) == Match.id)
        .join(Tournament, col(Tournament.id) == Match.tournament_id)
        .where(Tournament.ruleset_id == replay.ruleset_id, col(RatingChange.id) > replay.last)
    )
    return tx.exec(rounds.group_by(col(Match.round_id)).order_by(first)).all()


def _replay_round(tx: Transaction, tournament: Tournament, round: Round, replay: Replay) -> None:
    """Rate a round again. Raise Wrong for the first change of a rating that is not as stored."""
    changes = select(RatingChange).join(Match, col(Match.id) == RatingChange.match_id)
    stored = {change.seat_id: change for change in tx.exec(changes.where(Match.round_id == round.id))}
    tables = [table for table in tables_of(tx, round) if table.match.state == MatchState.DONE]
    played = played_in(tx, tournament, round)
    size = tournament.table_size
    add_tables(replay.sums_of(size, kind_of(tournament)), tournament, tables, played)
    ratings = {
        version_id: replay.ratings.setdefault((size, version_id), new_rating(tournament, version_id))
        for table in tables
        for version_id in table.version_ids
    }
    for change in rate_tables(tx, tournament, tables, played, ratings):
        number, seat = change.table.match.table_number, change.seat
        where = f"table {number}, seat {seat.position}"
        rated = stored.pop(seat.id, None)
        if rated is None:
            raise Wrong(f"{where}: the change of its rating is missing")
        for name, value, expected in (
            ("points", seat.points, _points_at(played.get(number, ()), seat.position)),
            ("rating before", rated.before, change.before),
            ("rating after", rated.after, change.after),
        ):
            if abs(value - expected) > CLOSE:
                raise Wrong(f"{where}: {name}: is {value:g}, should be {expected:g}")
        change.rating.value = rated.after
    if stored:
        raise Wrong("a rating was changed for nobody at its tables")
    replay.matches += len(tables)


def _points_at(sessions: Sequence[PlayedSession], position: int) -> int:
    """Return the sum of the points of all deals at a position of a table."""
    seats = ((session, session.seating.index(position)) for session in sessions)
    return sum(points[seat] for session, seat in seats for points in session.points)


def parts_of(tx: Transaction, replay: Replay) -> list[Part[Any]]:
    """Return what is stored of a ruleset's pools, beside what it should be.

    The first part is that of the totals, to which others refer. Of the others, what should be follows the
    replay when it catches up.
    """
    common = {"ruleset_id": replay.ruleset_id}
    where = f"{tx.get_one(StoredRuleset, replay.ruleset_id).label}, tables of"
    totals = {
        which: sums for which, sums in replay.sums.items() if sums.scores or sums.left
    }  # maybe none any more
    parts: list[Part[Any]] = [
        Part(TOTALS, totals, lambda _, row: _about_sums(where, *row.key), common),
        Part(RATINGS, replay.ratings, _about_rating, common),
    ]
    of_it = select(StrengthSums.table_size, StrengthSums.kind, StrengthSums.id)
    for size, name, sums_id in tx.exec(of_it.where(StrengthSums.ruleset_id == replay.ruleset_id)).all():
        kind, of_sums = ScoreKind(name), {"sums_id": sums_id}
        sums = replay.sums_of(size, kind)
        parts += [
            Part(SCORES, sums.scores, _about_sums(where, size, kind), of_sums),
            Part(MEETINGS, sums.meetings, f"{where} {size}: the results of meetings are wrong", of_sums),
            Part(LEFT, sums.left, f"{where} {size}: the results of forfeited deals are wrong", of_sums),
        ]
    for size, seats in sorted(replay.seats.items()):
        problem = f"{where} {size}: the results of bots by seat are wrong"
        parts.append(Part(SEATS, seats, problem, common | {"table_size": size}))
    return parts


DEALS = {
    ScoreKind.PLAIN: "deals",
    ScoreKind.MADE: "what was made of cards",
    ScoreKind.DUPLICATE: "duplicate deals",
}


def _about_sums(where: str, size: int, kind: ScoreKind) -> str:
    return f"{where} {size}: the sums of {DEALS[kind]}, from which strengths follow, are wrong"


def _about_rating(tx: Transaction, row: WrongRow) -> str:
    """Return what is wrong with a rating: the first value that is."""
    bot, name = tx.get_one(BotVersion, row.key[1]).name, row.different[0]
    if row.stored is None or row.right is None:
        return f"{bot}: its rating is {'missing' if row.stored is None else 'from no match'}"
    at = RATINGS.columns.index(name)
    is_, should_be = row.stored[at], row.right[at]
    if name == "last_played":
        return f"{bot}: last match: is {is_}, should be {should_be}"
    return f"{bot}: {'rating' if name == 'value' else name}: is {is_:g}, should be {should_be:g}"
