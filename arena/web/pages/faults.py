"""Faults as their author reads them: where it was, what the bot held, what it answered, and what followed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arena.actors import Actor, Role
from arena.queries.authors import LogLine, log_for
from arena.store.storage import Storage
from arena.web.pages.links import match_url
from referee.matches.journal import EntryKind, LogQuery

SHOWN = 20

PLACES = ("deal", "attempt", "action", "seat", "sequence")
"""What says where it was, in this order."""

CARDS = {
    "hand": ("Hand", "nothing"),
    "to_beat": ("To beat", "nothing"),
    "answered": ("Answered", "nothing"),
    "default": ("Played instead", "pass"),
}
"""What the cards are called that a fault tells of, and what is said where there are none."""

TOLD = frozenset([*PLACES, *CARDS, "turn", "elapsed_ms", "credit_ms", "faults", "fault_limit"])


@dataclass(frozen=True, slots=True)
class FaultShown:
    """A fault, for its author."""

    line: LogLine
    position: Sequence[tuple[str, str]]
    """What is known of it, with the names for readers."""
    match: str | None
    """Where its match is; None if it was in none."""


def own_faults(storage: Storage, actor: Actor, owner: str, name: str) -> Sequence[FaultShown] | None:
    """Return the latest faults of a bot with their positions; None if they are not for this reader."""
    if actor.role is not Role.OPERATOR and owner not in actor.owners:
        return None
    lines = log_for(storage, actor, LogQuery(name, kinds=(EntryKind.FAULT,), limit=SHOWN)).log
    return [FaultShown(line, [*position(line.details)], match_of(line.session_id)) for line in lines]


def position(details: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what the details of a fault tell; what only a newer referee tells comes last, as it is."""
    where = [f"{name} {details[name]}" for name in PLACES if name in details]
    if where:
        yield "Where", ", ".join(where)
    if details.get("turn", "play") != "play":
        yield "Turn", str(details["turn"])
    for name, (word, nothing) in CARDS.items():
        if name in details:
            cards = str(details[name])
            yield word, nothing if cards in ("", "-") else cards
    if "elapsed_ms" in details:
        credit = details.get("credit_ms")
        yield "Time taken", f"{details['elapsed_ms']} ms{f' (network credit {credit} ms)' if credit else ''}"
    if "faults" in details:
        yield "Faults", f"{details['faults']} of {details.get('fault_limit', '?')} in this session"
    yield from ((name, str(value)) for name, value in details.items() if name not in TOLD)


def match_of(session_id: str) -> str | None:
    """Return where the match of ``tournament/round/table/session`` is; None if it is of no such form."""
    match session_id.split("/"):
        case [tournament, round, table, _] if round.isdecimal() and table.isdecimal():
            return match_url(tournament, int(round), int(table))
    return None
