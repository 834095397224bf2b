"""Luck of bots and entrants, from tallies: what was expected from their cards, and what they made."""

from collections.abc import Iterable
from functools import cache
from typing import Any

from sqlalchemy import Select, bindparam, func
from sqlalchemy import select as select_columns
from sqlmodel import col, select

from arena.core.luck import Luck, LuckLine
from arena.results.ledgers import ENTRANT_LUCK, LUCK
from arena.results.strength.pools import Pool
from arena.store.models import Entrant, EntrantLuck, LuckTally, Round, Tournament
from arena.store.storage import Ids, Storage, Transaction, among


def version_luck(tx: Transaction, pool: Pool, version_ids: Iterable[int]) -> dict[int, LuckLine]:
    """Return the luck of these bot versions in a pool, as far as it is known."""
    rows = tx.connection().execute(_of_versions(), {**pool._asdict(), "versions": [*version_ids]})
    return {version_id: Luck(*counts).line() for version_id, *counts in rows}


@cache
def _of_versions() -> Select[Any]:
    """Select the sums of versions in a pool; made once, because every page of a leaderboard uses it."""
    of_pool = (
        col(LuckTally.ruleset_id) == bindparam("ruleset_id"),
        col(LuckTally.table_size) == bindparam("table_size"),
    )
    columns = (getattr(LuckTally, column) for column in ("version_id", *LUCK.columns))
    these = among(LuckTally.version_id, bindparam("versions", type_=Ids()))
    return select_columns(*columns).where(*of_pool, these)


def entrants_luck(tx: Transaction, tournament: Tournament) -> dict[int, LuckLine]:
    """Return by the entrant's number the luck of a tournament's entrants, as far as it is known."""
    columns: tuple[Any, ...] = tuple(getattr(EntrantLuck, column) for column in ENTRANT_LUCK.columns)
    rows = (
        select_columns(col(Entrant.number), *columns)
        .join(EntrantLuck, col(EntrantLuck.entrant_id) == Entrant.id)
        .where(col(Entrant.tournament_id) == tournament.id)
    )
    return {number: Luck(*counts).line() for number, *counts in tx.execute(rows)}


def rounds_weighed(storage: Storage, tournament_id: int) -> int:
    """Return in how many rounds of a tournament it is known what the cards were worth."""
    rounds = select(func.count()).select_from(Round)
    of_it = rounds.where(Round.tournament_id == tournament_id, col(Round.beta).is_not(None))
    with storage.read() as tx:
        return tx.exec(of_it).one()
