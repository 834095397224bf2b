"""Accounts: made by an operator, by signing up, or with an invitation; and forgotten passwords."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, update
from sqlalchemy.exc import IntegrityError
from sqlmodel import col, select

from arena.actors import HOUSE, RANKS, SCOPES, Actor, Role
from arena.core.specs import check_name
from arena.errors import SpecError, StateError, TakenError
from arena.people.acting import actor_of
from arena.people.audit import record
from arena.people.invitations import require_invitation, use_invitation
from arena.people.passwords import check_password, hash_password, is_password
from arena.people.tokens import hash_token, new_token
from arena.store.models import Account, BrowserSession, Membership, Owner, PasswordReset
from arena.store.storage import Storage, Transaction, changed
from arena.store.suggestions import unknown


@dataclass(frozen=True, slots=True)
class AccountInfo:
    """An account."""

    account: str
    """Its name."""
    role: Role
    """What it may do."""
    owners: tuple[str, ...]
    """The names of the owners whose bots it may manage."""
    created_at: datetime
    """When it was made."""
    disabled_at: datetime | None
    """When it was disabled; None if it is not."""


@dataclass(frozen=True, slots=True)
class Accounts:
    """Accounts by name."""

    accounts: list[AccountInfo]
    next: str | None
    """Cursor of the next page; None if there is none."""


@dataclass(frozen=True, slots=True)
class SignedIn:
    """Who signed in."""

    account: str
    role: Role
    owners: list[str]


def create_account(
    storage: Storage, actor: Actor, name: str, role: Role, now: datetime, password: str | None = None
) -> AccountInfo:
    """Make an account, and an owner of its name if there is none; the account manages that owner's bots.

    Without a password it can only be used with keys. A key needs all scopes of the role. Raise NotAllowed,
    SpecError, TakenError.
    """
    actor.require(Role.OPERATOR, "make accounts")
    actor.require_scopes(SCOPES[role], f"make an account of an {role}")
    if role is Role.ANONYMOUS:
        raise SpecError("role", f"must be one of {', '.join(list(Role)[1:])}")
    _check_free_name(name)
    hashed = None if password is None else hash_password(password)
    try:
        with storage.write() as tx:
            account = _add(tx, name, role, hashed, now)
            _join_own_owner(tx, account, now)
            record(tx, actor, "account.create", name, now, role=role)
            return info_of(tx, account)
    except IntegrityError:
        raise TakenError(f"account {name} already exists") from None


def sign_up(
    storage: Storage, name: str, password: str, now: datetime, code: str | None, *, open_to_all: bool
) -> AccountInfo:
    """Make an account for whoever asks: with an invitation's code, or if everybody may.

    It gets an owner of its name. Raise SpecError for a wrong name, password or code, TakenError.
    """
    _check_free_name(name)
    if code is None and not open_to_all:
        raise SpecError("invitation", "you need one to make an account here; ask whoever runs this arena")
    check_password(password)
    with storage.read() as tx:  # a hash costs too much to compute one for whoever asks
        if code is not None:
            require_invitation(tx, code, now)
        _check_not_taken(tx, name)
    hashed = hash_password(password)
    try:
        with storage.write() as tx:
            invitation = None if code is None else use_invitation(tx, code, now)
            _check_not_taken(tx, name)
            account = _add(tx, name, Role.AUTHOR if invitation is None else invitation.role, hashed, now)
            _join_own_owner(tx, account, now)
            if invitation is not None and invitation.owner_id is not None:
                tx.add(Membership(account_id=account.id, owner_id=invitation.owner_id, since=now))
                tx.flush()
            info = info_of(tx, account)
            record(tx, _actor(account, info), "account.create", name, now, role=account.role)
            return info
    except IntegrityError:
        raise TakenError(f"account {name} already exists") from None


def _check_not_taken(tx: Transaction, name: str) -> None:
    """Raise TakenError if an account or an owner has this name."""
    if tx.exec(select(Account.id).where(Account.name == name)).first() is not None:
        raise TakenError(f"account {name} already exists")
    if tx.exec(select(Owner.id).where(Owner.name == name)).first() is not None:
        raise TakenError(f"owner {name} already exists, and has bots")


def _check_free_name(name: str) -> None:
    """Raise SpecError if this is not a valid name, or is the name of the house bots' owner."""
    check_name("account", name)
    if name == HOUSE:
        raise SpecError("account", f"{HOUSE} is the owner of house bots")


def _add(tx: Transaction, name: str, role: Role, password_hash: str | None, now: datetime) -> Account:
    account = Account(name=name, role=role, password_hash=password_hash, created_at=now)
    tx.add(account)
    tx.flush()
    return account


def _join_own_owner(tx: Transaction, account: Account, now: datetime) -> None:
    """Make an account a member of the owner of its name; the owner is added if it is new."""
    owner = tx.exec(select(Owner).where(Owner.name == account.name)).first()
    if owner is None:
        owner = Owner(name=account.name, created_at=now)
        tx.add(owner)
        tx.flush()
    tx.add(Membership(account_id=account.id, owner_id=owner.id, since=now))
    tx.flush()


def _actor(account: Account, info: AccountInfo) -> Actor:
    return Actor(account.role, account.name, frozenset(info.owners), account.id)


def info_of(tx: Transaction, account: Account) -> AccountInfo:
    """Return an account for display."""
    owned = select(Owner.name).join(Membership, col(Membership.owner_id) == Owner.id)
    owners = tx.exec(owned.where(Membership.account_id == account.id).order_by(Owner.name))
    return AccountInfo(account.name, account.role, tuple(owners), account.created_at, account.disabled_at)


def list_accounts(
    storage: Storage, actor: Actor, limit: int = 100, after: str = "", part: str = ""
) -> list[AccountInfo]:
    """Return accounts by name, those that follow ``after`` and have ``part`` in it. Raise NotAllowed."""
    actor.require(Role.OPERATOR, "list accounts")
    page = select(Account).where(Account.name > after).order_by(Account.name).limit(limit)
    if part:
        page = page.where(col(Account.name).contains(part, autoescape=True))
    with storage.read() as tx:
        return [info_of(tx, account) for account in tx.exec(page)]


def show_account(storage: Storage, actor: Actor, name: str) -> AccountInfo:
    """Return an account. Raise NotAllowed, UnknownError."""
    actor.require(Role.OPERATOR, f"see account {name}")
    with storage.read() as tx:
        return info_of(tx, find_account(tx, name))


def change_account(
    storage: Storage,
    actor: Actor,
    name: str,
    now: datetime,
    *,
    role: Role | None = None,
    password: str | None = None,
    disabled: bool | None = None,
) -> AccountInfo:
    """Change what is not None of an account: all of it, or nothing if some of it is refused.

    With a new password it is signed out of all browsers. While it is disabled, its keys and browsers are
    refused; its bots play on. A key that lets somebody in, by a role, a password or by enabling the account,
    needs all scopes of the account's role. Raise NotAllowed, SpecError, UnknownError, StateError, TooMany.
    """
    actor.require(Role.OPERATOR, "change accounts")
    if role is Role.ANONYMOUS:
        raise SpecError("role", f"must be one of {', '.join(list(Role)[1:])}")
    hashed = None if password is None else hash_password(password)
    with storage.write() as tx:
        account = find_account(tx, name)
        raised = role is not None and RANKS.index(role) > RANKS.index(account.role)
        if raised or password is not None or disabled is False:
            actor.require_scopes(SCOPES[role or account.role], f"let somebody in as {name}")
        if role is not None:
            account.role = role
            record(tx, actor, "account.role", name, now, role=role)
        if hashed is not None:
            account.password_hash = hashed
            sign_out_everywhere(tx, account.id)
            record(tx, actor, "account.password", name, now)
        if disabled is not None:
            if disabled == (account.disabled_at is not None):
                raise StateError(f"account {name} is {'disabled already' if disabled else 'not disabled'}")
            account.disabled_at = now if disabled else None
            if disabled:
                sign_out_everywhere(tx, account.id)
            record(tx, actor, "account.disable" if disabled else "account.enable", name, now)
        tx.add(account)
        return info_of(tx, account)


def change_password(storage: Storage, actor: Actor, old: str, new: str, now: datetime) -> None:
    """Change the actor's own password, and sign it out of all browsers. Raise NotAllowed, SpecError."""
    actor.require(Role.AUTHOR, "change a password")
    check_password(new)
    with storage.read() as tx:
        stored = find_account(tx, actor.account).password_hash
    if not is_password(stored, old):
        raise SpecError("old_password", "wrong password")
    hashed = hash_password(new)
    with storage.write() as tx:
        mine = (col(Account.id) == actor.account_id, col(Account.password_hash) == stored)
        if not changed(tx, update(Account).where(*mine).values(password_hash=hashed)):
            raise StateError("the password was changed at the same moment; try again")
        sign_out_everywhere(tx, actor.account_id)
        record(tx, actor, "account.password", actor.account, now)


def sign_out_everywhere(tx: Transaction, account_id: int | None) -> None:
    """End all browser sessions of an account, and make a code for its password invalid."""
    changed(tx, delete(PasswordReset).where(col(PasswordReset.account_id) == account_id))
    changed(tx, delete(BrowserSession).where(col(BrowserSession.account_id) == account_id))


def find_account(tx: Transaction, name: str) -> Account:
    """Return the account of this name. Raise UnknownError."""
    account = tx.exec(select(Account).where(Account.name == name)).first()
    if account is None:
        raise unknown(tx, "account", name, col(Account.name))
    return account


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
