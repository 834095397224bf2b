"""Tokens: what bots, workers, organisers and spectators show. Only hashes are kept."""

import hashlib
import hmac
import secrets
from collections.abc import Collection

from sqlmodel import col, select

from arena.models import BotVersion, Token
from arena.storage import Storage
from referee.matches.auth import BotIdentity, Scope

BOT = "bot"
"""Whose token ``new_token`` makes, beside those of the scopes."""


def new_token(whose: str = BOT) -> str:
    """Return a fresh token: 32 random bytes after words by which people and leak scanners recognise it."""
    return f"bt_{whose}_{secrets.token_urlsafe(32)}"


def hash_token(token: str) -> str:
    """Return what is stored of a token: SHA-256 in hexadecimal. A token is random, so no salt is needed."""
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()


class DatabaseAuthenticator:
    """Tells a referee whose a token is; asks the database each time, so a revoked one is refused at once."""

    def __init__(self, storage: Storage, worker_token: str) -> None:
        self._storage = storage
        self._worker_token = worker_token.encode()

    def bot(self, token: str) -> BotIdentity | None:
        """Return the bot version of ``token``; None if the token is unknown or revoked."""
        good = select(BotVersion.id, BotVersion.name).where(
            BotVersion.token_hash == hash_token(token), col(BotVersion.revoked_at).is_(None)
        )
        with self._storage.read() as tx:
            found = tx.exec(good).first()
        return BotIdentity(*found) if found else None

    def scope(self, token: str) -> Scope | None:
        """Return what ``token`` allows; None for a bot's token, and if it is unknown or revoked.

        The settings' worker token needs no database.
        """
        if hmac.compare_digest(token.encode(errors="replace"), self._worker_token):
            return Scope.WORKER
        good = select(Token.scope).where(
            Token.token_hash == hash_token(token), col(Token.revoked_at).is_(None)
        )
        with self._storage.read() as tx:
            found = tx.exec(good).first()
        return Scope(found) if found else None

    def revoked(self, version_ids: Collection[int]) -> set[int]:
        """Return which of these bot versions no longer have a valid token."""
        good = select(BotVersion.id).where(
            col(BotVersion.id).in_(version_ids), col(BotVersion.revoked_at).is_(None)
        )
        with self._storage.read() as tx:
            found = set(tx.exec(good))
        return set(version_ids) - found
