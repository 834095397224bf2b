"""How often ``arena play --against`` errs, and how long it takes: ``python -m benchmarks.sequential``.

Pairs of sample bots, and of mixtures of them that play at random now and then, play real blocks: one deal,
from every seat, by both bots against the same panel. The values of a pair's blocks are moved so that their
mean is that of a hypothesis, and tests draw from them, as long as each of them takes. So the distribution is
that of real deals, and the truth is known exactly.

For each pair and test: how often t1 is accepted though t0 is true, how often t0 though t1 is true, and the
mean number of blocks at t0, between the two, and at t1; and how often the interval that holds while one
watches has missed the truth by the test's end.
"""

import argparse
import multiprocessing
import sys
from collections.abc import Callable, Sequence
from random import Random
from statistics import fmean, pstdev
from typing import NamedTuple

from benchmarks.coverage import mixture, play_deal
from referee.local.field import turned
from referee.local.sequential import SequentialTest, Verdict, expected_blocks, watched_interval
from referee.local.sums import Sums
from referee.rules.plays import compile_ruleset
from referee.ruleset import load_ruleset

PANEL = (("keeper", 0.0), ("greedy", 0.0), ("pairs_first", 0.0))
"""The other bots at the table, with their shares of turns at random."""

PAIRS = (
    (("greedy", 0.1), ("greedy", 0.1)),
    (("keeper", 0.0), ("greedy", 0.0)),
    (("keeper", 0.0), ("keeper", 0.1)),
    (("lowest", 0.0), ("pairs_first", 0.0)),
)
TESTS = tuple(SequentialTest(error, error, 0.0, t1) for t1, error in ((0.1, 0.05), (0.1, 0.1), (0.2, 0.05)))
CHUNK = 50
"""Blocks that a process plays at a time."""


class Job(NamedTuple):
    """Blocks of a pair to be played."""

    ruleset: str
    pair: int
    first: int
    blocks: int


def play_blocks(job: Job) -> tuple[int, list[float]]:
    """Play blocks of a pair; return their values."""
    rules = compile_ruleset(load_ruleset(job.ruleset))
    players = rules.ruleset.players
    panel = [mixture(*PANEL[at % len(PANEL)]) for at in range(players - 1)]
    arms = [[mixture(name, share + arm * 1e-9), *panel] for arm, (name, share) in enumerate(PAIRS[job.pair])]
    values = []
    for block in range(job.first, job.first + job.blocks):
        points = []
        for bots in arms:
            seatings = [*turned(range(players))]
            played = [play_deal(rules, [bots[at] for at in one], f"{block}") for one in seatings]
            points.append(fmean(own[one.index(0)] for own, one in zip(played, seatings, strict=True)))
        values.append(points[1] - points[0])
    return job.pair, values


def record(ruleset: str, blocks: int) -> list[list[float]]:
    """Play blocks of all pairs, in processes."""
    found: list[list[float]] = [[] for _ in PAIRS]
    jobs = [
        Job(ruleset, pair, first, CHUNK) for pair in range(len(PAIRS)) for first in range(0, blocks, CHUNK)
    ]
    with multiprocessing.Pool() as pool:
        for number, (pair, values) in enumerate(pool.imap(play_blocks, jobs), start=1):
            found[pair] += values
            if sys.stderr.isatty():
                print(f"\r{number} of {len(jobs)} parts", end="", file=sys.stderr)
    return found


class Ended(NamedTuple):
    """How a test ended."""

    verdict: Verdict
    blocks: int
    missed: bool
    """Whether the interval that holds while one watches missed the truth at any block."""


def run(test: SequentialTest, draw: Callable[[], float], truth: float) -> Ended:
    """Run a test to its end."""
    sums, missed, tightest = Sums(), False, expected_blocks(test, test.t1)
    while test.verdict(sums) is Verdict.OPEN:
        sums = sums.add(draw())
        interval = watched_interval(sums, tightest)
        missed = missed or (interval is not None and not interval.low <= truth <= interval.high)
    return Ended(test.verdict(sums), sums.count, missed)


def ends(job: tuple[SequentialTest, Sequence[float], float, int]) -> list[Ended]:
    """Run a test many times on values moved to a mean of ``t`` deviations."""
    test, values, t, repeats = job
    truth = t * pstdev(values)
    moved = [value - fmean(values) + truth for value in values]
    rng = Random(f"{test} {t}")
    return [run(test, lambda: moved[int(rng.random() * len(moved))], truth) for _ in range(repeats)]


def main() -> None:
    """Play the blocks, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sequential", description=__doc__)
    parser.add_argument("--ruleset", default="chinese", help="a preset")
    parser.add_argument("--blocks", type=int, default=400, help="real blocks of each pair")
    parser.add_argument("--repeats", type=int, default=4000, help="tests for each figure")
    options = parser.parse_args()
    recorded = record(options.ruleset, options.blocks)
    print("| A, B | t of B | skewness | t1 | nominal | alpha | beta | blocks at t0, between, t1 | missed |")
    print("|---|---|---|---|---|---|---|---|---|")
    with multiprocessing.Pool() as pool:
        for (a, b), values in zip(PAIRS, recorded, strict=True):
            for test in TESTS:
                jobs = [
                    (test, values, t, options.repeats) for t in (test.t0, (test.t0 + test.t1) / 2, test.t1)
                ]
                print(line(a, b, values, test, pool.map(ends, jobs, chunksize=1)), flush=True)


def line(
    a: tuple[str, float],
    b: tuple[str, float],
    values: Sequence[float],
    test: SequentialTest,
    found: list[list[Ended]],
) -> str:
    """Return a row of the table."""
    null, _, other = found
    alpha = fmean(one.verdict is Verdict.BETTER for one in null)
    beta = fmean(one.verdict is Verdict.NOT_BETTER for one in other)
    blocks = ", ".join(f"{fmean(one.blocks for one in ended):.0f}" for ended in found)
    missed = max(fmean(one.missed for one in ended) for ended in found)
    names = ", ".join(f"{name} {share:.0%} at random" if share else name for name, share in (a, b))
    mean, deviation = fmean(values), pstdev(values)
    skewness = fmean(((value - mean) / deviation) ** 3 for value in values)
    return (
        f"| {names} | {mean / deviation:+.2f} | {skewness:+.1f} | {test.t1} | {test.alpha:.0%} "
        f"| {alpha:.1%} | {beta:.1%} | {blocks} | {missed:.1%} |"
    )


if __name__ == "__main__":
    main()
