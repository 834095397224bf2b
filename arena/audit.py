"""The audit log: who changed what, and when."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import col, or_, select

from arena.actors import Actor, Role, Who
from arena.models import AuditEntry
from arena.storage import Storage, Transaction
from arena.unknown import unknown


@dataclass(frozen=True, slots=True)
class Change:
    """A change as it is shown."""

    at: datetime
    actor: Who
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


def list_changes(
    storage: Storage, actor: Actor, *, subject: str | None = None, limit: int = 100
) -> Sequence[Change]:
    """Return the latest changes, newest first: all, or those of one subject.

    ``owner/bot`` includes all versions of the bot. Raise NotAllowed; UnknownError if there are no changes.
    """
    actor.require(Role.OPERATOR, "see who changed what")
    latest = select(AuditEntry).order_by(col(AuditEntry.id).desc()).limit(limit)
    if subject is not None:
        of_it = col(AuditEntry.subject) == subject
        versions = col(AuditEntry.subject).startswith(f"{subject}@", autoescape=True)
        latest = latest.where(or_(of_it, versions) if "/" in subject else of_it)
    with storage.read() as tx:
        found = [change_of(row) for row in tx.exec(latest)]
        if subject is not None and not found:
            raise unknown(tx, "change of", subject, col(AuditEntry.subject))
        return found


def change_of(row: AuditEntry) -> Change:
    """Return a change as it is shown."""
    return Change(row.at, Who(row.role, row.account), row.action, row.subject, row.details)
