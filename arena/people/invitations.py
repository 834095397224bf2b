"""Invitations: codes that make one account, or let one account join an owner."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, update
from sqlmodel import col, select

from arena.actors import RANKS, SCOPES, Actor, Role
from arena.errors import NotAllowed, SpecError, UnknownError
from arena.people.acting import actor_of
from arena.people.audit import record
from arena.people.tokens import hash_token, new_token
from arena.store.models import Account, Invitation, Membership, Owner
from arena.store.storage import Storage, Transaction, changed
from arena.store.suggestions import unknown

GOOD_FOR = timedelta(days=7)
"""How long an invitation can be used."""

ARENA = Actor(Role.OPERATOR)
"""The arena itself, which invites its first operator."""

WRONG_CODE = "unknown, used or expired"
USED = "used already; it works only once"


@dataclass(frozen=True, slots=True)
class Invited:
    """A new invitation."""

    number: int
    """The number by which it can be revoked."""
    code: str
    """The code itself, which nobody can show again."""
    role: Role
    """Role of an account that is made with it."""
    owner: str | None
    """The owner that whoever uses it joins, if there is one."""
    expires_at: datetime
    """When it expires."""


@dataclass(frozen=True, slots=True)
class InvitationInfo:
    """An unused invitation."""

    number: int
    """The number by which it can be revoked."""
    role: Role
    """Role of an account that is made with it."""
    owner: str | None
    """The owner that whoever uses it joins, if there is one."""
    invited_by: str
    """The account that made it, or the user at the arena's own terminal; empty for the arena itself."""
    created_at: datetime
    """When it was made."""
    expires_at: datetime
    """When it expires."""


@dataclass(frozen=True, slots=True)
class Invitations:
    """Invitations that can still be used, the newest first."""

    invitations: list[InvitationInfo]


def invite(storage: Storage, actor: Actor, role: Role, now: datetime, owner: str | None = None) -> Invited:
    """Make an invitation: operators invite anybody, members of an owner only authors who join that owner.

    A key needs all scopes that whoever uses it will have. Raise NotAllowed, SpecError, UnknownError.
    """
    if role is Role.ANONYMOUS:
        raise SpecError("role", f"must be one of {', '.join(RANKS[1:])}")
    _require(actor, role, owner)
    actor.require_scopes(SCOPES[role], f"invite an {role}")
    with storage.write() as tx:
        owner_id = None if owner is None else find_owner(tx, owner).id
        number, code = _add(tx, actor, role, now, owner_id)
        record(tx, actor, "account.invite", owner or role, now, role=role)
    return Invited(number, code, role, owner, now + GOOD_FOR)


def _require(actor: Actor, role: Role, owner: str | None) -> None:
    """Raise NotAllowed unless the actor may make, see and revoke such an invitation."""
    if owner is None or role is not Role.AUTHOR:
        actor.require(Role.OPERATOR, f"invite an {role}")
    else:
        actor.require_owner(owner, f"invite somebody to {owner}")


def _may(actor: Actor | None, role: Role, owner: str | None) -> bool:
    """Return whether that is so; nobody may whose account is disabled."""
    with suppress(NotAllowed):
        if actor is not None:
            _require(actor, role, owner)
            return True
    return False


def _info(row: Invitation, owner: str | None) -> InvitationInfo:
    return InvitationInfo(row.id, row.role, owner, row.invited_by, row.created_at, row.expires_at)


def invite_first(storage: Storage, now: datetime) -> Invited | None:
    """Make an invitation for an operator if nobody has an account yet; otherwise return None."""
    with storage.write() as tx:
        if tx.exec(select(Account.id).limit(1)).first() is not None:
            return None
        return Invited(*_add(tx, ARENA, Role.OPERATOR, now, None), Role.OPERATOR, None, now + GOOD_FOR)


def _add(tx: Transaction, actor: Actor, role: Role, now: datetime, owner_id: int | None) -> tuple[int, str]:
    """Add an invitation; return its number and its code."""
    code = new_token("invitation")
    invitation = Invitation(
        code_hash=hash_token(code),
        role=role,
        owner_id=owner_id,
        invited_by=actor.account,
        inviter_id=actor.account_id,
        created_at=now,
        expires_at=now + GOOD_FOR,
    )
    tx.add(invitation)
    tx.flush()
    return invitation.id, code


def list_invitations(storage: Storage, actor: Actor, now: datetime) -> list[InvitationInfo]:
    """Return the unused invitations to the actor's owners, or for an operator all, the newest first.

    Raise NotAllowed.
    """
    actor.require(Role.AUTHOR, "list invitations")
    rows = select(Invitation, Owner.name).outerjoin(Owner, col(Owner.id) == Invitation.owner_id)
    expires_at = col(Invitation.expires_at)
    usable = (col(Invitation.used_at).is_(None), expires_at > now, expires_at <= now + 2 * GOOD_FOR)
    with storage.read() as tx:
        invitations = tx.exec(rows.where(*usable).order_by(col(Invitation.id).desc())).all()
    return [_info(row, owner) for row, owner in invitations if _may(actor, row.role, owner)]


def revoke_invitation(storage: Storage, actor: Actor, number: int, now: datetime) -> InvitationInfo:
    """Delete, and return, an unused invitation: to an owner of the actor's, or for an operator any.

    Raise NotAllowed, UnknownError.
    """
    actor.require(Role.AUTHOR, "revoke invitations")
    with storage.write() as tx:
        row = tx.get(Invitation, number)
        owner = None if row is None or row.owner_id is None else tx.get_one(Owner, row.owner_id).name
        if row is None:
            actor.require(Role.OPERATOR, "revoke that invitation")  # others are not told which there are
        else:
            _require(actor, row.role, owner)
        unused = (col(Invitation.id) == number, col(Invitation.used_at).is_(None))
        if row is None or not changed(tx, delete(Invitation).where(*unused)):
            raise UnknownError(f"no unused invitation {number}")
        record(tx, actor, "invitation.revoke", owner or row.role, now, number=number)
        return _info(row, owner)


def use_invitation(tx: Transaction, code: str, now: datetime) -> Invitation:
    """Use up an invitation, and return it.

    It is valid as long as whoever made it may make such an invitation. Raise SpecError if it is not.
    """
    invitation = require_invitation(tx, code, now)
    unused = (col(Invitation.id) == invitation.id, col(Invitation.used_at).is_(None))
    if not changed(tx, update(Invitation).where(*unused).values(used_at=now)):
        raise SpecError("invitation", USED)
    return invitation


def check_invitation(storage: Storage, code: str, now: datetime) -> None:
    """Raise SpecError if no invitation with this code can be used."""
    with storage.read() as tx:
        require_invitation(tx, code, now)


def require_invitation(tx: Transaction, code: str, now: datetime) -> Invitation:
    """Return the valid invitation with this code. Raise SpecError if there is none."""
    invitation = tx.exec(select(Invitation).where(Invitation.code_hash == hash_token(code))).first()
    if invitation is None:
        raise SpecError("invitation", WRONG_CODE)
    if invitation.used_at is not None:
        raise SpecError("invitation", USED)
    if not now < invitation.expires_at <= now + 2 * GOOD_FOR:  # a clock that was ahead made it
        raise SpecError("invitation", f"expired on {min(invitation.expires_at, now):%Y-%m-%d}")
    owner = None if invitation.owner_id is None else tx.get_one(Owner, invitation.owner_id).name
    inviter = invitation.inviter_id  # None at the arena's own terminal
    if inviter is not None and not _may(actor_of(tx, inviter), invitation.role, owner):
        raise SpecError("invitation", WRONG_CODE)
    return invitation


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
    owner = tx.exec(select(Owner).where(Owner.name == name)).first()
    if owner is None:
        raise unknown(tx, "owner", name, col(Owner.name))
    return owner
