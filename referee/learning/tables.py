"""Many tables at once, for self-play: one call observes, or acts for, the seats to act at all of them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from referee.errors import LearningError
from referee.learning.encoder import Encoder, Observations, Source
from referee.learning.table import LearningTable


class Ended(NamedTuple):
    """The deals that ended with a step."""

    tables: NDArray[np.int64]
    """Their tables, in the order of the actions."""
    points: NDArray[np.int64]
    """By deal, what each seat scored."""


class Tables:
    """Tables that each play one deal after another; a table never waits for another."""

    def __init__(
        self, n: int, ruleset: Source = "hong-kong", seed: int = 0, *, encoder: Encoder | None = None
    ) -> None:
        """Deal at ``n`` tables; ``seed`` determines all cards. ``encoder`` reuses one and its ruleset.

        Raise RulesetError for a wrong ruleset, LearningError for a wrong number.
        """
        if n < 1:
            raise LearningError(f"n: must be 1 or more, not {n}")
        self.encoder = encoder or Encoder(ruleset)
        self._random = np.random.default_rng(seed)
        self._tables = [self._fresh() for _ in range(n)]

    def __len__(self) -> int:
        return len(self._tables)

    @property
    def seats(self) -> NDArray[np.int64]:
        """By table, the seat that is asked."""
        return np.array([table.seat for table in self._tables], np.int64)

    def observe(self, tables: Sequence[int] | None = None) -> Observations:
        """Return what the seats that are asked see, at all tables or at these."""
        chosen = self._tables if tables is None else [self._tables[table] for table in tables]
        return self.encoder.observe([table.sight(table.seat) for table in chosen])

    def step(
        self, actions: Sequence[int] | NDArray[np.integer], tables: Sequence[int] | None = None
    ) -> Ended:
        """Take one action at each table, or at each of these.

        0 passes, n is the n-th legal play of the seat that is asked.

        When a deal ends, the next is dealt at once. Raise LearningError for an action that is not legal, and
        then change nothing.
        """
        places = range(len(self._tables)) if tables is None else tables
        if len(actions) != len(places):
            raise LearningError(f"actions: there are {len(places)} tables, not {len(actions)}")
        chosen = [(place, int(action)) for place, action in zip(places, actions, strict=True)]
        for place, action in chosen:
            self._tables[place].code(action)
        ended, points = [], []
        for place, action in chosen:
            table = self._tables[place]
            table.act(action)
            if table.over:
                ended.append(place)
                points.append(table.points[0])
                self._tables[place] = self._fresh()
        shape = (-1, self.encoder.ruleset.players)
        return Ended(np.array(ended, np.int64), np.array(points, np.int64).reshape(shape))

    def _fresh(self) -> LearningTable:
        """Return a table with a new deal in which somebody has something to decide."""
        while True:
            table = LearningTable(self.encoder.rules, self._random.bytes(32), 1)
            if not table.over:
                return table
