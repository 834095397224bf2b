"""The actor that an account's requests are made by."""

from typing import Any

from sqlalchemy import select
from sqlmodel import col

from arena.actors import Actor
from arena.store.models import Account, Membership, Owner
from arena.store.storage import Transaction


def actor_of(tx: Transaction, account_id: int) -> Actor | None:
    """Return the actor for an account; None if it is disabled."""
    columns: tuple[Any, ...] = (Account.name, Account.role, Account.disabled_at, Owner.name)
    rows = tx.execute(
        select(*columns)
        .outerjoin(Membership, col(Membership.account_id) == Account.id)
        .outerjoin(Owner, col(Owner.id) == Membership.owner_id)
        .where(col(Account.id) == account_id)
    ).all()
    name, role, disabled_at, _ = rows[0]
    owners = frozenset(owner for *_, owner in rows if owner is not None)
    return None if disabled_at is not None else Actor(role, name, owners, account_id)
