"""Forfeits in an export: for faults, by one of those who were absent, or as the time of a match was up."""

from collections.abc import Mapping, Sequence
from typing import Any

from arena.exports.lines import Lines
from arena.exports.parts import LimitsLine, MatchPart, SessionLine
from arena.verify.head import Head

GRACE_MS = 1000
"""By how much longer than its limit a decision may have run when the time of a match was up."""


def check_forfeit(
    lines: Lines,
    where: str,
    limits: LimitsLine,
    line: SessionLine,
    record: Mapping[str, Any],
    faults: Sequence[int],
) -> None:
    """Check that a deal is forfeited by the seat that the rules say, for one reason. Raise Difference.

    ``faults`` are those of the session so far, by seat.
    """
    seat, absent, used = record.get("forfeit"), record.get("absent"), record.get("used_ms")
    at_limit = seat is not None and faults[seat] >= limits.faults
    reasons = [at_limit, absent is not None, used is not None]
    if seat is None and any(reasons):
        raise lines.wrong(f"{where}: absent, used_ms: are there, but nobody forfeits")
    if seat is None:
        return
    if sum(reasons) > 1:
        raise lines.wrong(f"{where}: forfeit: there is more than one reason for it")
    if absent is not None:
        _check_absent(lines, where, line, record)
    elif used is not None:
        _check_used(lines, where, limits, line, record)
    elif not at_limit:
        raise lines.wrong(f"{where}: forfeit: seat {seat} has {faults[seat]} faults of {limits.faults}")


def _check_absent(lines: Lines, where: str, line: SessionLine, record: Mapping[str, Any]) -> None:
    """Check which of the absent bots forfeits; nobody has decided anything in the deal."""
    absent: list[int] = record["absent"]
    if absent != sorted(set(absent)):
        raise lines.wrong(f"{where}: absent: the seats are not in order")
    positions = sorted(line.seating[seat] for seat in absent)
    forfeiter = positions[line.session % len(positions)]
    lines.same(f"{where}: forfeit", record["forfeit"], line.seating.index(forfeiter))
    if record.get("faults") or record.get("answers") or set(record.get("ms", "").split()) - {"-"}:
        raise lines.wrong(f"{where}: absent: the deal was being played already")


def _check_used(
    lines: Lines, where: str, limits: LimitsLine, line: SessionLine, record: Mapping[str, Any]
) -> None:
    if not limits.match_seconds:
        raise lines.wrong(f"{where}: used_ms: matches have no time limit")
    used = _by_position(line, record["used_ms"])
    lines.same(f"{where}: forfeit", record["forfeit"], line.seating.index(used.index(max(used))))


class Overruns:
    """What the sessions of a match say of its time that was up, and what the bots thought in its deals."""

    def __init__(self, lines: Lines, head: Head, match: MatchPart) -> None:
        self._lines = lines
        self._limits = head.part.limits
        self._match = match
        self._used: list[list[int]] = []
        """For each session that was forfeited for it, what each bot had used, by place at the table."""
        self._least = [0] * len(match.bots)
        """What the bots thought in the last attempts at these sessions."""
        self._most = [0] * len(match.bots)
        """What the bots thought in all sessions."""

    def add(self, line: SessionLine, records: Sequence[Mapping[str, Any]]) -> None:
        """Note a session."""
        overran = "used_ms" in records[-1]
        if overran:
            self._used.append(_by_position(line, records[-1]["used_ms"]))
        for record in records:
            last = overran and record.get("attempt", 1) == line.attempts
            for seat, ms in _decisions(record):
                position = line.seating[seat]
                self._most[position] += ms + 1  # which were rounded
                if last:
                    self._least[position] += max(0, ms - 1)

    def check(self) -> None:
        """Check that what was used is what the deals say, but for decisions owed. Raise Difference."""
        for used in self._used:
            self._lines.same("used_ms of the match's sessions", used, self._used[0])
        whole = self._match.state == "done" and all(one.attempts == 1 for one in self._match.sessions)
        limits = self._limits
        owed = len(self._used) * (limits.decision_ms + limits.credit_ms + GRACE_MS)
        for position, ms in enumerate(self._used[0] if self._used else ()):
            if ms < self._least[position] or (whole and ms > self._most[position] + owed):
                bot = self._match.bots[position]
                raise self._lines.wrong(f"used_ms: the deals do not say that {bot} had used {ms} ms")


def _by_position(line: SessionLine, seats: Sequence[int]) -> list[int]:
    """Return values by place at the table of values by seat."""
    return [seats[line.seating.index(position)] for position in range(len(seats))]


def _decisions(record: Mapping[str, Any]) -> list[tuple[int, int]]:
    """Return for each decision of a deal its seat, and the milliseconds that it took."""
    actions, times = record["actions"], record.get("ms", "").split()
    found = [(int(action[0]), int(ms)) for action, ms in zip(actions, times, strict=False) if ms != "-"]
    found += [(answer["seat"], answer["ms"]) for answer in record.get("answers", ())]
    last = [one for one in record.get("faults", ()) if one["action"] == len(actions) and "turn" not in one]
    return found + [(fault["seat"], fault.get("ms", 0)) for fault in last]
