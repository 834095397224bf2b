"""Tokens of workers, organisers and spectators: made, listed, revoked."""

from dataclasses import dataclass
from datetime import date, datetime

from sqlalchemy import update
from sqlalchemy.exc import IntegrityError
from sqlmodel import col, select

from arena.actors import Actor, Role
from arena.core.specs import check_name
from arena.errors import SpecError, StateError, TakenError
from arena.people.audit import record
from arena.people.tokens import expiry, hash_token, new_token
from arena.store.models import Token
from arena.store.storage import Storage, Transaction, changed
from arena.store.suggestions import unknown
from referee.matches.auth import Scope


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
    """A token as it is listed."""

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
        raise SpecError("scope", f"{scope!r} is none of {', '.join(Scope)}")
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
        raise TakenError(f"there already is a token {name}") from None
    return MadeToken(name, Scope(scope), token)


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
