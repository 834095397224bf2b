"""A table after a step, with all hands open or as one seat sees it; the page's script draws the same."""

from collections.abc import Sequence
from dataclasses import dataclass

from arena.queries.replays.faces import Cards
from arena.queries.replays.steps import Kind, Replay, Step, Words

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

    short: str
    """Who played it."""
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
    plays = [one for one in trick if one.kind in _ON_TABLE][-PLAYS_SHOWN:]
    return Table(
        step=step,
        viewer=viewer,
        places=tuple([places[seat % len(places)] for seat in order]),
        piles=tuple([_pile(replay, one) for one in plays]),
        words=told(step, viewer),
        shows_options=viewer is None or viewer == step.seat,
    )


def told(step: Step, viewer: int | None) -> Words:
    """Return what happened, as far as a viewer may know; None may know everything."""
    hidden = viewer is not None and step.knows is not None and viewer not in step.knows
    return step.hidden_words if hidden else step.words


def trick_until(replay: Replay, step: Step) -> list[Step]:
    """Return the steps of a trick up to and including ``step``."""
    return [one for one in replay.steps[: step.number + 1] if one.trick and one.trick == step.trick]


def _place(replay: Replay, step: Step, trick: Sequence[Step], viewer: int | None, seat: int) -> Place:
    hand = step.hands[seat]
    shown = viewer in (None, seat) or step.kind is Kind.END
    last = [one for one in trick if one.seat == seat]
    return Place(
        seat=seat,
        name=replay.seats[seat],
        short=replay.short[seat],
        at=(seat - (viewer or 0)) % len(replay.seats),
        count=len(hand),
        hand=hand if shown else None,
        cost=step.costs[seat] if step.costs and shown else None,
        asked=seat in step.asked,
        acted=step.seat == seat,
        did="passed" if last and last[-1].kind is Kind.PASS else "",
        out=step.out.index(seat) + 1 if seat in step.out else 0,
        points=step.points[seat] if step.points else None,
        faulty=any(fault.seat == seat for fault in step.faults),
    )


def _pile(replay: Replay, step: Step) -> Pile:
    assert step.seat is not None
    return Pile(replay.short[step.seat], step.cards, step.combination)
