"""Who changed what."""

from datetime import datetime
from typing import ClassVar

from sqlalchemy import JSON, Index
from sqlmodel import Field, SQLModel

from arena.actors import Role
from arena.models.columns import text_of


class AuditEntry(SQLModel, table=True):
    """A change that somebody asked for, written in the transaction that made it; it never changes."""

    __tablename__: ClassVar[str] = "audit"
    __table_args__ = (Index(None, "subject", "id"),)

    id: int = Field(default=None, primary_key=True)
    at: datetime
    """When."""
    role: Role = Field(sa_type=text_of(Role))
    """What the actor was to the arena."""
    account: str
    """Whose account it was; empty for anybody."""
    action: str
    """What was done, as ``tournament.cancel``."""
    subject: str
    """The name of what it was done to."""
    details: dict[str, object] = Field(sa_type=JSON)
    """What else there is to know, never a secret."""
