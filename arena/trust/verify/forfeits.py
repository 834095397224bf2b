"""Forfeits in an export, because of faults, absence, or the time limit of a match; and times of decisions."""

from collections.abc import Mapping, Sequence, Set
from typing import Any

from arena.core.parts import LimitsLine, MatchPart, SessionLine
from arena.trust.exports.lines import Difference, Export
from arena.trust.verify.head import Head
from referee.records.replay import is_played_for

GRACE_MS = 1000
"""By how much a decision may have exceeded its limit when it was read, or the time of a match was up."""


class Forfeits:
    """The forfeits of one session, deal by deal: each needs a reason, and has the agreed consequence."""

    def __init__(self, lines: Export, limits: LimitsLine, line: SessionLine) -> None:
        self._lines = lines
        self._limits = limits
        self._line = line
        self._played_for: list[dict[str, Any]] = []
        """``played_for`` of the latest record."""
        self._ended_by: set[int] = set()
        self._attempt = 0
        """The attempt that dealt the latest deal; 0 before the first."""
        self.faults = [0] * len(line.seating)
        """Faults by seat in all deals so far."""

    @property
    def seats(self) -> list[int]:
        """Return all seats whose bots have forfeited the session, in order."""
        return sorted({forfeit["seat"] for forfeit in self._played_for} | self._ended_by)

    def add(self, where: str, record: Mapping[str, Any]) -> None:
        """Check the next deal. Raise Difference."""
        gone = {forfeit["seat"] for forfeit in self._played_for}
        new = self._new(where, record)
        gone |= {forfeit["seat"] for forfeit in new if forfeit["why"] == "absent"}
        for at in range(1, len(record.get("faults", ())) + 1):
            self._add_fault(where, record, at, gone, new)
        for forfeit in new:
            if forfeit["seat"] not in gone:
                raise self._wrong_faults(where, "played_for", forfeit["seat"])
        _check_untimed(self._lines, where, record)
        self._check_end(where, record, gone)
        self._attempt = record.get("attempt", 1)

    def _new(self, where: str, record: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the seats that are played for from this deal on, and remember all that are."""
        lines, limits = self._lines, self._limits
        forfeits, earlier = list(record.get("played_for", ())), len(self._played_for)
        lines.same(f"{where}: played_for: since earlier deals", forfeits[:earlier], self._played_for)
        first = record.get("attempt", 1) != self._attempt
        for forfeit in forfeits[earlier:]:
            place = f"{where}: played_for: seat {forfeit['seat']}"
            lines.same(f"{place}: by", forfeit["by"], limits.on_forfeit)
            lines.same(f"{place}: deal", forfeit["deal"], record["deal"])
            if forfeit["why"] == "absent" and (forfeit["action"] or not first):
                raise lines.wrong(f"{place}: absent: the session was being played already")
        if len(forfeits) == len(self._line.seating):
            raise lines.wrong(f"{where}: played_for: no bot is left")
        self._played_for = forfeits
        return forfeits[earlier:]

    def _add_fault(
        self, where: str, record: Mapping[str, Any], at: int, gone: set[int], new: list[dict[str, Any]]
    ) -> None:
        """Count a fault, and check that a seat forfeits exactly when it reaches the limit."""
        faults, limit = record["faults"], self._limits.faults
        seat, action = faults[at - 1]["seat"], faults[at - 1]["action"]
        if seat in gone:
            raise self._lines.wrong(f"{where}: faults: seat {seat} has forfeited, and is not asked any more")
        self.faults[seat] += 1
        if self.faults[seat] < limit:
            return
        if any(forfeit["seat"] == seat and forfeit["action"] == action for forfeit in new):
            gone.add(seat)
        elif at < len(faults) or record.get("forfeit") != seat:
            raise self._lines.wrong(f"{where}: faults: seat {seat} has {limit} and does not forfeit")

    def _check_end(self, where: str, record: Mapping[str, Any], gone: Set[int]) -> None:
        """Check that the session ends here only by the forfeit of the right seat, for exactly one reason."""
        lines = self._lines
        seat, absent, used = record.get("forfeit"), record.get("absent"), record.get("used_ms")
        if seat is None:
            if absent is not None or used is not None:
                raise lines.wrong(f"{where}: absent, used_ms: present, but no bot forfeits")
            return
        at_limit = seat not in gone and self.faults[seat] >= self._limits.faults
        begun = used is None or absent != [seat]  # else the time was up before
        if at_limit + (absent is not None and begun) + (used is not None) > 1:
            raise lines.wrong(f"{where}: forfeit: has more than one reason")
        self._ended_by = {seat, *(absent or ())}
        if absent is not None:
            _check_absent(lines, where, self._line, record)
        if used is not None:
            _check_used(lines, where, self._limits, self._line, record)
        if not (at_limit or absent or used):
            raise self._wrong_faults(where, "forfeit", seat)
        timed = used is not None or (absent is not None and self._limits.match_seconds > 0)
        everyone = len(gone | self._ended_by) == len(self._line.seating)
        if self._limits.on_forfeit != "end_session" and not (timed or everyone):
            raise lines.wrong(f"{where}: forfeit: the session should have gone on without seat {seat}")

    def _wrong_faults(self, where: str, field: str, seat: int) -> Difference:
        limit = self._limits.faults
        return self._lines.wrong(f"{where}: {field}: seat {seat} has {self.faults[seat]} faults of {limit}")


def _check_untimed(lines: Export, where: str, record: Mapping[str, Any]) -> None:
    """Check that nobody was asked for a seat that is played for."""
    played_for = {end["seat"]: end for end in record.get("played_for", ())}
    if not played_for:
        return
    faults, times = record.get("faults", ()), record.get("ms", "").split()
    own = [
        index
        for index, (action, ms) in enumerate(zip(record["actions"], times, strict=False))
        if ms != "-"
        and (end := played_for.get(int(action[0])))
        and is_played_for(end, record["deal"], index, faults)
    ]
    answered = [
        answer["action"]
        for answer in record.get("answers", ())
        if (end := played_for.get(answer["seat"])) and _is_after(record["deal"], answer["action"], end)
    ]
    if own or answered:
        raise lines.wrong(f"{where}: played_for: a seat was asked after its forfeit")


def _is_after(deal: int, action: int, forfeit: Mapping[str, Any]) -> bool:
    """Return whether an exchange or a bomb window before an action comes after a forfeit.

    A bot that forfeits by a fault has answered in the window before the action at which it made the fault, or
    made it there; one that is absent has answered nowhere.
    """
    return (deal, action) > (forfeit["deal"], forfeit["action"]) or forfeit["why"] == "absent"


def check_times(
    lines: Export, where: str, record: Mapping[str, Any], limits: LimitsLine, choices: Sequence[bool]
) -> None:
    """Check that each decision has a time, and no more than it may, and that nothing else has any.

    ``choices`` says for each action whether its seat had several answers. Raise Difference.
    """
    faults = record.get("faults", ())
    ends = {end["seat"]: end for end in record.get("played_for", ())}
    if "ms" not in record:
        raise lines.wrong(f"{where}: ms: is missing")
    times, credited = record["ms"].split(), record.get("credit_ms", "").split()
    idle = set[tuple[int, int]]()
    for index, (action, ms, choice) in enumerate(zip(record["actions"], times, choices, strict=True)):
        place, seat = f"{where}: ms.{index}", int(action[0])
        end = ends.get(seat)
        in_turn = action[1] != "!" and not (end and is_played_for(end, record["deal"], index, faults))
        asked = in_turn and (choice or limits.ask_forced)
        if asked != (ms != "-"):
            raise lines.wrong(f"{place}: is {ms}, but the bot was {'' if asked else 'not '}asked")
        if not asked:
            idle.add((index, seat))
        else:
            credit = int(credited[index]) if credited else 0
            failed = any(fault["action"] == index and fault["seat"] == seat for fault in faults)
            _check_time(lines, place, int(ms), credit, limits, failed=failed)
    for number, answer in enumerate(record.get("answers", ())):
        failed = any(
            all(fault.get(name) == answer[name] for name in ("action", "seat", "turn")) for fault in faults
        )
        place = f"{where}: answers.{number}"
        _check_time(lines, place, answer["ms"], answer["credit_ms"], limits, failed=failed)
    for number, fault in enumerate(faults):
        place = f"{where}: faults.{number}"
        if "turn" not in fault and (fault["action"], fault["seat"]) in idle:
            raise lines.wrong(f"{place}: the bot was not asked at action {fault['action']}")
        _check_time(lines, place, 0, fault.get("credit_ms", 0), limits, failed=True)


def _check_time(lines: Export, place: str, ms: int, credit: int, limits: LimitsLine, *, failed: bool) -> None:
    """Check the time and the credit of a decision; only one that ``failed`` may have taken longer."""
    if credit > limits.credit_ms:
        raise lines.wrong(f"{place}: credit_ms is {credit}, and the limit {limits.credit_ms}")
    if not failed and ms > limits.decision_ms + credit + GRACE_MS:
        raise lines.wrong(
            f"{place}: is {ms}, above the limit of {limits.decision_ms} and the credit of {credit}, "
            "and no fault is recorded"
        )


def _check_absent(lines: Export, where: str, line: SessionLine, record: Mapping[str, Any]) -> None:
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
    lines: Export, where: str, limits: LimitsLine, line: SessionLine, record: Mapping[str, Any]
) -> None:
    if not limits.match_seconds:
        raise lines.wrong(f"{where}: used_ms: matches have no time limit")
    used = _by_position(line, record["used_ms"])
    lines.same(f"{where}: forfeit", record["forfeit"], line.seating.index(used.index(max(used))))


class Overruns:
    """What the sessions of a match say about exceeding its time limit, and the bots' thinking times."""

    def __init__(self, lines: Export, head: Head, match: MatchPart) -> None:
        self._lines = lines
        self._limits = head.part.limits
        self._match = match
        self._used: list[tuple[Sequence[int], Sequence[int]]] = []
        """For each session forfeited for it, by place at the table: the time that each bot had used, and how
        long it thought in the last attempt at this session. Each attempt at the match has a time of its own,
        and nothing says which sessions one of them played."""
        self._most = [0] * len(match.bots)
        """The bots' thinking times in all sessions."""

    def add(self, line: SessionLine, records: Sequence[Mapping[str, Any]]) -> None:
        """Add a session."""
        thought = [0] * len(self._most)
        for record in records:
            for seat, ms in _decisions(record):
                position = line.seating[seat]
                self._most[position] += ms + 1  # the times were rounded
                if record.get("attempt", 1) == line.attempts:
                    thought[position] += max(0, ms - 1)
        if "used_ms" in records[-1]:
            self._used.append((_by_position(line, records[-1]["used_ms"]), thought))

    def check(self) -> None:
        """Check that the times used agree with the deals, except for pending decisions. Raise Difference."""
        whole = self._match.state == "done" and all(session.attempts == 1 for session in self._match.sessions)
        limits = self._limits
        owed = len(self._used) * (limits.decision_ms + limits.credit_ms + GRACE_MS)
        for used, thought in self._used:
            for bot, ms, least, most in zip(self._match.bots, used, thought, self._most, strict=True):
                if ms < least or (whole and ms > most + owed):
                    raise self._lines.wrong(f"used_ms: the deals do not say that {bot} had used {ms} ms")


def _by_position(line: SessionLine, seats: Sequence[int]) -> list[int]:
    """Convert values by seat into values by place at the table."""
    return [seats[line.seating.index(position)] for position in range(len(seats))]


def _decisions(record: Mapping[str, Any]) -> list[tuple[int, int]]:
    """Return the seat of each decision in a deal, and the milliseconds that it took."""
    actions, times = record["actions"], record.get("ms", "").split()
    times_of = [(int(action[0]), int(ms)) for action, ms in zip(actions, times, strict=False) if ms != "-"]
    times_of += [(answer["seat"], answer["ms"]) for answer in record.get("answers", ())]
    last = [
        fault for fault in record.get("faults", ()) if fault["action"] == len(actions) and "turn" not in fault
    ]
    return times_of + [(fault["seat"], fault.get("ms", 0)) for fault in last]
