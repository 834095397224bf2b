"""A new bot against an old one: both play the same deals against one panel until a test has decided."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, isfinite

from referee.local.field import Block
from referee.local.sequential import (
    Interval,
    SequentialTest,
    Sums,
    Verdict,
    expected_blocks,
    fixed_interval,
    watched_interval,
)
from referee.local.tally import Played


@dataclass
class Versus:
    """What is known so far about two bots, 0 and 1."""

    test: SequentialTest
    sums: Sums = field(default_factory=Sums)
    """By block, the points per deal of the first minus those of the second."""
    per_session: int = 1
    """How many different deals a block has: as many as a session."""

    @property
    def deals(self) -> int:
        """How many different deals both played; a session that ended early counts in full."""
        return self.sums.count * self.per_session

    @property
    def verdict(self) -> Verdict:
        """The verdict of the test."""
        return self.test.verdict(self.sums)

    def take(self, _block: Block, _played: Sequence[Played], values: Mapping[int, float]) -> bool:
        """Take in the next block; return whether the test has decided."""
        self.sums = self.sums.add(values[0] - values[1])
        return self.verdict is not Verdict.OPEN


@dataclass(frozen=True, slots=True)
class Lead:
    """How many more points per deal the new bot makes than the old one."""

    mean: float
    watched: Interval | None
    """The 95 % interval that holds however often one looks; None for too few deals."""
    fixed: Interval | None
    """The 95 % interval for a single look after a planned number of deals; None for too few deals."""
    deviation: float
    """The standard deviation of the values of blocks."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a test, so far or at its end."""

    test: SequentialTest
    """Its options: ``--alpha``, ``--beta``, ``--t0`` and ``--t1``."""
    verdict: Verdict
    """``open``: not known yet."""
    sentence: str
    """The verdict for people."""
    points: Lead | None
    """How many more points the first bot makes in a deal than the other one; None if no deal was played."""
    t: float
    """The mean in standard deviations of a block."""
    llr: float
    """The log-likelihood ratio of ``t1`` to ``t0``."""
    bounds: Interval
    """The ratios at which the test ends."""
    by_interval: bool
    """Whether the watched interval ended the test before the ratio could, as when the difference is huge."""
    deals_to_go: int | None
    """Deals expected until the test ends, if the mean stays as it is; 0 if it has ended, None if unknown."""


def finding(versus: Versus, new: str, old: str) -> Finding:
    """Return the result of a test, so far or at its end."""
    test, sums = versus.test, versus.sums
    tightest = expected_blocks(test, test.t1)
    lead = Lead(sums.mean, watched_interval(sums, tightest), fixed_interval(sums), sums.deviation)
    return Finding(
        test=test,
        verdict=versus.verdict,
        sentence=_sentence(versus, lead, new, old),
        points=lead if sums.count else None,
        t=sums.t,
        llr=test.llr(sums),
        bounds=test.bounds,
        by_interval=_by_interval(versus),
        deals_to_go=_to_go(versus),
    )


def _by_interval(versus: Versus) -> bool:
    test, sums = versus.test, versus.sums
    return test.by_ratio(sums) is Verdict.OPEN and test.by_interval(sums) is not Verdict.OPEN


def _to_go(versus: Versus) -> int | None:
    if versus.verdict is not Verdict.OPEN:
        return 0
    blocks = versus.test.blocks_to_go(versus.sums)
    return ceil(blocks) * versus.per_session if isfinite(blocks) else None


def _sentence(versus: Versus, lead: Lead, new: str, old: str) -> str:
    test, sums = versus.test, versus.sums
    if not sums.count:
        return "not known: no deal was played by both"
    if versus.verdict is Verdict.BETTER:
        return f"{new} is better than {old} (alpha {test.alpha:g})"
    if versus.verdict is Verdict.OPEN:
        return f"not known yet: {new} makes {_more(lead.mean)} per deal so far"
    if lead.watched is not None and lead.watched.high < 0:
        return f"{new} is worse than {old}"
    if not lead.deviation:
        return f"no difference: {new} made as many points as {old} in each of {versus.deals} deals"
    least = test.t1 * lead.deviation
    return f"no difference shown: {new} is not better than {old} by {least:.2f} points a deal or more"


def lines(finding: Finding, new: str, old: str) -> list[str]:
    """Return what is known, in lines for people: while it is played, and at the end."""
    text = []
    if (points := finding.points) is not None:
        text += [
            f"{new} makes {_more(points.mean)} per deal than {old}, with the same cards",
            f"  95 % interval that holds while one watches: {_range(points.watched)}",
            f"  95 % interval for one look, planned before: {_range(points.fixed)}",
            f"log-likelihood ratio {finding.llr:+.2f}; no better at {finding.bounds.low:.2f}, "
            f"better at {finding.bounds.high:+.2f}",
        ]
    if finding.by_interval:
        side = "above" if finding.verdict is Verdict.BETTER else "below"
        text.append(
            f"all of the interval that holds while one watches is {side} {_least(finding)}: "
            "that ended the test before the ratio could"
        )
    if finding.deals_to_go:
        text.append(f"expected to go: about {_rounded(finding.deals_to_go)} deals")
    return [*text, finding.sentence]


def _more(mean: float) -> str:
    return f"{abs(mean):.2f} points {'fewer' if round(mean, 2) < 0 else 'more'}"


def _least(finding: Finding) -> str:
    """Return ``t0`` in points per deal, as text."""
    least = finding.test.t0 * finding.points.deviation if finding.points else 0.0
    return f"{least:+.2f}" if least else "0"


def _range(interval: Interval | None) -> str:
    return f"{interval.low:+.2f} to {interval.high:+.2f}" if interval else "too few deals"


def _rounded(deals: int) -> int:
    """Round an estimated number of deals to the precision that it has."""
    return deals if deals < 100 else round(deals / 10) * 10
