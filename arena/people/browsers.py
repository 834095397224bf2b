"""Signing in and out in browsers."""

from datetime import datetime, timedelta

from sqlalchemy import delete, update
from sqlmodel import col, select

from arena.actors import Actor
from arena.errors import NotAllowed
from arena.people.acting import actor_of
from arena.people.passwords import hash_password, is_outdated, is_password
from arena.people.tokens import hash_token, new_token
from arena.store.models import Account, BrowserSession
from arena.store.storage import Storage, Transaction, changed

STAYS = timedelta(days=14)
"""How long a browser stays signed in after it was last used."""

RENEWED = timedelta(days=1)
"""How much of that has to pass before it is renewed."""


def sign_in(storage: Storage, name: str, password: str, now: datetime) -> tuple[str, Actor]:
    """Return the id of a new session, which the browser keeps, and who signed in. Raise NotAllowed."""
    with storage.read() as tx:
        account = tx.exec(select(Account).where(Account.name == name)).first()
        stored = account.password_hash if account else None
    right = is_password(stored, password)  # outside the transaction: it takes its time
    if account is None or not right:
        raise NotAllowed("wrong account name or password")
    fresh = hash_password(password) if stored is not None and is_outdated(stored) else None
    with storage.write() as tx:
        if fresh is not None:
            same = (col(Account.id) == account.id, col(Account.password_hash) == stored)
            changed(tx, update(Account).where(*same).values(password_hash=fresh))
        changed(tx, delete(BrowserSession).where(col(BrowserSession.expires_at) <= now))
        actor = actor_of(tx, account.id)
        if actor is None:
            raise NotAllowed(f"account {name} is disabled")
        session = new_token("session")
        row = BrowserSession(
            id_hash=hash_token(session), account_id=account.id, created_at=now, expires_at=now + STAYS
        )
        tx.add(row)
        return session, actor


def actor_in_browser(storage: Storage, session: str, now: datetime) -> Actor | None:
    """Return who is signed in with this session's id; None if nobody is any more."""
    with storage.read() as tx:
        row = _find(tx, session, now)
        actor = None if row is None else actor_of(tx, row.account_id)
    if row is not None and abs(row.expires_at - now - STAYS) > RENEWED:  # a clock may have been ahead
        with storage.write() as tx:
            mine = col(BrowserSession.id_hash) == row.id_hash
            changed(tx, update(BrowserSession).where(mine).values(expires_at=now + STAYS))
    return actor


def sign_out(storage: Storage, session: str) -> None:
    """End a session, if there is one with this id."""
    with storage.write() as tx:
        changed(tx, delete(BrowserSession).where(col(BrowserSession.id_hash) == hash_token(session)))


def _find(tx: Transaction, session: str, now: datetime) -> BrowserSession | None:
    row = tx.get(BrowserSession, hash_token(session))
    return None if row is None or row.expires_at <= now else row
