"""The audit log: who changed what, and when."""

from dataclasses import dataclass
from datetime import datetime

from arena.actors import Actor, Who
from arena.store.models import AuditEntry
from arena.store.storage import Transaction


@dataclass(frozen=True, slots=True)
class Change:
    """A change as it is shown."""

    at: datetime
    actor: Who
    """Who did it."""
    action: str
    """As ``tournament.cancel``."""
    subject: str
    """The name of the object that was changed."""
    details: dict[str, object]


def record(
    tx: Transaction, actor: Actor, action: str, subject: str, now: datetime, **details: object
) -> None:
    """Record a change in the transaction that makes it; ``details`` are plain values, and never secrets."""
    row = AuditEntry(
        at=now, role=actor.role, account=actor.account, action=action, subject=subject, details=details
    )
    tx.add(row)


def change_of(row: AuditEntry) -> Change:
    """Return a change as it is shown."""
    return Change(row.at, Who(row.role, row.account), row.action, row.subject, row.details)
