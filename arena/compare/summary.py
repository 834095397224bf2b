"""What a comparison came to, as scripts and people are told."""

from dataclasses import dataclass
from math import ceil, isfinite

from arena.compare.blocks import Panel
from arena.compare.playing import Comparison
from arena.compare.sequential import (
    Interval,
    SequentialTest,
    Verdict,
    expected_blocks,
    fixed_interval,
    watched_interval,
)


@dataclass(frozen=True, slots=True)
class Points:
    """Points a deal that the second bot makes more than the first."""

    mean: float
    watched: Interval | None
    """Its 95 % interval that holds however often one looks; None: too few blocks."""
    fixed: Interval | None
    """Its 95 % interval if one had looked only once, after a number of blocks fixed before; None: too few."""
    deviation: float
    """Standard deviation of the value of a block."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What a comparison came to."""

    ruleset: str
    seed: str
    against: tuple[str, ...]
    test: SequentialTest
    verdict: Verdict
    blocks: int
    """Deals that were played from every seat by both bots."""
    sessions: int
    """All deals that were played, each seat and each bot counted."""
    points: Points | None
    """None without a block."""
    t: float
    """The mean in deviations of a block."""
    llr: float
    bounds: Interval
    blocks_to_go: int | None
    """Blocks expected until the test ends, if the mean stays what it is; 0: it has ended; None: no saying."""
    faults: tuple[int, ...]
    """Of either bot."""
    first_faults: tuple[str, ...]
    """Of the second bot, in words."""
    interrupted: bool


def summarise(panel: Panel, found: Comparison) -> Summary:
    """Return what a comparison came to, as far as it was played."""
    test, sums = found.test, found.sums
    tightest = expected_blocks(test, test.t1)
    points = Points(sums.mean, watched_interval(sums, tightest), fixed_interval(sums), sums.deviation)
    return Summary(
        ruleset=panel.ruleset.label,
        seed=panel.seed,
        against=panel.opponents,
        test=test,
        verdict=found.verdict,
        blocks=sums.count,
        sessions=found.sessions,
        points=points if sums.count else None,
        t=sums.t,
        llr=test.llr(sums),
        bounds=test.bounds,
        blocks_to_go=_to_go(found),
        faults=tuple(found.faults),
        first_faults=tuple(found.reasons),
        interrupted=bool(found.interrupted),
    )


def _to_go(found: Comparison) -> int | None:
    if found.verdict is not Verdict.OPEN:
        return 0
    blocks = found.test.blocks_to_go(found.sums)
    return ceil(blocks) if isfinite(blocks) else None


def sentence(summary: Summary) -> str:
    """Return the verdict in a sentence."""
    test, points = summary.test, summary.points
    if points is None:
        return "not known: no deal was played by both"
    if summary.verdict is Verdict.BETTER:
        return f"B is better than A (alpha {test.alpha:g})"
    if summary.verdict is Verdict.OPEN:
        return f"not known yet: B makes {points.mean:+.2f} points a deal more so far"
    if points.watched is not None and points.watched.high < 0:
        return "B is worse than A"
    if not points.deviation:
        return f"no difference: B made as many points as A in each of {summary.blocks} deals"
    least = test.t1 * points.deviation
    return f"no difference shown: B is not better than A by {least:.2f} points a deal or more"
