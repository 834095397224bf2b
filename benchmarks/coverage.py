"""How often the intervals of strengths cover the truth: ``python -m benchmarks.coverage``.

Real deals of the sample bots, and of mixtures of them that sometimes play at random, are played in every
composition of a table and kept; matches are drawn from them without replacement. A bot's true result against
the field is the mean over all compositions, equally weighted. In addition there are synthetic bots whose
strengths are drawn at random, with gains against particular opponents (``benchmarks.worlds``): pools, tables,
lengths, pairings and spreads of many kinds; some forfeit, enter late, come in generations, beat one another
in a circle, or tie. In the rows with cards, strengths follow from what bots made of their cards, except in
the round just played; what is expected of cards follows from earlier rounds.

For each row and number of matches it prints the share of intervals that cover the truth, for all bots and for
the best and the worst tenth by estimate; the mean interval; how often all rank ranges of a pool are right;
and the share of pairs in different tiers that are in the wrong order or equal.
"""

import argparse
import math
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from random import Random
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from arena.core.elo import TWO_SIDED
from arena.core.luck import AT_FIRST, UNIT
from arena.core.ranking import ScoreKind
from arena.results.strength.counts import Counts
from arena.results.strength.fit import Fit, fit_counts
from arena.results.strength.ranges import places
from arena.results.strength.sums import Scored, Sums, scored
from benchmarks.duplicate import Choose, LocalTurn, sample_bot
from benchmarks.worlds import Array, Recorded, Row, Weighed, World, playing, recorded, world_of
from referee.bot import Turn
from referee.deals.deal import Deal
from referee.deals.shuffle import deal_seed, session_seed
from referee.reference.values import REFERENCE, deal_values
from referee.rules.plays import Rules, compile_ruleset
from referee.ruleset import load_ruleset

BOTS = ("greedy", "keeper", "lowest", "pairs_first")
AT_RANDOM = (0.0, 0.1, 0.3)
"""Shares of turns in which mixtures play at random."""
AFTER = (7, 15, 30, 60)
"""Matches of each bot after which strengths are fitted."""
FEW = 8
"""Bots with fewer matches have few."""
SPREAD_OF_PAIRING = 0.05
"""Points a deal by which estimates are blurred when bots of similar strength are paired."""


# How they are paired


@dataclass
class Season:
    """The matches of a pool so far."""

    bots: int
    size: int
    sums: Sums = field(init=False)
    made: Sums = field(init=False)
    """Of what was made of cards."""
    scores: Array = field(init=False)
    estimates: Array = field(init=False)
    squares: float = 0.0
    """Of what cards were worth, relative to the table's mean; all in rounds before."""
    product: float = 0.0
    """Of that and the points."""

    def __post_init__(self) -> None:
        self.sums, self.made = Sums(self.size), Sums(self.size)
        self.scores, self.estimates = np.zeros(self.bots), np.zeros(self.bots)

    def add(self, match: Scored) -> None:
        self.sums.add(match)
        self._see(match)

    def add_made(self, matches: Sequence[Weighed]) -> None:
        """Add a round in which it is known what the cards were worth."""
        beta = round(UNIT * self.product / self.squares) / UNIT if self.squares else AT_FIRST / UNIT
        for bots, points, cards in matches:
            worth = cards - cards.mean(axis=1, keepdims=True)
            plain, made = scored(bots, points.tolist()), scored(bots, (points - beta * worth).tolist())
            assert plain is not None
            assert made is not None
            of_points = Sums(self.size)
            of_points.add(plain)
            self.made.add(made)
            self.made.raw_within += of_points.within
            self.made.raw_between += of_points.between
            self.squares += float((worth**2).sum())
            self.product += float((worth * points).sum())
            self._see(plain)

    def _see(self, match: Scored) -> None:
        """Take in what pairing goes by."""
        seats = list(match.bots)
        means = np.array(match.scores) / match.deals
        self.scores[seats] += match.scores
        self.estimates[seats] += (means - self.estimates[seats] + self.estimates[seats].mean()) / 8


Pairing = Callable[[np.random.Generator, Season], NDArray[np.intp]]


def at_random(rng: np.random.Generator, season: Season) -> NDArray[np.intp]:
    return rng.permutation(season.bots)


def by_score(rng: np.random.Generator, season: Season) -> NDArray[np.intp]:
    return np.argsort(-season.scores + rng.normal(0.0, 1e-6, season.bots))


def by_closeness(rng: np.random.Generator, season: Season) -> NDArray[np.intp]:
    blurred = season.estimates + rng.normal(0.0, SPREAD_OF_PAIRING, season.bots)
    return np.roll(np.argsort(-blurred), int(rng.integers(season.size)))


def by_division(rng: np.random.Generator, season: Season) -> NDArray[np.intp]:
    """Pair within two divisions, except that one bot in sixteen meets the other division."""
    half = season.bots // 2
    upper, lower = rng.permutation(half), half + rng.permutation(season.bots - half)
    if (season.sums.matches + season.made.matches) % 16 < season.bots // season.size:
        upper[0], lower[0] = lower[0], upper[0]
    return np.concatenate([upper, lower])


def by_partners(rng: np.random.Generator, season: Season) -> NDArray[np.intp]:
    """Seat each bot with the same other one always."""
    return (2 * rng.permutation(season.bots // 2)[:, None] + np.arange(2)).ravel()


PAIRINGS: dict[str, Pairing] = {
    "round-robin": at_random,
    "swiss": by_score,
    "closeness": by_closeness,
    "divisions": by_division,
    "partners": by_partners,
}


# What is measured


class Held(NamedTuple):
    """What was right in one pool, after some number of matches."""

    all: float
    best: float
    worst: float
    half: float
    """Mean half width of the intervals, in points a deal."""
    ranks: float
    special: float
    """Of the special bots of the pool, or of those with fewer than ``FEW`` matches."""
    tiers: float
    """Share of pairs in different tiers that are in the wrong order, or equal."""


def seasons(world: World, row: Row, rng: np.random.Generator) -> Iterator[tuple[int, Held]]:
    """Play a season; after each number of rounds in ``AFTER``, yield it with what was right."""
    season = Season(row.bots, row.size)
    for round in range(1, max(AFTER) + 1):
        there = {*playing(rng, row, round)}
        order = [int(bot) for bot in PAIRINGS[row.pairing](rng, season) if int(bot) in there]
        tables = [order[at : at + row.size] for at in range(0, len(order) - row.size + 1, row.size)]
        if row.cards and round not in AFTER:
            assert world.weigh is not None
            season.add_made([world.weigh(table, row.deals) for table in tables])
        else:
            for table in tables:
                season.add(world.play(table, row.deals))
        if round in AFTER:
            found = fit_counts([Counts.of(season.sums), Counts.of(season.made, ScoreKind.MADE)])
            assert found is not None
            truth = world.truth.copy()
            if world.among is not None:
                truth[list(found.bots)] = world.among(found.bots)
            special = world.special
            if row.name == "zipf":
                special = [bot for bot, own in season.sums.scores.items() if own.matches < FEW]
            yield round, held(found, truth, special)


def held(found: Fit, truth: Array, special: Sequence[int] = ()) -> Held:
    """Compare a fit with the truth."""
    true = truth[list(found.bots)] - truth[list(found.bots)].mean()
    halves = TWO_SIDED * np.sqrt(found.variances)
    inside = np.abs(found.strengths - true) <= halves
    order = np.argsort(-found.strengths)
    tenth = max(1, len(order) // 10)
    standing = places(found)
    ranks = [1 + int((true > one + 1e-12).sum()) for one in true]
    tiers = np.array([one.tier for one in standing])
    apart = tiers[:, None] < tiers[None, :]
    wrong = apart & (true[:, None] <= true[None, :])
    return Held(
        float(inside.mean()),
        float(inside[order[:tenth]].mean()),
        float(inside[order[-tenth:]].mean()),
        float(halves.mean()),
        float(all(one.best <= rank <= one.worst for one, rank in zip(standing, ranks, strict=True))),
        float(inside[np.isin(found.bots, special)].mean()) if len(special) else math.nan,
        float(wrong.sum() / max(1, apart.sum())),
    )


# The real deals


def mixture(name: str, share: float) -> Choose:
    """Return a sample bot that plays a share of its turns at random."""
    skilled, blind, rng = sample_bot(name), sample_bot("random"), Random(f"{name} {share}")
    return lambda turn: (blind if rng.random() < share else skilled)(turn)


def record_table(job: tuple[str, tuple[int, ...], int, bool]) -> tuple[tuple[int, ...], Array]:
    """Play deals of a table of mixtures; return the table, and points and worth of cards by deal and bot."""
    ruleset, table, deals, weighed = job
    rules = compile_ruleset(load_ruleset(ruleset))
    names = [(name, share) for share in AT_RANDOM for name in BOTS]
    bots = [mixture(*names[bot]) for bot in table]
    rng = Random(f"{table}")
    found = np.zeros((2, deals, len(table)))
    for number in range(deals):
        seats = rng.sample(range(len(table)), len(table))
        deal = play_deal(rules, [bots[at] for at in seats], f"{table}{number}")
        found[0, number, seats] = deal.points
        if weighed:
            found[1, number, seats] = np.array(deal_values(deal)) / REFERENCE.parts
    return table, found


def play_deal(rules: Rules, bots: Sequence[Choose], seed: str) -> Deal:
    """Play a deal to its end."""
    step = 1 if rules.ruleset.direction == "clockwise" else -1
    deal = Deal(rules, deal_seed(session_seed(seed.encode().ljust(32)[:32], 1, 1, 1), 1), 1, 0, step)
    while not deal.over:
        seat = deal.owing()[0]
        play = bots[seat](cast(Turn, LocalTurn(deal, seat)))
        deal.act(seat, play.code & rules.full if play is not None else 0)
    return deal


def record(ruleset: str, deals: int, *, weighed: bool) -> Recorded:
    """Play deals in every composition of a table, and weigh their cards, in several processes."""
    size = compile_ruleset(load_ruleset(ruleset)).ruleset.players
    tables = list(combinations(range(len(BOTS) * len(AT_RANDOM)), size))
    found: Recorded = {}
    with multiprocessing.Pool() as pool:
        jobs = [(ruleset, table, deals, weighed) for table in tables]
        begun = time.monotonic()
        for table, of_table in pool.imap_unordered(record_table, jobs):
            found[table] = of_table
            if sys.stderr.isatty():
                left = (time.monotonic() - begun) / len(found) * (len(tables) - len(found))
                print(f"\r{len(found)} of {len(tables)} tables, {left:.0f} s left ", end="", file=sys.stderr)
    return dict(sorted(found.items()))


# The table


ROWS = (
    Row("synthetic", 8, 4, 60, "round-robin", 1.0, 0.4),
    Row("synthetic", 8, 8, 10, "round-robin", 0.5, 0.3),
    Row("synthetic", 8, 2, 20, "round-robin", 1.0, 0.4),
    Row("synthetic", 8, 4, 1, "round-robin", 0.5, 0.0),
    Row("synthetic", 32, 4, 40, "round-robin", 1.0, 0.4),
    Row("synthetic", 32, 4, 40, "swiss", 1.0, 0.4),
    Row("synthetic", 32, 4, 60, "closeness", 1.0, 0.4),
    Row("synthetic", 32, 4, 60, "closeness", 0.3, 0.8),
    Row("synthetic", 32, 4, 60, "swiss", 2.0, 0.2),
    Row("synthetic", 32, 2, 60, "swiss", 1.0, 0.4),
    Row("synthetic", 32, 5, 10, "closeness", 0.5, 0.2),
    Row("synthetic", 32, 4, 1, "swiss", 1.0, 0.3),
    Row("synthetic", 32, 8, 100, "round-robin", 0.5, 0.2),
    Row("synthetic", 32, 4, 40, "divisions", 1.0, 0.4),
    Row("synthetic", 32, 4, 20, "swiss", 0.0, 0.0),
    Row("synthetic", 200, 4, 20, "closeness", 1.0, 0.4),
    Row("synthetic", 200, 5, 10, "swiss", 1.0, 0.5),
    Row("synthetic", 200, 2, 40, "round-robin", 1.0, 0.4),
)
HARDER = (
    Row("synthetic", 32, 4, 100, "closeness", 1.0, 0.4),
    Row("forfeits", 32, 4, 40, "swiss", 1.0, 0.4),
    Row("late", 32, 4, 40, "swiss", 1.0, 0.4),
    Row("generations", 32, 4, 40, "swiss", 1.0, 0.4),
    Row("generations", 32, 4, 40, "closeness", 1.0, 0.4),
    Row("trio", 12, 4, 40, "swiss", 1.0, 0.2),
    Row("trio", 12, 2, 40, "round-robin", 1.0, 0.2),
    Row("ties", 32, 4, 20, "round-robin", 1.0, 0.0),
    Row("ties", 32, 4, 1, "swiss", 1.0, 0.0),
)
UNLIKE = (
    Row("volatile", 32, 4, 40, "round-robin", 1.0, 0.4),
    Row("volatile", 32, 4, 1, "round-robin", 1.0, 0.0),
    Row("volatile", 32, 2, 20, "round-robin", 1.0, 0.4),
    Row("volatile", 32, 4, 40, "swiss", 1.0, 0.4),
    Row("volatile", 8, 4, 10, "round-robin", 1.0, 0.0),
    Row("one volatile", 32, 4, 40, "round-robin", 1.0, 0.4),
    Row("one volatile", 32, 4, 10, "closeness", 1.0, 0.4),
    Row("zipf", 64, 4, 40, "round-robin", 1.0, 0.4),
    Row("zipf", 64, 4, 4, "round-robin", 1.0, 0.4),
    Row("stream", 76, 4, 40, "round-robin", 1.0, 0.4),
    Row("stream", 76, 4, 40, "swiss", 1.0, 0.4),
    Row("synthetic", 32, 4, 40, "partners", 1.0, 0.4),
    Row("outlier", 20, 4, 40, "round-robin", 0.0, 0.0),
    Row("outlier", 20, 4, 10, "swiss", 0.0, 0.0),
)
REAL = tuple(
    Row("real deals", len(BOTS) * len(AT_RANDOM), 4, deals, pairing, 0.0, 0.0)
    for deals in (1, 10, 40, 60)
    for pairing in ("round-robin", "swiss", "closeness")
)
MADE = tuple(
    row._replace(cards=cards)
    for row in (
        *(row for row in REAL if row.deals < 40),
        Row("synthetic", 32, 4, 40, "round-robin", 1.0, 0.4),
        Row("synthetic", 32, 4, 40, "swiss", 1.0, 0.4),
        Row("synthetic", 32, 4, 60, "closeness", 1.0, 0.4),
        Row("synthetic", 32, 4, 1, "swiss", 1.0, 0.3),
        Row("synthetic", 32, 2, 20, "swiss", 1.0, 0.4),
        Row("synthetic", 8, 8, 10, "round-robin", 0.5, 0.3),
    )
    for cards in (0.0, 0.7)
)
HEAD = (
    "pool        bots table deals pairing     spread  g   cards matches"
    " | all  best worst special   ± | ranks | tiers"
)

_DEALS: Recorded = {}


def repeat(job: tuple[Row, int]) -> list[tuple[int, Held]]:
    """Play one season."""
    row, number = job
    rng = np.random.default_rng([number, row.bots, row.size, row.deals])
    world = recorded(rng, _DEALS, row.bots) if row.name == "real deals" else world_of(rng, row)
    return list(seasons(world, row, rng))


def main() -> None:
    """Record deals and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage", description=__doc__)
    parser.add_argument("--ruleset", default="chinese", help="a preset for tables of four")
    parser.add_argument("--deals", type=int, default=600, help="real deals in each composition of a table")
    parser.add_argument("--repeats", type=int, default=80, help="seasons of each row (a fifth for 200 bots)")
    parser.add_argument(
        "--only", choices=("real", "synthetic", "harder", "unlike", "made"), help="print these rows only"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="seasons played at the same time")
    options = parser.parse_args()
    if options.only in (None, "real", "made"):
        _DEALS.update(record(options.ruleset, options.deals, weighed=options.only != "real"))
        deals = sum(points.shape[0] for points, _ in _DEALS.values())
        print(f"\n{deals} real deals of {len(_DEALS)} compositions, {options.ruleset}:")
        print("  dealt, on average, by bot: " + ", ".join(dealt(_DEALS)))
        world = recorded(np.random.default_rng(0), _DEALS, len(BOTS) * len(AT_RANDOM))
        print("  in points a deal: " + ", ".join(f"{one:+.2f}" for one in sorted(world.truth)))
    print(HEAD)
    with multiprocessing.Pool(options.jobs) as pool:
        rows = {"real": REAL, "synthetic": ROWS, "harder": HARDER, "unlike": UNLIKE, "made": MADE}
        for row in [row for name, some in rows.items() if options.only in (None, name) for row in some]:
            count = options.repeats // 5 if row.bots > 100 else options.repeats
            found = pool.map(repeat, [(row, number) for number in range(count)], chunksize=1)
            for after in zip(*found, strict=True):
                print(line(row, after[0][0], [one for _, one in after]), flush=True)


def dealt(deals: Recorded) -> Iterator[str]:
    """Yield for each bot the mean worth of its cards, relative to the table's, with its standard error."""
    for bot in range(len(BOTS) * len(AT_RANDOM)):
        own = [
            (cards[:, table.index(bot)] - cards.mean(axis=1))
            for table, (_, cards) in deals.items()
            if bot in table
        ]
        worth = np.concatenate(own)
        yield f"{worth.mean():+.3f} ± {worth.std() / len(worth) ** 0.5:.3f}"


def line(row: Row, matches: int, found: Sequence[Held]) -> str:
    """Return a line of the table: means over seasons."""
    held = Held(*np.nanmean(found, axis=0))
    return (
        f"{row.name:11} {row.bots:4} {row.size:5} {row.deals:5} {row.pairing:11} {row.spread:6.1f}"
        f" {row.gain:4.1f} {row.cards:5.0%} {matches:6}  | {held.all:4.0%} {held.best:4.0%} {held.worst:5.0%}"
        f" {held.special:5.0%} {held.half:6.2f}"
        f" | {held.ranks:5.0%} | {held.tiers:5.1%}"
    )


if __name__ == "__main__":
    main()
