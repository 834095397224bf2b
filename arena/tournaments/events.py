"""A tournament's head, to which its digest commits, and the chain of events after it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import update
from sqlmodel import col, func, select

from arena.core.formats import PAIRING_VERSION
from arena.core.pairing import owner_of
from arena.core.parts import EventKind, EventPart, HeadPart, make_part
from arena.core.specs import Entry, Plan
from arena.store.models import (
    ArenaKey,
    Entrant,
    RefereeKey,
    StoredRuleset,
    Tournament,
    TournamentEvent,
    TournamentHead,
)
from arena.store.storage import Storage, Transaction, changed
from arena.tournaments.overview import TournamentStatus, find_tournament, statuses_of
from arena.tournaments.roster import list_entrants
from arena.webhooks.hooks import emit

NOTIFIED: Final = {
    "finished": "tournament.finished",
    "cancelled": "tournament.cancelled",
    "refused": "tournament.failed",
}
"""Events that organisers are notified of, with their names in webhooks."""

DECISIONS: Final = ("corrected", "confirmed")
"""Events after the end, which the arena signs."""

MOST_EVENTS = 500
"""How many events followers are sent at once."""

KEY_ADDED: Final = "key_added"
"""The event of a referee whose key is not in the head."""


def note(tx: Transaction, tournament: Tournament, kind: EventKind, now: datetime, **details: object) -> None:
    """Add an event in the transaction that makes the change; do nothing before the tournament is locked.

    Events for keys of referees that are new to the tournament precede it, unless it has ended.
    """
    if tournament.commitment is not None:
        if kind in DECISIONS:
            lock_row(tx, tournament.id)
        else:
            note_keys(tx, tournament, now)
        _add(tx, tournament, kind, now, details)
        if kind in NOTIFIED:
            emit(tx, tournament.id, NOTIFIED[kind], now, **details)


def note_keys(tx: Transaction, tournament: Tournament, now: datetime) -> None:
    """Add an event for each key of a referee that neither the head nor an event of a tournament has.

    Lock the tournament's row until the transaction ends, so that no two events have one number.
    """
    lock_row(tx, tournament.id)
    its = col(TournamentHead.tournament_id) == tournament.id
    noted = tx.exec(select(TournamentHead.keys).where(its)).one()
    added = [referee for referee in known_keys(tx) if referee["key"] not in noted]
    for referee in added:
        _add(tx, tournament, KEY_ADDED, now, referee)
    if added:
        keys = [*noted, *(referee["key"] for referee in added)]
        changed(tx, update(TournamentHead).where(its).values(keys=keys))


def known_keys(tx: Transaction) -> list[dict[str, str]]:
    """Return the referees that have been started with their public keys, in the form of heads."""
    keys = tx.exec(select(RefereeKey).order_by(col(RefereeKey.referee)))
    return [{"referee": key.referee, "key": key.key} for key in keys]


def decision_key(tx: Transaction) -> str | None:
    """Return the arena's public key for decisions; None if none was registered."""
    key = tx.get(ArenaKey, ArenaKey.DECISIONS)
    return None if key is None else key.key


def _add(
    tx: Transaction,
    tournament: Tournament,
    kind: EventKind,
    now: datetime,
    details: Mapping[str, object],
) -> None:
    """Add an event to a tournament whose row is locked."""
    number, previous, at = next_event(tx, tournament, now)
    event = TournamentEvent(
        tournament_id=tournament.id, number=number, at=at, kind=kind, details=dict(details), digest=""
    )
    event.digest = str(event_part(event, previous)["digest"])
    tx.add(event)
    tx.flush()


class Next(NamedTuple):
    """Where the next event of a tournament stands."""

    number: int
    previous: str
    """The digest that it covers."""
    at: datetime
    """Its time: now, or that of the event before, or of the lock, if the clock was set back since."""


def next_event(tx: Transaction, tournament: Tournament, now: datetime) -> Next:
    """Return where the next event stands of a locked tournament, whose row is locked, too."""
    of_it = select(TournamentEvent).where(TournamentEvent.tournament_id == tournament.id)
    last = tx.exec(of_it.order_by(col(TournamentEvent.number).desc()).limit(1)).first()
    if last is not None:
        return Next(last.number + 1, last.digest, max(now, last.at))
    locked_at = str(tx.get_one(TournamentHead, tournament.id).head["locked_at"])
    return Next(1, tournament.commitment or "", max(now, datetime.fromisoformat(locked_at)))


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


@dataclass(frozen=True, slots=True)
class TournamentUpdate:
    """A tournament at one moment."""

    status: TournamentStatus
    last: int
    """Number of its latest event; 0 if there is none."""
    events: Sequence[Mapping[str, Any]]
    """The events after the one that was known; only the first of them if there are many."""


@dataclass(frozen=True, slots=True)
class HeadShown:
    """What a tournament was committed to, and what has happened to it since."""

    tournament: str
    commitment: str | None
    """Digest of the head; None if it is not locked yet."""
    head: dict[str, Any] | None
    """All that was settled before the first round; None if it is not locked yet."""
    events: list[dict[str, Any]]
    """The chain of events in order; the first covers the commitment, and each other one its predecessor."""


def show_head(storage: Storage, name: str) -> HeadShown:
    """Return the head of a tournament, and its events. Raise UnknownError."""
    with storage.read() as tx:
        tournament = find_tournament(tx, name)
        events = events_of(tx, tournament)
        locked = tx.get(TournamentHead, tournament.id)
        return HeadShown(tournament.name, tournament.commitment, locked.head if locked else None, events)


def updates(storage: Storage, last_events: Mapping[str, int | None]) -> list[TournamentUpdate]:
    """Return how tournaments stand, and their events after the numbers in ``last_events``, or none for None.

    Raise UnknownError for a single name that no tournament has.
    """
    with storage.read() as tx:
        if len(last_events) == 1:
            tournaments: Sequence[Tournament] = [find_tournament(tx, next(iter(last_events)))]
        else:
            tournaments = tx.exec(select(Tournament).where(col(Tournament.name).in_(last_events))).all()
        of_them = col(TournamentEvent.tournament_id).in_([tournament.id for tournament in tournaments])
        number = func.max(TournamentEvent.number)
        lasts = dict(
            tx.exec(
                select(TournamentEvent.tournament_id, number)
                .where(of_them)
                .group_by(col(TournamentEvent.tournament_id))
            ).all()
        )
        changes = []
        for tournament, status in zip(tournaments, statuses_of(tx, tournaments), strict=True):
            after, last = last_events[tournament.name], lasts.get(tournament.id, 0)
            new = () if after is None or last <= after else events_of(tx, tournament, after, MOST_EVENTS)
            changes.append(TournamentUpdate(status, last, new))
        return changes


def list_events(storage: Storage, name: str, after: int) -> list[dict[str, Any]]:
    """Return the events of a tournament after a number; only the first of them if there are many."""
    with storage.read() as tx:
        return events_of(tx, find_tournament(tx, name), after, MOST_EVENTS)


def lock_head(tx: Transaction, tournament: Tournament, now: datetime) -> None:
    """Settle the head of a tournament that has none yet; its digest is the commitment from now on.

    If the database went back to a state before that, the first event says so: it may have been locked before.
    """
    if tournament.commitment is not None:
        return
    head: dict[str, Any] = head_of(tx, tournament, max(now, tournament.created_at))
    keys = [referee["key"] for referee in head["referees"]]
    tx.add(TournamentHead(tournament_id=tournament.id, head=head, keys=keys))
    tournament.commitment = str(head["digest"])
    tx.flush()
    if tournament.attempts_above:
        note(tx, tournament, "restored", now, attempts_above=tournament.attempts_above)


def head_of(tx: Transaction, tournament: Tournament, now: datetime | None) -> dict[str, object]:
    """Return the head as it was locked, or as it would be if locked ``now``; None gives it no time."""
    locked = tx.get(TournamentHead, tournament.id)
    if locked is not None:
        return locked.head
    ruleset = tx.get_one(StoredRuleset, tournament.ruleset_id)
    gone = select(Entrant.number).where(
        Entrant.tournament_id == tournament.id, col(Entrant.withdrawn_after).is_not(None)
    )
    withdrawn = set(tx.exec(gone))
    return make_part(
        HeadPart,
        tournament=tournament.name,
        ruleset=ruleset.content,
        ruleset_hash=ruleset.hash,
        pairing=tournament.format,
        pairing_version=PAIRING_VERSION,
        table_size=tournament.table_size,
        **{name: getattr(tournament, name) for name in (*Plan.model_fields, *Entry.model_fields)},
        limits=tournament.limits.model_dump(),
        entrants=[
            {
                "number": entrant.number,
                "bot": entrant.name,
                "owner": owner_of(entrant.name),
                "withdrawn": entrant.number in withdrawn,
            }
            for entrant in list_entrants(tx, tournament)
        ],
        referees=known_keys(tx),
        decision_key=decision_key(tx),
        seed_hash=tournament.seed_hash,
        locked_at=None if now is None else now.isoformat(),
    )
