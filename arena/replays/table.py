"""A table as it stands after a step, as all see it or as one seat does; the page's script draws the same."""

from collections.abc import Sequence
from dataclasses import dataclass

from arena.replays.faces import Cards
from arena.replays.steps import Kind, Replay, Step, Words

PLAYS_SHOWN = 5
"""The latest plays of a trick that lie on the table."""

_ON_TABLE = (Kind.PLAY, Kind.BOMB)


@dataclass(frozen=True, slots=True)
class Place:
    """A seat as it is drawn."""

    seat: int
    name: str
    """``owner/bot@version``."""
    short: str
    at: int
    """Where it is drawn: 0 nearest to who looks, then clockwise."""
    count: int
    """Cards held."""
    hand: Cards | None
    """None: face down."""
    cost: int | None
    """The penalty for the cards held; None: there is none, or it is not known."""
    asked: bool
    """Whether it is to decide next."""
    acted: bool
    """Whether it acted in this step."""
    did: str
    """What it last did in this trick where that is a pass: ``passed``; else empty."""
    out: int
    """Which seat to go out it was, from 1; 0: it holds cards."""
    points: int | None
    """The result, in the last step."""
    faulty: bool
    """Whether the referee decided for it in this step."""


@dataclass(frozen=True, slots=True)
class Pile:
    """A play that lies on the table."""

    short: str
    """Who played it."""
    cards: Cards
    combination: str


@dataclass(frozen=True, slots=True)
class Table:
    """What there is to see after a step."""

    step: Step
    viewer: int | None
    """The seat whose view it is; None: all hands are open."""
    places: tuple[Place, ...]
    """In the order in which they are drawn, the nearest last."""
    piles: tuple[Pile, ...]
    """The trick's plays, the latest last."""
    words: Words
    """What happened, as far as the viewer may know."""
    shows_options: bool
    """Whether the viewer may see what was legal."""


def table_at(replay: Replay, number: int, viewer: int | None = None) -> Table:
    """Return the table after a step, all hands open or as the seat ``viewer`` sees it."""
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
    """Return what happened, as far as a viewer may know; None may know all."""
    hidden = viewer is not None and step.knows is not None and viewer not in step.knows
    return step.hidden_words if hidden else step.words


def trick_until(replay: Replay, step: Step) -> list[Step]:
    """Return the steps of a step's trick as far as that."""
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
