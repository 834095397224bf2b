"""Comparing bots' logs with exports, by which any single author can detect an altered deal."""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, ValidationError

from arena.core.canonical import JsonError, read_json
from arena.core.parts import SignedLine, Value
from arena.trust.verify.report import CheckedSession, Report, ToldFault
from referee.matches.match import Signed
from referee.reading.validation import Wording, problems, short
from referee.records.reading import text_lines
from referee.records.results import Result
from referee.signing import is_valid

_WORDING = Wording("a line of a bot's log")

_NUMBER = re.compile(r"[1-9][0-9]{0,5}")
_BEGINNING = re.compile(r"[0-9a-f]{16,64}")
_SESSION = re.compile(r"[^/]*/([1-9][0-9]{0,9})/([1-9][0-9]{0,9})/[0-9]{1,9}")
"""The public name of a session: tournament, round, table and number."""


def _digests(by_deal: dict[str, str]) -> dict[str, str]:
    for number, digest in by_deal.items():
        if not _NUMBER.fullmatch(number):
            raise ValueError(f"{short(number)} is not the number of a deal")
        if not _BEGINNING.fullmatch(digest):
            raise ValueError(f"{short(digest)} is not 16 to 64 hexadecimal digits")
    return by_deal


class OwnFault(Value):
    """A fault of the bot's own, as the referee told it at the time."""

    deal: int
    action: int
    kind: str
    ms: int
    credit_ms: int

    @property
    def without_deal(self) -> ToldFault:
        """Return it without its deal."""
        return ToldFault(self.action, self.kind, self.ms, self.credit_ms)


class LogLine(Value):
    """A line of a bot's log (docs/formats.md)."""

    format: Literal["bigtwo-bot-log/1"]
    at: str
    end: Literal["played", "forfeit", "void", "lost"]
    tournament: str
    session: str
    commitment: str
    attempt: int
    seats: tuple[str, ...]
    seat: int
    deals: int = Field(ge=0)
    """The number of the last deal that the bot saw to its end; 0 for none."""
    deals_digest: str | None
    """Digest of the deals up to that one; None if the bot did not know it."""
    points: tuple[int, ...] | None
    faults: tuple[int, ...] | None
    forfeits: tuple[int, ...] | None
    signed: SignedLine | None
    """The signed result that the referee sent; None if the bot saw no end of the session that counts."""
    digests: Annotated[dict[str, str], AfterValidator(_digests)]
    """By number, the beginning of the digest after each deal that the bot saw to its end on this stream."""
    resumed: bool = False
    """Whether the session was open before this stream: of its first deal there, the bot may have missed a
    part."""
    own_faults: tuple[OwnFault, ...] | None = None
    """The bot's own faults that it was told of on this stream; None if its SDK does not keep them."""

    @property
    def bot(self) -> str:
        """Return the bot that wrote the line."""
        return self.seats[self.seat] if 0 <= self.seat < len(self.seats) else "?"

    @property
    def seen_deals(self) -> dict[int, str]:
        """Return the deals that it certainly saw to their ends, in order, each with the start of a digest."""
        return {number: self.digests[str(number)] for number in sorted(map(int, self.digests))}


class _LogSummary:
    """What all lines of a log together say about the sessions that were played."""

    def __init__(self, lines: Iterable[LogLine]) -> None:
        self.results: set[tuple[str, int]] = set()
        """The sessions and attempts whose result the bot was sent."""
        self.latest: dict[str, int] = {}
        """The highest number of an attempt in each tournament."""
        self._deals: set[tuple[str, int, int]] = set()
        for line in lines:
            attempt = (line.session, line.attempt)
            if line.signed is not None:
                self.results.add(attempt)
            self._deals.update((*attempt, deal) for deal in line.seen_deals)
            self.latest[line.tournament] = max(line.attempt, self.latest.get(line.tournament, 0))

    def has(self, session: str, attempt: int, deal: int) -> bool:
        """Return whether the bot saw the end of a deal as an attempt dealt it."""
        return (session, attempt, deal) in self._deals


@dataclass(slots=True)
class BotLog:
    """The readable part of a bot's log."""

    name: str
    """The name of the file."""
    lines: dict[int, LogLine] = field(default_factory=dict)
    """The lines by their numbers in the file, from 1."""
    unreadable: dict[int, str] = field(default_factory=dict)
    """What is wrong with the unreadable lines, by their numbers; a crash may leave half a line."""


@dataclass(slots=True)
class Comparison:
    """The result of comparing exports with a bot's log."""

    log: str
    bots: tuple[str, ...]
    """The bots that wrote the lines."""
    same: int = 0
    """Number of sessions that are in the exports as the bot saw them."""
    problems: list[str] = field(default_factory=list)
    """Where the exports differ from the log."""
    remarks: list[str] = field(default_factory=list)
    """Further remarks."""


def read_log(path: Path) -> BotLog:
    """Return the log in a file. Raise OSError."""
    bot_log = BotLog(str(path))
    with path.open("rb") as texts:
        for number, text in enumerate(text_lines(texts), start=1):
            try:
                read_json(text)
                bot_log.lines[number] = LogLine.model_validate_json(text)
            except JsonError as error:
                bot_log.unreadable[number] = str(error)
            except ValidationError as error:
                bot_log.unreadable[number] = str(problems(error, LogLine.model_json_schema(), _WORDING)[0])
    return bot_log


def sessions_in(logs: Iterable[BotLog]) -> frozenset[str]:
    """Return the public names of the sessions in these logs."""
    return frozenset(line.session for log in logs for line in log.lines.values())


def compare(log: BotLog, reports: Sequence[Report], others: Sequence[BotLog] = ()) -> Comparison:
    """Compare exports with a bot's log; lines of other tournaments are ignored.

    ``others`` are further files, in which the log of the same bot may continue.
    """
    by_name: dict[str, list[Report]] = {}
    for report in reports:
        if report.commitment:
            by_name.setdefault(report.tournament, []).append(report)
    lines = {number: line for number, line in log.lines.items() if line.tournament in by_name}
    comparison = Comparison(log.name, tuple(sorted({line.bot for line in lines.values()})))
    comparison.remarks += [f"line {number} is left out: {why}" for number, why in log.unreadable.items()]
    if not lines:
        comparison.problems.append("has no session of these tournaments")
    more = [line for other in others for line in other.lines.values() if line.bot in comparison.bots]
    summary = _LogSummary([*lines.values(), *more])
    for number, line in lines.items():
        of_name = by_name[line.tournament]
        report = next((each for each in of_name if each.commitment == line.commitment), of_name[0])
        where = f"line {number}: session {line.session}"
        problems_here = _compare(comparison, where, line, report, summary)
        comparison.problems += [f"{where}: {problem}" for problem in problems_here]
    for of_name in by_name.values():
        comparison.problems += _others_of_that_name(of_name, lines.values())
        for report in of_name:
            _remark_unseen(comparison, report, lines)
    return comparison


def _others_of_that_name(reports: Sequence[Report], lines: Iterable[LogLine]) -> Iterator[str]:
    """Yield the exports of tournaments that have the name of one in which the bot played, but are others."""
    commitments = {line.commitment for line in lines if line.tournament == reports[0].tournament}
    for report in reports if any(report.commitment in commitments for report in reports) else ():
        if report.commitment not in commitments:
            yield (
                f"{report.tournament}: one export is of another tournament of this name: its commitment is "
                f"{report.commitment}, and the bot was sent {', '.join(sorted(commitments))}"
            )


def _compare(
    comparison: Comparison, where: str, line: LogLine, report: Report, summary: _LogSummary
) -> Iterable[str]:
    """Return the problems of a line; remarks, and a session that is the same, are added to the comparison."""
    played = report.sessions.get(line.session)
    if reason := _untrue(line):
        return [reason]
    if line.commitment != report.commitment:
        if not _was_locked_again(line, report, summary):
            return [f"the bot was sent the commitment {line.commitment}, the export's is {report.commitment}"]
        comparison.remarks.append(f"{where}: is not in the export: the arena went back, and locked it again")
        return []
    if played is None or (line.bot not in played.seats and _is_undone(line, report, played, summary)):
        return _missing(comparison, where, line, report, summary)
    if line.attempt > played.attempt:
        return [f"attempt: the bot was in attempt {line.attempt}, the export has {played.attempt}"]
    if line.signed is None or line.attempt < played.attempt:
        return _compare_part(comparison, where, line, played, summary)
    problems = [*_differences(line, line.signed, played, report), *_other_faults(line, played)]
    comparison.same += not problems
    return problems


def _untrue(line: LogLine) -> str | None:
    """Return why a line proves nothing, or how the referee deceived the bot; None if all is well."""
    if line.signed is None:
        return None
    if not is_valid(Signed(**line.signed.model_dump())):
        return (
            "the signature in the log is not that of its key: the line was altered, or the referee sent it so"
        )
    if line.deals_digest is None:
        return None
    if line.digests and not line.deals_digest.startswith(list(line.seen_deals.values())[-1]):
        return "the line was altered: the digest of its last deal is not that of all deals"
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


def _missing(
    into: Comparison, where: str, line: LogLine, report: Report, summary: _LogSummary
) -> Iterator[str]:
    """Yield a problem if the export lacks a session, unless it says why, or was not read to its end.

    A result that was signed counts, however the tournament ended: otherwise whole rounds could be left out by
    calling it cancelled.
    """
    if report.problem is not None:
        return
    if _is_undone(line, report, report.sessions.get(line.session), summary):
        into.remarks.append(f"{where}: is not in the export: the arena went back to an earlier state")
    elif line.signed is None and _is_cut_off(line, report):
        into.remarks.append(f"{where}: is not in the export: it was being played at the cancellation")
    else:
        yield "is missing from the export"


def _is_cut_off(line: LogLine, report: Report) -> bool:
    """Return whether a session belongs to a match that was being played when the tournament was cancelled."""
    return report.state == "cancelled" and _place(line) in report.not_done


def _place(line: LogLine) -> tuple[int, int]:
    """Return the round and the table of a session; zeros if its name is not one."""
    name = _SESSION.fullmatch(line.session)
    return (int(name[1]), int(name[2])) if name else (0, 0)


def _was_locked_again(line: LogLine, report: Report, summary: _LogSummary) -> bool:
    """Return whether the arena went back to before the tournament was locked, and the bot played on then."""
    return any(line.attempt <= above < summary.latest[line.tournament] for above in report.restored)


def _is_undone(line: LogLine, report: Report, played: CheckedSession | None, summary: _LogSummary) -> bool:
    """Return whether a session may have been undone when the arena went back, after which the bot played on.

    Rounds that were begun before the backup was made stay as they were paired. In any other, nothing has a
    number up to the one above which attempts were counted then.
    """
    first = report.first_attempts.get(_place(line)[0], math.inf)
    earliest = first if played is None else min(first, played.attempt)
    return any(
        line.attempt <= above < min(summary.latest[line.tournament], earliest) for above in report.restored
    )


def _compare_part(
    comparison: Comparison, where: str, line: LogLine, played: CheckedSession, summary: _LogSummary
) -> Iterator[str]:
    """Compare a session with what a bot saw of an attempt that it did not see end, or that does not count.

    Whatever does not count must have been played again with the bot watching. Otherwise anything could be
    replaced by claiming that an attempt was void.
    """
    again: list[int] = []
    last_same = 0
    for deal, digest in line.seen_deals.items():
        counted = played.attempts[deal - 1] if 0 < deal <= len(played.attempts) else None
        if counted is None or counted > line.attempt:
            again.append(deal)
        elif counted < line.attempt:
            yield f"deal {deal} is of attempt {counted}, but attempt {line.attempt} dealt it to the bot"
        elif not played.digests[deal - 1].startswith(digest):
            yield f"its deals up to deal {deal} are not those that the bot saw: it was altered"
            return
        else:
            last_same = deal
    yield from _other_faults(line, played)
    comparison.same += last_same > 0 and line.signed is None
    if again:
        yield from _played_again(comparison, where, line, played, summary, again)
    ended = (line.session, played.attempt)
    if line.signed is None:
        return
    if ended in summary.results:
        comparison.remarks.append(
            f"{where}: the bot was sent the result of attempt {line.attempt}, "
            f"which came to nothing; attempt {played.attempt} counts"
        )
    else:
        yield (
            f"the bot was sent the result of attempt {line.attempt}, but attempt {played.attempt} counts, "
            "of which this log has no result"
        )


def _other_faults(line: LogLine, played: CheckedSession) -> Iterator[str]:
    """Yield the deals in which the bot was told of other faults of its own than the export has.

    Deals are compared that count as the bot saw them. Of the first one on a stream that came in the midst of
    it, the bot may have missed some.
    """
    for place, (deal, digest) in enumerate(line.seen_deals.items() if line.own_faults is not None else ()):
        if deal > len(played.digests) or not played.digests[deal - 1].startswith(digest):
            continue
        own = tuple(fault.without_deal for fault in line.own_faults or () if fault.deal == deal)
        has = played.own_faults[deal - 1].get(line.bot, ())
        if line.resumed and place == 0:
            has = has[len(has) - len(own) :] if len(own) <= len(has) else has
        if own != has:
            yield f"deal {deal}: the bot was told of {_listed(own)} of its own, the export has {_listed(has)}"


def _listed(faults: Sequence[ToldFault]) -> str:
    return (
        ", ".join(f"{fault.kind} at action {fault.action} ({fault.ms} ms)" for fault in faults) or "no fault"
    )


def _played_again(
    comparison: Comparison,
    where: str,
    line: LogLine,
    played: CheckedSession,
    summary: _LogSummary,
    deals: Sequence[int],
) -> Iterator[str]:
    """Yield the deals that do not count, unless the bot saw their replacements."""
    unseen = [
        deal
        for deal in deals
        if not (
            summary.has(line.session, played.attempts[deal - 1], deal)
            if deal <= len(played.attempts)
            else (line.session, played.attempt) in summary.results
        )
    ]
    if unseen:
        yield f"{_uncounted(unseen, line)}, and this log has no other in place of it"
    elif line.signed is None:
        comparison.remarks.append(f"{where}: {_uncounted(deals, line)}")


def _uncounted(deals: Sequence[int], line: LogLine) -> str:
    last = f" to {deals[-1]}" if len(deals) > 1 else ""
    return f"deal {deals[0]}{last} of attempt {line.attempt} does not count"


def _differences(line: LogLine, signed: SignedLine, played: CheckedSession, report: Report) -> Iterator[str]:
    compared: Mapping[str, tuple[object, object]] = {
        "seats": (line.seats, played.seats),
        "points": (line.points, played.line.points),
        "faults": (line.faults, played.line.faults),
        "forfeits": (line.forfeits, played.line.forfeits),
    }
    for name, (ours, theirs) in compared.items():
        if ours != theirs:
            yield f"{name}: the bot was told {_as_json(ours)}, the export has {_as_json(theirs)}"
    if line.deals_digest is not None and line.deals_digest != played.digests[-1]:
        yield "its deals are not those that the bot saw: it was altered"
    if played.line.signed is None:
        yield "the bot was sent a signature, the export has none"
    elif signed.key not in report.keys:
        yield "the bot was sent the signature of a key that the export does not name"
    elif signed.key != played.line.signed.key:
        yield "the bot was sent the signature of another key than the export has: it was signed again"
    elif signed != played.line.signed:
        yield "the bot was sent another signature than the export has: it was signed again"


def _remark_unseen(comparison: Comparison, report: Report, lines: Mapping[int, LogLine]) -> None:
    for bot in comparison.bots:
        here = {
            line.session
            for line in lines.values()
            if line.commitment == report.commitment and line.bot == bot
        }
        more = report.played_by.get(bot, 0) - len(here & set(report.sessions))
        if more > 0:
            comparison.remarks.append(f"{report.tournament}: {more} sessions of {bot} are not in this log")


def _as_json(value: object) -> str:
    return json.dumps(value)
