"""The result of a session that was played locally."""

from dataclasses import dataclass, field
from typing import NamedTuple


class Fault(NamedTuple):
    """A fault of a bot, as the referee saw it."""

    seat: int
    kind: str
    text: str
    """With the position."""
    reason: str
    """Without it, so that equal ones can be counted."""


class Failure(NamedTuple):
    """An exception that a bot raised."""

    seat: int
    text: str
    """The exception in a line, and where it was raised."""
    lines: tuple[str, ...]
    """The end of the traceback."""
    cause: str
    """Which kind of exception it is and the calls it came through, so that equal ones can be counted."""


@dataclass(slots=True)
class Played:
    """What a session came to."""

    number: int
    points: tuple[int, ...]
    """By seat, of all its deals."""
    records: tuple[str, ...]
    """Lean deal records."""
    spent: list[list[float]]
    """By seat, the seconds that each decision took."""
    faults: list[Fault] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    forfeits: tuple[int, ...] = ()
    """The seats whose bots forfeited it."""
