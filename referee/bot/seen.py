"""The position of a deal as one seat sees it, from the messages that it received."""

from collections.abc import Sequence
from typing import NamedTuple

from referee.deals.action import NOBODY, Exchange
from referee.deals.dealing import is_last_card, landmarks
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


class Gift(NamedTuple):
    """A card that changed hands in an exchange, as reported to a seat."""

    giver: int
    taker: int
    card: int
    """Its mask; 0 if the seat did not see it."""


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
    banned: bool = False,
    window: bool = False,
    by_lowest: bool = False,
    gifts: Sequence[Gift] = (),
    shown: int = 0,
) -> Position:
    """Return the position as ``seat``, which owes a decision, sees it.

    ``hand`` is its mask, ``counts`` are the cards of all seats now, ``happened`` is what they did since the
    first lead. ``include`` is the mask of the card that the lead must contain, ``banned`` says that the top
    card may not be played as the last one now, and ``window`` that the last play may be bombed out of turn.
    ``by_lowest`` says that the holder of the lowest card led this deal, if the rules do not. ``gifts`` is
    an exchange, ``shown`` the mask of leftover cards that everybody saw a seat take.
    """
    sizes = _sizes(counts, happened)
    known = _told(rules, seat, sizes, gifts, shown)
    known[seat] = _own(rules, seat, hand, happened)
    by_lowest = (by_lowest or rules.ruleset.lead == "lowest") and rules.ruleset.first_lead != "random"
    leader = happened[0].seat if happened else seat
    stock, bans = rules.ruleset.leftover == "stock", rules.ruleset.last_top_card == "cannot_win"
    includes = rules.ruleset.lead_includes_lowest
    if by_lowest and includes and happened and happened[0].played:  # a lead that cannot be made shows no card
        include = _lowest(rules, happened[0].played)
    return Position.seen(
        rules,
        step=step,
        dealer=dealer,
        leader=leader,
        hands=[(mask, size - rules.count(mask)) for mask, size in zip(known, sizes, strict=True)],
        actions=[(action.seat, action.played, action.out_of_turn) for action in happened],
        include=include,
        # Of another leader that draws cards, one cannot tell which of those played it held by then.
        leader_has_lowest=by_lowest and not includes and (leader == seat or not stock),
        exchange=_exchange(*gifts) if gifts else None,
        stock=[0] * (len(rules.pack) - sum(sizes)) if stock else [],
        drawn={index: action.drawn_cards for index, action in enumerate(happened) if action.drawn_cards},
        answers=() if window else None,
        ban_lifted=bans and not banned and not window and is_last_card(rules, hand),
        seat=seat if window else NOBODY,
    )


def _sizes(counts: Sequence[int], happened: Sequence[Happened]) -> list[int]:
    """Return how many cards the seats had before these actions."""
    sizes = list(counts)
    for action in happened:
        sizes[action.seat] += action.played.bit_count() - action.drawn
    return sizes


def _own(rules: Rules, seat: int, hand: int, happened: Sequence[Happened]) -> int:
    """Return the hand of ``seat`` when play began."""
    for action in reversed(happened):
        if action.seat == seat:
            hand = rules.add(rules.remove(hand, action.drawn_cards), action.played)
    return hand


def _told(rules: Rules, seat: int, sizes: Sequence[int], gifts: Sequence[Gift], shown: int) -> list[int]:
    """Return, by seat, the mask of the cards that ``seat`` knows it to have held when play began."""
    known = [0] * len(sizes)
    parties = {gift.giver for gift in gifts}
    taker = sizes.index(max(sizes))  # who took the cards left over has more than the others
    if shown and (taker not in parties or seat in parties):
        known[taker] = shown
    for giver, other, card in gifts:
        known[giver] = rules.remove(known[giver], card & known[giver])
        known[other] = rules.add(known[other], card)
    return known


def _exchange(given: Gift, returned: Gift) -> Exchange:
    return Exchange(given.giver, given.taker, given.card, returned.card)


def _lowest(rules: Rules, mask: int) -> int:
    return next(card for card in landmarks(rules).leading if card & mask)
