"""The result of a session that was played locally."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from referee.matches.match import SessionResult


class Fault(NamedTuple):
    """A fault of a bot, as the referee saw it."""

    seat: int
    kind: str
    text: str
    """The fault in words, with the position."""
    reason: str
    """The reason without the position, so that equal faults can be counted."""


class Failure(NamedTuple):
    """An exception that a bot raised."""

    seat: int
    text: str
    """The exception as one line, and where it was raised."""
    lines: tuple[str, ...]
    """The end of the traceback."""
    cause: str
    """The type of the exception and the calls it passed through, so that equal ones can be counted."""


@dataclass(slots=True)
class Played:
    """A session that was played locally: its result, and what else is known of its bots."""

    result: SessionResult
    spent: list[list[float]]
    """By seat, the seconds that each decision took."""
    faults: list[Fault] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)


class Thought(NamedTuple):
    """What bots have thought so far."""

    times: Sequence[tuple[int, float]]
    """By bot, decisions and the seconds that they took."""
    stuck: tuple[int, float] | None
    """The bot that has not answered for longest, and for how many seconds; None if none takes long."""
