"""Ledgers: tables of counts and sums that follow from results, so that no query has to read history.

Each table is declared here, once. What a session or a round comes to is added to its rows in the transaction
that stores the session or closes the round; ``arena rating rebuild`` counts everything again, compares the
rows with that, and corrects them.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from sqlalchemy import ColumnElement
from sqlalchemy import select as select_columns
from sqlmodel import SQLModel, select

from arena.core.luck import Luck, Slope
from arena.core.ranking import Pair, Sum
from arena.core.softplay import Chances
from arena.results.strength.sums import Left, Met, Score, SeatSum, Sums, sum_fields
from arena.store.models import (
    Encounter,
    EntrantChances,
    EntrantLuck,
    EntrantSum,
    FaultTally,
    Highlight,
    LeftMeeting,
    LuckTally,
    Meeting,
    PoolSlope,
    Rating,
    SeatTally,
    StrengthScore,
    StrengthSums,
)
from arena.store.storage import Transaction, add_to_rows

CLOSE = 1e-6
"""Numbers this close to each other are equal: they may have been added in another order, or elsewhere."""

Key: TypeAlias = Any
"""The value of the column that names a row; a tuple if there are several."""
Row: TypeAlias = tuple[Any, ...]
"""The values of the other columns."""
Counted = TypeVar("Counted")
"""What a row follows from; its attributes have the names of the columns."""


@dataclass(frozen=True, slots=True, eq=False)
class Ledger(Generic[Counted]):
    """A table of counts."""

    table: type[SQLModel]
    key: tuple[str, ...]
    """The columns that name a row, without those that all rows of a ``Part`` have in common."""
    columns: tuple[str, ...]
    """The columns that are counted."""
    values: Callable[[Counted], Row] | None = None
    """Returns the values of these columns; None if they are attributes."""
    greatest: tuple[str, ...] = ()
    """The columns of which the greatest value is kept, not the sum."""
    latest: Mapping[str, str] = field(default_factory=dict)
    """The columns of which the value is kept that goes with the greatest value of another one."""
    for_fits: tuple[str, ...] = ()
    """The columns from which strengths follow."""
    relative: float = CLOSE
    """How far numbers that are equal may differ, as a share of them."""

    def row(self, counted: Counted) -> Row:
        """Return the values of the columns that are counted."""
        if self.values is not None:
            return self.values(counted)
        return tuple(attrgetter(*self.columns)(counted))

    def rows(self, counted: Mapping[Key, Counted], **common: object) -> list[dict[str, Any]]:
        """Return rows by the names of their columns; ``common`` are the values that all have."""
        names = (*self.key, *self.columns)
        return [
            common | dict(zip(names, self.key_values(key) + self.row(row), strict=True))
            for key, row in counted.items()
        ]

    def add(self, tx: Transaction, counted: Mapping[Key, Counted], **common: object) -> None:
        """Add what was counted to the rows; the keys of the table are its primary key."""
        rows = self.rows(counted, **common)
        if rows:
            add_to_rows(tx, self.table, rows, greatest=self.greatest, latest=self.latest)

    def key_values(self, key: Key) -> Row:
        """Return a key as a tuple."""
        return (key,) if len(self.key) == 1 else tuple(key)


class WrongRow(NamedTuple):
    """A row that is not what was counted."""

    part: "Part[Any]"
    key: Key
    stored: Row | None
    """What is stored; None if nothing is."""
    right: Row | None
    """What should be; None if there should be no row."""

    @property
    def different(self) -> list[str]:
        """The columns that are wrong; all, if only one of both is there."""
        ledger = self.part.ledger
        if self.stored is None or self.right is None:
            return list(ledger.columns)
        both = zip(ledger.columns, self.stored, self.right, strict=True)
        return [name for name, stored, right in both if not _is_close(stored, right, ledger.relative)]

    @property
    def for_fits(self) -> bool:
        """Whether strengths follow from what is wrong."""
        return not set(self.part.ledger.for_fits).isdisjoint(self.different)

    def problem(self, tx: Transaction) -> str:
        """Return in words what is wrong."""
        problem = self.part.problem
        return problem if isinstance(problem, str) else problem(tx, self)


@dataclass(frozen=True, slots=True, eq=False)
class Part(Generic[Counted]):
    """The rows of a ledger that are counted together: those of a pool, a tournament or some sessions."""

    ledger: Ledger[Counted]
    counted: Mapping[Key, Counted]
    """What they should be."""
    problem: str | Callable[[Transaction, WrongRow], str]
    """What is wrong if a row is, in words."""
    common: Mapping[str, object] = field(default_factory=dict)
    """The values of columns that all rows have in common."""
    which: ColumnElement[bool] | None = None
    """A condition on the rows besides that."""

    def wrong(self, tx: Transaction) -> Iterator[WrongRow]:
        """Yield the rows that are not what was counted."""
        ledger, missing = self.ledger, len(self.counted)
        keys, columns = self._columns(ledger.key), self._columns(ledger.columns)
        for values in tx.connection().execute(select_columns(*keys, *columns).where(*self._conditions())):
            key, stored = self._key(values[: len(keys)]), tuple(values[len(keys) :])
            counted = self.counted.get(key)
            missing -= counted is not None
            row = WrongRow(self, key, stored, None if counted is None else ledger.row(counted))
            if stored != row.right and row.different:
                yield row
        if missing:
            rows = tx.connection().execute(select_columns(*keys).where(*self._conditions()))
            there = {self._key(values) for values in rows}
            for key, counted in self.counted.items():
                if key not in there:
                    yield WrongRow(self, key, None, ledger.row(counted))

    def correct(self, tx: Transaction, keys: Sequence[Key]) -> None:
        """Make rows what was counted; nobody else may change them meanwhile."""
        ledger = self.ledger
        for key in keys:
            named = dict(zip(ledger.key, ledger.key_values(key), strict=True))
            is_it = (getattr(ledger.table, name) == value for name, value in named.items())
            row: Any = tx.exec(select(ledger.table).where(*self._conditions(), *is_it)).first()
            if key not in self.counted:
                if row is not None:
                    tx.delete(row)
                continue
            if row is None:
                row = ledger.table(**self.common, **named)
            for name, value in zip(ledger.columns, ledger.row(self.counted[key]), strict=True):
                setattr(row, name, value)
            tx.add(row)

    def _columns(self, names: Sequence[str]) -> list[Any]:
        return [getattr(self.ledger.table, name) for name in names]

    def _conditions(self) -> list[Any]:
        common = [getattr(self.ledger.table, name) == value for name, value in self.common.items()]
        return common if self.which is None else [*common, self.which]

    def _key(self, values: Sequence[Any]) -> Key:
        return values[0] if len(self.ledger.key) == 1 else tuple(values)


def _is_close(stored: Any, right: Any, relative: float) -> bool:
    return bool(stored == right) or (
        isinstance(stored, float | int)
        and isinstance(right, float | int)
        and math.isclose(stored, right, rel_tol=relative, abs_tol=CLOSE)
    )


# Pools, as rated rounds close

RATINGS: Ledger[Rating] = Ledger(
    Rating,
    ("table_size", "version_id"),
    ("value", "matches", "weight", "deals", "last_played"),
    relative=0.0,
)
TOTALS: Ledger[Sums] = Ledger(
    StrengthSums,
    ("table_size", "kind"),
    sum_fields(Sums),
    for_fits=sum_fields(Sums),
)
SCORES: Ledger[Score] = Ledger(StrengthScore, ("version_id",), sum_fields(Score), for_fits=sum_fields(Score))
MEETINGS: Ledger[Met] = Ledger(
    Meeting,
    ("version_id", "other_id"),
    sum_fields(Met),
    greatest=("last_match_id",),
    for_fits=("deals", "score"),
)
LEFT: Ledger[Left] = Ledger(
    LeftMeeting, ("version_id", "other_id"), sum_fields(Left), for_fits=("deals", "ahead", "behind", "score")
)
SEATS: Ledger[SeatSum] = Ledger(SeatTally, ("version_id", "seat"), sum_fields(SeatSum))

# Standings, as rounds close

ENTRANTS: Ledger[Sum] = Ledger(
    EntrantSum, ("entrant_id",), sum_fields(Sum), greatest=("last_round",), latest={"last": "last_round"}
)
ENCOUNTERS: Ledger[Pair] = Ledger(Encounter, ("entrant_id", "other_id"), sum_fields(Pair))

# Luck, as workers take rounds in

SLOPES: Ledger[Slope] = Ledger(PoolSlope, ("table_size",), sum_fields(Slope), relative=0.0)
LUCK: Ledger[Luck] = Ledger(LuckTally, ("version_id",), sum_fields(Luck), relative=0.0)
CHANCES: Ledger[Chances] = Ledger(
    EntrantChances, ("entrant_id", "other_id", "situation"), sum_fields(Chances), relative=0.0
)
ENTRANT_LUCK: Ledger[Luck] = Ledger(EntrantLuck, ("entrant_id",), sum_fields(Luck), relative=0.0)

# Sessions, as they are stored

FAULTS: Ledger[int] = Ledger(
    FaultTally, ("version_id", "ruleset_id", "table_size", "kind"), ("count",), lambda count: (count,)
)
HIGHLIGHTS: Ledger[Row] = Ledger(
    Highlight, ("session_id", "kind"), ("ruleset_id", "table_size", "deal", "value"), tuple
)
