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
    """The role in which the actor asked."""
    account: str
    """The actor's account; empty if there is none."""
    action: str
    """What was done, as ``tournament.cancel``."""
    subject: str
    """The name of the object that was changed."""
    details: dict[str, object] = Field(sa_type=JSON)
    """Further details, never a secret."""
