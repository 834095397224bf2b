"""The audit: who changed what, and when."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import col, select

from arena.actors import Actor, Role, Who
from arena.models import AuditEntry
from arena.storage import Storage, Transaction


@dataclass(frozen=True, slots=True)
class Change:
    """A change as it is shown."""

    at: datetime
    actor: Who
    action: str
    """As ``tournament.cancel``."""
    subject: str
    """The name of what it was done to."""
    details: dict[str, object]


def record(
    tx: Transaction, actor: Actor, action: str, subject: str, now: datetime, **details: object
) -> None:
    """Note a change in the transaction that makes it; ``details`` are plain values, and no secrets."""
    row = AuditEntry(
        at=now, role=actor.role, account=actor.account, action=action, subject=subject, details=details
    )
    tx.add(row)


def list_changes(
    storage: Storage, actor: Actor, *, subject: str | None = None, limit: int = 100
) -> Sequence[Change]:
    """Return the latest changes, newest first: all, or those of one subject. Raise NotAllowed."""
    actor.require(Role.OPERATOR, "see who changed what")
    latest = select(AuditEntry).order_by(col(AuditEntry.id).desc()).limit(limit)
    if subject is not None:
        latest = latest.where(AuditEntry.subject == subject)
    with storage.read() as tx:
        return [change_of(row) for row in tx.exec(latest)]


def change_of(row: AuditEntry) -> Change:
    """Return a change as it is shown."""
    return Change(row.at, Who(row.role, row.account), row.action, row.subject, row.details)
