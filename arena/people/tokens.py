"""Tokens of bots, workers, organisers and spectators: made, listed, revoked, and checked by referees."""

import hashlib
import hmac
import secrets
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from sqlalchemy import or_, update
from sqlalchemy.exc import IntegrityError
from sqlmodel import col, select

from arena.actors import Actor, KeyScope, Role
from arena.core.specs import check_name
from arena.errors import SpecError, StateError, StorageError, TakenError
from arena.people.audit import record
from arena.store.models import BotVersion, Token, utc_now
from arena.store.storage import Storage, Transaction, changed
from arena.store.suggestions import unknown
from referee.errors import TokenExpired
from referee.matches.auth import BotIdentity, Scope

BOT = "bot"
"""The kind of token for bots; the other kinds are the scopes."""


def new_token(whose: str = BOT) -> str:
    """Return a new token: 32 random bytes after a prefix by which people and leak scanners recognise it."""
    return f"bt_{whose}_{secrets.token_urlsafe(32)}"


def hash_token(token: str) -> str:
    """Return a token's hash for storage: SHA-256 in hexadecimal. Tokens are random, so no salt is needed."""
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()


LONGEST_DAYS = 36_500
"""Maximum number of days until a token expires."""


def expiry(now: datetime, days: int | None) -> datetime | None:
    """Return when a token expires that is valid for ``days``; None if never. Raise SpecError."""
    if days is not None and not 1 <= days <= LONGEST_DAYS:
        raise SpecError("expires_in", f"must be from 1 to {LONGEST_DAYS} days, not {days}")
    return None if days is None else now + timedelta(days=days)


class DatabaseAuthenticator:
    """Authenticates tokens for a referee, with a query each time, so that a revoked one is refused at once.
    The first use of a token on each day is recorded.
    """

    def __init__(self, storage: Storage, worker_token: str, clock: Callable[[], datetime] = utc_now) -> None:
        self._storage = storage
        self._clock = clock
        self._worker_token = worker_token.encode()

    def bot(self, token: str) -> BotIdentity | None:
        """Return the bot version of ``token``; None if the token is unknown or revoked.

        Raise TokenExpired.
        """
        columns: tuple[Any, ...] = (
            *(BotVersion.id, BotVersion.name, BotVersion.token_number),
            *(BotVersion.expires_at, BotVersion.last_used_on),
        )
        good = (col(BotVersion.token_hash) == hash_token(token), col(BotVersion.revoked_at).is_(None))
        with self._storage.read() as tx:
            row = tx.connection().execute(select(*columns).where(*good)).first()
        if row is None:
            return None
        version_id, name, number, expires_at, last_used_on = row
        self._use(BotVersion, version_id, name, expires_at, last_used_on)
        return BotIdentity(version_id, name, number)

    def scope(self, token: str) -> Scope | None:
        """Return what ``token`` allows; None for a bot's, and if it is unknown or revoked.

        Raise TokenExpired.

        The settings' worker token needs no database.
        """
        if hmac.compare_digest(token.encode(errors="replace"), self._worker_token):
            return Scope.WORKER
        columns: tuple[Any, ...] = (Token.id, Token.name, Token.scope, Token.expires_at, Token.last_used_on)
        good = (col(Token.token_hash) == hash_token(token), col(Token.revoked_at).is_(None))
        with self._storage.read() as tx:
            row = tx.connection().execute(select(*columns).where(*good)).first()
        if row is None:
            return None
        token_id, name, scope, expires_at, last_used_on = row
        self._use(Token, token_id, name, expires_at, last_used_on)
        return Scope(scope)

    def _use(
        self,
        kind: type[BotVersion | Token],
        row: int,
        name: str,
        expires_at: datetime | None,
        last_used_on: date | None,
    ) -> None:
        """Record that a token is used today, unless that is known. Raise TokenExpired."""
        now = self._clock()
        if expires_at is not None and expires_at <= now:
            raise TokenExpired(f"the token of {name} expired on {expires_at:%Y-%m-%d %H:%M} UTC")
        today = now.date()
        if last_used_on is not None and last_used_on >= today:
            return
        before = or_(col(kind.last_used_on).is_(None), col(kind.last_used_on) < today)
        with suppress(StorageError), self._storage.write() as tx:  # whoever has a valid token gets in
            changed(tx, update(kind).where(col(kind.id) == row, before).values(last_used_on=today))

    def revoked(self, bots: Collection[BotIdentity]) -> dict[int, str]:
        """Return those of these bot versions, by id, whose tokens have become invalid, with the reason."""
        columns: tuple[Any, ...] = (
            *(BotVersion.id, BotVersion.token_number, BotVersion.revoked_at, BotVersion.expires_at),
        )
        rows = select(*columns).where(col(BotVersion.id).in_([bot.version_id for bot in bots]))
        with self._storage.read() as tx:
            by_version = {version_id: rest for version_id, *rest in tx.connection().execute(rows)}
        now = self._clock()
        whys = {bot.version_id: _why_worthless(bot, by_version.get(bot.version_id), now) for bot in bots}
        return {version_id: why for version_id, why in whys.items() if why}


def _why_worthless(bot: BotIdentity, row: Sequence[Any] | None, now: datetime) -> str:
    """Return why the token that a bot used is invalid, by its version's row; empty if it is valid."""
    if row is None:
        return "the token was revoked while the stream was open"
    number, revoked_at, expires_at = row
    if revoked_at is not None:
        return "the token was revoked while the stream was open"
    if number != bot.token:
        return "the token was replaced by a new one while the stream was open"
    if expires_at is not None and expires_at <= now:
        return "the token expired while the stream was open"
    return ""


@dataclass(frozen=True, slots=True)
class MadeToken:
    """A new token."""

    name: str
    scope: Scope
    """What it allows."""
    token: str
    """The token itself, which cannot be shown again."""


@dataclass(frozen=True, slots=True)
class TokenInfo:
    """A token."""

    name: str
    scope: Scope
    """What it allows."""
    created_at: datetime
    revoked_at: datetime | None
    """When it was revoked; None if it was not."""
    expires_at: datetime | None
    """When it expires; None if never."""
    last_used_on: date | None
    """The day (UTC) on which it was last used; None if never."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens by name."""

    tokens: list[TokenInfo]


def create_token(
    storage: Storage, actor: Actor, name: str, scope: str, now: datetime, expires_in: int | None = None
) -> MadeToken:
    """Create a token that is valid for ``expires_in`` days; None if until it is revoked.

    Raise SpecError for a wrong name, scope or number of days, TakenError if the name is taken.
    """
    actor.require(Role.OPERATOR, "make tokens")
    check_name("name", name)
    if scope not in list(Scope):
        raise SpecError("scope", f"{scope!r} is not one of {', '.join(Scope)}")
    _require_reader(actor, Scope(scope))
    token = new_token(scope)
    row = Token(
        name=name,
        scope=Scope(scope),
        token_hash=hash_token(token),
        expires_at=expiry(now, expires_in),
        created_at=now,
    )
    try:
        with storage.write() as tx:
            tx.add(row)
            record(tx, actor, "token.create", name, now, scope=scope)
    except IntegrityError:
        raise TakenError(f"token {name} already exists") from None
    return MadeToken(name, Scope(scope), token)


def _require_reader(actor: Actor, scope: Scope) -> None:
    """Raise NotAllowed for a key that must not read logs, as an organiser's token lets its holder."""
    if scope is Scope.ORGANISER:
        actor.require_scopes((KeyScope.READ,), "make a token that reads logs")


def list_tokens(storage: Storage, actor: Actor) -> list[TokenInfo]:
    """Return all tokens, by name. Raise NotAllowed."""
    actor.require(Role.OPERATOR, "list tokens")
    with storage.read() as tx:
        return [_info(row) for row in tx.exec(select(Token).order_by(Token.name))]


def _info(row: Token) -> TokenInfo:
    return TokenInfo(row.name, row.scope, row.created_at, row.revoked_at, row.expires_at, row.last_used_on)


def rotate_token(
    storage: Storage, actor: Actor, name: str, now: datetime, expires_in: int | None = None
) -> MadeToken:
    """Replace a token, which becomes invalid, with a new one; ``expires_in`` is as in ``create_token``.

    Raise UnknownError, SpecError, or StateError if it is revoked, which is final.
    """
    actor.require(Role.OPERATOR, "replace tokens")
    with storage.write() as tx:
        row = tx.exec(select(Token).where(Token.name == name)).first()
        if row is None:
            raise unknown(tx, "token", name, col(Token.name))
        _require_reader(actor, row.scope)
        token = new_token(row.scope)
        values = {"token_hash": hash_token(token), "expires_at": expiry(now, expires_in)}
        good = (col(Token.id) == row.id, col(Token.revoked_at).is_(None))
        if not changed(tx, update(Token).where(*good).values(values)):
            raise _revoked(name)
        record(tx, actor, "token.rotate", name, now)
        return MadeToken(row.name, row.scope, token)


def revoke_token(storage: Storage, actor: Actor, name: str, now: datetime) -> TokenInfo:
    """Revoke a token. Raise UnknownError, or StateError if it is revoked already."""
    actor.require(Role.OPERATOR, "revoke tokens")
    with storage.write() as tx:
        token = _to_revoke(tx, name)
        good = (col(Token.id) == token.id, col(Token.revoked_at).is_(None))
        if not changed(tx, update(Token).where(*good).values(revoked_at=now)):
            raise StateError(f"the token {name} is revoked already")
        record(tx, actor, "token.revoke", name, now)
        tx.refresh(token)
        return _info(token)


def _revoked(name: str) -> StateError:
    return StateError(f"the token {name} is revoked, for good; make another one")


def _to_revoke(tx: Transaction, name: str) -> Token:
    token = tx.exec(select(Token).where(Token.name == name)).first()
    if token is None:
        raise unknown(tx, "token", name, col(Token.name))
    if token.revoked_at is not None:
        raise StateError(f"the token {name} is revoked already")
    return token
