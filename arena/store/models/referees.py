"""Referees that have been started, and the history of the database in which they play."""

from datetime import datetime
from typing import ClassVar

from sqlmodel import Field, SQLModel


class ArenaKey(SQLModel, table=True):
    """The public half of a key of the arena's own."""

    __tablename__: ClassVar[str] = "arena_keys"
    DECISIONS: ClassVar[str] = "decisions"
    """The name of the one that signs organisers' decisions."""

    name: str = Field(primary_key=True, max_length=20)
    key: str = Field(max_length=64)
    """The public key, in hexadecimal digits."""
    since: datetime
    """When it was registered."""


class RefereeKey(SQLModel, table=True):
    """The key with which a referee signs the results of sessions."""

    __tablename__: ClassVar[str] = "referee_keys"

    referee: str = Field(primary_key=True, max_length=255)
    """The referee's name."""
    key: str = Field(max_length=64)
    """Its public key, in hexadecimal digits."""
    since: datetime
    """When it was first started with this key."""


class DatabaseLineage(SQLModel, table=True):
    """The history that the database had when attempts at sessions were last begun; one row."""

    __tablename__: ClassVar[str] = "database_lineage"

    id: int = Field(primary_key=True)
    lineage: str = Field(max_length=64)
    """What tells it from other histories (``arena.play.matches.attempts``); empty if none has begun, or the
    database does not say it."""


class Process(SQLModel, table=True):
    """A process of the arena that uses the database; it writes its row now and then, while it runs."""

    __tablename__: ClassVar[str] = "processes"

    name: str = Field(primary_key=True)
    """What it is, its host and its number there."""
    version: str
    """Version, commit and build that run."""
    schema_name: str
    """The schema that it needs (``arena.store.schema.fingerprint``)."""
    ahead_seconds: float
    """By how much its host's clock is ahead of the database's."""
    seen_at: datetime
    """When it wrote this, by the database's clock."""
