"""What a practice came to: points with their error, wins, faults and times, from the records of its deals."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from statistics import fmean, stdev

from arena.practice.plan import Plan, Played, played_deals
from referee.matches.match import SessionResult

SIGMAS = 1.96
"""Standard errors that a true value is off by at most in 95 of 100 cases, if there are many deals."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over deals."""

    mean: float
    plus_minus: float | None
    """In 95 of 100 cases the true value is within this range; None where there are too few deals to tell."""


@dataclass(frozen=True, slots=True)
class Against:
    """How the bot stands against one opponent."""

    bot: str
    points: Estimate
    """The bot's points less the opponent's, for a deal."""


@dataclass(frozen=True, slots=True)
class Times:
    """How long the bot took for its decisions, in milliseconds."""

    decisions: int
    median_ms: int
    p99_ms: int
    """99 of 100 decisions took no longer."""
    limit_ms: int


@dataclass(frozen=True, slots=True)
class Summary:
    """What a practice came to."""

    ruleset: str
    seed: str
    deals: int
    """Different deals that were played from every seat."""
    played: int
    """All deals that were played, each seat counted."""
    points: Estimate | None
    """The bot's points less the mean of the others', for a deal; None where no deal was played in full."""
    against: tuple[Against, ...]
    wins: int
    """Deals in which nobody got more points than the bot, of all that were played."""
    forfeits: int
    """Deals that the bot forfeited."""
    faults: dict[str, int]
    """How often the bot made a fault, by kind."""
    times: Times | None
    """None where the bot decided nothing."""


def summarise(plan: Plan, results: Sequence[SessionResult]) -> Summary:
    """Return what the sessions of a plan came to, as far as they were played."""
    deals = played_deals(plan, results)
    whole = [deal for deal in deals if len(deal) == plan.players]
    played = [one for deal in deals for one in deal]
    return Summary(
        ruleset=plan.ruleset.label,
        seed=plan.seed,
        deals=len(whole),
        played=len(played),
        points=_estimate([fmean(map(_lead, deal)) for deal in whole]) if whole else None,
        against=tuple(_against(plan, whole)) if whole else (),
        wins=sum(max(one.points) == one.points[0] for one in played),
        forfeits=sum(map(_forfeited, played)),
        faults=dict(sorted(Counter(kind for one in played for kind in _faults(one)).items())),
        times=_times(plan, sorted(ms for one in played for ms in _spent(one))),
    )


def _lead(one: Played) -> float:
    """Return the bot's points less the mean of the others'."""
    own, *others = one.points
    return own - fmean(others)


def _against(plan: Plan, deals: Sequence[Sequence[Played]]) -> Iterator[Against]:
    for place, name in enumerate(plan.names[1:], start=1):
        yield Against(
            name, _estimate([fmean(one.points[0] - one.points[place] for one in deal) for deal in deals])
        )


def _estimate(values: Sequence[float]) -> Estimate:
    """Return the mean of values that do not depend on each other, with 1.96 standard errors."""
    error = SIGMAS * stdev(values) / sqrt(len(values)) if len(values) > 1 else None
    return Estimate(fmean(values), error)


def _forfeited(one: Played) -> bool:
    gone = [forfeit["seat"] for forfeit in one.record.get("played_for", ())]
    return one.own_seat in [*gone, one.record.get("forfeit")]


def _faults(one: Played) -> Iterator[str]:
    for fault in one.record.get("faults", ()):
        if fault["seat"] == one.own_seat:
            yield fault["kind"]


def _spent(one: Played) -> Iterator[int]:
    """Yield how long the bot took for each decision, in milliseconds."""
    record, seat = one.record, one.own_seat
    for action, ms in zip(record["actions"], record.get("ms", "").split(), strict=False):
        if ms != "-" and int(action[0]) == seat:
            yield int(ms)
    for answer in record.get("answers", ()):
        if answer["seat"] == seat:
            yield answer["ms"]


def _times(plan: Plan, spent: Sequence[int]) -> Times | None:
    """Return what ``spent``, in ascending order, says of the bot's times."""
    if not spent:
        return None
    middle, late = (spent[ceil(share * len(spent)) - 1] for share in (0.5, 0.99))
    return Times(len(spent), middle, late, plan.decision_ms)
