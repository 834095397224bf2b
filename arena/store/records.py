"""The deal records of a match, read from its sessions."""

import json
import zlib
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from sqlalchemy import ColumnElement, or_
from sqlmodel import col, select

from arena.store.models import (
    BotVersion,
    Match,
    Round,
    RoundState,
    Seat,
    Session,
    SessionRecords,
    StoredRuleset,
    Tournament,
)
from arena.store.storage import Transaction, among
from referee.records.record import full_record


def names_and_points(tx: Transaction, match: Match) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return names and points by position at the table."""
    rows = tx.exec(
        select(BotVersion.name, Seat.points)
        .join(Seat, col(Seat.version_id) == BotVersion.id)
        .where(Seat.match_id == match.id)
        .order_by(col(Seat.position))
    ).all()
    return tuple(name for name, _ in rows), tuple(points for _, points in rows)


def sessions_of(tx: Transaction, match: Match) -> list[Session]:
    """Return the finished sessions of a match, by number."""
    return list(tx.exec(select(Session).where(Session.match_id == match.id).order_by(col(Session.number))))


def may_be_shown() -> ColumnElement[bool]:
    """Return the condition on Round and Tournament under which deals may be shown.

    In a duplicate tournament the deals of an open round are still to be played at other tables.
    """
    over = or_(col(Tournament.finished_at).is_not(None), col(Round.state) == RoundState.CLOSED)
    return or_(col(Tournament.duplicate).is_(False), over)


def pack_records(records: Sequence[str]) -> bytes:
    """Return lean records as they are stored: one line of JSON per deal, compressed with zlib."""
    return zlib.compress("\n".join(records).encode())


def unpack_records(packed: bytes) -> list[dict[str, Any]]:
    """Return the lean records that ``pack_records`` packed."""
    return [json.loads(line) for line in zlib.decompress(packed).splitlines()]


def lean_records(tx: Transaction, session: Session) -> list[dict[str, Any]]:
    """Return the deal records of a session without what all its deals share."""
    packed = tx.exec(select(SessionRecords.records).where(SessionRecords.session_id == session.id)).one()
    return unpack_records(packed)


def names_of(tx: Transaction, match_ids: Collection[int]) -> dict[int, list[str]]:
    """Return by match the names by position at the table."""
    rows = (
        select(Seat.match_id, BotVersion.name)
        .join(BotVersion, col(BotVersion.id) == Seat.version_id)
        .where(among(Seat.match_id, match_ids))
        .order_by(col(Seat.match_id), col(Seat.position))
    )
    names: dict[int, list[str]] = {}
    for match_id, name in tx.exec(rows):
        names.setdefault(match_id, []).append(name)
    return names


def full_records(
    tx: Transaction,
    tournament: Tournament,
    round: int,
    match: Match,
    session: Session,
    names: tuple[str, ...],
) -> Iterator[dict[str, object]]:
    """Yield the deal records of a session; ``names`` are the bots by position at the table."""
    ruleset = tx.get_one(StoredRuleset, tournament.ruleset_id)
    for record in lean_records(tx, session):
        yield full_record(
            record,
            ruleset=ruleset.content,
            tournament=tournament.name,
            round=round,
            table=match.table_number,
            session=session.number,
            seats=[names[position] for position in session.seating],
        )
