"""Counting the sums of standings again from the deals, to show that they are right."""

import math
from collections.abc import Mapping
from dataclasses import asdict, astuple
from typing import Any

from sqlalchemy import delete, insert, update
from sqlmodel import col, select

from arena.core.sums import Pair, Sum, Sums
from arena.results.standings.stored import add_rounds, kept_sums
from arena.store.models import COUNTED, Encounter, Entrant, EntrantSum, Round, Tournament
from arena.store.storage import Storage, Transaction, changed
from arena.tournaments.events import lock_row

CLOSE = 1e-6
"""Sums this close to each other are equal: they may have been added in another order."""


def wrong_standings(tx: Transaction) -> list[str]:
    """Return the names of the tournaments whose sums are not those of their rounds that are summed."""
    found = []
    for tournament in tx.exec(select(Tournament).order_by(col(Tournament.id))).all():
        right = Sums()
        add_rounds(tx, tournament, right, col(Round.summed).is_(True))
        if not _are_same(kept_sums(tx, tournament), right):
            found.append(tournament.name)
    return found


def mend_standings(storage: Storage) -> int:
    """Count the sums of all tournaments again, and correct those that are wrong; return how many were.

    Closed rounds that were not in them are added. The long part only reads: under the lock of a tournament,
    only the rounds that have closed in the meantime are added.
    """
    with storage.read() as tx:
        ids = tx.exec(select(Tournament.id).order_by(col(Tournament.id))).all()
    return sum(_mend(storage, id_) for id_ in ids)


def _mend(storage: Storage, tournament_id: int) -> bool:
    right = Sums()
    with storage.read() as tx:
        tournament = tx.get_one(Tournament, tournament_id)
        counted = _closed(tx, tournament_id)
        add_rounds(tx, tournament, right, col(Round.state).in_(COUNTED))
        if all(counted.values()) and _are_same(kept_sums(tx, tournament), right):
            return False
    with storage.write() as tx:
        lock_row(tx, tournament_id)
        more = [round_id for round_id in _closed(tx, tournament_id) if round_id not in counted]
        tournament = tx.get_one(Tournament, tournament_id)
        add_rounds(tx, tournament, right, col(Round.id).in_(more))
        _replace(tx, tournament_id, right)
    return True


def _closed(tx: Transaction, tournament_id: int) -> dict[int, bool]:
    """Return the rounds that have ended, and whether each is in the sums."""
    closed = (Round.tournament_id == tournament_id, col(Round.state).in_(COUNTED))
    return dict(tx.exec(select(Round.id, Round.summed).where(*closed)).all())


def _replace(tx: Transaction, tournament_id: int, right: Sums) -> None:
    ids = select(Entrant.id).where(Entrant.tournament_id == tournament_id)
    for table in (EntrantSum, Encounter):
        changed(tx, delete(table).where(col(table.entrant_id).in_(ids)))
    sums = [{"entrant_id": one, **asdict(own)} for one, own in right.entrants.items()]
    pairs = [
        {"entrant_id": one, "other_id": other, **asdict(pair)} for (one, other), pair in right.pairs.items()
    ]
    for into, rows in ((EntrantSum, sums), (Encounter, pairs)):
        if rows:
            tx.connection().execute(insert(into), rows)
    closed = (col(Round.tournament_id) == tournament_id, col(Round.state).in_(COUNTED))
    changed(tx, update(Round).where(*closed).values(summed=True))


def _are_same(kept: Sums, right: Sums) -> bool:
    return _rows_are_same(kept.entrants, right.entrants) and _rows_are_same(kept.pairs, right.pairs)


def _rows_are_same(kept: Mapping[Any, Sum | Pair], right: Mapping[Any, Sum | Pair]) -> bool:
    return kept.keys() == right.keys() and all(
        math.isclose(given, expected, rel_tol=CLOSE, abs_tol=CLOSE)
        for key, row in kept.items()
        for given, expected in zip(astuple(row), astuple(right[key]), strict=True)
    )
