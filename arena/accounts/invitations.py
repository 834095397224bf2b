"""Invitations: codes that make one account, or let one account join an owner."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import update
from sqlmodel import col, select

from arena.actors import RANKS, Actor, Role
from arena.audit import record
from arena.errors import SpecError
from arena.models import Account, Invitation, Membership, Owner
from arena.storage import Storage, Transaction, changed
from arena.tokens import hash_token, new_token
from arena.unknown import unknown

GOOD_FOR = timedelta(days=7)
"""How long an invitation can be used."""

WRONG_CODE = "unknown, used or expired"


@dataclass(frozen=True, slots=True)
class Invited:
    """A new invitation."""

    code: str
    """The code itself, which nobody can show again."""
    role: Role
    """Role of an account that is made with it."""
    owner: str | None
    """The owner that whoever uses it joins, if there is one."""
    expires_at: datetime
    """When it expires."""


def invite(storage: Storage, actor: Actor, role: Role, now: datetime, owner: str | None = None) -> Invited:
    """Make an invitation: operators invite anybody, members of an owner only authors who join that owner.

    Raise NotAllowed, SpecError, UnknownError.
    """
    if role is Role.ANONYMOUS:
        raise SpecError("role", f"must be one of {', '.join(RANKS[1:])}")
    if owner is None or role is not Role.AUTHOR:
        actor.require(Role.OPERATOR, f"invite an {role}")
    else:
        actor.require_owner(owner, f"invite somebody to {owner}")
    with storage.write() as tx:
        owner_id = None if owner is None else find_owner(tx, owner).id
        made = _add(tx, actor.account, role, now, owner_id)
        record(tx, actor, "account.invite", owner or role, now, role=role)
    return Invited(made, role, owner, now + GOOD_FOR)


def invite_first(storage: Storage, now: datetime) -> Invited | None:
    """Make an invitation for an operator if nobody has an account yet; otherwise return None."""
    with storage.write() as tx:
        if tx.exec(select(Account.id).limit(1)).first() is not None:
            return None
        return Invited(_add(tx, "", Role.OPERATOR, now, None), Role.OPERATOR, None, now + GOOD_FOR)


def _add(tx: Transaction, invited_by: str, role: Role, now: datetime, owner_id: int | None) -> str:
    code = new_token("invitation")
    invitation = Invitation(
        code_hash=hash_token(code),
        role=role,
        owner_id=owner_id,
        invited_by=invited_by,
        created_at=now,
        expires_at=now + GOOD_FOR,
    )
    tx.add(invitation)
    tx.flush()
    return code


def use_invitation(tx: Transaction, code: str, now: datetime) -> Invitation:
    """Use up an invitation, and return it. Raise SpecError if it is no longer valid."""
    found = tx.exec(select(Invitation).where(Invitation.code_hash == hash_token(code))).first()
    if found is None or found.expires_at <= now:
        raise SpecError("invitation", WRONG_CODE)
    unused = (col(Invitation.id) == found.id, col(Invitation.used_at).is_(None))
    if not changed(tx, update(Invitation).where(*unused).values(used_at=now)):
        raise SpecError("invitation", WRONG_CODE)
    return found


def join_owner(storage: Storage, actor: Actor, code: str, now: datetime) -> str:
    """Join the owner that an invitation is for; return its name. Raise NotAllowed, SpecError."""
    actor.require(Role.AUTHOR, "join an owner")
    with storage.write() as tx:
        invitation = use_invitation(tx, code, now)
        if invitation.owner_id is None:
            raise SpecError("invitation", "it is for a new account, and you already have one")
        owner = tx.get_one(Owner, invitation.owner_id)
        if owner.name in actor.owners:
            raise SpecError("invitation", f"the bots of {owner.name} are yours already")
        assert actor.account_id is not None
        tx.add(Membership(account_id=actor.account_id, owner_id=owner.id, since=now))
        record(tx, actor, "owner.join", owner.name, now)
        return owner.name


def find_owner(tx: Transaction, name: str) -> Owner:
    """Return the owner of this name. Raise UnknownError."""
    found = tx.exec(select(Owner).where(Owner.name == name)).first()
    if found is None:
        raise unknown(tx, "owner", name, col(Owner.name))
    return found
