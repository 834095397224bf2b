"""Gauntlets: one or a few challengers against all the others, one challenger at a table."""

from collections.abc import Sequence
from random import Random

from arena.formats.base import Course, Format, Option, Setup
from arena.pairing.chance import generator, shuffled
from arena.pairing.search import placed
from arena.pairing.values import History, Pairing, Tables
from arena.standings.ranking import Criteria

CHALLENGERS = Option(
    "challengers",
    default=lambda size: 1,
    limits=lambda entrants, size: (1, max(1, entrants - size + 1)),
)
"""How many of the first entrants play against the others."""


class Gauntlet(Format):
    """Each challenger goes once around the field."""

    name = "gauntlet"
    criteria = Criteria(("mean", "points", "wins", "opponents"))
    schedule = "a gauntlet follows its schedule: each challenger goes once around the field"
    options = (CHALLENGERS,)

    def total(self, setup: Setup, entrants: int) -> int | None:
        """Return the rounds asked for, or those after which every challenger has met every other entrant."""
        return setup.rounds or gauntlet_rounds(entrants, CHALLENGERS.of(setup), setup.size)

    def tables_to_come(self, setup: Setup, entrants: int, paired: int) -> int:
        """Return how many tables are still to be paired."""
        challengers = CHALLENGERS.of(setup)
        tables = min(challengers, (entrants - challengers) // (setup.size - 1))
        return max(0, (self.total(setup, entrants) or 0) - paired) * tables

    def next(self, setup: Setup, course: Course) -> list[Pairing]:
        """Return the next round."""
        challengers, history = CHALLENGERS.of(setup), course.history(setup)
        return [gauntlet(course.entrants, challengers, setup.size, history, course.paired + 1, setup.lots)]

    def never_meet(self, setup: Setup, bots: Sequence[str]) -> set[str]:
        """Return the challengers."""
        return set(bots[: CHALLENGERS.of(setup)])


def gauntlet_rounds(entrants: int, challengers: int, size: int) -> int:
    """Return after how many rounds every challenger has met every other entrant, some of them twice."""
    field = entrants - challengers
    tables = min(challengers, field // (size - 1))
    return -(-challengers // tables) * -(-field // (size - 1))


def gauntlet(
    entrants: Sequence[int], challengers: int, size: int, history: History, round: int, seed: bytes
) -> Pairing:
    """Return one round of a gauntlet; the first ``challengers`` entrants play against the field, the others.

    Every challenger has a table of its own, at which it meets the field in an order drawn from ``seed``,
    round by round once around, so that it meets everyone equally often, or once more or less; with more
    challengers than the field can seat they take turns. Everyone else sits out. The field
    has at least ``size - 1`` entrants; ``round`` counts from 1 and may go beyond one time around.
    """
    rng = generator(seed, "gauntlet")
    field = shuffled(entrants[challengers:], rng)
    ones = shuffled(entrants[:challengers], rng)
    at_once = min(challengers, len(field) // (size - 1))
    each = -(-len(field) // (size - 1))
    groups = [ones[at : at + at_once] for at in range(0, challengers, at_once)]
    time, nth = divmod(round - 1, each)
    tables = _tables(groups[time % len(groups)], field, size, time // len(groups) * each + nth)
    return _seated(tables, entrants, history, generator(seed, f"gauntlet/{round}"))


def _tables(group: Sequence[int], field: Sequence[int], size: int, nth: int) -> Tables:
    """Return the nth tables of these challengers: each is a share of the field further on than the last."""
    share = size - 1
    starts = ((nth + at) * share for at in range(len(group)))
    return [
        [one, *(field[(start + step) % len(field)] for step in range(share))]
        for one, start in zip(group, starts, strict=True)
    ]


def _seated(tables: Tables, entrants: Sequence[int], history: History, rng: Random) -> Pairing:
    seated = {one for table in tables for one in table}
    return placed(tables, [one for one in entrants if one not in seated], history, rng)
