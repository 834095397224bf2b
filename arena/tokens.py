"""Tokens: what bots and workers show to a referee. Of a bot's token only the hash is kept."""

import hashlib
import hmac
import secrets

from sqlmodel import col, select

from arena.models import BotVersion
from arena.storage import Storage
from referee.auth import BotIdentity

PREFIX = "bt_bot_"
"""Lets people, and scanners of leaked secrets, see what it is."""


def new_token() -> str:
    """A fresh token for a bot version: 32 random bytes."""
    return PREFIX + secrets.token_urlsafe(32)


def hash_token(token: str) -> str:
    """What is stored of a token: SHA-256 in hexadecimal. A token is random, so no salt is needed."""
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()


class DatabaseAuthenticator:
    """Tells a referee whose a token is; asks the database each time, so a revoked one is refused at once."""

    def __init__(self, storage: Storage, worker_token: str) -> None:
        self._storage = storage
        self._worker_token = worker_token.encode()

    def bot(self, token: str) -> BotIdentity | None:
        """The bot version that ``token`` belongs to; None if it is unknown or revoked."""
        good = select(BotVersion.id, BotVersion.name).where(
            BotVersion.token_hash == hash_token(token), col(BotVersion.revoked_at).is_(None)
        )
        with self._storage.read() as tx:
            found = tx.exec(good).first()
        return BotIdentity(*found) if found else None

    def worker(self, token: str) -> bool:
        """Whether ``token`` is the workers' token."""
        return hmac.compare_digest(token.encode(errors="replace"), self._worker_token)
