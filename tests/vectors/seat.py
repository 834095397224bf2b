"""Seatings of the sessions of a match, for each number of seats."""

from collections.abc import Iterator, Mapping
from typing import Any

from arena.core.seating import seatings
from tests.vectors.files import FLAG, SEAT, WHOLE, Case, VectorFile, array, record


def answer(given: Mapping[str, Any]) -> list[list[int]]:
    """Return the seatings of a match."""
    return [*map(list, seatings(given["size"], given["sessions"], duplicate=given["duplicate"]))]


def cases() -> Iterator[Case]:
    """Yield numbers of seats and sessions: parts of a block, whole ones, and more."""
    for size in range(2, 9):
        block = size * (size - 1) * (1 if size % 2 else 2)
        yield "duplicate: everybody stays", {"size": size, "sessions": 3, "duplicate": True}
        for sessions in sorted({1, 2, size, block, *((3, 2 * size) if size < 6 else ())}):
            yield f"{sessions} of {block}", {"size": size, "sessions": sessions, "duplicate": False}
    for size in (2, 3, 4, 5):
        block = size * (size - 1) * (1 if size % 2 else 2)
        yield "more than a block", {"size": size, "sessions": block + 2, "duplicate": False}


FILE = VectorFile(
    name="seating",
    about="The seatings of the sessions of a match, in order: for each seat the place at the table (from 0) "
    "that has it.",
    answer=answer,
    cases=cases,
    input=record(size=WHOLE, sessions=WHOLE, duplicate=FLAG),
    expected=array(array(SEAT)),
)
