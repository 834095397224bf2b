"""A table after a step, with all hands open or as one seat sees it; and a replay for the page's script."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arena.queries.replays.steps import Cards, Kind, Replay, Step, Words

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
    data: Mapping[str, object] = {
        "kind": step.kind.value,
        "seat": step.seat,
        "cards": " ".join(step.cards),
        "combination": step.combination,
        "drawn": " ".join(step.drawn),
        "trick": step.trick,
        "count": options and options.count,
        "legal": [" ".join(cards) for cards in options.listed] if options else [],
        "may_pass": bool(options and options.may_pass),
        "folded": step.folded,
        "ms": step.ms,
        "credit_ms": step.credit_ms,
        "faults": [{"seat": each.seat, "kind": each.kind, "ms": each.ms} for each in step.faults],
        "played_for": step.played_for,
        "answers": [[each.seat, each.ms] for each in step.answers],
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
        name: value for name, value in data.items() if value or (name in _MAY_BE_ZERO and value is not None)
    }


def _words(words: Words) -> list[object]:
    """Return a sentence as a list of texts and lists of cards."""
    return [part if isinstance(part, str) else list(part) for part in words]


ACTIONS = (Kind.PLAY, Kind.PASS, Kind.BOMB)


def tricks_of(replay: Replay) -> int:
    """Return how many tricks a deal has."""
    return replay.steps[-1].trick


def after_trick(replay: Replay, trick: int) -> Step:
    """Return the last step of a trick: for 0 the step before the first lead, for the last trick the end."""
    return next(step for step in reversed(replay.steps) if step.trick <= trick)


def plays_in(replay: Replay, trick: int) -> tuple[Step, ...]:
    """Return the actions of a trick, including passes; empty if the deal has no such trick."""
    return tuple([step for step in replay.steps if step.trick == trick and step.kind in ACTIONS])


PLAYS_SHOWN = 5
"""How many of the latest plays of a trick are shown on the table."""

_ON_TABLE = (Kind.PLAY, Kind.BOMB)


@dataclass(frozen=True, slots=True)
class Place:
    """A seat as it is drawn."""

    seat: int
    name: str
    """``owner/bot@version``."""
    short: str
    at: int
    """Where it is drawn: 0 is nearest to the viewer, the others follow clockwise."""
    count: int
    """Number of cards held."""
    hand: Cards | None
    """The cards held; None if they are face down."""
    cost: int | None
    """The penalty for the cards held; None if there is none, or it is not known."""
    asked: bool
    """Whether it owes the next decision."""
    acted: bool
    """Whether it acted in this step."""
    did: str
    """``passed`` if that is what it last did in this trick; else empty."""
    out: int
    """Its place in the order of going out, from 1; 0 if it holds cards."""
    points: int | None
    """The result, in the last step; None before."""
    faulty: bool
    """Whether the referee decided for it in this step."""


@dataclass(frozen=True, slots=True)
class Pile:
    """A play on the table."""

    seat: int
    """Who played it."""
    short: str
    """The name of that bot."""
    cards: Cards
    combination: str


@dataclass(frozen=True, slots=True)
class Table:
    """What a viewer sees after a step."""

    step: Step
    viewer: int | None
    """The seat whose view it is; None if all hands are open."""
    places: tuple[Place, ...]
    """The seats in the order in which they are drawn, the nearest last."""
    piles: tuple[Pile, ...]
    """The trick's plays, the latest last."""
    words: Words
    """What happened, as far as the viewer may know."""
    shows_options: bool
    """Whether the viewer may see what was legal."""


def table_at(replay: Replay, number: int, viewer: int | None = None) -> Table:
    """Return the table after a step, as the seat ``viewer`` sees it; with None, all hands are open."""
    step = replay.steps[number]
    trick = trick_until(replay, step)
    places = [_place(replay, step, trick, viewer, seat) for seat in range(len(replay.seats))]
    near = viewer or 0
    order = [*range(near + 1, near + len(places)), near]
    plays = [play for play in trick if play.kind in _ON_TABLE][-PLAYS_SHOWN:]
    return Table(
        step=step,
        viewer=viewer,
        places=tuple([places[seat % len(places)] for seat in order]),
        piles=tuple([_pile(replay, play) for play in plays]),
        words=words_for(step, viewer),
        shows_options=viewer is None or viewer == step.seat,
    )


def words_for(step: Step, viewer: int | None) -> Words:
    """Return what happened, as far as a viewer may know; None may know everything."""
    hidden = viewer is not None and step.knows is not None and viewer not in step.knows
    return step.hidden_words if hidden else step.words


def trick_until(replay: Replay, step: Step) -> list[Step]:
    """Return the steps of a trick up to and including ``step``."""
    return [past for past in replay.steps[: step.number + 1] if past.trick and past.trick == step.trick]


def _place(replay: Replay, step: Step, trick: Sequence[Step], viewer: int | None, seat: int) -> Place:
    hand = step.hands[seat]
    is_open = viewer in (None, seat) or step.kind is Kind.END
    last = [play for play in trick if play.seat == seat]
    return Place(
        seat=seat,
        name=replay.seats[seat],
        short=replay.short[seat],
        at=(seat - (viewer or 0)) % len(replay.seats),
        count=len(hand),
        hand=hand if is_open else None,
        cost=step.costs[seat] if step.costs and is_open else None,
        asked=seat in step.asked,
        acted=step.seat == seat,
        did="passed" if last and last[-1].kind is Kind.PASS else "",
        out=step.out.index(seat) + 1 if seat in step.out else 0,
        points=step.points[seat] if step.points else None,
        faulty=any(fault.seat == seat for fault in step.faults),
    )


def _pile(replay: Replay, step: Step) -> Pile:
    assert step.seat is not None
    return Pile(step.seat, replay.short[step.seat], step.cards, step.combination)
