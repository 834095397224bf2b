"""The bots of ``benchmarks.coverage``: bots of known strength, and a source of matches between them."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.results.strength.sums import Scored, scored

Array = NDArray[np.float64]

POINTS = 5.0
"""Standard deviation of a synthetic bot's points in a deal."""
STEP = 0.3
"""How far each version of a synthetic bot is from the one before, as a share of the spread of strengths."""


class Row(NamedTuple):
    """A row of the table: a kind of pool."""

    name: str
    bots: int
    size: int
    deals: int
    pairing: str
    spread: float
    gain: float
    cards: float = 0.0
    """The share of luck that is the worth of cards; if it is 0, strengths follow from points. Real deals have
    a share of their own."""


class World(NamedTuple):
    """Bots, and a source of matches between them."""

    truth: Array
    """By bot: its mean result against the whole field, every opponent weighted equally, in points a deal."""
    play: Callable[[Sequence[int], int], Scored]
    """Plays a match of some bots, of the given number of deals."""
    among: Callable[[Sequence[int]], Array] | None = None
    """Returns the mean results of some bots against one another; None if only all bots are ever fitted."""
    weigh: Callable[[Sequence[int], int], "Weighed"] | None = None
    """Plays a match in which it is known what the cards were worth; None if it never is."""
    special: Sequence[int] = ()
    """Bots that are counted separately."""


class Weighed(NamedTuple):
    """A match in which it is known what the cards were worth, by deal and bot."""

    bots: tuple[int, ...]
    points: Array
    cards: Array


def synthetic(
    rng: np.random.Generator, bots: int, spread: float, gain: float, versions: int = 1, cards: float = 0.0
) -> World:
    """Return bots whose strengths, and gains against particular opponents, are drawn at random.

    Each ``versions`` consecutive bots are versions of one bot, and differ a little from the one before.
    """
    strengths = rng.normal(0.0, spread, bots) if spread else np.zeros(bots)
    for number in range(bots):
        if number % versions:
            strengths[number] = strengths[number - 1] + STEP * strengths[number]
    gains = np.triu(rng.normal(0.0, gain, (bots, bots)), 1) if gain else np.zeros((bots, bots))
    return of_bots(rng, strengths, gains - gains.T, cards)


def of_bots(
    rng: np.random.Generator,
    strengths: Array,
    gains: Array,
    cards: float = 0.0,
    deviations: Array | None = None,
) -> World:
    """Return bots with given strengths, and with gains by bot and opponent; cards explain a share of luck.

    ``deviations`` are those of their points in a deal, if these are not all ``POINTS``.
    """
    spreads = np.full(len(strengths), POINTS) if deviations is None else deviations

    def among(bots: Sequence[int]) -> Array:
        own, from_each = strengths[list(bots)], gains[np.ix_(bots, bots)]
        return np.asarray(own - own.mean() + from_each.sum(axis=1) / len(bots))

    def expected(table: Sequence[int]) -> Array:
        return np.asarray(strengths[list(table)] + gains[np.ix_(table, table)].sum(axis=1) / len(table))

    def weigh(table: Sequence[int], deals: int) -> Weighed:
        own = spreads[list(table)]
        worth = rng.normal(0.0, own * math.sqrt(cards), (deals, len(table)))
        rest = rng.normal(0.0, own * math.sqrt(1 - cards), (deals, len(table)))
        return Weighed(tuple(table), expected(table) + worth + rest, worth)

    def play(table: Sequence[int], deals: int) -> Scored:
        drawn = rng.standard_normal((deals, len(table))) * spreads[list(table)] + expected(table)
        return scored_from(table, drawn)

    return World(among(range(len(strengths))), play, among, weigh if cards else None)


def scored_from(table: Sequence[int], points: Array) -> Scored:
    """Return what ``scored`` returns, of points by deal and bot."""
    points = points - points.mean(axis=1, keepdims=True)
    within = ((points - points.mean(axis=0)) ** 2).sum(axis=0)
    return Scored(tuple(table), len(points), tuple(points.sum(axis=0).tolist()), tuple(within.tolist()))


# Complications


def forfeiting(rng: np.random.Generator, world: World) -> World:
    """Return bots of which every eighth leaves three of four matches early; what follows does not count."""

    def play(table: Sequence[int], deals: int) -> Scored:
        left = any(bot % 8 == 0 for bot in table) and rng.random() < 0.75
        return world.play(table, int(rng.integers(1, deals)) if left else deals)

    return world._replace(play=play)


def tied(rng: np.random.Generator, world: World) -> World:
    """Return bots that win or lose 13 points in a deal or none, so that most deals are ties."""

    def play(table: Sequence[int], deals: int) -> Scored:
        drawn = world.truth[list(table)] + rng.normal(0.0, POINTS, (deals, len(table)))
        return scored_from(table, np.sign(drawn) * 13 * (rng.random(drawn.shape) < np.abs(drawn) / 13))

    return world._replace(play=play)


def newcomers(rng: np.random.Generator, row: Row) -> World:
    """Return four generations of bots, each stronger than the one before."""
    strengths = rng.normal(0.0, row.spread, row.bots) + 0.7 * (np.arange(row.bots) * 4 // row.bots)
    gains = np.triu(rng.normal(0.0, row.gain, (row.bots, row.bots)), 1)
    return of_bots(rng, strengths, gains - gains.T)


def trio(rng: np.random.Generator, row: Row) -> World:
    """Return bots among which three beat one another in a circle, by a wide margin."""
    strengths = rng.normal(0.0, row.spread, row.bots)
    strengths[:3] = 0.0
    gains = np.triu(rng.normal(0.0, row.gain, (row.bots, row.bots)), 1)
    gains = gains - gains.T
    for one in range(3):
        gains[one, (one + 1) % 3], gains[(one + 1) % 3, one] = 2.0, -2.0
    return of_bots(rng, strengths, gains)


def unlike(rng: np.random.Generator, row: Row) -> World:
    """Return bots of which a quarter varies three times as much as the rest, or one does."""
    special = range(row.bots // 4) if row.name == "volatile" else range(1)
    deviations = np.full(row.bots, 3.0 if row.name == "volatile" else 4.0)
    deviations[special] *= 3
    gains = np.triu(rng.normal(0.0, row.gain, (row.bots, row.bots)), 1)
    world = of_bots(rng, rng.normal(0.0, row.spread, row.bots), gains - gains.T, deviations=deviations)
    return world._replace(special=special)


def outlier(rng: np.random.Generator, row: Row) -> World:
    """Return equal bots, and one that is far better."""
    strengths = np.zeros(row.bots)
    strengths[0] = 6.0
    return of_bots(rng, strengths, np.zeros((row.bots, row.bots)))._replace(special=range(1))


def stream(rng: np.random.Generator, row: Row) -> World:
    """Return bots of which each is expected to be a little better than the one before."""
    strengths = rng.normal(0.0, row.spread, row.bots) + 0.05 * np.arange(row.bots)
    gains = np.triu(rng.normal(0.0, row.gain, (row.bots, row.bots)), 1)
    return of_bots(rng, strengths, gains - gains.T)


def world_of(rng: np.random.Generator, row: Row) -> World:
    """Return the bots of a row."""
    special = {
        "generations": newcomers,
        "trio": trio,
        "volatile": unlike,
        "one volatile": unlike,
        "outlier": outlier,
        "stream": stream,
    }
    if row.name in special:
        return special[row.name](rng, row)
    world = synthetic(rng, row.bots, row.spread, row.gain, cards=row.cards)
    changed = {"forfeits": forfeiting, "ties": tied}
    return changed[row.name](rng, world) if row.name in changed else world


def playing(rng: np.random.Generator, row: Row, round: int) -> Sequence[int]:
    """Return the bots that play in a round."""
    quarter = row.bots // 4
    if row.name == "zipf":
        return np.flatnonzero(rng.random(row.bots) < 4 / np.arange(1, row.bots + 1)).tolist()
    if row.name == "stream":
        return range(round, min(row.bots, round + 16))
    if row.name == "late":
        return range(row.bots if round > 10 else row.bots - quarter)
    if row.name == "generations":
        newest = min(3, (round - 1) // 12)
        return range(max(0, newest - 1) * quarter, (newest + 1) * quarter)
    return range(row.bots)


Recorded = dict[tuple[int, ...], Array]
"""For each composition of a table: points and the worth of the cards, both by deal and bot."""


def recorded(rng: np.random.Generator, deals: Recorded, bots: int) -> World:
    """Return bots whose deals have been played; no two matches share a deal until all have been drawn.

    What is known of the worth of cards is centred for each bot of a composition: it has no mean among all
    deals, and these are all that there are here.
    """
    size = len(next(iter(deals)))
    total = np.zeros(bots)
    for table, (points, _) in deals.items():
        total[list(table)] += points.mean(axis=0) - points.mean()
    truth = total / (len(deals) * size / bots) * size / (size - 1) * (bots - 1) / bots
    unseen: dict[tuple[int, ...], list[int]] = {}

    def weigh(table: Sequence[int], count: int) -> Weighed:
        key = tuple(sorted(table))
        points, cards = deals[key]
        drawn: list[int] = []
        while len(drawn) < count:
            left = unseen.get(key) or list(rng.permutation(len(points)))
            unseen[key] = left[count - len(drawn) :]
            drawn += left[: count - len(drawn)]
        return Weighed(key, points[drawn], (cards - cards.mean(axis=0))[drawn])

    def play(table: Sequence[int], count: int) -> Scored:
        key, points, _ = weigh(table, count)
        match = scored(key, points.tolist())
        assert match is not None
        return match

    return World(truth - truth.mean(), play, weigh=weigh)
