"""Bot versions, in pages."""

from dataclasses import dataclass

from sqlmodel import col

from arena.bots.versions import VersionInfo, select_infos
from arena.core.cursors import make_cursor, read_cursor
from arena.queries.names import find_owner
from arena.store.models import BotVersion, Owner
from arena.store.storage import Storage


@dataclass(frozen=True, slots=True)
class VersionPage:
    """A page of bot versions."""

    bots: tuple[VersionInfo, ...]
    """The newest first."""
    next: str | None
    """Cursor of the next page; None if there is none."""


def find_bots(
    storage: Storage, owner: str | None = None, limit: int = 100, cursor: str | None = None
) -> VersionPage:
    """Return bot versions, all or those of an owner, the newest first.

    Raise UnknownError for an unknown owner, and SpecError for a cursor of another list.
    """
    newest = col(BotVersion.id).desc()
    rows = select_infos().add_columns(col(BotVersion.id)).order_by(newest).limit(limit + 1)
    with storage.read() as tx:
        if owner is not None:
            rows = rows.where(col(Owner.id) == find_owner(tx, owner))
        if cursor is not None:
            [last] = read_cursor((owner,), cursor, int)
            rows = rows.where(col(BotVersion.id) < last)
        found = tx.connection().execute(rows).all()
    bots = tuple(VersionInfo(*row[:-1]) for row in found[:limit])
    return VersionPage(bots, make_cursor((owner,), (found[limit - 1][-1],)) if len(found) > limit else None)
