"""Checking a match of an export, session by session and deal by deal."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from arena.core.canonical import SHARED, deals_digest
from arena.core.duplicate import PlayedSession, forfeited_from, leaver_of
from arena.core.luck import beginning
from arena.core.parts import MatchPart, ReferencePart, RoundPart, SessionLine
from arena.core.seating import seatings
from arena.trust.exports.lines import Export
from arena.trust.verify.events import Summary
from arena.trust.verify.forfeits import Forfeits, Overruns, check_times
from arena.trust.verify.head import Head
from arena.trust.verify.references import Beginnings, References
from arena.trust.verify.report import Report
from arena.trust.verify.signatures import check_signed, note_session, session_id
from referee.deals.shuffle import deal_seed, session_seed
from referee.errors import RecordError
from referee.records.replay import Replayer


@dataclass(frozen=True, slots=True)
class CheckedMatch:
    """A match that was checked."""

    part: MatchPart
    sessions: Sequence[PlayedSession]
    """Its sessions, as their deals say."""
    reference: ReferencePart | None
    """What its cards were worth; None if the export does not say it, or by a reference unknown here."""

    def forfeited(self, entrants: Sequence[int]) -> dict[int, float]:
        """Return the share of its sessions that each of the entrants, by place, forfeited, if any."""
        sessions = self.part.sessions
        counts = Counter(entrants[line.seating[seat]] for line in sessions for seat in line.forfeits)
        return {entrant: count / len(sessions) for entrant, count in counts.items()}


@dataclass(frozen=True, slots=True)
class CheckedDeals:
    """The deals of a match that were checked, and are right."""

    sessions: Sequence[PlayedSession]
    """Its sessions, as their deals say."""
    beginnings: Beginnings


@dataclass(frozen=True, slots=True)
class FoundRight(CheckedDeals):
    """Deals that were checked ahead."""

    report: Report
    """What they add to the report."""
    computed: bool
    """Whether what their cards were worth was computed again, and is right."""


FindRight = Callable[[int], FoundRight | None]
"""Returns the deals of the match on a line if they were checked ahead and found right."""


def check_match(
    lines: Export,
    report: Report,
    head: Head,
    round: RoundPart,
    table: int,
    summary: Summary,
    references: References,
    find_right: FindRight,
) -> CheckedMatch:
    """Read the lines of a match, and check them; deals and matches are counted in the report.

    Raise Difference.

    The match removes its void attempts from the ``summary``. The attempt after a session's last one played it
    to its end: its number is one higher, or the first one after a backup was restored. ``references`` checks
    what the cards were worth; deals that ``find_right`` returns are not checked here.
    """
    part = lines.take_part(MatchPart)
    lines.same("round", part.round, round.round)
    lines.same("table", part.table, table)
    bots = [head.names[number] for number in round.tables[table - 1]]
    lines.same("bots", list(part.bots), bots)
    numbers = [session.session for session in part.sessions]
    most = head.part.sessions
    if numbers != sorted(set(numbers)) or any(number > most for number in numbers):
        raise lines.wrong("sessions: their numbers are not in order, or too large")
    if part.state == "done" and len(numbers) < most:
        raise lines.wrong(f"sessions: the match is done with {len(numbers)} of {most}")
    if round.state != "open" and part.state not in ("done", round.state):
        raise lines.wrong(f"state: is {part.state!r} in a round that is {round.state}")
    void = summary.void.pop((round.round, table), {})
    seated = seatings(head.part.table_size, most, duplicate=head.part.duplicate)
    for place, session in enumerate(part.sessions):
        _check_session_line(lines, f"sessions.{place}", session, bots)
        lines.same(f"sessions.{place}.seating", session.seating, seated[session.session - 1])
        last = void.get(session.session, 0)
        if session.attempts - 1 not in (above for above in summary.restored if above > last):
            lines.same(f"sessions.{place}.attempts", session.attempts, last + 1)
    for name in ("points", "faults"):
        sums = [0] * len(bots)
        for session in part.sessions:
            for position, value in zip(session.seating, getattr(session, name), strict=True):
                sums[position] += value
        lines.same(name, list(getattr(part, name)), sums)
    lines.close(part)
    report.matches += 1
    if part.state != "done":
        report.not_done[part.round, part.table] = part.state
    right = find_right(lines.number)
    if right is not None:
        report.add(right.report)
        lines.pass_over(right.report.deals)
    deals = check_deals(lines, report, head, part) if right is None else right
    computed = right is not None and right.computed
    reference = references.check(part, round.state == "open", deals.beginnings, computed=computed)
    return CheckedMatch(part, deals.sessions, reference)


def check_deals(lines: Export, report: Report, head: Head, match: MatchPart) -> CheckedDeals:
    """Read the deals of a match, whose line is right by itself, and check them. Raise Difference."""
    overruns = Overruns(lines, head, match)
    begun: dict[int, list[dict[str, object]]] = {}
    sessions = [_session(lines, report, head, match, line, overruns, begun) for line in match.sessions]
    overruns.check()
    return CheckedDeals(sessions, lambda session, deal: begun[session][deal])


def _check_session_line(lines: Export, where: str, session: SessionLine, bots: Sequence[str]) -> None:
    for name in ("points", "faults"):
        lines.same(f"{where}.{name}: how many", len(getattr(session, name)), len(bots))


def _session(
    lines: Export,
    report: Report,
    head: Head,
    match: MatchPart,
    line: SessionLine,
    overruns: Overruns,
    begun: dict[int, list[dict[str, object]]],
) -> PlayedSession:
    table = None if head.part.duplicate else match.table
    seed = session_seed(head.luck, match.round, table, line.session)
    shared: dict[str, object] = {
        "ruleset": head.part.ruleset,
        "tournament": head.part.tournament,
        "round": match.round,
        "table": match.table,
        "session": line.session,
        "seats": [match.bots[position] for position in line.seating],
    }
    place = f"round {match.round}, table {match.table}, session {line.session}"
    replayer = Replayer(strict=True)
    records: list[dict[str, object]] = []
    points: list[list[int]] = []
    attempts: list[int] = []
    forfeits = Forfeits(lines, head.part.limits, line)
    for number in range(1, line.deals + 1):
        where = f"{place}, deal {number}"
        record = lines.take_record()
        attempts.append(_attempt(lines, where, record, line))
        seed_of_deal = deal_seed(seed, number, attempts[-1])
        choices = _check_deal(lines, where, record, shared, number, seed_of_deal, replayer)
        records.append(record)
        points.append(list(record["points"]))  # type: ignore[call-overload]  # the replayer checked it
        forfeits.add(where, record)
        check_times(lines, where, record, head.part.limits, choices)
        over = _is_over(head, points, record)
        if over != (number == line.deals):
            raise lines.wrong(f"{where}: the session {'is over here' if over else 'goes on after it'}")
        report.deals += 1
    overruns.add(line, records)
    sums = [sum(column) for column in zip(*points, strict=True)]
    lines.same(f"{place}: points", list(line.points), sums)
    lines.same(f"{place}: faults", list(line.faults), forfeits.faults)
    lines.same(f"{place}: forfeit", line.forfeit, records[-1].get("forfeit"))
    lines.same(f"{place}: forfeits", list(line.forfeits), forfeits.seats)
    lines.same(f"{place}: attempts", line.attempts, attempts[-1])
    note_session(report, session_id(head.part.tournament, match, line), match, line, records)
    lines.same(f"{place}: digest of its deals", line.digest, deals_digest(records))
    check_signed(lines, report, head.part.digest, match, line, records)
    since, leaver = forfeited_from(line.forfeits, records), leaver_of(records)
    begun[line.session] = [beginning(record) for record in records]
    left = line.forfeits, line.forfeit, since, line.faults, leaver
    return PlayedSession(line.session, line.seating, points, attempts, *left)


def _attempt(lines: Export, where: str, record: Mapping[str, object], line: SessionLine) -> int:
    """Return the attempt that dealt a deal; the replayer checks that it never falls within a session."""
    attempt = record.get("attempt", 1)
    if not isinstance(attempt, int) or attempt > line.attempts:
        raise lines.wrong(f"{where}: attempt: is {attempt!r}, but {line.attempts} were begun")
    return attempt


def _check_deal(
    lines: Export,
    where: str,
    record: dict[str, object],
    shared: Mapping[str, object],
    number: int,
    seed: bytes,
    replayer: Replayer,
) -> list[bool]:
    """Check a deal by itself, and return for each action whether its seat had a choice. Raise Difference."""
    for name in SHARED[1:]:
        if record.get(name) != shared[name]:
            raise lines.wrong(f"{where}: {name}: is not that of the session")
    lines.same(f"{where}: deal", record.get("deal"), number)
    lines.same(f"{where}: seed", record.get("seed"), seed.hex())
    choices: list[bool] = []
    try:
        replayer.check(record, choices)
    except RecordError as error:
        raise lines.wrong(f"{where}: {error}") from None
    return choices


def _is_over(head: Head, points: Sequence[Sequence[int]], record: Mapping[str, object]) -> bool:
    end, sums = head.ruleset.session, [sum(column) for column in zip(*points, strict=True)]
    if record.get("end") == "forfeit" or len(points) == head.deals:
        return True
    if end.chips is not None and min(sums) <= -end.chips:
        return True
    target = end.target or 0
    return (target > 0 and max(sums) >= target) or (target < 0 and min(sums) <= target)
