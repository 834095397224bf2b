"""Keeping the sums for a pool's strengths up to date as rounds close."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from sqlmodel import select

from arena.core.duplicate import Deals, PlayedSession, deal_scores
from arena.results.strength.sums import Scored, Sums, scored
from arena.results.tables import Table
from arena.results.tallies.rounds import Met, Sat, Tallies
from arena.store.models import Meeting, SeatTally, StrengthScore, StrengthSums, Tournament
from arena.store.storage import Transaction, add_to_rows

Played: TypeAlias = Mapping[int, Sequence[PlayedSession]]
"""The sessions of a round's finished matches, by table."""


def add_round(tx: Transaction, tournament: Tournament, tables: Sequence[Table], played: Played) -> None:
    """Add a round's deals to the sums of its pool, which ``ratings.apply.lock_pools`` has locked."""
    found, tallies = Sums(tournament.table_size), Tallies()
    for match in scored_tables(tournament, tables, played, tallies):
        found.add(match)
    if found.matches:
        add_sums(tx, tournament.ruleset_id, found, tallies.met, duplicate=tournament.duplicate)
    add_seats(tx, tournament, tallies.sat)


def add_seats(tx: Transaction, tournament: Tournament, sat: Mapping[tuple[int, int], Sat]) -> None:
    """Add the results of bots by seat to those stored for the pool."""
    pool = {"ruleset_id": tournament.ruleset_id, "table_size": tournament.table_size}
    rows = [
        pool | {"version_id": version_id, "seat": seat} | found.values()
        for (version_id, seat), found in sat.items()
    ]
    if rows:
        add_to_rows(tx, SeatTally, rows)


class Counted(NamedTuple):
    """The deals of a session that count: all bots played them to the end, and they are not fouled."""

    session: PlayedSession
    """The session with only these deals."""
    scores: Sequence[Sequence[float]]
    """Their scores by seat: the points, or those of duplicate deals."""


def scored_tables(
    tournament: Tournament, tables: Sequence[Table], played: Played, tallies: Tallies
) -> Iterator[Scored]:
    """Yield the scores of each table of a round, and add its results by pair of bots and by seat to tallies.

    Only deals that count are in either.
    """
    counted = counted_deals(played, duplicate=tournament.duplicate)
    for table in tables:
        sessions = counted.get(table.match.table_number, ())
        tallies.add(table.match.id, table.version_ids, [one.session for one in sessions])
        match = scored(table.version_ids, [deal for one in sessions for deal in _by_position(one)])
        if match is not None:
            yield match


def counted_deals(played: Played, *, duplicate: bool) -> dict[int, list[Counted]]:
    """Return the deals of a round's finished matches that count, by table and session."""
    if not duplicate:
        return {
            table: [_counted(one, one.points[: one.clean], one.points[: one.clean]) for one in sessions]
            for table, sessions in played.items()
        }
    found: dict[int, list[Counted]] = {}
    for (table, sessions), compared in zip(played.items(), deal_scores(list(played.values())), strict=True):
        for session, scores in zip(sessions, compared, strict=True):
            right = [at for at, one in enumerate(scores[: session.clean]) if not one.fouled]
            points = [session.points[at] for at in right]
            counted = _counted(session, points, [scores[at].by_seat for at in right])
            found.setdefault(table, []).append(counted)
    return found


def _counted(session: PlayedSession, points: Deals, scores: Sequence[Sequence[float]]) -> Counted:
    return Counted(session._replace(points=points, forfeited_from=()), scores)


def _by_position(counted: Counted) -> Iterator[list[float]]:
    """Yield the scores of each deal by position at the table."""
    for scores in counted.scores:
        by_position = [0.0] * len(scores)
        for position, score in zip(counted.session.seating, scores, strict=True):
            by_position[position] = float(score)
        yield by_position


def add_sums(
    tx: Transaction, ruleset_id: int, found: Sums, met: Mapping[tuple[int, int], Met], *, duplicate: bool
) -> None:
    """Add sums, and the results of the meetings in them, to those stored for a pool."""
    pool = (
        StrengthSums.ruleset_id == ruleset_id,
        StrengthSums.table_size == found.size,
        StrengthSums.duplicate == duplicate,
    )
    kept = tx.exec(select(StrengthSums).where(*pool)).first()
    if kept is None:
        kept = StrengthSums(ruleset_id=ruleset_id, table_size=found.size, duplicate=duplicate)
        tx.add(kept)
        tx.flush()
    kept.matches += found.matches
    kept.deals += found.deals
    kept.within += found.within
    kept.between += found.between
    scores = [
        {"sums_id": kept.id, "version_id": bot, "deals": found.bot_deals[bot], "score": score}
        for bot, score in found.scores.items()
    ]
    meetings = [
        {"sums_id": kept.id, "version_id": one, "other_id": other, "deals": deals} | met[one, other].values()
        for (one, other), deals in found.meetings.items()
    ]
    add_to_rows(tx, StrengthScore, scores)
    add_to_rows(tx, Meeting, meetings, greatest=("last_match_id",))
