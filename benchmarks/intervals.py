"""How often the intervals of ``arena play`` cover the truth: ``python -m benchmarks.intervals``.

Sample bots play many blocks for real; the mean of these stands for the truth. Then plays of a given number of
deals are drawn from these blocks again and again, to count how often the interval of such a play covers the
truth: for one comparison, and for all comparisons of the play at once.
"""

import argparse
import json
import os
from collections.abc import Mapping, Sequence
from itertools import islice
from random import Random
from statistics import fmean
from typing import NamedTuple

from referee.local.field import Block, field_blocks
from referee.local.playing import PlayedSoFar, play
from referee.local.pool import play_in_processes
from referee.local.sequential import Sums
from referee.local.table import Setting
from referee.local.tally import Played, Tally
from referee.ruleset import load_ruleset
from referee.samples import sample_bots

BOTS = ("greedy", "keeper", "lowest", "pairs-first")


class Figure(NamedTuple):
    """How often intervals covered the truth."""

    one: float
    """Share of single comparisons."""
    all: float
    """Share of plays in which all comparisons were covered at once."""
    width: float
    """Mean of the figure after ±."""


def leads(ruleset: str, bots: Sequence[str], blocks: int, seed: str) -> list[list[float]]:
    """Play blocks; return for each the points a deal of the first bot minus those of each of the others."""
    rules = load_ruleset(ruleset)
    files = [sample_bots()[name] for name in bots]
    setting = Setting(json.dumps(rules.to_object()), tuple(bots), tuple(files), seed, 1000)
    found: list[list[float]] = []
    so_far = PlayedSoFar(Tally(len(bots), 1.0))

    def take(_block: Block, _played: Sequence[Played], values: Mapping[int, float]) -> bool:
        found.append([values[0] - values[other] for other in range(1, len(bots))])
        return False

    play(
        lambda sessions: play_in_processes(setting, sessions, os.cpu_count() or 1, print),
        islice(field_blocks(seed, range(len(bots)), rules.players), blocks),
        so_far,
        watch=take,
    )
    return found


def measured(values: Sequence[Sequence[float]], deals: int, plays: int, rng: Random) -> Figure:
    """Draw plays of the given number of deals; return how often their intervals covered the truth."""
    truth = [fmean(column) for column in zip(*values, strict=True)]
    comparisons = len(truth)
    one = every = 0
    widths = []
    for _ in range(plays):
        drawn = rng.choices(values, k=deals)
        held = []
        for at, true in enumerate(truth):
            sums = Sums()
            for block in drawn:
                sums = sums.add(block[at])
            single, joint = sums.plus_minus(), sums.plus_minus(comparisons)
            assert single is not None
            assert joint is not None
            one += abs(sums.mean - true) <= single
            held.append(abs(sums.mean - true) <= joint)
            widths.append(single)
        every += all(held)
    return Figure(one / plays / comparisons, every / plays, fmean(widths))


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.intervals", description=__doc__)
    parser.add_argument("--blocks", type=int, default=4000, help="deals that are played for real")
    parser.add_argument("--plays", type=int, default=2000, help="plays that are drawn")
    parser.add_argument("--rulesets", nargs="*", default=["chinese", "chinese-2", "hong-kong"])
    options = parser.parse_args()
    print("| ruleset | bots | deals | mean ± | interval held | all of them held |")
    print("|---|---|---|---|---|---|")
    for ruleset in options.rulesets:
        bots = BOTS[: load_ruleset(ruleset).players]
        values = [one for one in leads(ruleset, bots, options.blocks, "intervals") if one]
        for deals in (20, 50, 200, 1000):
            found = measured(values, deals, options.plays, Random(deals))
            held = f"{found.one:.1%} | {found.all:.1%}"
            print(f"| {ruleset} | {len(bots)} | {deals} | {found.width:.2f} | {held} |", flush=True)


if __name__ == "__main__":
    main()
