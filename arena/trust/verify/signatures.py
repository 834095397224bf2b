"""Checking that the deals and results of sessions are those that a referee of the tournament signed."""

import re
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from arena.core.parts import EventPart, HeadPart, MatchPart, SessionLine
from arena.trust.exports.lines import Export
from arena.trust.verify.report import CheckedSession, Key, Report, ToldFault, note_attempt
from referee.matches.match import Signed
from referee.records.results import NO_DEALS, Result, add_deal, record_as_shown, shown_digest
from referee.signing import is_valid

HEX_32 = re.compile(r"[0-9a-f]{64}")
"""32 bytes."""


def note_head_keys(lines: Export, report: Report, head: HeadPart) -> None:
    """Record the keys of the referees that had been started when the tournament was locked.

    Raise Difference.
    """
    names = [referee.referee for referee in head.referees]
    if names != sorted(set(names)):
        raise lines.wrong("referees: are not in the order of their names")
    for place, referee in enumerate(head.referees):
        _note(lines, report, f"referees.{place}.key", referee.key, Key(referee.referee))


def note_added_key(lines: Export, report: Report, event: EventPart) -> None:
    """Record the key of a referee that was added later, or whose key is new. Raise Difference."""
    referee, key = event.details["referee"], event.details["key"]
    if key in report.keys:
        raise lines.wrong("details.key: is known already")
    _note(lines, report, "details.key", key, Key(referee, event.at))


def _note(lines: Export, report: Report, where: str, key: str, owner: Key) -> None:
    if not HEX_32.fullmatch(key):
        raise lines.wrong(f"{where}: is not 64 hexadecimal digits")
    report.keys.setdefault(key, owner)


def check_signed(
    lines: Export,
    report: Report,
    commitment: str,
    match: MatchPart,
    line: SessionLine,
    records: Sequence[Mapping[str, Any]],
) -> None:
    """Check that a known referee signed the result that follows from a session's line and records.

    Count the session for the referee's key. Raise Difference.
    """
    place = f"round {match.round}, table {match.table}, session {line.session}"
    if line.signed is None:
        raise lines.wrong(f"{place}: signed: no referee has signed it")
    result = Result(
        commitment=commitment,
        session=session_id(str(records[0]["tournament"]), match, line),
        attempt=line.attempts,
        seats=[match.bots[position] for position in line.seating],
        points=line.points,
        faults=line.faults,
        forfeits=line.forfeits,
        deals=shown_digest(records),
    )
    if line.signed.digest != result.digest:
        raise lines.wrong(f"{place}: signed: the referee signed another result, or other deals")
    if line.signed.key not in report.keys:
        raise lines.wrong(f"{place}: signed: by a key that neither the head nor an event names")
    if not is_valid(Signed(**line.signed.model_dump())):
        raise lines.wrong(f"{place}: signed: the signature is not that of the key")
    report.keys[line.signed.key].sessions += 1


def note_session(
    report: Report, name: str, match: MatchPart, line: SessionLine, records: Sequence[Mapping[str, Any]]
) -> None:
    """Add a session to the report, without a check of its digests; ``name`` is its public name."""
    seats = tuple(match.bots[position] for position in line.seating)
    report.played_by.update(seats)
    note_attempt(report, match.round, line.attempts)
    if name not in report.session_names:
        return
    records_shown = map(record_as_shown, records)
    report.sessions[name] = CheckedSession(
        line=line,
        seats=seats,
        attempts=tuple(record.get("attempt", 1) for record in records),
        digests=tuple(accumulate(records_shown, add_deal, initial=NO_DEALS))[1:],
        own_faults=tuple(_faults(seats, record) for record in records),
    )


def _faults(seats: Sequence[str], record: Mapping[str, Any]) -> dict[str, tuple[ToldFault, ...]]:
    """Return the faults of each bot in a deal."""
    by_seat: dict[str, tuple[ToldFault, ...]] = dict.fromkeys(seats, ())
    for fault in record.get("faults", ()):
        told_fault = ToldFault(fault["action"], fault["kind"], fault.get("ms", 0), fault.get("credit_ms", 0))
        by_seat[seats[fault["seat"]]] += (told_fault,)
    return by_seat


def session_id(tournament: str, match: MatchPart, line: SessionLine) -> str:
    """Return the public name of a session, as it is sent to bots."""
    return f"{tournament}/{match.round}/{match.table}/{line.session}"
