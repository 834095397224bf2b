"""Forgotten passwords: an operator gives the person a code, with which they set a new one."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete
from sqlalchemy.exc import IntegrityError
from sqlmodel import col, select

from arena.actors import SCOPES, Actor, Role
from arena.errors import SpecError, StateError
from arena.people.accounts import find_account, sign_out_everywhere
from arena.people.acting import actor_of
from arena.people.audit import record
from arena.people.passwords import check_password, hash_password
from arena.people.tokens import hash_token, new_token
from arena.store.models import Account, PasswordReset
from arena.store.storage import Storage, Transaction, changed

GOOD_FOR = timedelta(days=1)
"""How long a code can be used."""

WRONG_CODE = "unknown, used or expired; ask whoever runs this arena for another one"


@dataclass(frozen=True, slots=True)
class MadeReset:
    """A code with which the password of an account can be set anew, once."""

    account: str
    code: str
    """The code itself, which nobody can show again."""
    link: str
    """The page where it is used."""
    expires_at: datetime
    """When it expires."""


def offer_reset(storage: Storage, actor: Actor, name: str, now: datetime, page: str) -> MadeReset:
    """Make a code for an account, which replaces an earlier one; ``page`` is where it is used.

    The password stays as it is until then. A key needs all scopes of the account's role. Raise NotAllowed,
    UnknownError, StateError.
    """
    actor.require(Role.OPERATOR, "reset passwords")
    code = new_token("reset")
    try:
        with storage.write() as tx:
            account = find_account(tx, name)
            actor.require_scopes(SCOPES[account.role], f"let somebody in as {name}")
            if account.disabled_at is not None:
                raise StateError(f"account {name} is disabled; enable it first")
            changed(tx, delete(PasswordReset).where(col(PasswordReset.account_id) == account.id))
            row = PasswordReset(
                account_id=account.id,
                code_hash=hash_token(code),
                maker_id=actor.account_id,
                expires_at=now + GOOD_FOR,
            )
            tx.add(row)
            record(tx, actor, "account.reset", name, now)
    except IntegrityError:
        raise StateError("another code was made at the same moment; try again") from None
    return MadeReset(name, code, f"{page}?code={code}", now + GOOD_FOR)


def check_reset(storage: Storage, code: str, now: datetime) -> str:
    """Return the name of the account that a code is for. Raise SpecError if it cannot be used."""
    with storage.read() as tx:
        return _require(tx, code, now).name


def use_reset(storage: Storage, code: str, password: str, now: datetime) -> None:
    """Give the account that a code is for a new password, and sign it out of all browsers.

    Raise SpecError for a wrong code or password, TooMany.
    """
    check_password(password)
    check_reset(storage, code, now)  # a hash costs too much to compute one for whoever asks
    hashed = hash_password(password)
    with storage.write() as tx:
        account = _require(tx, code, now)
        mine = (col(PasswordReset.account_id) == account.id, col(PasswordReset.code_hash) == hash_token(code))
        if not changed(tx, delete(PasswordReset).where(*mine)):
            raise SpecError("code", WRONG_CODE)
        account.password_hash = hashed
        tx.add(account)
        sign_out_everywhere(tx, account.id)
        actor = actor_of(tx, account.id)
        assert actor is not None
        record(tx, actor, "account.password", account.name, now, reset=True)


def _require(tx: Transaction, code: str, now: datetime) -> Account:
    """Return the account that a code is for, as long as whoever made it may. Raise SpecError."""
    reset = tx.exec(select(PasswordReset).where(PasswordReset.code_hash == hash_token(code))).first()
    if reset is None or not now < reset.expires_at <= now + 2 * GOOD_FOR:  # no clock that was ahead
        raise SpecError("code", WRONG_CODE)
    if reset.maker_id is not None:  # None at the arena's own terminal
        maker = actor_of(tx, reset.maker_id)
        if maker is None or maker.role is not Role.OPERATOR:
            raise SpecError("code", WRONG_CODE)
    account = tx.get_one(Account, reset.account_id)
    if account.disabled_at is not None:  # at the moment when the code was made
        raise SpecError("code", WRONG_CODE)
    return account
