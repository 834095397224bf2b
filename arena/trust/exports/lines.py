"""Reading the lines of an export in order, and checking them and the details of its events."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, TypeVar

from pydantic import Field, ValidationError

from arena.core.canonical import JsonError, read_json
from arena.core.corrections import Kind
from arena.core.parts import (
    EventKind,
    EventPart,
    Part,
    PartError,
    SignedLine,
    Value,
    check_digest,
    kind_of,
    read_part,
)
from referee.reading.validation import Wording, problems

P = TypeVar("P", bound=Part)

CLOSE = 1e-6
"""Scores and ratings this close are taken as equal, since powers are not rounded alike on all machines."""


def is_close(first: float, second: float) -> bool:
    """Return whether two scores or ratings are equal but for rounding."""
    return abs(first - second) <= CLOSE


class Difference(Exception):
    """Raised if something in an export is wrong; the message says what and where."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of an export."""

    number: int
    """Its number in the file, from 1."""
    text: bytes
    fields: dict[str, object]
    """Its JSON object."""
    kind: type[Part] | None
    """The part that it claims to be; None for a deal record."""


class Export:
    """Hands out the lines of an export, each of which must be what the format has in its place."""

    def __init__(self, texts: Iterable[bytes], seen: Callable[[int], None] = lambda _: None) -> None:
        """Read ``texts`` line by line; ``seen`` is called after each with the number of bytes read so far."""
        self._texts = iter(texts)
        self._seen = seen
        self._bytes = self._count = 0
        """How many bytes and lines were read."""
        self._next = self._read_line()
        self._digests = hashlib.sha256()
        self.number = 0
        """The number of the line that was taken last."""

    def next_is(self, kind: type[Part] | None) -> bool:
        """Return whether the next line is a part of this kind; with None, whether it is a deal record."""
        return self._next is not None and self._next.kind is kind

    def take_part(self, kind: type[P]) -> P:
        """Return the next line as a part of this kind. Raise Difference if it is not."""
        line = self._take(kind)
        try:
            return read_part(kind, line.text)
        except PartError as error:
            raise self.wrong(error) from None

    def take_record(self) -> dict[str, object]:
        """Return the next line as a deal record. Raise Difference if it is not."""
        return self._take(None).fields

    def pass_over(self, count: int) -> None:
        """Leave out as many lines, which exist and are known to be right."""
        if count:
            for _ in range(count - 1):
                self._read_text()
            self.number += count
            self._next = self._read_line()

    def end(self) -> None:
        """Raise Difference if anything follows."""
        if self._next is not None:
            self.number = self._next.number
            raise self.wrong("something follows the end of the export")

    def close(self, part: Part, *, is_derived: bool = False) -> None:
        """Raise Difference if the digest of the part taken last is wrong; to be called as the last check.

        The digest of all parts leaves out one that is derived from others.
        """
        try:
            check_digest(part, self._fields)
        except PartError as error:
            raise self.wrong(error) from None
        if not is_derived:
            self._digests.update(part.digest.encode())

    @property
    def parts(self) -> str:
        """SHA-256 of the concatenated digests of all parts that were closed."""
        return self._digests.hexdigest()

    def same(self, name: str, value: object, expected: object) -> None:
        """Raise Difference unless this field of the line taken last has the expected value and type."""
        if value != expected or type(value) is not type(expected):
            raise self.wrong(f"{name}: is {_shorten(value)}, should be {_shorten(expected)}")

    def near(self, name: str, value: float, expected: float) -> None:
        """Raise Difference unless this score or rating of the line taken last is as expected."""
        if not is_close(value, expected):
            raise self.wrong(f"{name}: is {value!r}, should be {expected!r}")

    def near_all(self, name: str, values: Sequence[float], expected: Sequence[float]) -> None:
        """Raise Difference unless these scores or ratings of the line taken last are as expected."""
        self.same(f"{name}: how many", len(values), len(expected))
        for place, (value, right) in enumerate(zip(values, expected, strict=True)):
            self.near(f"{name}.{place}", value, right)

    def wrong(self, reason: object) -> Difference:
        """Return a difference in the line that was taken last."""
        return Difference(f"line {self.number}: {reason}")

    def _take(self, kind: type[Part] | None) -> Line:
        line, part_name = self._next, _name(kind)
        if line is None:
            self.number += 1
            raise self.wrong(f"the export ends where {part_name} should stand")
        self.number, self._fields = line.number, line.fields
        if line.kind is not kind:
            raise self.wrong(f"{_name(line.kind)} stands where {part_name} should stand")
        self._next = self._read_line()
        return line

    def _read_line(self) -> Line | None:
        """Return the next line; None after the last."""
        text = self._read_text()
        if text is None:
            return None
        try:
            fields = read_json(text)
            kind = kind_of(fields)
        except (JsonError, PartError) as error:
            raise Difference(f"line {self._count}: {error}") from None
        return Line(self._count, text, fields, kind)

    def _read_text(self) -> bytes | None:
        text = next(self._texts, None)
        if text is not None:
            self._bytes += len(text)
            self._count += 1
            self._seen(self._bytes)
        return text


def _name(kind: type[Part] | None) -> str:
    return "a deal record" if kind is None else f"the part {kind.PART!r}"


def _shorten(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:97]}…"


Number = Annotated[int, Field(ge=1)]


class Nothing(Value):
    """No details."""


class Started(Value):
    """It was started, or started again after it had failed."""

    beacon_value: str | None = None
    """The value of the beacon; absent where there is none, and when it was started again."""


class Entered(Value):
    """A bot entered late, or again."""

    entrant: Number
    bot: str
    first_round: Number


class Withdrew(Value):
    """A bot withdrew."""

    entrant: Number
    bot: str
    last_round: Annotated[int, Field(ge=0)]


class Void(Value):
    """Attempts came to nothing."""

    round: Number
    table: Number
    attempts: dict[str, Number]


class Lost(Value):
    """Finished deals could not be read any more."""

    round: Number
    table: Number
    after: dict[str, Annotated[int, Field(ge=0)]]


class NotTaken(Value):
    """A referee did not take a match."""

    round: Number
    table: Number
    problem: str


class Restored(Value):
    """The database went back to an earlier state."""

    attempts_above: Number


class Rounds(Value):
    """It was stopped, or finished, after this number of rounds."""

    rounds: Annotated[int, Field(ge=0)]


class KeyAdded(Value):
    """A referee was added later, or has a new key."""

    referee: str
    key: str


class Corrected(Value):
    """The organiser corrected the standings."""

    correction: Kind
    entrant: Number
    bot: str
    reason: str
    by: str
    signed: SignedLine
    round: Number = 1
    table: Number = 1
    points: int = 0


class Confirmed(Value):
    """The organiser confirmed the results."""

    by: str
    signed: SignedLine


DETAILS: Mapping[EventKind, type[Value]] = {
    "started": Started,
    "entered": Entered,
    "withdrew": Withdrew,
    "paused": Nothing,
    "resumed": Nothing,
    "void": Void,
    "lost": Lost,
    "refused": NotTaken,
    "restored": Restored,
    "stopped": Rounds,
    "key_added": KeyAdded,
    "finished": Rounds,
    "cancelled": Nothing,
    "corrected": Corrected,
    "confirmed": Confirmed,
}
"""What the details of each kind of event are."""

_WORDING = Wording("these details")


def check_details(event: EventPart) -> None:
    """Raise PartError if the details of an event are not those of its kind."""
    kind = DETAILS[event.event]
    try:
        kind.model_validate(event.details)
    except ValidationError as error:
        first = problems(error, kind.model_json_schema(), _WORDING)[0]
        raise PartError(f"details.{first}") from None
