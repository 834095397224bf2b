"""Owners, their bots and the versions of these; other tokens; the bots' log."""

from datetime import date, datetime
from typing import ClassVar

from sqlalchemy import JSON, Index, UniqueConstraint
from sqlmodel import Field, SQLModel

from arena.models.columns import text_of
from referee.matches.auth import Scope
from referee.matches.journal import EntryKind


class Owner(SQLModel, table=True):
    """The account behind bots."""

    __tablename__: ClassVar[str] = "owners"

    id: int = Field(default=None, primary_key=True)
    """Assigned by the database when the row is stored, in every table."""
    name: str = Field(unique=True)
    """Unique; never reused."""
    created_at: datetime
    """When its first bot was registered."""


class Bot(SQLModel, table=True):
    """A named program with an owner."""

    __tablename__: ClassVar[str] = "bots"
    __table_args__ = (UniqueConstraint("owner_id", "name"),)

    id: int = Field(default=None, primary_key=True)
    owner_id: int = Field(foreign_key="owners.id")
    """The owner."""
    name: str
    """Unique for its owner."""
    created_at: datetime
    """When its first version was registered."""
    language: str | None = None
    """What it is written in, as its author says; NULL: not told. Versions keep what was said of them."""
    link: str | None = None
    """Where there is more about it, http or https; NULL: not told."""


class BotVersion(SQLModel, table=True):
    """An immutable release of a bot: it plays and is rated."""

    __tablename__: ClassVar[str] = "bot_versions"
    __table_args__ = (UniqueConstraint("bot_id", "number"),)

    id: int = Field(default=None, primary_key=True)
    bot_id: int = Field(foreign_key="bots.id")
    """The bot that this is a release of."""
    number: int
    """Number of the version, from 1 for each bot."""
    name: str = Field(unique=True)
    """The public name, ``owner/bot@number``."""
    token_hash: str = Field(unique=True)
    """SHA-256 of its token in hexadecimal; the token itself is stored nowhere."""
    token_number: int = 1
    """Counts the tokens that it had; only the last is good."""
    expires_at: datetime | None = None
    """When its token expires; NULL: never."""
    last_used_on: date | None = None
    """The day (UTC) on which its tokens were last used; NULL: never."""
    created_at: datetime
    """When it was registered."""
    revoked_at: datetime | None = None
    """When its token was revoked; NULL: the token is valid."""
    language: str | None = None
    """What it is written in, as its author says; NULL: unknown."""
    check_passed_at: datetime | None = None
    """When it passed the latest check; NULL: never checked, or the latest check failed."""
    check_report: dict[str, object] | None = Field(default=None, sa_type=JSON(none_as_null=True))
    """What the latest check found; NULL: never checked."""


class Token(SQLModel, table=True):
    """A token with which anyone but a bot authenticates to a referee."""

    __tablename__: ClassVar[str] = "tokens"

    id: int = Field(default=None, primary_key=True)
    name: str = Field(unique=True)
    """Its name for people; never reused."""
    scope: Scope = Field(sa_type=text_of(Scope))
    """What it allows."""
    token_hash: str = Field(unique=True)
    """SHA-256 of the token in hexadecimal; the token itself is stored nowhere."""
    expires_at: datetime | None = None
    """When it expires; NULL: never."""
    last_used_on: date | None = None
    """The day (UTC) on which it was last used; NULL: never."""
    created_at: datetime
    """When it was made."""
    revoked_at: datetime | None = None
    """When it was revoked; NULL: it is valid."""


class BotLogEntry(SQLModel, table=True):
    """A line of the log that a bot's author may read: connections, faults, notices. Old ones are deleted."""

    __tablename__: ClassVar[str] = "bot_log"
    __table_args__ = (Index(None, "version_id", "id"),)

    id: int = Field(default=None, primary_key=True)
    version_id: int = Field(foreign_key="bot_versions.id")
    """The bot version it is about."""
    at: datetime
    """When it happened, by the referee's clock."""
    referee: str
    """Address of the referee that saw it."""
    kind: EntryKind = Field(sa_type=text_of(EntryKind))
    """What it is about."""
    code: str
    """Kind of the fault, code of the notice, or why a connection ended; may be empty."""
    text: str
    """The reason in words."""
    session_id: str
    """``match/number``; empty where it is not about a session."""
    details: dict[str, object] = Field(sa_type=JSON)
    """For a fault the position, and what was answered and played."""
