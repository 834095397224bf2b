"""Tables that ask for one decision after another: one, or many at once for self-play."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from referee.deals.action import NOBODY
from referee.deals.deal import Deal
from referee.deals.session import Session
from referee.errors import LearningError
from referee.learning.encoder import Encoder, Observations, Source
from referee.learning.sight import Onlooker, Sight
from referee.rules.plays import Rules


class LearningTable:
    """Plays the deals of one session.

    As in the arena, a seat that has only one choice is not asked. In a bomb window the seats that could bomb
    are asked in order of play, without knowing what the others answer, and the other seats decline.
    """

    def __init__(self, rules: Rules, seed: bytes, deals: int) -> None:
        """Begin with the session's seed of 32 bytes and go on to the first decision."""
        self._rules = rules
        self._session = Session(rules, seed, deals)
        self.points: list[tuple[int, ...]] = []
        """The points of the deals that ended since the last decision, by seat."""
        self.deal: Deal | None = None
        """The current deal, or the last one once the session is over."""
        self.seat = NOBODY
        """Who is asked; ``NOBODY`` once the session is over."""
        self._choices: list[int] = []
        self._onlooker: Onlooker | None = None
        self._advance()

    @property
    def over(self) -> bool:
        """Whether the session is over."""
        return self.seat == NOBODY

    @property
    def scores(self) -> Sequence[int]:
        """The session's score, by seat, without the open deal."""
        return self._session.scores

    def sight(self, seat: int) -> Sight:
        """Return what a seat sees; a seat that is not asked may only pass."""
        assert self._onlooker is not None
        if seat == self.seat:
            return self._onlooker.sight(seat, self._choices)
        return self._onlooker.sight(seat)

    def code(self, slot: int) -> int:
        """Return the code of a slot, 0 for the pass. Raise LearningError if it is not legal here."""
        choices = self._choices
        can_pass = not choices[-1]
        plays = len(choices) - can_pass
        if not (1 <= slot <= plays or (slot == 0 and can_pass)):
            passes = "0 (a pass) to" if can_pass else "1 to"
            raise LearningError(f"action: {slot} is not legal here, {passes} {plays} are")
        return choices[slot - 1] if slot else 0

    def act(self, slot: int) -> None:
        """Choose for the seat that is asked, and go on to the next decision."""
        code, deal = self.code(slot), self.deal
        assert deal is not None
        deal.act(self.seat, code & self._rules.full)
        self.points = []
        self._advance()

    def _advance(self) -> None:
        """Go on until a seat has a choice or the session is over."""
        session = self._session
        while True:
            deal = session.deal
            if deal is not None and not deal.over:
                for seat in deal.owing():
                    choices = deal.choices(seat)
                    if len(choices) > 1:
                        self.seat, self._choices = seat, choices
                        return
                    deal.act(seat, choices[0] & self._rules.full)
                    break
                continue
            if deal is not None:
                self.points.append(session.close_deal().points)
            if session.over:
                self.seat = NOBODY
                return
            scores = tuple(session.scores)
            self.deal = session.next_deal()
            self._onlooker = Onlooker(self.deal, scores)


class Finished(NamedTuple):
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
    ) -> Finished:
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
        return Finished(np.array(ended, np.int64), np.array(points, np.int64).reshape(shape))

    def _fresh(self) -> LearningTable:
        """Return a table with a new deal in which somebody has something to decide."""
        while True:
            table = LearningTable(self.encoder.rules, self._random.bytes(32), 1)
            if not table.over:
                return table
