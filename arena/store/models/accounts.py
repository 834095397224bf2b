"""People's accounts, their credentials, the owners that they belong to, and the record of what they did."""

from datetime import date, datetime
from typing import ClassVar

from sqlalchemy import JSON, Index, UniqueConstraint
from sqlmodel import Field, SQLModel

from arena.actors import Role
from arena.store.models.columns import text_of


class Account(SQLModel, table=True):
    """A person who may sign in."""

    __tablename__: ClassVar[str] = "accounts"

    id: int = Field(default=None, primary_key=True)
    name: str = Field(unique=True)
    """Unique; never reused."""
    role: Role = Field(sa_type=text_of(Role))
    """What the account may do."""
    password_hash: str | None = None
    """Argon2id, with its salt and costs; NULL if it cannot sign in with a password."""
    created_at: datetime
    """When it was created."""
    disabled_at: datetime | None = None
    """When it was disabled, so that it can neither sign in nor use its keys; NULL if it was not."""


class Membership(SQLModel, table=True):
    """An account that belongs to an owner, and so manages the owner's bots."""

    __tablename__: ClassVar[str] = "memberships"

    account_id: int = Field(foreign_key="accounts.id", primary_key=True)
    """The account."""
    owner_id: int = Field(foreign_key="owners.id", primary_key=True, index=True)
    """The owner."""
    since: datetime
    """When the account joined."""


class ApiKey(SQLModel, table=True):
    """A key with which a program acts for an account."""

    __tablename__: ClassVar[str] = "api_keys"
    __table_args__ = (UniqueConstraint("account_id", "name"),)

    id: int = Field(default=None, primary_key=True)
    account_id: int = Field(foreign_key="accounts.id")
    """The account that it acts for."""
    name: str
    """A name for people to recognise it; unique within the account, never reused."""
    key_hash: str = Field(unique=True)
    """SHA-256 of the key in hexadecimal; the key itself is stored nowhere."""
    scopes: list[str] = Field(sa_type=JSON)
    """What it allows: some of ``arena.actors.KeyScope``."""
    expires_at: datetime | None = None
    """When it expires; NULL if never."""
    last_used_on: date | None = None
    """The day (UTC) on which it was last used; NULL if never."""
    created_at: datetime
    """When it was created."""
    revoked_at: datetime | None = None
    """When it was revoked; NULL if it is valid."""


class BrowserSession(SQLModel, table=True):
    """A browser in which somebody is signed in."""

    __tablename__: ClassVar[str] = "browser_sessions"

    id_hash: str = Field(primary_key=True)
    """SHA-256 of the value of the browser's cookie, in hexadecimal."""
    account_id: int = Field(foreign_key="accounts.id", index=True)
    """The account that signed in."""
    created_at: datetime
    """When it signed in."""
    expires_at: datetime = Field(index=True)
    """When it expires unless it is used."""


class Invitation(SQLModel, table=True):
    """A code that lets one person create an account, or one account join an owner."""

    __tablename__: ClassVar[str] = "invitations"

    id: int = Field(default=None, primary_key=True)
    code_hash: str = Field(unique=True)
    """SHA-256 of the code in hexadecimal; the code itself is stored nowhere."""
    role: Role = Field(sa_type=text_of(Role))
    """Role of the account that is created with it."""
    owner_id: int | None = Field(default=None, foreign_key="owners.id")
    """The owner that its user joins; NULL if none."""
    invited_by: str
    """Name of the account that created it, or of the user at the terminal; empty for the arena itself."""
    inviter_id: int | None = Field(default=None, foreign_key="accounts.id")
    """That account; NULL if none created it."""
    created_at: datetime
    """When it was created."""
    expires_at: datetime
    """When it expires."""
    used_at: datetime | None = None
    """When it was used; NULL if it was not."""


class PasswordReset(SQLModel, table=True):
    """A code with which an account's password can be set anew; deleted when it is used."""

    __tablename__: ClassVar[str] = "password_resets"

    account_id: int = Field(foreign_key="accounts.id", primary_key=True)
    """The account, which has one code at a time."""
    code_hash: str = Field(unique=True)
    """SHA-256 of the code in hexadecimal; the code itself is stored nowhere."""
    maker_id: int | None = Field(default=None, foreign_key="accounts.id")
    """The operator's account that made it; NULL if none did, but the user at the terminal."""
    expires_at: datetime
    """When it expires."""


class KeptAnswer(SQLModel, table=True):
    """The answer to a request with an idempotency key, repeated to later requests with the same key."""

    __tablename__: ClassVar[str] = "kept_answers"

    key_hash: str = Field(primary_key=True)
    """SHA-256 of the key and its sender, in hexadecimal."""
    request_hash: str
    """SHA-256 of method, path and body."""
    created_at: datetime = Field(index=True)
    """When the request arrived."""
    held_until: datetime | None = None
    """Until when the request counts as being worked on; its process extends this. NULL in rows of an earlier
    version, which did not say."""
    status: int | None = None
    """Status of the answer; NULL if the request is being worked on, or was when its process died."""
    sealed: str | None = None
    """The answer's body, encrypted with the idempotency key as it may hold a token; NULL while
    the status is."""


class AuditEntry(SQLModel, table=True):
    """A change that somebody requested, written in the transaction that made it; never changed itself."""

    __tablename__: ClassVar[str] = "audit"
    __table_args__ = (Index(None, "subject", "id"),)

    id: int = Field(default=None, primary_key=True)
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
