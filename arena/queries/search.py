"""Names that begin with a text: what somebody may mean who types it."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, and_, exists
from sqlmodel import col, select

from arena.store.models import Bot, League, Owner, Tournament
from arena.store.storage import Storage, Transaction

AFTER_ALL = "~"
"""A character that is greater than all that are in names."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Names that begin with a text, in alphabetical order."""

    bots: tuple[str, ...]
    """``owner/bot``, found by the bot's own name, or by both with the slash."""
    owners: tuple[str, ...]
    """Those with bots: each account has an owner, and accounts are nobody else's business."""
    tournaments: tuple[str, ...]
    """Without test matches."""
    leagues: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """All of them."""
        return self.bots + self.owners + self.tournaments + self.leagues


def search(storage: Storage, text: str, limit: int) -> SearchResult:
    """Return up to ``limit`` names of each kind; none for an empty text."""
    wanted = text.strip().lower().partition("@")[0]
    if not wanted:
        return SearchResult((), (), (), ())
    with storage.read() as tx:
        owner, of_owner, bot = wanted.partition("/")
        if of_owner:
            its = and_(col(Owner.name) == owner, _begins(Bot.name, bot))
            return SearchResult(_bots(tx, its, limit), (), (), ())
        has_bots = exists(col(Bot.id)).where(col(Bot.owner_id) == Owner.id)
        listed = col(Tournament.test).is_(False)
        return SearchResult(
            bots=_bots(tx, _begins(Bot.name, wanted), limit),
            owners=_names(tx, Owner.name, wanted, limit, has_bots),
            tournaments=_names(tx, Tournament.name, wanted, limit, listed),
            leagues=_names(tx, League.name, wanted, limit),
        )


def _begins(column: Any, text: str) -> ColumnElement[bool]:
    """Return the condition that a name begins with a text, which an index of the names answers."""
    return and_(col(column) >= text, col(column) < text + AFTER_ALL)


def _names(
    tx: Transaction, column: Any, text: str, limit: int, *more: ColumnElement[bool]
) -> tuple[str, ...]:
    rows = select(column).where(_begins(column, text), *more).order_by(col(column)).limit(limit)
    return tuple(tx.exec(rows))


def _bots(tx: Transaction, wanted: ColumnElement[bool], limit: int) -> tuple[str, ...]:
    rows = select(Owner.name, Bot.name).join(Bot, col(Bot.owner_id) == Owner.id).where(wanted)
    rows_found = tx.exec(rows.order_by(col(Bot.name), col(Owner.name)).limit(limit))
    return tuple(f"{owner}/{bot}" for owner, bot in rows_found)
