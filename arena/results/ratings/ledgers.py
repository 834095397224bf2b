"""Comparing the rows of sums that are stored as rounds close with what they should be."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from sqlalchemy import Column, ColumnElement, delete, inspect, tuple_
from sqlalchemy import select as select_columns
from sqlmodel import SQLModel, col, select

from arena.results.ratings.replay import CLOSE, Replay
from arena.results.tallies.rounds import Sat
from arena.store.models import Meeting, SeatTally, StrengthScore, StrengthSums
from arena.store.storage import Transaction, changed, put_rows

Key: TypeAlias = tuple[int, ...]
"""The values of a table's key."""
Row: TypeAlias = tuple[float, ...]
"""The values of a table's other columns."""
Which: TypeAlias = tuple[int, bool]
"""Sums under a ruleset: the table size, and whether they are of duplicate deals."""


@dataclass(frozen=True, slots=True, eq=False)
class Ledger:
    """A table's rows of one pool."""

    table: type[SQLModel]
    of_pool: ColumnElement[bool]
    every_key: Callable[[], Iterable[Key]]
    """Returns the keys of all rows that there should be."""
    right: Callable[[Key], Row | None]
    """Returns what a row should be; None if there should be none."""
    problem: str
    """The message about a wrong row."""
    for_fits: Callable[[Row | None, Row | None], bool]
    """Returns whether a difference between two rows affects strengths."""

    @property
    def columns(self) -> tuple[list[Column[Any]], list[Column[Any]]]:
        """Return the columns of the key, and the others."""
        columns = inspect(self.table).local_table.columns
        return [one for one in columns if one.primary_key], [one for one in columns if not one.primary_key]


@dataclass(frozen=True, slots=True, eq=False)
class WrongRow:
    """A row that is not as it should be."""

    ledger: Ledger
    key: Key
    for_fits: bool
    """Whether the error affects strengths."""


def wrong_rows(tx: Transaction, ledger: Ledger) -> Iterator[WrongRow]:
    """Yield the wrong rows, compared with the rounds that were replayed."""
    keys, others = ledger.columns
    right_ones = 0
    for values in tx.connection().execute(select_columns(*keys, *others).where(ledger.of_pool)):
        key, kept = tuple(values[: len(keys)]), tuple(values[len(keys) :])
        right = ledger.right(key)
        right_ones += right is not None
        if right is None or not are_same(kept, right):
            yield WrongRow(ledger, key, ledger.for_fits(kept, right))
    if right_ones < sum(1 for _ in ledger.every_key()):
        there = {tuple(key) for key in tx.connection().execute(select_columns(*keys).where(ledger.of_pool))}
        for key in ledger.every_key():
            if key not in there:
                yield WrongRow(ledger, key, ledger.for_fits(None, ledger.right(key)))


def are_same(kept: Sequence[float], right: Sequence[float]) -> bool:
    """Return whether numbers are the same, up to rounding errors."""
    return all(
        one == other or math.isclose(one, other, rel_tol=CLOSE, abs_tol=CLOSE)
        for one, other in zip(kept, right, strict=True)
    )


def correct(tx: Transaction, ledger: Ledger, keys: Sequence[Key]) -> None:
    """Correct rows, under the lock of their pool and with all rounds replayed."""
    key_columns, others = ledger.columns
    names = [column.name for column in (*key_columns, *others)]
    right = {key: ledger.right(key) for key in keys}
    rows = [dict(zip(names, key + row, strict=True)) for key, row in right.items() if row is not None]
    if rows:
        put_rows(tx, ledger.table, rows)
    gone = [key for key, row in right.items() if row is None]
    if gone:
        changed(tx, delete(ledger.table).where(tuple_(*key_columns).in_(gone)))


def sums_ids(tx: Transaction, ruleset_id: int) -> dict[Which, int]:
    """Return the ids of the sums that are stored for a ruleset."""
    columns = select(StrengthSums.table_size, StrengthSums.duplicate, StrengthSums.id)
    rows = tx.exec(columns.where(StrengthSums.ruleset_id == ruleset_id))
    return {(size, duplicate): id_ for size, duplicate, id_ in rows}


def ledgers(replay: Replay, ids: Mapping[Which, int], label: str) -> Iterator[Ledger]:
    """Yield all ledgers of a ruleset's pools; ``label`` is the ruleset's name for people."""
    for which, sums_id in ids.items():
        where = f"{label}, tables of {which[0]}"
        yield _scores(replay, which, sums_id, where)
        yield _meetings(replay, which, sums_id, where)
    for size in sorted({size for size, _ in ids} | set(replay.pools)):
        yield _seats(replay, size, f"{label}, tables of {size}")


def problem_of_sums(where: str, *, duplicate: bool) -> str:
    """Return the message about wrong sums."""
    kind = "duplicate deals" if duplicate else "deals"
    return f"{where}: the sums of {kind}, from which strengths follow, are wrong"


def _scores(replay: Replay, which: Which, sums_id: int, where: str) -> Ledger:
    sums = replay.sums_of(which)

    def right(key: Key) -> Row | None:
        bot = key[1]
        return (sums.bot_deals[bot], sums.scores[bot]) if bot in sums.scores else None

    return Ledger(
        StrengthScore,
        col(StrengthScore.sums_id) == sums_id,
        lambda: ((sums_id, bot) for bot in sums.scores),
        right,
        problem_of_sums(where, duplicate=which[1]),
        lambda kept, right: True,
    )


def _meetings(replay: Replay, which: Which, sums_id: int, where: str) -> Ledger:
    sums, tallies = replay.sums_of(which), replay.tallies_of(which)

    def right(key: Key) -> Row | None:
        pair = key[1], key[2]
        return (sums.meetings[pair], *tallies.met[pair].values().values()) if pair in tallies.met else None

    return Ledger(
        Meeting,
        col(Meeting.sums_id) == sums_id,
        lambda: ((sums_id, *pair) for pair in sums.meetings),
        right,
        f"{where}: the results of meetings are wrong",
        lambda kept, right: kept is None or right is None or kept[0] != right[0],
    )


def _seats(replay: Replay, size: int, where: str) -> Ledger:
    both = [replay.tallies_of((size, duplicate)).sat for duplicate in (False, True)]

    def right(key: Key) -> Row | None:
        version_id, _, _, seat = key
        found = [sat[version_id, seat] for sat in both if (version_id, seat) in sat]
        return tuple(sum(found, start=Sat()).values().values()) if found else None

    of_pool = (col(SeatTally.ruleset_id) == replay.ruleset_id) & (col(SeatTally.table_size) == size)
    return Ledger(
        SeatTally,
        of_pool,
        lambda: ((bot, replay.ruleset_id, size, seat) for bot, seat in {**both[0], **both[1]}),
        right,
        f"{where}: the results of bots by seat are wrong",
        lambda kept, right: False,
    )
