"""Gauntlets: one or a few challengers against all the others, one challenger at a table."""

from collections.abc import Sequence
from random import Random

from arena.core.formats.base import Format, Option, Setup, Situation
from arena.core.pairing.search import placed
from arena.core.pairing.values import History, Pairing, Tables, generator, shuffled
from arena.core.ranking import Criteria

CHALLENGERS = Option(
    "challengers",
    default=lambda size: 1,
    limits=lambda entrants, size: (1, max(1, entrants - size + 1)),
)
"""How many of the first entrants play against the others."""


class Gauntlet(Format):
    """Each challenger goes once around the field."""

    name = "gauntlet"
    summary = "the first of the list against all others"
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

    def next(self, setup: Setup, situation: Situation) -> list[Pairing]:
        """Return the next round."""
        challengers, history = CHALLENGERS.of(setup), situation.history(setup)
        whole = gauntlet_rounds(len(situation.entrants), challengers, setup.size)
        times = -(-(setup.rounds or whole) // whole)
        number = situation.paired + 1
        return [gauntlet(situation.entrants, challengers, setup.size, history, number, setup.lots, times)]

    def never_meet(self, setup: Setup, bots: Sequence[str]) -> set[str]:
        """Return the challengers."""
        return set(bots[: CHALLENGERS.of(setup)])


def gauntlet_rounds(entrants: int, challengers: int, size: int) -> int:
    """Return after how many rounds every challenger has met every other entrant, some of them twice.

    With too few others for a table there are none.
    """
    field = entrants - challengers
    tables = min(challengers, field // (size - 1))
    if tables < 1:
        return 0
    return -(-challengers // tables) * -(-field // (size - 1))


def gauntlet(
    entrants: Sequence[int],
    challengers: int,
    size: int,
    history: History,
    round: int,
    seed: bytes,
    times: int = 1,
) -> Pairing:
    """Return one round of a gauntlet; the first ``challengers`` entrants play against the field, the others.

    Every challenger has a table of its own, at which it meets the field in an order drawn from ``seed``, once
    around round by round, so that it meets everyone equally often, give or take one; with more challengers
    than the field can seat they take turns, in groups. Everyone else sits out. If the field does not fill a
    challenger's last table, some play against it twice: challengers start so far apart that this happens to
    everyone in the field equally often, or nearly so, if each goes around ``times`` times. The field has at
    least ``size - 1`` entrants; ``round`` counts from 1 and may go beyond one time around.
    """
    rng = generator(seed, "gauntlet")
    field = shuffled(entrants[challengers:], rng)
    ones = shuffled(entrants[:challengers], rng)
    share = size - 1
    at_once = min(challengers, len(field) // share)
    each = -(-len(field) // share)
    groups = [ones[at : at + at_once] for at in range(0, challengers, at_once)]
    time, nth = divmod(round - 1, each)
    around, number = divmod(time, len(groups))
    twice = each * share - len(field)
    first = number * times * twice + (around * each + nth) * share
    tables = _tables(groups[number], field, share, first)
    return _seated(tables, entrants, history, generator(seed, f"gauntlet/{round}"))


def _tables(group: Sequence[int], field: Sequence[int], share: int, first: int) -> Tables:
    """Return a table for each of these, evenly around the field from its place ``first`` on."""
    starts = (first + at * len(field) // len(group) for at in range(len(group)))
    return [
        [one, *(field[(start + step) % len(field)] for step in range(share))]
        for one, start in zip(group, starts, strict=True)
    ]


def _seated(tables: Tables, entrants: Sequence[int], history: History, rng: Random) -> Pairing:
    seated = {entrant for table in tables for entrant in table}
    return placed(tables, [entrant for entrant in entrants if entrant not in seated], history, rng)
