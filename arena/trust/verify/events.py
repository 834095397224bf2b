"""The chain of a tournament's events, and what follows from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from arena.core.canonical import decision_digest
from arena.core.corrections import Correction, CorrectionError, disqualified_by, read_correction
from arena.core.formats import FORMATS
from arena.core.parts import RESTORED_ABOVE, EventPart, PartError
from arena.trust.exports.lines import Export, check_details
from arena.trust.verify.head import Head, check_time
from arena.trust.verify.report import Report, note_attempt
from arena.trust.verify.signatures import note_added_key
from referee.matches.match import Signed
from referee.signing import is_valid

AFTER: Mapping[str, Mapping[str, str]] = {
    "started": {"created": "running", "failed": "running"},
    "paused": {"running": "paused"},
    "resumed": {"paused": "running"},
    "refused": {"running": "failed"},
    "finished": {"running": "finished"},
    "cancelled": dict.fromkeys(("created", "running", "paused", "failed"), "cancelled"),
}
"""The events that change a tournament's state, each with the new state for every state that it can follow."""

DECISIONS = ("corrected", "confirmed")
"""Events after the end, which the arena signs."""

OPEN = ("created", "running", "paused", "failed")
"""States of a tournament that has not ended."""


@dataclass(slots=True)
class Summary:
    """A tournament according to its events."""

    state: str = "created"
    stopped: int | None = None
    """The number of rounds after which it was to end; None if it was not stopped."""
    corrections: list[Correction] = field(default_factory=list)
    """The organiser's corrections of the standings after the end."""
    confirmed: bool = False
    """Whether the organiser confirmed the results."""
    void: dict[tuple[int, int], dict[int, int]] = field(default_factory=dict)
    """By round and table, the last void attempt at each session that has any."""
    restored: list[int] = field(default_factory=list)
    """For each restored backup, the number above which later attempts are numbered."""
    named: list[tuple[int, int]] = field(default_factory=list)
    """Rounds and tables of matches that were refused, or lost deals."""


@dataclass(slots=True)
class _Stay:
    """The rounds that an entrant plays, according to the head and the events."""

    bot: str
    first: int
    """Its first round."""
    last: int | None = None
    """The round after which it withdrew; None if it did not."""
    absences: tuple[tuple[int, int], ...] = ()
    """For each absence, the first and the last round that it missed before it entered again."""


def check_events(lines: Export, report: Report, head: Head) -> Summary:
    """Read the events; check that each may follow the one before, and that the entrants agree with them.

    Raise Difference.
    """
    summary, previous, number = Summary(), head.part.digest, 0
    now = check_time(lines, "locked_at", head.part.locked_at)
    stays = [_Stay(entrant.bot, 1, 0 if entrant.withdrawn else None) for entrant in head.part.entrants]
    while lines.next_is(EventPart):
        event, number = lines.take_part(EventPart), number + 1
        _check_details(lines, event)
        lines.same("number", event.number, number)
        if event.previous != previous:
            raise lines.wrong("previous: is not the digest of what came before: the chain is broken")
        now = check_time(lines, "at", event.at, now)
        _check_state(lines, head, summary, event)
        if event.event == "entered":
            _enter(lines, event, stays)
        elif event.event == "withdrew":
            _withdraw(lines, event, stays)
        elif event.event == "key_added":
            note_added_key(lines, report, event)
        elif event.event == "stopped":
            summary.stopped = event.details["rounds"]
        elif event.event == "void":
            _note_void(lines, report, head, summary, event)
        elif event.event == "lost":
            _check_lost(lines, head, event)
            summary.named.append(_place(event))
        elif event.event == "refused":
            summary.named.append(_place(event))
        elif event.event == "restored":
            _note_restored(lines, summary, event)
        elif event.event in DECISIONS:
            _note_decision(lines, report, head, summary, event, stays)
        lines.close(event)
        previous = event.digest
    _check_entrants(lines, head, stays)
    if summary.state != head.tournament.state:
        raise lines.wrong(
            f"the events leave the tournament {summary.state}, but it is said to be {head.tournament.state}"
        )
    report.restored = summary.restored
    report.provisional = head.tournament.confirm and not summary.confirmed
    return summary


def _check_details(lines: Export, event: EventPart) -> None:
    try:
        check_details(event)
    except PartError as error:
        raise lines.wrong(error) from None


def _check_state(lines: Export, head: Head, summary: Summary, event: EventPart) -> None:
    """Check that an event is possible in the tournament's state, and update the state."""
    to = AFTER.get(event.event)
    if to is not None:
        if summary.state not in to:
            raise lines.wrong(f"event: a tournament that is {summary.state} cannot be {event.event}")
        if event.event == "started":
            first = summary.state == "created"
            value = head.tournament.beacon_value if first else None
            lines.same("details.beacon_value", event.details.get("beacon_value"), value)
            if first:
                lines.same("at", event.at, head.tournament.started_at)
        summary.state = to[summary.state]
        if summary.state not in OPEN:
            lines.same("at", event.at, head.tournament.finished_at)
        if summary.state == "finished":
            lines.same("details.rounds", event.details["rounds"], head.tournament.rounds)
    elif event.event in DECISIONS:
        if summary.state in OPEN or summary.confirmed:
            state = "confirmed" if summary.confirmed else summary.state
            raise lines.wrong(f"event: {event.event} in a tournament that is {state}")
        if event.event == "confirmed" and not head.tournament.confirm:
            raise lines.wrong("event: confirmed in a tournament whose results were not provisional")
    elif summary.state not in OPEN or (event.event in ("void", "lost") and summary.state == "created"):
        raise lines.wrong(f"event: {event.event} in a tournament that is {summary.state}")
    elif event.event == "entered" and not FORMATS[head.part.pairing].late_entry:
        raise lines.wrong(f"event: late entry is not possible in a {head.part.pairing}")


def _note_decision(
    lines: Export, report: Report, head: Head, summary: Summary, event: EventPart, stays: Sequence[_Stay]
) -> None:
    """Record a decision of the organiser, which the arena signed together with the events before it."""
    signed = Signed(**event.details["signed"])
    if signed.key != head.part.decision_key:
        raise lines.wrong("details.signed.key: is not the decision_key of the head")
    if signed.digest != decision_digest(event.event, event.previous, event.at, event.details):
        raise lines.wrong("details.signed: the arena signed something else")
    if not is_valid(signed):
        raise lines.wrong("details.signed: the signature is not that of the key")
    if event.event == "confirmed":
        summary.confirmed = True
        return
    try:
        correction = read_correction(event.number, event.at, event.details)
    except CorrectionError as error:
        raise lines.wrong(f"details.{error}") from None
    stay = _numbered(lines, stays, correction.entrant)
    lines.same("details.bot", correction.bot, stay.bot)
    out = correction.entrant in disqualified_by(summary.corrections)
    if correction.correction != "points" and out == (correction.correction == "disqualified"):
        raise lines.wrong(f"details.correction: {stay.bot} {'is' if out else 'is not'} disqualified")
    summary.corrections.append(correction)
    report.corrections.append(correction)


def _note_void(lines: Export, report: Report, head: Head, summary: Summary, event: EventPart) -> None:
    """Count void attempts, which must be numbered consecutively for each session.

    After a backup was restored, they continue above the number that the event gives.
    """
    above = max(summary.restored, default=0)
    void = summary.void.setdefault(_place(event), {})
    for session, attempt in _by_session(lines, head, event, "attempts"):
        lines.same(f"details.attempts.{session}", attempt, max(void.get(session, 0), above) + 1)
        void[session] = attempt
        note_attempt(report, _place(event)[0], attempt)


def _note_restored(lines: Export, summary: Summary, event: EventPart) -> None:
    """Record the number above which attempts begin after a backup was restored; it grows each time."""
    above = event.details["attempts_above"]
    before = max(summary.restored, default=RESTORED_ABOVE - 1)
    if above <= before:
        raise lines.wrong(f"details.attempts_above: is {above}, which is not above {before}")
    summary.restored.append(above)


def _check_lost(lines: Export, head: Head, event: EventPart) -> None:
    """Check an event about unreadable deals, which names the last readable deal of each session."""
    for session, after in _by_session(lines, head, event, "after"):
        if after >= head.deals:
            raise lines.wrong(f"details.after.{session}: is {after}, but a session has {head.deals} deals")


def _place(event: EventPart) -> tuple[int, int]:
    return event.details["round"], event.details["table"]


def _by_session(lines: Export, head: Head, event: EventPart, name: str) -> list[tuple[int, Any]]:
    """Return what an event of a match says about each of its sessions."""
    by_session = event.details[name]
    if not by_session:
        raise lines.wrong(f"details.{name}: names no session")
    numbers = {str(number): number for number in range(1, head.part.sessions + 1)}
    for session in by_session:
        if session not in numbers:
            raise lines.wrong(
                f"details.{name}: {session!r} is not one of the {len(numbers)} sessions of a match"
            )
    return [(numbers[session], value) for session, value in by_session.items()]


def _enter(lines: Export, event: EventPart, stays: list[_Stay]) -> None:
    """Record that an entrant entered: a new one, or one that had withdrawn."""
    number, first = event.details["entrant"], event.details["first_round"]
    bot = event.details.get("bot")
    if number == len(stays) + 1:
        stays.append(_Stay(str(bot), first))
        return
    stay = _numbered(lines, stays, number)
    if stay.last is None or stay.bot != bot:
        raise lines.wrong(f"details.entrant: {number} is {stay.bot}, which cannot enter as {bot}")
    if first <= stay.last:
        raise lines.wrong(f"details.first_round: is {first}, and it withdrew after round {stay.last}")
    if first > stay.last + 1:
        stay.absences += ((stay.last + 1, first - 1),)
    stay.last = None


def _withdraw(lines: Export, event: EventPart, stays: Sequence[_Stay]) -> None:
    stay = _numbered(lines, stays, event.details["entrant"])
    if stay.last is not None:
        raise lines.wrong(f"details.entrant: {stay.bot} has withdrawn already")
    stay.last = event.details["last_round"]


def _numbered(lines: Export, stays: Sequence[_Stay], number: int) -> _Stay:
    if not 1 <= number <= len(stays):
        raise lines.wrong(f"details.entrant: entrant {number} does not exist yet")
    return stays[number - 1]


def _check_entrants(lines: Export, head: Head, stays: Sequence[_Stay]) -> None:
    """Check that the entrants, and when they came and left, agree with the head and the events."""
    expected = [(stay.bot, stay.first) for stay in stays]
    listed_entries = [(listed.bot, listed.entered_at_round) for listed in head.tournament.entrants]
    if listed_entries != expected:
        at = next(
            (
                at
                for at, (listed, other) in enumerate(zip(listed_entries, expected, strict=False))
                if listed != other
            ),
            min(len(listed_entries), len(expected)),
        )
        raise lines.wrong(f"entrants.{at}: does not match the head and the events")
    for at, (entrant, stay) in enumerate(zip(head.tournament.entrants, stays, strict=True)):
        for name, value in (("withdrawn_after", stay.last), ("absences", stay.absences)):
            if getattr(entrant, name) != value:
                raise lines.wrong(f"entrants.{at}.{name}: does not match the events")
