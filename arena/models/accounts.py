"""Accounts of people, what they sign in with, and whose bots are theirs."""

from datetime import date, datetime
from typing import ClassVar

from sqlalchemy import JSON, UniqueConstraint
from sqlmodel import Field, SQLModel

from arena.actors import Role
from arena.models.columns import text_of


class Account(SQLModel, table=True):
    """Somebody who may sign in."""

    __tablename__: ClassVar[str] = "accounts"

    id: int = Field(default=None, primary_key=True)
    name: str = Field(unique=True)
    """Unique; never reused."""
    role: Role = Field(sa_type=text_of(Role))
    """What it may do."""
    password_hash: str | None = None
    """Argon2id, with its salt and costs; NULL: it cannot sign in with a password."""
    created_at: datetime
    """When it was made."""
    disabled_at: datetime | None = None
    """When it was disabled: it can neither sign in nor use its keys. NULL: it can."""


class Membership(SQLModel, table=True):
    """An account whose bots are those of an owner."""

    __tablename__: ClassVar[str] = "memberships"

    account_id: int = Field(foreign_key="accounts.id", primary_key=True)
    """The account."""
    owner_id: int = Field(foreign_key="owners.id", primary_key=True, index=True)
    """The owner."""
    since: datetime
    """Since when."""


class ApiKey(SQLModel, table=True):
    """A key with which a program acts for an account."""

    __tablename__: ClassVar[str] = "api_keys"
    __table_args__ = (UniqueConstraint("account_id", "name"),)

    id: int = Field(default=None, primary_key=True)
    account_id: int = Field(foreign_key="accounts.id")
    """For whom it acts."""
    name: str
    """Its name for people; unique for the account, never reused."""
    key_hash: str = Field(unique=True)
    """SHA-256 of the key in hexadecimal; the key itself is stored nowhere."""
    scopes: list[str] = Field(sa_type=JSON)
    """What it is good for: some of ``arena.accounts.apikeys.KeyScope``."""
    expires_at: datetime | None = None
    """When it expires; NULL: never."""
    last_used_on: date | None = None
    """The day (UTC) on which it was last used; NULL: never."""
    created_at: datetime
    """When it was made."""
    revoked_at: datetime | None = None
    """When it was revoked; NULL: it is valid."""


class BrowserSession(SQLModel, table=True):
    """A browser in which somebody has signed in."""

    __tablename__: ClassVar[str] = "browser_sessions"

    id_hash: str = Field(primary_key=True)
    """SHA-256 of what the browser's cookie holds, in hexadecimal."""
    account_id: int = Field(foreign_key="accounts.id", index=True)
    """Who signed in."""
    created_at: datetime
    """When."""
    expires_at: datetime = Field(index=True)
    """When it is over, unless it is used."""


class Invitation(SQLModel, table=True):
    """A code with which one account can be made, or one account can join an owner."""

    __tablename__: ClassVar[str] = "invitations"

    id: int = Field(default=None, primary_key=True)
    code_hash: str = Field(unique=True)
    """SHA-256 of the code in hexadecimal; the code itself is stored nowhere."""
    role: Role = Field(sa_type=text_of(Role))
    """Role of the account that is made with it."""
    owner_id: int | None = Field(default=None, foreign_key="owners.id")
    """The owner that whoever uses it joins; NULL: none."""
    invited_by: str
    """Account of whoever made it."""
    created_at: datetime
    """When."""
    expires_at: datetime
    """When it expires."""
    used_at: datetime | None = None
    """When it was used; NULL: it was not."""


class KeptAnswer(SQLModel, table=True):
    """What a request that carried an idempotency key was answered; given again to one with the same key."""

    __tablename__: ClassVar[str] = "kept_answers"

    key_hash: str = Field(primary_key=True)
    """SHA-256 of the key and of whoever sent it, in hexadecimal."""
    request_hash: str
    """SHA-256 of method, path and body."""
    created_at: datetime = Field(index=True)
    """When it came."""
    held_until: datetime | None = None
    """Until when it is being worked on, unless its process says again that it is; NULL: by an earlier
    version, which said nothing."""
    status: int | None = None
    """Status of the answer; NULL: it is being worked on, or was when the process ended."""
    sealed: str | None = None
    """The answer's body, encrypted with the idempotency key, as it may hold a token; NULL with the status."""
