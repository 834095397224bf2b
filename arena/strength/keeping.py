"""Keeping the sums for a pool's strengths up to date as rounds close."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from sqlmodel import select

from arena.matches.duplicate import PlayedSession, deal_scores
from arena.matches.tables import Table
from arena.models import Meeting, SeatTally, StrengthScore, StrengthSums, Tournament
from arena.storage import Transaction, add_to_rows
from arena.strength.sums import Scored, Sums, scored
from arena.tallies.rounds import Met, Sat, Tallies

Played: TypeAlias = Mapping[int, Sequence[PlayedSession]]
"""The sessions of a round's finished matches, by table."""


def add_round(tx: Transaction, tournament: Tournament, tables: Sequence[Table], played: Played) -> None:
    """Add a round's deals to the sums of its pool, which ``arena.ratings.apply.lock_pools`` has locked."""
    found = Sums(tournament.table_size)
    for match in scored_tables(tournament, tables, played):
        found.add(match)
    tallies = Tallies()
    add_tallies(tallies, tables, played)
    if found.matches:
        add_sums(tx, tournament.ruleset_id, found, tallies.met, duplicate=tournament.duplicate)
    add_seats(tx, tournament, tallies.sat)


def add_tallies(tallies: Tallies, tables: Sequence[Table], played: Played) -> None:
    """Add the results of a round's tables by pair of bots and by seat."""
    for table in tables:
        tallies.add(table.match.id, table.version_ids, played.get(table.match.table_number, ()))


def add_seats(tx: Transaction, tournament: Tournament, sat: Mapping[tuple[int, int], Sat]) -> None:
    """Add the results of bots by seat to those stored for the pool."""
    pool = {"ruleset_id": tournament.ruleset_id, "table_size": tournament.table_size}
    rows = [
        pool | {"version_id": version_id, "seat": seat} | found.values()
        for (version_id, seat), found in sat.items()
    ]
    if rows:
        add_to_rows(tx, SeatTally, rows)


def scored_tables(tournament: Tournament, tables: Sequence[Table], played: Played) -> Iterator[Scored]:
    """Yield the scores of each table of a round; deals that somebody forfeited do not count."""
    bots = {table.match.table_number: table.version_ids for table in tables}
    compared: Sequence[Sequence[Sequence[float]]] | None = None
    if tournament.duplicate:
        points = [{one.number: one.points for one in sessions} for sessions in played.values()]
        attempts = [{one.number: one.attempts for one in sessions} for sessions in played.values()]
        compared = deal_scores(points, attempts)
    for place, (number, sessions) in enumerate(played.items()):
        deals = _by_position(sessions, compared[place] if compared is not None else None)
        match = scored(bots[number], deals)
        if match is not None:
            yield match


def _by_position(
    sessions: Sequence[PlayedSession], compared: Sequence[Sequence[float]] | None
) -> list[list[float]]:
    """Return the points that count of each deal that was played out, by position at the table."""
    deals: list[list[float]] = []
    at = 0
    for session in sessions:
        counted = session.points if compared is None else compared[at : at + len(session.points)]
        at += len(session.points)
        for scores in counted[: session.forfeited_from]:
            by_position = [0.0] * len(scores)
            for position, score in zip(session.seating, scores, strict=True):
                by_position[position] = float(score)
            deals.append(by_position)
    return deals


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
