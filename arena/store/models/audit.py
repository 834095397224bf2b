"""The audit log: who changed what."""

from datetime import datetime
from typing import ClassVar

from sqlalchemy import JSON, Index
from sqlmodel import Field, SQLModel

from arena.actors import Role
from arena.store.models.columns import BigKey, text_of


class AuditEntry(SQLModel, table=True):
    """A change that somebody requested, written in the transaction that made it; never changed itself."""

    __tablename__: ClassVar[str] = "audit"
    __table_args__ = (Index(None, "subject", "id"),)

    id: int = Field(default=None, primary_key=True, sa_type=BigKey)
    at: datetime
    """When it was made."""
    role: Role = Field(sa_type=text_of(Role))
    """The actor's role at that moment."""
    account: str
    """The actor's account; empty if there is none."""
    action: str
    """What was done, as ``tournament.cancel``."""
    subject: str
    """The name of the object that was changed."""
    details: dict[str, object] = Field(sa_type=JSON)
    """Further details, never secrets."""
