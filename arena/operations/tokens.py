"""Tokens of workers, organisers and spectators: made, listed, revoked."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import update
from sqlalchemy.exc import IntegrityError
from sqlmodel import col, select

from arena.actors import Actor, Role
from arena.audit import record
from arena.errors import SpecError, StateError, TakenError, UnknownError
from arena.models import Token
from arena.specs import check_name
from arena.storage import Storage, changed
from arena.tokens import hash_token, new_token
from referee.matches.auth import Scope


@dataclass(frozen=True, slots=True)
class MadeToken:
    """A new token."""

    name: str
    scope: Scope
    """What it allows."""
    token: str
    """The token itself, which nobody can show again."""


@dataclass(frozen=True, slots=True)
class TokenInfo:
    """A token as it is listed."""

    name: str
    scope: Scope
    """What it allows."""
    created_at: datetime
    revoked_at: datetime | None
    """When it was revoked; None: it is good."""


def create_token(storage: Storage, actor: Actor, name: str, scope: str, now: datetime) -> MadeToken:
    """Make a token. SpecError for a wrong name or scope, TakenError if the name is taken."""
    actor.require(Role.OPERATOR, "make tokens")
    check_name("name", name)
    if scope not in list(Scope):
        raise SpecError("scope", f"{scope!r} is none of {', '.join(Scope)}")
    token = new_token(scope)
    try:
        with storage.write() as tx:
            tx.add(Token(name=name, scope=Scope(scope), token_hash=hash_token(token), created_at=now))
            record(tx, actor, "token.create", name, now, scope=scope)
    except IntegrityError:
        raise TakenError(f"there already is a token {name}") from None
    return MadeToken(name, Scope(scope), token)


def list_tokens(storage: Storage) -> list[TokenInfo]:
    """Return all tokens, by name."""
    rows = select(Token.name, Token.scope, Token.created_at, Token.revoked_at).order_by(Token.name)
    with storage.read() as tx:
        return [TokenInfo(*row) for row in tx.exec(rows)]


def revoke_token(storage: Storage, actor: Actor, name: str, now: datetime) -> TokenInfo:
    """Revoke a token. Raise UnknownError, or StateError if it is revoked already."""
    actor.require(Role.OPERATOR, "revoke tokens")
    with storage.write() as tx:
        token = tx.exec(select(Token).where(Token.name == name)).first()
        if token is None:
            raise UnknownError(f"no token {name!r}")
        good = (col(Token.id) == token.id, col(Token.revoked_at).is_(None))
        if not changed(tx, update(Token).where(*good).values(revoked_at=now)):
            raise StateError(f"the token {name} is revoked already")
        record(tx, actor, "token.revoke", name, now)
        return TokenInfo(token.name, token.scope, token.created_at, now)
