"""Events of a locked tournament: a chain, in which each event covers the one before."""

from datetime import datetime
from typing import Any, Final

from sqlalchemy import update
from sqlmodel import col, select

from arena.exports.parts import EventKind, EventPart, make_part
from arena.models import RefereeKey, Tournament, TournamentEvent, TournamentHead
from arena.storage import Transaction, changed
from arena.webhooks.outbox import emit

TOLD: Final = {
    "finished": "tournament.finished",
    "cancelled": "tournament.cancelled",
    "refused": "tournament.failed",
}
"""Events that organisers are notified of, with their names in webhooks."""

KEY_ADDED: Final = "key_added"
"""The event of a referee whose key is not in the head."""


def note(tx: Transaction, tournament: Tournament, kind: EventKind, now: datetime, **details: object) -> None:
    """Add an event in the transaction that makes the change; do nothing before the tournament is locked.

    Events for keys of referees that are new to the tournament precede it.
    """
    if tournament.commitment is not None:
        note_keys(tx, tournament, now)
        _add(tx, tournament, kind, now, details)
        if kind in TOLD:
            emit(tx, tournament.id, TOLD[kind], now, **details)


def note_keys(tx: Transaction, tournament: Tournament, now: datetime) -> None:
    """Add an event for each key of a referee that neither the head nor an event of a tournament has.

    Lock the tournament's row until the transaction ends, so that no two events have one number.
    """
    lock_row(tx, tournament.id)
    added = select(TournamentEvent.details).where(
        TournamentEvent.tournament_id == tournament.id, TournamentEvent.kind == KEY_ADDED
    )
    locked = tx.get(TournamentHead, tournament.id)
    head: Any = locked.head if locked else {}
    noted = [*head.get("referees", ()), *tx.exec(added)]
    for referee in known_keys(tx):
        if referee["key"] not in [one["key"] for one in noted]:
            _add(tx, tournament, KEY_ADDED, now, referee)


def known_keys(tx: Transaction) -> list[dict[str, object]]:
    """Return the referees that have been started with their public keys, in the form of heads."""
    keys = tx.exec(select(RefereeKey).order_by(col(RefereeKey.referee)))
    return [{"referee": one.referee, "key": one.key} for one in keys]


def _add(
    tx: Transaction,
    tournament: Tournament,
    kind: EventKind,
    now: datetime,
    details: dict[str, object],
) -> None:
    """Add an event to a tournament whose row is locked."""
    of_it = select(TournamentEvent).where(TournamentEvent.tournament_id == tournament.id)
    last = tx.exec(of_it.order_by(col(TournamentEvent.number).desc()).limit(1)).first()
    event = TournamentEvent(
        tournament_id=tournament.id,
        number=last.number + 1 if last else 1,
        at=now,
        kind=kind,
        details=details,
        digest="",
    )
    event.digest = str(event_part(event, last.digest if last else tournament.commitment or "")["digest"])
    tx.add(event)
    tx.flush()


def latest_digest(tx: Transaction, tournament: Tournament) -> str:
    """Return the digest that the next event will cover, of a tournament whose row is locked."""
    of_it = select(TournamentEvent.digest).where(TournamentEvent.tournament_id == tournament.id)
    last = tx.exec(of_it.order_by(col(TournamentEvent.number).desc()).limit(1)).first()
    return last or tournament.commitment or ""


def lock_row(tx: Transaction, tournament_id: int) -> None:
    """Lock a tournament's row until the transaction ends.

    A transaction that also changes a match calls this first, since different orders could cause a deadlock.
    """
    mine = col(Tournament.id) == tournament_id
    changed(tx, update(Tournament).where(mine).values(commitment=Tournament.commitment))


def events_of(
    tx: Transaction, tournament: Tournament, after: int = 0, most: int | None = None
) -> list[dict[str, object]]:
    """Return the events of a tournament in order, in the form of exports.

    Only those after number ``after`` are returned, at most about ``most``.
    """
    of_it = select(TournamentEvent).where(
        TournamentEvent.tournament_id == tournament.id, col(TournamentEvent.number) >= after
    )
    parts: list[dict[str, object]] = []
    before = tournament.commitment or ""
    for event in tx.exec(of_it.order_by(col(TournamentEvent.number)).limit(most and most + 1)):
        if event.number == after:
            before = event.digest
            continue
        part = event_part(event, before)
        # The stored digest is used, so that changing a row by itself is detected.
        parts.append({**part, "digest": event.digest})
        before = event.digest
    return parts


def event_part(event: TournamentEvent, before: str) -> dict[str, object]:
    """Return an event in the form of exports; ``before`` is the digest of the previous one or of the head."""
    return make_part(
        EventPart,
        number=event.number,
        event=event.kind,
        at=event.at.isoformat(),
        details=event.details,
        previous=before,
    )
