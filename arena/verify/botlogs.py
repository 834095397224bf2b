"""What bots kept of their sessions, held against exports: who altered a deal is found by any one author."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from arena.exports.parts import SignedLine
from arena.verify.report import PlayedSession, Report
from referee.matches.match import Signed
from referee.records.results import Result
from referee.signing import is_valid


class LogLine(BaseModel):
    """A line of a bot's log (docs/formats.md)."""

    model_config = ConfigDict(strict=True, frozen=True, defer_build=True)

    format: Literal["bigtwo-bot-log/1"]
    tournament: str
    session: str
    commitment: str
    attempt: int
    seats: tuple[str, ...]
    seat: int
    deals: int
    """The number of the last deal that the bot saw to its end; 0: none."""
    deals_digest: str | None
    """Of the deals up to that one; None: the bot could not tell."""
    points: tuple[int, ...] | None
    faults: tuple[int, ...] | None
    forfeits: tuple[int, ...] | None
    signed: SignedLine | None
    """What the referee sent; None: the bot saw no end of the session that counts."""

    @property
    def bot(self) -> str:
        """Whose line it is."""
        return self.seats[self.seat] if 0 <= self.seat < len(self.seats) else "?"


@dataclass(slots=True)
class BotLog:
    """A bot's log, as far as it can be read."""

    name: str
    """The file."""
    lines: dict[int, LogLine] = field(default_factory=dict)
    """By their numbers in the file, from 1."""
    unreadable: list[int] = field(default_factory=list)
    """Numbers of lines that are none: a crash may leave half a line."""


@dataclass(slots=True)
class Comparison:
    """What came of holding exports to a bot's log."""

    log: str
    bots: tuple[str, ...]
    """Whose lines there are."""
    same: int = 0
    """Sessions that the exports have as the bot saw them."""
    problems: list[str] = field(default_factory=list)
    """Where the exports differ from the log."""
    remarks: list[str] = field(default_factory=list)
    """What else there is to know."""


def read_log(path: Path) -> BotLog:
    """Return the log in a file. Raise OSError."""
    found = BotLog(str(path))
    with path.open("rb") as texts:
        for number, text in enumerate(texts, start=1):
            try:
                found.lines[number] = LogLine.model_validate_json(text)
            except ValidationError:
                found.unreadable.append(number)
    return found


def sessions_in(logs: Iterable[BotLog]) -> frozenset[str]:
    """Return the public names of the sessions that logs tell of."""
    return frozenset(line.session for log in logs for line in log.lines.values())


def compare(log: BotLog, reports: Sequence[Report]) -> Comparison:
    """Hold exports to a bot's log; lines of other tournaments are left out."""
    by_name = {report.tournament: report for report in reports if report.commitment}
    lines = {number: line for number, line in log.lines.items() if line.tournament in by_name}
    found = Comparison(log.name, tuple(sorted({line.bot for line in lines.values()})))
    if log.unreadable:
        numbers = ", ".join(map(str, log.unreadable))
        found.remarks.append(f"cannot be read, and are left out: lines {numbers}")
    if not lines:
        found.problems.append("has no session of these tournaments")
    for number, line in lines.items():
        _compare(found, f"line {number}: session {line.session}", line, by_name[line.tournament])
    for name, report in by_name.items():
        _remark_unseen(found, name, report, lines)
    return found


def _compare(found: Comparison, where: str, line: LogLine, report: Report) -> None:
    played = report.sessions.get(line.session)
    if reason := _untrue(line):
        found.problems.append(f"{where}: {reason}")
    elif line.commitment != report.commitment:
        found.problems.append(
            f"{where}: the bot was sent the commitment {line.commitment}, the export's is {report.commitment}"
        )
    elif played is None:
        _missing(found, where, line, report)
    elif line.signed is None:
        _compare_part(found, where, line, played)
    elif line.attempt < played.attempt:
        found.remarks.append(
            f"{where}: the bot was sent the result of attempt {line.attempt}, "
            f"which came to nothing; attempt {played.attempt} counts"
        )
    elif differences := list(_differences(line, line.signed, played)):
        found.problems += [f"{where}: {difference}" for difference in differences]
    else:
        found.same += 1


def _untrue(line: LogLine) -> str | None:
    """Return why a line proves nothing, or what the referee did to the bot; None: it is as it should be."""
    if line.signed is None:
        return None
    if not is_valid(Signed(**line.signed.model_dump())):
        return (
            "the signature in the log is not that of its key: the line was altered, or the referee sent it so"
        )
    if line.deals_digest is None:
        return None
    result = Result(
        commitment=line.commitment,
        session=line.session,
        attempt=line.attempt,
        seats=line.seats,
        points=line.points or (),
        faults=line.faults or (),
        forfeits=line.forfeits or (),
        deals=line.deals_digest,
    )
    if result.digest != line.signed.digest:
        return "the referee signed something else than the bot saw, or the line was altered"
    return None


def _missing(found: Comparison, where: str, line: LogLine, report: Report) -> None:
    """Note a session that the export has not, unless it says why, or was not read to its end."""
    if report.problem is not None or line.signed is None:
        return
    if report.state == "cancelled":
        found.remarks.append(f"{where}: is not in the export of the tournament, which was cancelled")
    else:
        found.problems.append(f"{where}: is missing from the export")


def _compare_part(found: Comparison, where: str, line: LogLine, played: PlayedSession) -> None:
    """Hold a session to what a bot saw of it that did not see its end."""
    kept = line.deals <= len(played.digests) and played.attempts[line.deals - 1] == line.attempt
    if not kept:
        found.remarks.append(f"{where}: deal {line.deals} of attempt {line.attempt} does not count")
    elif played.digests[line.deals - 1] != line.deals_digest:
        found.problems.append(
            f"{where}: its deals up to deal {line.deals} are not those that the bot saw: it was altered"
        )
    else:
        found.same += 1


def _differences(line: LogLine, signed: SignedLine, played: PlayedSession) -> Iterator[str]:
    compared: Mapping[str, tuple[object, object]] = {
        "attempt": (line.attempt, played.attempt),
        "seats": (line.seats, played.seats),
        "points": (line.points, played.points),
        "faults": (line.faults, played.faults),
        "forfeits": (line.forfeits, played.forfeits),
    }
    for name, (ours, theirs) in compared.items():
        if ours != theirs:
            yield f"{name}: the bot was told {_shown(ours)}, the export has {_shown(theirs)}"
    if line.deals_digest is not None and line.deals_digest != played.digests[-1]:
        yield "its deals are not those that the bot saw: it was altered"
    if played.signed is None:
        yield "the bot was sent a signature, the export has none"
    elif signed.key != played.signed.key:
        yield "the bot was sent the signature of another key than the export has: it was signed again"
    elif signed != played.signed:
        yield "the bot was sent another signature than the export has: it was signed again"


def _remark_unseen(found: Comparison, name: str, report: Report, lines: Mapping[int, LogLine]) -> None:
    for bot in found.bots:
        here = {line.session for line in lines.values() if line.tournament == name and line.bot == bot}
        more = report.played_by.get(bot, 0) - len(here & set(report.sessions))
        if here and more > 0:
            found.remarks.append(f"{name}: {more} sessions of {bot} are not in this log")


def _shown(value: object) -> str:
    return json.dumps(value)
