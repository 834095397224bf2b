"""The tallies of sessions, counted again from the deal records."""

import json
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import delete, insert
from sqlalchemy import select as select_columns
from sqlmodel import col, select

from arena.results.tallies.sessions import Pool, SessionTallies, highlight_rows, tallies_of
from arena.store.models import (
    BotVersion,
    FaultTally,
    Highlight,
    Match,
    Round,
    Seat,
    Session,
    SessionRecords,
    StoredRuleset,
    Tournament,
)
from arena.store.storage import Transaction, add_to_rows, changed

AT_ONCE = 200
"""Sessions that are read at a time."""

FaultKey = tuple[int, int, int, str]
"""Bot version, ruleset, table size and kind."""


class Recounted(NamedTuple):
    """A session, counted again."""

    session_id: int
    name: str
    """``tournament/round/table/session``."""
    tallies: SessionTallies
    highlights_are_right: bool


def recounted(tx: Transaction) -> Iterator[list[Recounted]]:
    """Yield all sessions in order of their ids, in batches."""
    contents = {row.id: row.content for row in tx.exec(select(StoredRuleset))}
    last = 0
    while sessions := _sessions(tx, last):
        ids = [session.id for session in sessions]
        kept = _kept_highlights(tx, ids)
        bots = _bots(tx, {session.match_id for session in sessions})
        yield [_recount(session, contents, bots[session.match_id], kept) for session in sessions]
        last = ids[-1]


def _sessions(tx: Transaction, after: int) -> Sequence[Any]:
    """Return the next sessions after an id, with their records."""
    rows: Any = (
        select_columns(
            col(Session.id),
            col(Session.match_id),
            col(Session.seating),
            col(Session.number),
            col(Match.table_number),
            col(Round.number).label("round"),
            col(Tournament.name),
            col(Tournament.ruleset_id),
            col(Tournament.table_size),
            col(SessionRecords.records),
        )
        .join(SessionRecords, col(SessionRecords.session_id) == Session.id)
        .join(Match, col(Match.id) == Session.match_id)
        .join(Round, col(Round.id) == Match.round_id)
        .join(Tournament, col(Tournament.id) == Match.tournament_id)
    )
    return tx.execute(rows.where(col(Session.id) > after).order_by(col(Session.id)).limit(AT_ONCE)).all()


def _bots(tx: Transaction, match_ids: set[int]) -> dict[int, list[int]]:
    """Return the bot versions of matches by position."""
    seats = select(Seat.match_id, Seat.version_id).where(col(Seat.match_id).in_(match_ids))
    found: dict[int, list[int]] = {}
    for match_id, version_id in tx.exec(seats.order_by(col(Seat.match_id), col(Seat.position))):
        found.setdefault(match_id, []).append(version_id)
    return found


def _kept_highlights(tx: Transaction, session_ids: Sequence[int]) -> dict[int, list[dict[str, Any]]]:
    """Return the stored highlights of sessions."""
    found: dict[int, list[dict[str, Any]]] = {}
    for row in tx.exec(select(Highlight).where(col(Highlight.session_id).in_(session_ids))):
        found.setdefault(row.session_id, []).append(row.model_dump())
    tx.expunge_all()
    return found


def _recount(
    session: Any,
    contents: Mapping[int, Mapping[str, object]],
    bots: Sequence[int],
    kept: Mapping[int, list[dict[str, Any]]],
) -> Recounted:
    deals = [json.loads(line) for line in zlib.decompress(session.records).splitlines()]
    pool = Pool(session.ruleset_id, session.table_size)
    seats = [bots[position] for position in session.seating]
    tallies = tallies_of(pool, contents[session.ruleset_id], deals, seats)
    name = f"{session.name}/{session.round}/{session.table_number}/{session.number}"
    right = sorted(highlight_rows(session.id, tallies), key=_kind)
    return Recounted(session.id, name, tallies, sorted(kept.get(session.id, []), key=_kind) == right)


def _kind(row: Mapping[str, Any]) -> str:
    return str(row["kind"])


def correct_highlights(tx: Transaction, sessions: Sequence[Recounted]) -> None:
    """Replace the stored highlights of sessions."""
    ids = [session.session_id for session in sessions]
    changed(tx, delete(Highlight).where(col(Highlight.session_id).in_(ids)))
    rows = [row for session in sessions for row in highlight_rows(session.session_id, session.tallies)]
    if rows:
        tx.connection().execute(insert(Highlight), rows)


def count_faults(counted: Counter[FaultKey], sessions: Sequence[Recounted]) -> None:
    """Add the faults of sessions to those that were counted before."""
    for session in sessions:
        for (version_id, kind), count in session.tallies.faults.items():
            counted[version_id, *session.tallies.pool, kind] += count


def missing_faults(tx: Transaction, counted: Mapping[FaultKey, int]) -> dict[FaultKey, int]:
    """Return how many faults the stored tallies lack; negative if they have too many.

    ``counted`` covers all sessions that this transaction sees.
    """
    kept = {
        (row.version_id, row.ruleset_id, row.table_size, row.kind.value): row.count
        for row in tx.exec(select(FaultTally))
    }
    differences = {key: counted.get(key, 0) - kept.get(key, 0) for key in {**kept, **counted}}
    return {key: more for key, more in sorted(differences.items()) if more}


def add_faults(tx: Transaction, missing: Mapping[FaultKey, int]) -> None:
    """Add the missing faults; others may add theirs in the meantime."""
    rows = [
        {"version_id": version_id, "ruleset_id": ruleset_id, "table_size": size, "kind": kind, "count": more}
        for (version_id, ruleset_id, size, kind), more in missing.items()
    ]
    if rows:
        add_to_rows(tx, FaultTally, rows)
        changed(tx, delete(FaultTally).where(col(FaultTally.count) == 0))


def told_faults(tx: Transaction, key: FaultKey, more: int) -> str:
    """Return in words what is wrong with the stored faults."""
    name = tx.get_one(BotVersion, key[0]).name
    return (
        f"{name}: counts {abs(more)} {'fewer' if more > 0 else 'more'} {key[3]} faults than its records have"
    )
