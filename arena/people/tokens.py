"""Tokens, with which bots, workers, organisers and spectators authenticate. Only hashes are stored."""

import hashlib
import hmac
import secrets
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta
from typing import Any

from sqlalchemy import or_, select, update
from sqlmodel import col

from arena.errors import SpecError, StorageError
from arena.store.models import BotVersion, Token, utc_now
from arena.store.storage import Storage, changed
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
            found = tx.connection().execute(select(*columns).where(*good)).first()
        if found is None:
            return None
        version_id, name, number, expires_at, last_used_on = found
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
            found = tx.connection().execute(select(*columns).where(*good)).first()
        if found is None:
            return None
        token_id, name, scope, expires_at, last_used_on = found
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
        asked = select(*columns).where(col(BotVersion.id).in_([bot.version_id for bot in bots]))
        with self._storage.read() as tx:
            found = {version_id: rest for version_id, *rest in tx.connection().execute(asked)}
        now = self._clock()
        whys = {bot.version_id: _why_worthless(bot, found.get(bot.version_id), now) for bot in bots}
        return {version_id: why for version_id, why in whys.items() if why}


def _why_worthless(bot: BotIdentity, found: Sequence[Any] | None, now: datetime) -> str:
    """Return why the token that a bot used is invalid, by its version's row; empty if it is valid."""
    if found is None:
        return "the token was revoked while the stream was open"
    number, revoked_at, expires_at = found
    if revoked_at is not None:
        return "the token was revoked while the stream was open"
    if number != bot.token:
        return "the token was replaced by a new one while the stream was open"
    if expires_at is not None and expires_at <= now:
        return "the token expired while the stream was open"
    return ""
