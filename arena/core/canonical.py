"""JSON of exports on one line, its digests, and strict reading: only what all programs read alike."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from referee.reading.validation import Path, path_text
from referee.records.reading import check_length
from referee.records.results import canonical

DECISION = "bigtwo-decision/1"
"""The ``format`` of an organiser's decision in the form in which it is signed."""

SHARED = ("format", "ruleset", "tournament", "round", "table", "session", "seats")
"""Fields that are the same in all deal records of a session."""


def digest(content: object) -> str:
    """Return the SHA-256 of a JSON value written with sorted keys, without spaces, in ASCII."""
    return sha256(canonical(content)).hexdigest()


def decision_digest(event: str, previous: str, at: str, details: Mapping[str, object]) -> str:
    """Return the digest that an arena signs for an organiser's decision: that of the unsigned event."""
    plain = {name: value for name, value in details.items() if name != "signed"}
    content = {"format": DECISION, "event": event, "previous": previous, "at": at, "details": plain}
    return digest(content)


def deals_digest(records: Iterable[Mapping[str, object]]) -> str:
    """Return the SHA-256 of a session's records, each written as by ``digest`` and terminated by a line feed.

    The fields that all of them share, ``SHARED``, are left out of each.
    """
    whole = sha256()
    for record in records:
        own = {name: value for name, value in record.items() if name not in SHARED}
        whole.update(canonical(own) + b"\n")
    return whole.hexdigest()


def json_line(value: object) -> str:
    """Return a value as JSON without spaces."""
    return json.dumps(value, separators=(",", ":"))


MOST_VALUES = 4 << 20
"""The most commas and brackets on a line: they bound its values, each of which takes memory of its own."""

MOST = 2**53 - 1
"""The largest number, up or down: up to here every whole number is a double, too."""

LONGEST = 25
"""The most characters of a number, or of a name, that are shown."""


class JsonError(ValueError):
    """A text is not JSON, or not read alike by all programs; the message names the field."""


class _Wrong(NamedTuple):
    """Stands for a value that is refused."""

    why: str


def read_json(text: bytes) -> Any:
    """Return a JSON value in UTF-8 in which no object has two fields of one name, and numbers are bounded.

    That is, each is a number from -``MOST`` to ``MOST``. Raise JsonError, also for a text that is longer than
    ``LONGEST_LINE`` or has more than ``MOST_VALUES`` values.
    """
    _check_size(text)
    wrong: list[_Wrong] = []

    def refused(why: str) -> _Wrong:
        wrong.append(_Wrong(why))
        return wrong[-1]

    def whole(digits: str) -> int | _Wrong:
        number = int(digits) if len(digits) <= LONGEST else MOST + 1
        return number if abs(number) <= MOST else refused(f"{_short(digits)} is beyond ±{MOST}")

    def fraction(digits: str) -> float | _Wrong:
        number = float(digits)
        return number if abs(number) <= MOST else refused(f"{_short(digits)} is beyond ±{MOST}")

    def fields(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) < len(pairs):
            [(twice, _times)] = Counter(name for name, _ in pairs).most_common(1)
            members[twice] = refused("is there twice")
        return members

    def constant(name: str) -> _Wrong:
        return refused(f"{name} is not a number of JSON")

    try:
        read = json.loads(
            text.decode(),
            object_pairs_hook=fields,
            parse_int=whole,
            parse_float=fraction,
            parse_constant=constant,
        )
    except (ValueError, RecursionError) as error:
        raise JsonError(f"is not JSON: {error}") from None
    if wrong:
        path, value = _first(read)
        raise JsonError(f"{path_text(path)}: {value.why}" if path else value.why)
    return read


def _check_size(text: bytes) -> None:
    try:
        check_length(text)
    except ValueError as error:
        raise JsonError(str(error)) from None
    if len(text) > MOST_VALUES and sum(map(text.count, (b",", b"[", b"{"))) > MOST_VALUES:
        raise JsonError(f"has more than {MOST_VALUES} values")


def _first(value: object) -> tuple[Path, _Wrong]:
    """Return the first refused value in a value, which has one, with where it is."""
    waiting: list[tuple[Path, object]] = [((), value)]
    while True:
        path, value = waiting.pop()
        if isinstance(value, _Wrong):
            return path, value
        if isinstance(value, dict | list):
            inner = value.items() if isinstance(value, dict) else enumerate(value)
            waiting += [((*path, step), one) for step, one in reversed([*inner])]


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
