"""Where readers of a replay jump to: tricks, and steps that stand out."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from statistics import median

from arena.queries.replays.steps import Replay
from arena.queries.replays.table import ACTIONS
from arena.queries.replays.words import lasted

NOTHING: Mapping[int, str] = {}

LONG, LONG_MS = 4, 100
"""A long thought took this many times the median decision of its deal, and at least so many milliseconds."""

THOUGHTS = 5
"""How many long thoughts are marked at most: the longest."""


class MomentKind(StrEnum):
    """Why a step stands out."""

    FAULT = "fault"
    BOMB = "bomb"
    THOUGHT = "thought"
    """A decision that took long."""
    COST = "cost"
    """A decision that cost points, by an estimate."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A step that stands out."""

    step: int
    kind: MomentKind
    told: str
    """Whose it was and what, in few words."""


def stops(replay: Replay) -> tuple[int, ...]:
    """Return the first step, the lead of each trick and the last step, in order."""
    begin = [
        step.number
        for before, step in zip(replay.steps, replay.steps[1:], strict=False)
        if step.trick != before.trick
    ]
    return tuple(sorted({0, *begin, replay.last}))


def around(replay: Replay, number: int) -> tuple[int | None, int | None]:
    """Return the stops before and after a step; None where there is none."""
    moments_at = stops(replay)
    before = max((stop for stop in moments_at if stop < number), default=None)
    return before, min((stop for stop in moments_at if stop > number), default=None)


def steps_of_actions(replay: Replay) -> tuple[int, ...]:
    """Return the number of the step of each action of the record, in order."""
    return tuple(step.number for step in replay.steps if step.kind in ACTIONS)


def moments(replay: Replay, costs: Mapping[int, str] = NOTHING) -> tuple[Moment, ...]:
    """Return the steps of a deal that stand out, in order; a step may be there for several reasons.

    ``costs`` tells by step what decisions cost.
    """
    outstanding = [
        Moment(step.number, MomentKind.FAULT, f"{fault.kind}: {replay.short[fault.seat]}")
        for step in replay.steps
        for fault in step.faults
    ]
    outstanding += [
        Moment(step.number, MomentKind.BOMB, f"bomb: {replay.short[step.seat]}")
        for step in replay.steps
        if step.bomb and step.seat is not None
    ]
    outstanding += _thoughts(replay)
    outstanding += [Moment(step, MomentKind.COST, text) for step, text in costs.items()]
    return tuple(sorted(outstanding, key=lambda moment: moment.step))


def _thoughts(replay: Replay) -> list[Moment]:
    decided = [(step.ms, step) for step in replay.steps if step.ms is not None]
    if not decided:
        return []
    least = max(LONG * median(ms for ms, _ in decided), LONG_MS)
    longest = sorted(decided, key=lambda thought: (-thought[0], thought[1].number))[:THOUGHTS]
    return [
        Moment(step.number, MomentKind.THOUGHT, f"{lasted(ms)}: {replay.short[step.seat]}")
        for ms, step in longest
        if ms >= least and step.seat is not None and not step.faults
    ]
