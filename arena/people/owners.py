"""Owners with several members."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete
from sqlalchemy.exc import IntegrityError
from sqlmodel import col, func, select

from arena.actors import Actor, Role
from arena.core.specs import check_name
from arena.errors import StateError, TakenError
from arena.people.accounts import find_account
from arena.people.audit import record
from arena.people.invitations import find_owner
from arena.store.models import Account, Membership, Owner
from arena.store.storage import Storage, changed, hold_row

MOST_OWNERS = 20
"""The most owners that an account may have, so that nobody takes all names."""


@dataclass(frozen=True, slots=True)
class OwnerInfo:
    """An owner and its members, who manage its bots."""

    owner: str
    """Its name."""
    members: tuple[str, ...]
    """Names of their accounts."""


def create_owner(storage: Storage, actor: Actor, name: str, now: datetime) -> OwnerInfo:
    """Add an owner whose member is the actor. Raise NotAllowed, SpecError, TakenError, StateError."""
    actor.require(Role.AUTHOR, "add owners")
    check_name("owner", name)
    if actor.account_id is None:
        raise StateError("an owner needs a member: sign in with an account")
    mine = select(func.count()).select_from(Membership).where(Membership.account_id == actor.account_id)
    try:
        with storage.write() as tx:
            hold_row(tx, Account, actor.account_id)
            if tx.exec(mine).one() >= MOST_OWNERS:
                raise StateError(f"{actor.account} has {MOST_OWNERS} owners already, the limit is reached")
            if tx.exec(select(Account.id).where(Account.name == name)).first() is not None:
                raise TakenError(f"{name} is the name of an account")
            owner = Owner(name=name, created_at=now)
            tx.add(owner)
            tx.flush()
            tx.add(Membership(account_id=actor.account_id, owner_id=owner.id, since=now))
            record(tx, actor, "owner.create", name, now)
    except IntegrityError:
        raise TakenError(f"owner {name} already exists") from None
    return OwnerInfo(name, (actor.account,))


def show_owner(storage: Storage, actor: Actor, name: str) -> OwnerInfo:
    """Return an owner and its members; only they see each other. Raise NotAllowed, UnknownError."""
    actor.require_owner(name, f"see the members of {name}")
    with storage.read() as tx:
        owner = find_owner(tx, name)
        named = select(Account.name).join(Membership, col(Membership.account_id) == Account.id)
        members = tx.exec(named.where(Membership.owner_id == owner.id).order_by(Account.name))
        return OwnerInfo(name, tuple(members))


def leave_owner(storage: Storage, actor: Actor, name: str, account: str, now: datetime) -> None:
    """End an account's membership of an owner; the last member stays.

    Members can leave, and remove those who joined after them; operators can remove anybody. Raise
    NotAllowed, UnknownError, StateError.
    """
    actor.require_owner(name, f"change the members of {name}")
    with storage.write() as tx:
        owner, member = find_owner(tx, name), find_account(tx, account)
        of_it = select(Membership).where(Membership.owner_id == owner.id).with_for_update()
        members = {row.account_id: row.since for row in tx.exec(of_it)}
        if member.id not in members:
            raise StateError(f"{account} is not a member of {name}")
        mine = members.get(actor.account_id or 0)
        if mine is not None and member.id != actor.account_id and members[member.id] <= mine:
            actor.require(Role.OPERATOR, f"remove {account} from {name}, having joined later")
        if len(members) == 1:
            raise StateError(f"{account} is the last member of {name}")
        gone = (col(Membership.owner_id) == owner.id, col(Membership.account_id) == member.id)
        changed(tx, delete(Membership).where(*gone))
        record(tx, actor, "owner.leave", name, now, account=account)
