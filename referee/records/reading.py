"""Reading deal records, from any JSON value and from files: presence, types and ranges, not their truth."""

import json
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from io import BufferedReader
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from referee.errors import RecordError, RulesetError
from referee.reading.validation import node_at, path_text, requirement, short
from referee.records.record import DIRECTIONS, FORMAT
from referee.records.schema import OPTIONAL, Reader, reader
from referee.rules.plays import Rules
from referee.rules.rulebook import rules_of
from referee.ruleset.model import FIELD_NAMES

_STEPS = {name: step for step, name in DIRECTIONS.items()}


class ExchangeText(NamedTuple):
    """A record's ``exchange``."""

    loser: int
    winner: int
    given: str
    returned: str


class Record(NamedTuple):
    """A complete deal record; cards are still text."""

    rules: Rules
    tournament: str
    round: int
    table: int
    session: int
    deal: int
    attempt: int
    """The attempt at the session that dealt it, from 1."""
    seats: Sequence[str]
    seed: bytes
    dealer: int
    step: int
    hands: Sequence[str]
    leftover: str
    exchange: ExchangeText | None
    leader: int | None
    """None only after a forfeit in an exchange."""
    actions: Sequence[str]
    out: Sequence[int]
    left: Sequence[str]
    points: Sequence[int]
    end: str
    forfeit: int | None
    """Seat whose forfeit ended the session; None if none did."""
    faults: Sequence[Mapping[str, Any]]
    """Where the referee acted for a seat, in the record's own form."""
    played_for: Sequence[Mapping[str, Any]]
    """The seats whose bots have forfeited the session, in the record's own form."""


def read_record(value: object, *, strict: bool = False) -> Record:
    """Return the record in a JSON value. Raise RecordError, which names the first wrong field.

    If ``strict``, it may have no fields that are not those of a record.
    """
    if not isinstance(value, Mapping):
        raise RecordError(None, f"a deal record must be an object, not {short(value)}")
    if value.get("format") != FORMAT:
        raise _wrong(
            "format",
            f"must be {FORMAT!r}, not {short(value['format'])}" if "format" in value else "is missing",
        )
    if "ruleset" not in value:
        raise _wrong("ruleset", "is missing")
    rules = _rules(value["ruleset"])
    reads = reader(rules.ruleset.players)
    try:
        record = reads.adapter.validate_python(value, extra="forbid" if strict else None)
    except ValidationError as error:
        raise _first(error, reads, value) from None
    _check_faults(record)
    _check_times(record)
    _check_played_for(record)
    return Record(
        rules=rules,
        tournament=record["tournament"],
        round=record["round"],
        table=record["table"],
        session=record["session"],
        deal=record["deal"],
        attempt=record.get("attempt", 1),
        seats=record["seats"],
        seed=bytes.fromhex(record["seed"]),
        dealer=record["dealer"],
        step=_STEPS[record["direction"]],
        hands=record["hands"],
        leftover=record["leftover"],
        exchange=_exchange(record),
        leader=record["leader"],
        actions=record["actions"],
        out=record["out"],
        left=record["left"],
        points=record["points"],
        end=record["end"],
        forfeit=record.get("forfeit"),
        faults=record.get("faults", ()),
        played_for=record.get("played_for", ()),
    )


def _wrong(field: str, reason: str) -> RecordError:
    return RecordError(None, f"{field}: {reason}")


def _first(error: ValidationError, reads: Reader, record: Mapping[str, object]) -> RecordError:
    """Return an error for the first problem; a list of texts or numbers is reported as a whole."""
    first = error.errors(include_url=False)[0]
    path, value = first["loc"], first["input"]
    if first["type"] == "missing":
        return _wrong(path_text(path), "is missing")
    if first["type"] == "extra_forbidden":
        return _wrong(path_text(path), "is not a field of a deal record")
    if first["type"] == "value_error":
        return _wrong(path_text(path), str(first["ctx"]["error"]))
    if len(path) == 2 and isinstance(path[1], int) and node_at(reads.schema, path).get("type") != "object":
        path, value = path[:1], record[str(path[0])]
    if value is None and path[0] in OPTIONAL and len(path) == 1:
        return _wrong(path_text(path), "must be omitted rather than null")
    return _wrong(path_text(path), f"must be {requirement(node_at(reads.schema, path))}, not {short(value)}")


def _rules(source: object) -> Rules:
    if not isinstance(source, Mapping):
        raise _wrong("ruleset", f"must be a ruleset object, not {short(source)}")
    try:
        rules = rules_of(source)
    except RulesetError as error:
        raise _wrong("ruleset", str(error)) from error
    _check_resolved(source)
    return rules


def _check_resolved(ruleset: Mapping[str, object]) -> None:
    """Raise RecordError if the ruleset depends on presets that may differ where it is read."""
    if "extends" in ruleset:
        raise RecordError(None, "ruleset.extends: a record holds a resolved ruleset, which extends nothing")
    for name in FIELD_NAMES:
        if name not in ruleset:
            raise RecordError(None, f"ruleset.{name}: is missing; a record holds a resolved ruleset")
    if isinstance(ruleset["straights"], str):
        raise RecordError(None, "ruleset.straights: must be written out in a record")


def _exchange(record: Mapping[str, Any]) -> ExchangeText | None:
    exchange = record.get("exchange")
    if exchange is None:
        return None
    if exchange["loser"] == exchange["winner"]:
        raise _wrong("exchange", f"loser and winner are both seat {exchange['loser']}")
    return ExchangeText(**exchange)


def _check_faults(record: Mapping[str, Any]) -> None:
    last = len(record["actions"])
    for name in ("faults", "answers"):
        for index, fault in enumerate(record.get(name, ())):
            if fault["action"] > last:
                reason = f"must be a whole number from 0 to {last}, not {fault['action']}"
                raise _wrong(f"{name}[{index}].action", reason)


def _check_played_for(record: Mapping[str, Any]) -> None:
    last = (record["deal"], len(record["actions"]))
    seats: set[int] = set()
    for index, forfeit in enumerate(record.get("played_for", ())):
        where = f"played_for[{index}]"
        if forfeit["seat"] in seats:
            raise _wrong(where, f"seat {forfeit['seat']} has forfeited before")
        if (forfeit["deal"], forfeit["action"]) > last:
            raise _wrong(where, "comes after the last action of the deal")
        seats.add(forfeit["seat"])


def _check_times(record: Mapping[str, Any]) -> None:
    actions = len(record["actions"])
    for name in ("ms", "credit_ms"):
        if name in record and len(record[name].split()) != actions:
            raise _wrong(name, f"must have one entry for each of the {actions} actions")


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
