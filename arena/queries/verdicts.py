"""Whether one bot is better than another, as far as is known."""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from arena.queries.board import LeaderboardLine, StrengthLine

FEWEST_SHARE = 0.02
"""A lead below this share of its uncertainty is too small to be settled."""


class VerdictKind(StrEnum):
    """What can be said of two bots."""

    APART = "apart"
    """The better one is better, in 95 of 100 cases."""
    OPEN = "open"
    """They cannot be told apart yet."""
    STRANGERS = "strangers"
    """They never met, not even indirectly."""
    UNKNOWN = "unknown"
    """One of them has no strength yet, or they are of different pools."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What can be said of two bots of a pool."""

    kind: VerdictKind
    better: LeaderboardLine
    """The one with more points per deal; the first one if that is not known."""
    worse: LeaderboardLine
    lead: float | None
    """How many more points per deal the better one makes; None if unknown."""
    plus_minus: float | None
    """Half the width of the 95 % interval around that, the two strengths taken as independent."""
    more: int | None
    """Deals that each still has to play until such a lead is certain; None if none, or too many to say."""


def verdict(one: LeaderboardLine, other: LeaderboardLine) -> Verdict:
    """Return what can be said of two bots."""
    mine, its = one.strength, other.strength
    same_pool = (one.ruleset, one.table_size) == (other.ruleset, other.table_size)
    if mine is None or its is None or not same_pool:
        return Verdict(VerdictKind.UNKNOWN, one, other, None, None, None)
    if mine.group != its.group:
        return Verdict(VerdictKind.STRANGERS, one, other, None, None, None)
    if mine.points < its.points:
        one, other, mine, its = other, one, its, mine
    lead = lead_of(mine, its)
    return Verdict(lead.kind, one, other, lead.points, lead.plus_minus, lead.more)


class Mean(NamedTuple):
    """Points a deal."""

    points: float
    plus_minus: float
    """Half the width of the 95 % interval around them."""
    deals: int


class Lead(NamedTuple):
    """How far the first is ahead of the second in points a deal; less than 0 if it is behind."""

    kind: VerdictKind
    """Whether that is certain."""
    points: float
    plus_minus: float
    more: int | None
    """As in ``Verdict``."""


def lead_of(mine: StrengthLine | Mean, its: StrengthLine | Mean) -> Lead:
    """Return how far the first is ahead of the second, the two taken as independent."""
    lead, plus_minus = mine.points - its.points, math.hypot(mine.plus_minus, its.plus_minus)
    if abs(lead) > plus_minus:
        return Lead(VerdictKind.APART, lead, plus_minus, None)
    return Lead(VerdictKind.OPEN, lead, plus_minus, _more(abs(lead), plus_minus, mine, its))


@dataclass(frozen=True, slots=True)
class VerdictShown:
    """A verdict with names, and in words."""

    kind: VerdictKind
    """``open``: they cannot be told apart. ``strangers``: they have never met, not even indirectly.
    ``unknown``: one has no strength yet."""
    better: str
    """``owner/bot@version``; the first of the two if it is not known which is better."""
    worse: str
    lead: float | None
    """Points a deal that the better one makes more; None if not known."""
    plus_minus: float | None
    """Half the width of the 95 % interval around that."""
    more: int | None
    """Deals that each still has to play until such a lead is certain; None if none, or too many to say."""
    sentence: str
    """The same in words."""


def verdict_shown(result: Verdict) -> VerdictShown:
    """Return a verdict in words."""
    better, worse = result.better.bot, result.worse.bot
    return VerdictShown(
        result.kind, better, worse, result.lead, result.plus_minus, result.more, sentence(result)
    )


def sentence(result: Verdict) -> str:
    """Return a verdict as a sentence, or two."""
    better, worse = result.better.bot, result.worse.bot
    lead = "" if result.lead is None else f"{result.lead:.2f} ± {result.plus_minus:.2f} points a deal"
    match result.kind:
        case VerdictKind.APART:
            return f"{better} is ahead of {worse}, by {lead}"
        case VerdictKind.OPEN:
            rest = "that is too small for more deals to settle it"
            if result.more is not None:
                rest = f"about {result.more:,} more deals of each would settle it, if that lead is real"
            return f"{better} and {worse} cannot be told apart: the difference is {lead}; {rest}"
        case VerdictKind.STRANGERS:
            return f"{better} and {worse} have never met, not even indirectly: they are not comparable"
        case VerdictKind.UNKNOWN:
            missing = better if result.better.strength is None else worse
            return f"nobody can say which is better: {missing} has no strength yet"


def _more(lead: float, plus_minus: float, mine: StrengthLine | Mean, its: StrengthLine | Mean) -> int | None:
    """Return how many more deals each has to play until ``plus_minus`` is the lead, to two digits.

    Squared errors are inversely proportional to deals: solve a / (m + x) + b / (n + x) = lead² for x.
    """
    if lead <= FEWEST_SHARE * plus_minus:
        return None
    m, n = mine.deals, its.deals
    a, b = mine.plus_minus * mine.plus_minus * m, its.plus_minus * its.plus_minus * n
    half = (m + n - (a + b) / (lead * lead)) / 2
    more = -half + math.sqrt(max(0.0, half * half - (m * n - (a * n + b * m) / (lead * lead))))
    digits: int = 10 ** max(0, math.floor(math.log10(max(more, 1.0))) - 1)
    return math.ceil(more / digits) * digits
