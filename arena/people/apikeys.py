"""Keys with which programs act for an account."""

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime

from sqlalchemy import or_, update
from sqlalchemy.exc import IntegrityError
from sqlmodel import col, select

from arena.actors import Actor, KeyScope, Role
from arena.core.specs import check_name
from arena.errors import NotAllowed, SpecError, StateError, StorageError, TakenError, UnknownError
from arena.people.acting import actor_of
from arena.people.audit import record
from arena.people.tokens import expiry, hash_token, new_token
from arena.store.models import ApiKey
from arena.store.storage import Storage, Transaction, changed


@dataclass(frozen=True, slots=True)
class MadeKey:
    """A new key."""

    name: str
    """Its name for people."""
    scopes: tuple[KeyScope, ...]
    """What it is good for."""
    key: str
    """The key itself, which nobody can show again."""
    expires_at: datetime | None
    """When it expires; None for never."""


@dataclass(frozen=True, slots=True)
class KeyInfo:
    """A key."""

    name: str
    """Its name for people."""
    scopes: tuple[KeyScope, ...]
    """What it is good for."""
    created_at: datetime
    """When it was made."""
    expires_at: datetime | None
    """When it expires; None for never."""
    last_used_on: date | None
    """The day (UTC) on which it was last used; None for never."""
    revoked_at: datetime | None
    """When it was revoked; None if it was not."""


@dataclass(frozen=True, slots=True)
class Keys:
    """Keys by name."""

    keys: list[KeyInfo]


def create_key(
    storage: Storage,
    actor: Actor,
    name: str,
    scopes: Collection[str],
    now: datetime,
    expires_in: int | None = None,
) -> MadeKey:
    """Make a key of the actor's account, valid for ``expires_in`` days, or without limit if that is None.

    A key cannot create one with scopes that it lacks, nor one that outlasts it. Raise NotAllowed, SpecError,
    TakenError.
    """
    actor.require(Role.AUTHOR, "make keys")
    if actor.account_id is None:
        raise StateError("a key belongs to an account: sign in with one")
    check_name("name", name)
    if wrong := [scope for scope in scopes if scope not in list(KeyScope)]:
        raise SpecError("scopes", f"{wrong[0]!r} is not one of {', '.join(KeyScope)}")
    if not scopes:
        raise SpecError("scopes", f"give at least one of {', '.join(KeyScope)}")
    if more := [scope for scope in scopes if scope not in actor.scopes]:
        raise NotAllowed(f"a key without the scope {more[0]} cannot create a key with it")
    chosen = tuple(scope for scope in KeyScope if scope in scopes)
    key = new_token("key")
    row = ApiKey(
        account_id=actor.account_id,
        name=name,
        key_hash=hash_token(key),
        scopes=list(chosen),
        expires_at=_earlier(expiry(now, expires_in), actor.expires_at),
        created_at=now,
    )
    try:
        with storage.write() as tx:
            tx.add(row)
            record(tx, actor, "key.create", f"{actor.account}/{name}", now, scopes=list(chosen))
    except IntegrityError:
        raise TakenError(f"key {name} already exists; names of keys cannot be reused") from None
    return MadeKey(name, chosen, key, row.expires_at)


def _earlier(first: datetime | None, second: datetime | None) -> datetime | None:
    """Return the earlier of two times, of which None is never."""
    return min((time for time in (first, second) if time is not None), default=None)


def list_keys(storage: Storage, actor: Actor) -> list[KeyInfo]:
    """Return the keys of the actor's account, by name. Raise NotAllowed."""
    actor.require(Role.AUTHOR, "list keys")
    mine = select(ApiKey).where(ApiKey.account_id == actor.account_id).order_by(ApiKey.name)
    with storage.read() as tx:
        return [_info(row) for row in tx.exec(mine)]


def revoke_key(storage: Storage, actor: Actor, name: str, now: datetime) -> KeyInfo:
    """Revoke a key of the actor's account. Raise NotAllowed, UnknownError, StateError."""
    actor.require(Role.AUTHOR, "revoke keys")
    with storage.write() as tx:
        row = _find(tx, actor, name)
        if row.revoked_at is not None:
            raise StateError(f"the key {name} is revoked already")
        row.revoked_at = now
        tx.add(row)
        record(tx, actor, "key.revoke", f"{actor.account}/{name}", now)
        return _info(row)


def holder_of(storage: Storage, key: str, now: datetime) -> Actor | None:
    """Return who acts with a key; None if it is unknown, revoked or expired, or its account is disabled."""
    with storage.read() as tx:
        row = tx.exec(select(ApiKey).where(ApiKey.key_hash == hash_token(key))).first()
        if row is None or row.revoked_at is not None or (row.expires_at and row.expires_at <= now):
            return None
        actor = actor_of(tx, row.account_id)
    if actor is None:
        return None
    _use(storage, row, now)
    return actor.limited(frozenset(map(KeyScope, row.scopes)), row.expires_at)


def _use(storage: Storage, row: ApiKey, now: datetime) -> None:
    """Note that a key is used today, if that has not been noted yet."""
    today = now.date()
    if row.last_used_on is not None and row.last_used_on >= today:
        return
    before = or_(col(ApiKey.last_used_on).is_(None), col(ApiKey.last_used_on) < today)
    with suppress(StorageError), storage.write() as tx:  # whoever has a good key gets in
        changed(tx, update(ApiKey).where(col(ApiKey.id) == row.id, before).values(last_used_on=today))


def _find(tx: Transaction, actor: Actor, name: str) -> ApiKey:
    mine = (ApiKey.account_id == actor.account_id, ApiKey.name == name)
    key = tx.exec(select(ApiKey).where(*mine)).first()
    if key is None:
        raise UnknownError(f"{actor.account} has no key {name!r}")
    return key


def _info(row: ApiKey) -> KeyInfo:
    scopes = tuple(map(KeyScope, row.scopes))
    return KeyInfo(row.name, scopes, row.created_at, row.expires_at, row.last_used_on, row.revoked_at)
