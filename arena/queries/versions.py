"""Bot versions, in pages."""

from dataclasses import dataclass

from sqlalchemy import tuple_
from sqlmodel import col

from arena.bots.versions import VersionInfo, select_infos
from arena.errors import SpecError
from arena.models import Bot, BotVersion, Owner
from arena.queries.cursors import make_cursor, read_cursor
from arena.queries.names import find_owner
from arena.storage import Storage


@dataclass(frozen=True, slots=True)
class VersionPage:
    """A page of bot versions."""

    bots: tuple[VersionInfo, ...]
    """By owner, bot and number."""
    next: str | None
    """Cursor of the next page; None: there is none."""


def find_bots(
    storage: Storage, owner: str | None = None, limit: int = 100, cursor: str | None = None
) -> VersionPage:
    """Return bot versions, all or those of an owner, by owner, bot and number.

    Raise UnknownError for an unknown owner, and SpecError for a cursor of another list.
    """
    order = (col(Owner.name), col(Bot.name), col(BotVersion.number))
    rows = select_infos().add_columns(col(BotVersion.id)).order_by(*order)
    with storage.read() as tx:
        if owner is not None:
            rows = rows.where(col(Owner.id) == find_owner(tx, owner))
        if cursor is not None:
            [last] = read_cursor((owner,), cursor, int)
            version = tx.get(BotVersion, last)
            if version is None:
                raise SpecError("cursor", "it is none; take one as a page before this one had it")
            bot = tx.get_one(Bot, version.bot_id)
            reached = (tx.get_one(Owner, bot.owner_id).name, bot.name, version.number)
            rows = rows.where(tuple_(*order) > tuple_(*reached))
        found = tx.connection().execute(rows.limit(limit + 1)).all()
    bots = tuple(VersionInfo(*row[:-1]) for row in found[:limit])
    return VersionPage(bots, make_cursor((owner,), (found[limit - 1][-1],)) if len(found) > limit else None)
