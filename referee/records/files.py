"""Deal records in files of JSON lines: exports, and lists of a bot's deals."""

import json
from codecs import BOM_UTF8
from collections.abc import Mapping
from io import BufferedReader
from pathlib import Path
from typing import Any, NamedTuple

from referee.errors import RecordError


class DealLine(NamedTuple):
    """A deal record in a file."""

    line: int
    """The number of its line, from 1."""
    record: Mapping[str, Any]
    """The record, which must be complete but is not checked yet."""
    seat: int | None
    """The seat of the bot whose deals are listed; None if the line names none."""


def skip_mark(file: BufferedReader) -> None:
    """Leave out the byte order mark with which some programs begin a text."""
    if file.peek(len(BOM_UTF8)).startswith(BOM_UTF8):
        file.read(len(BOM_UTF8))


def deal_records(path: Path) -> list[DealLine]:
    """Return the deal records of a file, in its order. Raise RecordError if it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "is no text in UTF-8"
        raise RecordError(None, f"{path}: {reason}") from None
    deals = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except json.JSONDecodeError as error:
            raise RecordError(None, f"{path}, line {number}: {error}") from None
        if isinstance(value, dict):
            record = value.get("record", value)
            if isinstance(record, dict) and "actions" in record:
                seat = value.get("seat")
                deals.append(DealLine(number, record, seat if isinstance(seat, int) else None))
    if not deals:
        raise RecordError(None, f"{path}: holds no deal record")
    return deals
