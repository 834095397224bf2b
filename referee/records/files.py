"""Deal records in files of JSON lines: exports, and lists of a bot's deals."""

import json
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from io import BufferedReader
from pathlib import Path
from typing import Any, NamedTuple

from referee.errors import RecordError

LONGEST_LINE = 32 << 20
"""The most bytes of a line of an export, a list of deals or a log."""


class DealLine(NamedTuple):
    """A deal record in a file."""

    line: int
    """The number of its line, from 1."""
    record: Mapping[str, Any]
    """The record, which must be complete but is not checked yet."""
    seat: int | None
    """The seat of the bot whose deals are listed; None if the line names none."""


def text_lines(file: BufferedReader) -> Iterator[bytes]:
    """Yield the lines of a file, without the byte order mark with which some programs begin a text.

    Of a line above ``LONGEST_LINE``, that is one byte more, and the rest is left out.
    """
    if file.peek(len(BOM_UTF8)).startswith(BOM_UTF8):
        file.read(len(BOM_UTF8))
    while text := file.readline(LONGEST_LINE + 1):
        yield text
        while len(text) > LONGEST_LINE and not text.endswith(b"\n"):
            text = file.readline(LONGEST_LINE + 1)


def check_length(text: bytes) -> None:
    """Raise ValueError for a line above ``LONGEST_LINE``."""
    if len(text) > LONGEST_LINE:
        raise ValueError(f"the line is longer than {LONGEST_LINE >> 20} MiB")


def deal_records(path: Path) -> list[DealLine]:
    """Return the deal records of a file, in its order. Raise RecordError if it cannot be read."""
    try:
        with path.open("rb") as file:
            return _deal_records(path, file)
    except OSError as error:
        raise RecordError(None, f"{path}: {error.strerror}") from None


def _deal_records(path: Path, file: BufferedReader) -> list[DealLine]:
    deals = []
    for number, line in enumerate(text_lines(file), start=1):
        if not line.strip():
            continue
        try:
            check_length(line)
            value = json.loads(line.decode())
        except (ValueError, RecursionError) as error:
            raise RecordError(None, f"{path}, line {number}: {error}") from None
        if isinstance(value, dict):
            record = value.get("record", value)
            if isinstance(record, dict) and "actions" in record:
                seat = value.get("seat")
                deals.append(DealLine(number, record, seat if isinstance(seat, int) else None))
    if not deals:
        raise RecordError(None, f"{path}: holds no deal record")
    return deals
