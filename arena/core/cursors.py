"""Cursors: where a page ends, as a text that only the same question accepts."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import datetime
from hashlib import sha256
from typing import Any, TypeAlias

from arena.errors import SpecError

Key: TypeAlias = tuple[Any, ...]
"""The values by which a list is ordered: texts, numbers and times of the last line of a page."""

LONGEST = 400
"""The most characters in a cursor."""


LARGEST = 2**63 - 1
"""The largest integer in a key, that of a database's column."""


def make_cursor(question: object, key: Key) -> str:
    """Return the cursor after ``key``; ``question`` is the frozen value of which the page is the answer."""
    parts = [part.isoformat() if isinstance(part, datetime) else part for part in key]
    text = json.dumps([_mark(question), *parts], separators=(",", ":"))
    return urlsafe_b64encode(text.encode()).decode().rstrip("=")


def read_place(question: object, cursor: str | None) -> int:
    """Return how many lines precede a page of a list that is numbered. Raise SpecError."""
    return 0 if cursor is None else int(read_cursor(question, cursor, int)[0])


def next_place(question: object, place: int, count: int) -> str | None:
    """Return the cursor of the page after the first ``place`` of ``count`` lines; None if there is none."""
    return make_cursor(question, (place,)) if place < count else None


def read_cursor(question: object, cursor: str, *kinds: type) -> Key:
    """Return the key from which a cursor was made; its parts must be of these kinds.

    Raise SpecError if it was not made by ``make_cursor``, or for another question.
    """
    try:
        padded = cursor[:LONGEST] + "=" * (-len(cursor) % 4)
        mark, *parts = json.loads(urlsafe_b64decode(padded.encode("ascii")))
        key = [_part(*pair) for pair in zip(parts, kinds, strict=False)]
    except (ValueError, TypeError, RecursionError):
        raise SpecError("cursor", "it is not a cursor; use the one from the previous page") from None
    if any(isinstance(part, int) and abs(part) > LARGEST for part in key):
        raise SpecError("cursor", "it is not a cursor; use the one from the previous page")
    if len(parts) != len(kinds) or [type(part) for part in key] != [*kinds]:
        raise SpecError("cursor", "it belongs to another list")
    if mark != _mark(question):
        raise SpecError("cursor", "it belongs to a list with other options; repeat the same ones")
    return tuple(key)


def _part(given: Any, kind: type) -> Any:
    return datetime.fromisoformat(given) if kind is datetime else given


def _mark(question: object) -> str:
    return sha256(repr(question).encode()).hexdigest()[:8]
