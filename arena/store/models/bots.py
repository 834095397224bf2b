"""Owners, their bots and bot versions; other tokens; the bots' logs."""

from datetime import date, datetime
from typing import ClassVar

from sqlalchemy import JSON, Index, UniqueConstraint
from sqlmodel import Field, SQLModel

from arena.store.models.columns import Sorted, text_of
from referee.matches.auth import Scope
from referee.matches.journal import EntryKind


class Owner(SQLModel, table=True):
    """The account behind bots."""

    __tablename__: ClassVar[str] = "owners"

    id: int = Field(default=None, primary_key=True)
    """Assigned by the database when the row is stored, in every table."""
    name: str = Field(unique=True, sa_type=Sorted)
    """Unique; never reused."""
    created_at: datetime
    """When its first bot was registered."""


class Bot(SQLModel, table=True):
    """A named program with an owner."""

    __tablename__: ClassVar[str] = "bots"
    __table_args__ = (UniqueConstraint("owner_id", "name"), Index(None, "name"))

    id: int = Field(default=None, primary_key=True)
    owner_id: int = Field(foreign_key="owners.id")
    """The owner."""
    name: str = Field(sa_type=Sorted)
    """Unique within its owner."""
    created_at: datetime
    """When its first version was registered."""
    language: str | None = None
    """What it is written in, according to its author; NULL if unknown. Versions have a
    language of their own."""
    link: str | None = None
    """An http or https link to more about it; NULL if there is none."""
    open_to: list[str] | None = Field(default=None, sa_type=JSON(none_as_null=True))
    """Accounts of the organisers who may enter it in rated tournaments, or ``*`` for all; NULL if nobody."""


class BotVersion(SQLModel, table=True):
    """An immutable release of a bot: it plays and is rated."""

    __tablename__: ClassVar[str] = "bot_versions"
    __table_args__ = (UniqueConstraint("bot_id", "number"),)

    id: int = Field(default=None, primary_key=True)
    bot_id: int = Field(foreign_key="bots.id")
    """The bot of which this is a release."""
    number: int
    """Number of the version, from 1 for each bot."""
    name: str = Field(unique=True)
    """The public name, ``owner/bot@number``."""
    token_hash: str = Field(unique=True)
    """SHA-256 of its token in hexadecimal; the token itself is stored nowhere."""
    token_number: int = 1
    """How many tokens it has had; only the latest is valid."""
    expires_at: datetime | None = None
    """When its token expires; NULL if never."""
    last_used_on: date | None = None
    """The day (UTC) on which its tokens were last used; NULL if never."""
    created_at: datetime
    """When it was registered."""
    revoked_at: datetime | None = None
    """When its token was revoked; NULL if the token is valid."""
    language: str | None = None
    """What it is written in, according to its author; NULL if unknown."""
    checked_at: datetime | None = None
    """When the result of its latest check was stored; NULL if never checked."""
    check_passed_at: datetime | None = None
    """When it passed the latest check; NULL if never checked, or the latest check failed."""
    check_report: dict[str, object] | None = Field(default=None, sa_type=JSON(none_as_null=True))
    """What the latest check found; NULL if never checked."""


class Token(SQLModel, table=True):
    """A token with which any client but a bot authenticates to a referee."""

    __tablename__: ClassVar[str] = "tokens"

    id: int = Field(default=None, primary_key=True)
    name: str = Field(unique=True)
    """A name for people to recognise it; never reused."""
    scope: Scope = Field(sa_type=text_of(Scope))
    """What it allows."""
    token_hash: str = Field(unique=True)
    """SHA-256 of the token in hexadecimal; the token itself is stored nowhere."""
    expires_at: datetime | None = None
    """When it expires; NULL if never."""
    last_used_on: date | None = None
    """The day (UTC) on which it was last used; NULL if never."""
    created_at: datetime
    """When it was created."""
    revoked_at: datetime | None = None
    """When it was revoked; NULL if it is valid."""


class BotLogEntry(SQLModel, table=True):
    """An entry of the log for a bot's author: connections, faults, notices. Old ones are deleted."""

    __tablename__: ClassVar[str] = "bot_log"
    __table_args__ = (Index(None, "version_id", "id"),)

    id: int = Field(default=None, primary_key=True)
    version_id: int = Field(foreign_key="bot_versions.id")
    """The bot version that it concerns."""
    at: datetime
    """When it happened, by the referee's clock."""
    referee: str
    """Address of the referee that saw it."""
    kind: EntryKind = Field(sa_type=text_of(EntryKind))
    """The kind of entry."""
    code: str
    """The kind of fault, the code of a notice, or the reason why a connection ended; may be empty."""
    text: str
    """The reason in words."""
    session_id: str
    """``match/number``; empty if it concerns no session."""
    details: dict[str, object] = Field(sa_type=JSON)
    """For a fault, the position, what the bot answered and what was played."""
