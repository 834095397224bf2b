"""The position of a deal as one seat sees it, from the messages that it received."""

from collections.abc import Sequence
from typing import NamedTuple

from referee.errors import PositionError
from referee.position import Position
from referee.rules.plays import Rules


class Happened(NamedTuple):
    """An action as reported to a seat."""

    seat: int
    played: int
    """Mask of the cards played; 0 for a pass."""
    drawn: int
    """How many cards were drawn at the pass."""
    drawn_cards: int
    """The mask of the cards drawn if it was this seat; else 0."""
    out_of_turn: bool


def seen_position(
    rules: Rules,
    *,
    seat: int,
    step: int,
    dealer: int,
    hand: int,
    counts: Sequence[int],
    happened: Sequence[Happened],
    include: int = 0,
    window: bool = False,
) -> Position:
    """Return the position as ``seat``, which owes a decision, sees it.

    ``hand`` is its mask, ``counts`` are the cards of all seats now, ``happened`` is what they did since the
    first lead; ``include`` is the mask of the card that the lead must contain, and ``window`` says that the
    last play may be bombed out of turn now.
    Raise PositionError once cards that were set aside have become the stock.
    """
    begun = _sizes(counts, happened)
    stock = _undealt(rules, begun) if rules.ruleset.leftover == "stock" else []
    if sum([action.drawn for action in happened]) > len(stock):
        raise PositionError("cards that were set aside have become the stock")
    known = _known(rules, begun, happened, stock)
    known[seat] = _own(rules, seat, hand, happened)
    return Position.seen(
        rules,
        step=step,
        dealer=dealer,
        leader=happened[0].seat if happened else seat,
        hands=[(mask, size - rules.count(mask)) for mask, size in zip(known, begun, strict=True)],
        actions=[(action.seat, action.played, action.out_of_turn) for action in happened],
        include=include,
        stock=stock,
        answers=() if window else None,
    )


def _sizes(counts: Sequence[int], happened: Sequence[Happened]) -> list[int]:
    """Return how many cards the seats had before these actions."""
    sizes = list(counts)
    for action in happened:
        sizes[action.seat] += action.played.bit_count() - action.drawn
    return sizes


def _undealt(rules: Rules, sizes: Sequence[int]) -> list[int]:
    """Return the original stock, with no card known."""
    return [0] * (len(rules.pack) - sum(sizes))


def _own(rules: Rules, seat: int, hand: int, happened: Sequence[Happened]) -> int:
    """Return the hand of ``seat`` when play began."""
    for action in reversed(happened):
        if action.seat == seat:
            hand = rules.add(rules.remove(hand, action.drawn_cards), action.played)
    return hand


def _known(rules: Rules, sizes: Sequence[int], happened: Sequence[Happened], stock: list[int]) -> list[int]:
    """Return the known cards of the hands when play began, and enter those of the stock in ``stock``.

    What a seat played is assumed to have been dealt to it as long as that is possible, then to have been
    drawn.
    """
    known = [0] * len(sizes)
    drawn: list[list[int]] = [[] for _ in sizes]
    place = 0
    for action in happened:
        for card in _singly(rules, action.played):
            if rules.count(known[action.seat]) < sizes[action.seat]:
                known[action.seat] = rules.add(known[action.seat], card)
            elif drawn[action.seat]:
                stock[drawn[action.seat].pop(0)] = card
        places = range(place, place + action.drawn)
        if action.drawn_cards:
            for at, card in zip(places, _singly(rules, action.drawn_cards), strict=True):
                stock[at] = card
        else:
            drawn[action.seat] += places
        place += action.drawn
    return known


def _singly(rules: Rules, mask: int) -> list[int]:
    return [rules.mask([card]) for card in rules.cards(mask)]
