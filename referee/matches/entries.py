"""Log entries of what happened at a table: faults and notices, for the authors of the bots."""

from referee.matches.events import Fault, Notice, SessionInfo
from referee.matches.journal import Entry, EntryKind


def notice_entry(version: int, notice: Notice) -> Entry:
    """Return the log entry for a notice that is not about a session."""
    return Entry(version, EntryKind.NOTICE, notice.code.value, notice.text)


def event_entry(version: int, info: SessionInfo, event: Fault | Notice) -> Entry:
    """Return the log entry for a fault or a notice in a session."""
    if isinstance(event, Notice):
        details: dict[str, object] = {"sequence": event.sequence}
        return Entry(version, EntryKind.NOTICE, event.code.value, event.text, info.session_id, details)
    cards = info.rules.text
    details = {
        "deal": event.deal,
        "action": event.action,
        "sequence": event.sequence,
        "turn": event.stage.value,
        "seat": event.seat,
        "hand": cards(event.hand),
        "to_beat": cards(event.to_beat),
        "answered": cards(event.answered),
        "default": cards(event.default) or "-",
        "faults": event.faults,
        "fault_limit": info.limits.faults,
        "elapsed_ms": event.elapsed_ms,
        "credit_ms": event.credit_ms,
    }
    details |= _attempt(info)
    reason = event.reason
    if event.faults >= info.limits.faults:
        reason += "; with this fault the bot forfeits the session"
    return Entry(version, EntryKind.FAULT, event.kind.value, reason, info.session_id, details)


def forfeit_entry(version: int, info: SessionInfo, code: str, deal: int, reason: str) -> Entry:
    """Return the log entry for a forfeit without a decision, from ``deal`` on."""
    details: dict[str, object] = {"deal": deal} | _attempt(info)
    text = f"{reason}, and forfeits the session"
    return Entry(version, EntryKind.FAULT, code, text, info.session_id, details)


def _attempt(info: SessionInfo) -> dict[str, object]:
    return {"attempt": info.attempt} if info.attempt > 1 else {}
