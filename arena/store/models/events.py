"""Events of a tournament."""

from datetime import datetime
from typing import ClassVar

from sqlalchemy import JSON, UniqueConstraint
from sqlmodel import Field, SQLModel

from arena.store.models.columns import BigKey


class TournamentEvent(SQLModel, table=True):
    """Something that happened after a tournament was locked; in order of number, events form a chain."""

    __tablename__: ClassVar[str] = "tournament_events"
    __table_args__ = (UniqueConstraint("tournament_id", "number"),)

    id: int = Field(default=None, primary_key=True, sa_type=BigKey)
    tournament_id: int = Field(foreign_key="tournaments.id")
    """The tournament."""
    number: int
    """The event's number, from 1."""
    at: datetime
    """When it happened."""
    kind: str = Field(max_length=16)
    """What happened: one of ``arena.core.parts.EventKind``."""
    details: dict[str, object] = Field(sa_type=JSON)
    """Further details, as in exports."""
    digest: str
    """Digest of the event as in exports, which contains the digest of the event before, or of the head."""
