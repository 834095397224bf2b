"""Changing single values in JSON documents, and recomputing digests."""

import copy
import json
from collections.abc import Iterator
from random import Random
from typing import Any

from sqlmodel import col, delete, select

from arena.core.canonical import digest
from arena.store.models import (
    Highlight,
    Session,
    SessionRecords,
    SessionReference,
    Tournament,
    TournamentEvent,
    TournamentHead,
)
from arena.store.storage import Transaction
from arena.tournaments.events import event_part

Path = tuple[str | int, ...]


def drop_session(tx: Transaction, session: Session) -> None:
    """Delete a session with its records."""
    for of_it in (SessionRecords, SessionReference, Highlight):
        tx.exec(delete(of_it).where(col(of_it.session_id) == session.id))
    tx.delete(session)


def leaves(document: object, path: Path = ()) -> Iterator[Path]:
    """Yield the paths to all values that are not containers, and to empty containers."""
    if isinstance(document, dict) and document:
        for name, value in document.items():
            yield from leaves(value, (*path, name))
    elif isinstance(document, list) and document:
        for place, value in enumerate(document):
            yield from leaves(value, (*path, place))
    else:
        yield path


def tampered(document: Any, path: Path, rng: Random) -> Any:
    """Return a copy of the document with another value at the path."""
    changed = copy.deepcopy(document)
    inside = changed
    for step in path[:-1]:
        inside = inside[step]
    inside[path[-1]] = other(inside[path[-1]], rng)
    return changed


def other(value: object, rng: Random) -> object:
    """Return another value, of the same type if there is one."""
    match value:
        case bool():
            return not value
        case int():
            return value + rng.choice((-1, 1, 7))
        case float():
            return value + rng.choice((-1.0, 0.001, 16.0))
        case str():
            return changed_text(value, rng)
        case None:
            return 0
        case list():
            return [1]
        case _:
            return {"more": 1}


def changed_text(text: str, rng: Random) -> str:
    """Return the text with one character changed, or one added if it was empty."""
    if not text:
        return "x"
    at = rng.randrange(len(text))
    return text[:at] + rng.choice([one for one in "0123456789abcdef" if one != text[at]]) + text[at + 1 :]


def tampered_lines(lines: list[str], number: int, path: Path, rng: Random) -> list[str]:
    """Return an export's lines with one value changed in the line with this index."""
    changed = json.dumps(tampered(json.loads(lines[number]), path, rng))
    return [*lines[:number], changed, *lines[number + 1 :]]


def chain_anew(tx: Transaction, tournament_id: int = 1) -> None:
    """Recompute the digests of the head and the events, as somebody who knows the format would."""
    tournament = tx.get_one(Tournament, tournament_id)
    locked = tx.get_one(TournamentHead, tournament_id)
    head = {name: value for name, value in locked.head.items() if name != "digest"}
    tournament.commitment = before = digest(head)
    locked.head = {**head, "digest": before}
    of_it = select(TournamentEvent).where(TournamentEvent.tournament_id == tournament_id)
    for event in tx.exec(of_it.order_by(col(TournamentEvent.number))):
        event.digest = before = str(event_part(event, before)["digest"])
