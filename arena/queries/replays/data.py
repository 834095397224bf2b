"""A replay as JSON for the script that draws it: what changes from step to step."""

from collections.abc import Mapping, Sequence

from arena.queries.replays.faces import Cards
from arena.queries.replays.steps import Replay, Step, Words

Data = dict[str, object]

_MAY_BE_ZERO = ("seat", "count", "ms", "knows")
"""Fields of a step in which 0, or an empty list, has a meaning."""


def replay_data(replay: Replay) -> Data:
    """Return a replay as JSON values, without the empty fields of its steps."""
    steps = []
    before: Step | None = None
    for step in replay.steps:
        steps.append(step_data(step, before))
        before = step
    return {
        "seats": list(replay.seats),
        "short": list(replay.short),
        "clockwise": replay.clockwise,
        "dealer": replay.dealer,
        "slowest": slowest(replay),
        "steps": steps,
    }


def slowest(replay: Replay) -> int:
    """Return the milliseconds of the slowest decision; 0 if there were no clocks."""
    return max((step.ms or 0 for step in replay.steps), default=0)


def step_data(step: Step, before: Step | None) -> Data:
    """Return a step as JSON values, without fields that are empty or as they were before."""
    options = step.options
    held: Sequence[Cards] = before.hands if before else [()] * len(step.hands)
    found: Mapping[str, object] = {
        "kind": step.kind.value,
        "seat": step.seat,
        "cards": " ".join(step.cards),
        "combination": step.combination,
        "drawn": " ".join(step.drawn),
        "trick": step.trick,
        "count": options and options.count,
        "legal": [" ".join(cards) for cards in options.listed] if options else [],
        "may_pass": bool(options and options.may_pass),
        "forced": step.forced,
        "ms": step.ms,
        "credit_ms": step.credit_ms,
        "faults": [{"seat": one.seat, "kind": one.kind, "ms": one.ms} for one in step.faults],
        "played_for": step.played_for,
        "answers": [[one.seat, one.ms] for one in step.answers],
        "asked": list(step.asked),
        "out": list(step.out),
        "hands": {
            str(seat): " ".join(hand)
            for seat, (hand, last) in enumerate(zip(step.hands, held, strict=True))
            if hand != last
        },
        "costs": list(step.costs) if before is None or step.costs != before.costs else [],
        "points": list(step.points),
        "knows": None if step.knows is None else list(step.knows),
        "words": _words(step.words),
        "hidden": _words(step.hidden_words),
    }
    return {
        name: value for name, value in found.items() if value or (name in _MAY_BE_ZERO and value is not None)
    }


def _words(words: Words) -> list[object]:
    """Return a sentence as a list of texts and lists of cards."""
    return [part if isinstance(part, str) else list(part) for part in words]
