"""How often ``arena play --against`` errs, and how long it takes: ``python -m benchmarks.sequential``.

Pairs of sample bots, and of mixtures of them that sometimes play at random, play real blocks: one deal, from
every seat, by both bots against the same panel. The values of a pair's blocks are shifted so that their mean
is that of a hypothesis, and each test draws from them for as long as it takes. So the distribution is that of
real deals, and the truth is known exactly. This is done at tables of two, four, five and eight.

For each pair, in both orders, and each test it prints how often t1 is accepted although t0 is true, how often
t0 although t1 is true, and the mean number of blocks at t0, between the two, at t1, and at a whole standard
deviation; and how often the interval that is valid at any time has missed the truth by the end of the test.
"""

import argparse
import json
import multiprocessing
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, pstdev
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.coverage import mixture, play_deal
from referee.local.field import turned
from referee.local.sequential import (
    CAUTION,
    FEWEST,
    MOST_MOVED,
    MOST_SKEWED,
    SequentialTest,
    Sums,
    Verdict,
    expected_blocks,
    watched_interval,
)
from referee.rules.plays import compile_ruleset
from referee.ruleset import load_ruleset

Bot = tuple[str, float]
Array = NDArray[np.float64]

PANEL: tuple[Bot, ...] = (("keeper", 0.0), ("greedy", 0.0), ("pairs_first", 0.0))
"""The other bots at the table, with their shares of random turns."""

PAIRS: tuple[tuple[Bot, Bot], ...] = (
    (("greedy", 0.1), ("greedy", 0.1)),
    (("keeper", 0.0), ("greedy", 0.0)),
    (("keeper", 0.0), ("keeper", 0.1)),
    (("lowest", 0.0), ("pairs_first", 0.0)),
)
RULESETS = ("chinese-2", "chinese", "choi-dai-di-5", "only-a-game-8")
"""Rulesets for tables of two, four, five and eight."""
TESTS = tuple(SequentialTest(0.05, 0.05, 0.0, t1) for t1 in (0.1, 0.2))
CHUNK = 50
"""Blocks that a process plays at a time."""


class Part(NamedTuple):
    """Blocks of a pair to be played."""

    ruleset: str
    pair: int
    first: int
    blocks: int


def play_blocks(job: Part) -> tuple[int, list[float]]:
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
            played = [play_deal(rules, [bots[at] for at in one], f"{block}").points for one in seatings]
            points.append(fmean(own[one.index(0)] for own, one in zip(played, seatings, strict=True)))
        values.append(points[1] - points[0])
    return job.pair, values


def record(ruleset: str, blocks: int) -> list[list[float]]:
    """Play blocks of all pairs, in several processes."""
    found: list[list[float]] = [[] for _ in PAIRS]
    jobs = [
        Part(ruleset, pair, first, CHUNK) for pair in range(len(PAIRS)) for first in range(0, blocks, CHUNK)
    ]
    with multiprocessing.Pool() as pool:
        for number, (pair, values) in enumerate(pool.imap(play_blocks, jobs), start=1):
            found[pair] += values
            if sys.stderr.isatty():
                print(f"\r{number} of {len(jobs)} parts", end="", file=sys.stderr)
    return found


class Ends(NamedTuple):
    """How many tests ended: shares of them, and a mean."""

    better: float
    not_better: float
    blocks: float
    missed: float
    """Share of the tests in which the interval that is valid at any time missed the truth at some block."""


class Job(NamedTuple):
    """Tests of values shifted to a mean of ``t`` deviations."""

    test: SequentialTest
    values: Sequence[float]
    t: float
    repeats: int


def ends(job: Job) -> Ends:
    """Run a test many times, all runs in parallel; now and then check that the test itself agrees."""
    test, t, repeats = job.test, job.t, job.repeats
    moved = np.array(job.values) - fmean(job.values) + t * pstdev(job.values)
    truth, tightest = t * pstdev(job.values), expected_blocks(test, test.t1)
    rng = np.random.default_rng([int(100 * test.t1), int(1000 * t)])
    powers = np.array([moved**power for power in range(1, 5)]).T
    count, sums, ids = 0, np.zeros((repeats, 4)), np.arange(repeats)
    better, blocks, missed = np.zeros(repeats, bool), np.zeros(repeats), np.zeros(repeats, bool)
    while len(ids):
        count += 1
        sums += powers[rng.integers(0, len(moved), len(ids))]
        if count < FEWEST:
            continue
        means, apart = central(sums / count)
        unit = watched_interval(Sums(count, 0.0, float(count - 1)), tightest)
        assert unit is not None
        errors = unit.high * np.sqrt(apart[0] * count / (count - 1))
        missed[ids] |= np.abs(means - truth) > errors
        ratios, limits = llrs(test, count, means, apart), test.t0 * np.sqrt(apart[0])
        high = (ratios >= test.bounds.high) | (means - errors > limits)
        ended = high | (ratios <= test.bounds.low) | (means + errors < limits)
        if count % 50 == 0:
            said = Verdict.BETTER if high[0] else Verdict.NOT_BETTER if ended[0] else Verdict.OPEN
            agree(test, Sums(count, float(means[0]), *(float(count * one[0]) for one in apart)), said)
        better[ids], blocks[ids] = high, count
        ids, sums = ids[~ended], sums[~ended]
    return Ends(better.mean(), 1 - better.mean(), blocks.mean(), missed.mean())


def central(powers: Array) -> tuple[Array, Array]:
    """Return means, and mean powers of the deviations from them: second, third, fourth."""
    one, two, three, four = powers.T
    second = np.maximum(two - one**2, 1e-12)
    third = three - 3 * one * two + 2 * one**3
    return one, np.array([second, third, four - 4 * one * three + 6 * one**2 * two - 3 * one**4])


def llrs(test: SequentialTest, count: int, means: Array, apart: Array) -> Array:
    """Return the log-likelihood ratios of many tests, as ``SequentialTest.llr`` does, only faster."""
    second, third, fourth = apart
    t, skewness, rare = means / np.sqrt(second), third / second**1.5, np.maximum(0, fourth / second**2 - 3)
    normal = count / 2 * (np.log1p((t - test.t0) ** 2) - np.log1p((t - test.t1) ** 2))
    doubt = np.copysign(CAUTION * np.sqrt(6 * (1 + rare) / count), normal)

    def skewed(at: float) -> Array:
        off = t - at
        known = count / (count + 3 * (rare + 2))
        believed = (skewness - off * (rare - 1.5 * skewness**2)) * known - doubt
        return np.asarray(np.clip(believed, -MOST_SKEWED, MOST_SKEWED) * (at * off**2 / 2 + off**3 / 3))

    most = MOST_MOVED * np.abs(normal)
    return np.asarray(normal + np.clip(count * (skewed(test.t0) - skewed(test.t1)), -most, most))


def agree(test: SequentialTest, sums: Sums, said: Verdict) -> None:
    """Assert that the test itself gives the same verdict on these sums."""
    assert test.verdict(sums) is said, sums


def main() -> None:
    """Play the blocks and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sequential", description=__doc__)
    parser.add_argument("--ruleset", action="append", help=f"a preset (default: {', '.join(RULESETS)})")
    parser.add_argument("--blocks", type=int, default=400, help="real blocks of each pair")
    parser.add_argument("--repeats", type=int, default=8000, help="tests for each rate of errors")
    parser.add_argument("--kept", type=Path, help="a file with blocks that were played, or for these")
    options = parser.parse_args()
    kept: dict[str, list[list[float]]] = {}
    if options.kept and options.kept.exists():
        kept = json.loads(options.kept.read_text())
    heads = [
        f"t1 {test.t1}: alpha, beta | blocks at {test.t0:g}, {test.t1 / 2:g}, {test.t1}, 1" for test in TESTS
    ]
    print(f"| ruleset | A, B | skewness, excess | {' | '.join(heads)} | missed |")
    print("|---" * (4 + 2 * len(TESTS)) + "|")
    with multiprocessing.Pool() as pool:
        for ruleset in options.ruleset or RULESETS:
            if ruleset not in kept:
                kept[ruleset] = record(ruleset, options.blocks)
                if options.kept:
                    options.kept.write_text(json.dumps(kept))
            for (one, other), values in zip(PAIRS, kept[ruleset], strict=True):
                turned_round = [-value for value in values]
                for names, differences in (((one, other), values), ((other, one), turned_round)):
                    jobs = [job for test in TESTS for job in jobs_of(test, differences, options.repeats)]
                    found = pool.map(ends, jobs, chunksize=1)
                    print(line(ruleset, names, differences, found), flush=True)


def jobs_of(test: SequentialTest, values: Sequence[float], repeats: int) -> list[Job]:
    """Return the tests of a row: at both hypotheses, and fewer between them and for a huge difference."""
    fewer = max(1, repeats // 8)
    middle = (test.t0 + test.t1) / 2
    where = ((test.t0, repeats), (middle, fewer), (test.t1, repeats), (1.0, fewer))
    return [Job(test, values, t, times) for t, times in where]


def line(ruleset: str, pair: Sequence[Bot], values: Sequence[float], found: list[Ends]) -> str:
    """Return a row of the table."""
    names = ", ".join(f"{name} {share:.0%} at random" if share else name for name, share in pair)
    mean, deviation = fmean(values), pstdev(values)
    skewness, kurtosis = (fmean(((one - mean) / deviation) ** power for one in values) for power in (3, 4))
    cells = [f"`{ruleset}`", names, f"{skewness:+.1f}, {kurtosis - 3:.0f}"]
    for at in range(0, len(found), 4):
        null, _, other, _ = of_test = found[at : at + 4]
        cells.append(f"{100 * null.better:.1f}, {100 * other.not_better:.1f} %")
        cells.append(", ".join(f"{ended.blocks:.0f}" for ended in of_test))
    cells.append(f"{100 * max(one.missed for one in found):.1f} %")
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
