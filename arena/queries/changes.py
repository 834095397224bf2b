"""The audit log in pages: who changed what."""

from dataclasses import dataclass

from sqlalchemy import ColumnElement
from sqlmodel import col, or_, select

from arena.actors import Actor, Role
from arena.core.cursors import make_cursor, read_cursor
from arena.people.audit import Change, change_of
from arena.store.models import AuditEntry
from arena.store.storage import Storage
from arena.store.suggestions import unknown


@dataclass(frozen=True, slots=True)
class Asked:
    """Which changes are wanted."""

    subject: str | None = None
    """Only those of the tournament, league, bot, account or token of this name."""
    account: str | None = None
    """Only those that this account made."""


@dataclass(frozen=True, slots=True)
class ChangePage:
    """Changes, the latest first."""

    entries: tuple[Change, ...]
    next: str | None
    """Cursor of the next page; None if there is none."""


def changes(
    storage: Storage, actor: Actor, asked: Asked, limit: int = 100, cursor: str | None = None
) -> ChangePage:
    """Return a page of changes; ``owner/bot`` includes all versions of the bot.

    Raise NotAllowed, SpecError; UnknownError if there are no changes of the subject.
    """
    actor.require(Role.OPERATOR, "see who changed what")
    wanted = select(AuditEntry).order_by(col(AuditEntry.id).desc()).limit(limit + 1)
    if asked.subject is not None:
        wanted = wanted.where(_is_about(asked.subject))
    if asked.account is not None:
        wanted = wanted.where(AuditEntry.account == asked.account)
    if cursor is not None:
        [before] = read_cursor(asked, cursor, int)
        wanted = wanted.where(col(AuditEntry.id) < before)
    with storage.read() as tx:
        rows = tx.exec(wanted).all()
        if asked.subject is not None and not rows and cursor is None:
            raise unknown(tx, "change of", asked.subject, col(AuditEntry.subject))
    page = rows[:limit]
    following = make_cursor(asked, (page[-1].id,)) if len(rows) > limit else None
    return ChangePage(tuple(map(change_of, page)), following)


def _is_about(subject: str) -> ColumnElement[bool]:
    of_it = col(AuditEntry.subject) == subject
    versions = col(AuditEntry.subject).startswith(f"{subject}@", autoescape=True)
    return or_(of_it, versions) if "/" in subject else of_it
