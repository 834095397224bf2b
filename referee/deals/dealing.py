"""The cards before the first lead: dealing, redealing, leftover cards, and hands that win at once.

Pure functions of rules and seed.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from referee.cards import JOKERS
from referee.deals.shuffle import shuffle
from referee.rules.plays import Rules

CLOCKWISE = 1
"""The step from a seat to the next one in order of play, clockwise."""
ANTICLOCKWISE = -1
"""The step from a seat to the next one in order of play, anticlockwise."""


class Dealt(NamedTuple):
    """The cards of a deal before anyone acts."""

    hands: tuple[int, ...]
    """Masks by seat, as dealt."""
    leftover: tuple[int, ...]
    """The cards not dealt, each as a mask, in order: the stock, next card first."""
    opening: tuple[int, ...]
    """Masks by seat once leftover cards have been taken."""


class Landmarks(NamedTuple):
    """Cards of a ruleset that every deal looks up."""

    pack: tuple[int, ...]
    """The whole pack as the shuffle starts, every card as a mask."""
    rising: tuple[int, ...]
    """One copy of each card as a mask, lowest first in the ruleset's order of ranks and suits."""
    leading: tuple[int, ...]
    """The same from the card on that decides who leads, and from the highest card on to the lowest."""
    top: int
    """One copy of the highest card."""
    last: int
    """All cards that the rules about last cards concern, every copy."""
    twos: tuple[int, ...]
    """One copy of each two."""
    all_twos: int
    """All twos, every copy."""
    ranks: tuple[int, ...]
    """By rank that the pack has, the mask of its cards; without the jokers."""
    indices: Mapping[int, int]
    """The index of every card of ``pack``, by its mask."""


@lru_cache(maxsize=64)
def landmarks(rules: Rules) -> Landmarks:
    """Return the landmarks of the rules."""
    suits = ["DCHS".index(suit) for suit in rules.ruleset.suits]
    jokers = len(rules.ruleset.ranks) * 4
    order = [rank * 4 + suit for rank in range(len(rules.ruleset.ranks)) for suit in suits]
    order += range(jokers, jokers + len(JOKERS))
    rising = tuple(rules.mask([card]) for card in order if card in rules.indices)
    ranks = tuple(filter(None, rules.rank_masks[: len(rules.ruleset.ranks)]))
    first = rules.ruleset.first_lead
    start = 0 if first in ("lowest", "random") else rising.index(rules.parse(first))
    pack = tuple(rules.mask([card]) for card in rules.pack)
    indices = dict(zip(pack, rules.pack, strict=True))
    leading, last = rising[start:] + rising[:start], _last_cards(rules, rising[-1])
    twos = tuple(card for card in rising if card & rules.twos)
    return Landmarks(pack, rising, leading, rising[-1], last, twos, rules.twos, ranks, indices)


def _last_cards(rules: Rules, top: int) -> int:
    concerned, ranks = rules.ruleset.last_cards, rules.ruleset.ranks
    if concerned == "top":
        return top
    if concerned in ranks:
        return rules.rank_masks[ranks.index(concerned)]
    return rules.suit_masks["DCHS".index(concerned)]


def is_last_card(rules: Rules, hand: int) -> bool:
    """Return whether a hand is a single card that the rules about last cards concern."""
    return rules.count(hand) == 1 and hand & landmarks(rules).last != 0


@lru_cache(maxsize=64)
def seats_after(seat: int, step: int, players: int) -> tuple[int, ...]:
    """Return all seats in order of play, beginning with the one after ``seat`` and ending with it."""
    return tuple((seat + step * turn) % players for turn in range(1, players + 1))


@lru_cache(maxsize=16)
def next_seats(step: int, players: int) -> tuple[int, ...]:
    """Return, by seat, the one after it in order of play."""
    return tuple((seat + step) % players for seat in range(players))


def deal_cards(rules: Rules, seed: bytes, dealer: int, step: int) -> Dealt:
    """Return the cards before anyone acts, redealt as often as the rules require."""
    dealt = _deal_once(rules, seed, "deal", dealer, step)
    if not rules.ruleset.redeal_four_twos:
        return dealt
    again = 0
    while any(has_all_twos(rules, hand) for hand in dealt.opening):
        again += 1
        dealt = _deal_once(rules, seed, f"deal/redeal/{again}", dealer, step)
    return dealt


def take_leftover(
    rules: Rules, hands: tuple[int, ...], leftover: tuple[int, ...], dealer: int, step: int
) -> tuple[int, ...]:
    """Return the hands; if the rules say so, the holder of the lowest card has taken the cards left over."""
    if not leftover or rules.ruleset.leftover != "to_lowest":
        return hands
    taker, _ = lowest_card(rules, hands, dealer, step)
    taken = rules.add(hands[taker], rules.joined(leftover))
    return tuple([taken if seat == taker else hand for seat, hand in enumerate(hands)])


def lowest_card(rules: Rules, hands: Sequence[int], dealer: int, step: int) -> tuple[int, int]:
    """Return the seat that holds the lowest card of all hands, and that card's mask.

    Of two holders of the same card, return the first after the dealer.
    """
    return _first_held(landmarks(rules).rising, hands, seats_after(dealer, step, len(hands)))


def lead_card(rules: Rules, hands: Sequence[int], dealer: int, step: int) -> tuple[int, int]:
    """Return the same for the card that decides who leads: the lowest, or the one that the rules name.

    If nobody holds that, the next higher card decides, and from the highest on the lowest.
    """
    return _first_held(landmarks(rules).leading, hands, seats_after(dealer, step, len(hands)))


def _first_held(cards: Sequence[int], hands: Sequence[int], order: Sequence[int]) -> tuple[int, int]:
    for card in cards:
        for seat in order:
            if hands[seat] & card:
                return seat, card
    raise AssertionError("somebody holds a card")


def highest_card(rules: Rules, hand: int) -> int:
    """Return the highest card of a hand, as a mask; the hand must not be empty."""
    return next(card for card in reversed(landmarks(rules).rising) if card & hand)


def _deal_once(rules: Rules, seed: bytes, label: str, dealer: int, step: int) -> Dealt:
    cards = list(landmarks(rules).pack)
    shuffle(seed, label, cards)
    players, size = rules.ruleset.players, rules.ruleset.hand_size
    end = size * players if isinstance(size, int) else len(cards)
    hands = [0] * players
    for place, seat in enumerate(seats_after(dealer, step, players)):
        hands[seat] = rules.joined(cards[place:end:players])
    dealt, leftover = tuple(hands), tuple(cards[end:])
    return Dealt(dealt, leftover, take_leftover(rules, dealt, leftover, dealer, step))


def has_all_twos(rules: Rules, hand: int) -> bool:
    """Return whether a hand has a two of every suit."""
    return all(hand & two for two in landmarks(rules).twos)


def instant_winner(rules: Rules, hands: Sequence[int], dealer: int, step: int) -> tuple[int, str] | None:
    """Return the seat whose hand wins at once and what that hand is, or None if nobody's does.

    Of several, it is the one with the strongest hand, if hands compete, and of equals the first after the
    dealer.
    """
    ruleset = rules.ruleset
    wins = (*ruleset.instant_wins, "dragon") if ruleset.dragon == "wins" else ruleset.instant_wins
    if not wins:
        return None
    held: dict[int, int] = {}
    for seat in seats_after(dealer, step, len(hands)):
        places = [place for place, win in enumerate(wins) if _IS[win](rules, hands[seat])]
        if places:
            held[seat] = places[-1]
    if not held:
        return None
    winner = max(held, key=held.__getitem__) if ruleset.instant_wins_compete else next(iter(held))
    return winner, wins[held[winner]]


def _is_dragon(rules: Rules, hand: int) -> bool:
    return all(hand & rank for rank in landmarks(rules).ranks)


def _is_dragon_without_two(rules: Rules, hand: int) -> bool:
    two = rules.twos
    return all(hand & rank for rank in landmarks(rules).ranks if rank != two)


def _has_four_twos(rules: Rules, hand: int) -> bool:
    return all(hand & two for two in landmarks(rules).twos)


def _has_six_pairs(rules: Rules, hand: int) -> bool:
    return _pairs(_counts(rules, hand)) >= 6


def _has_five_pairs_and_triple(rules: Rules, hand: int) -> bool:
    counts = _counts(rules, hand)
    pairs = _pairs(counts)
    # Taking a triple from an odd number of cards breaks one pair, from an even number two.
    return any(count > 2 and pairs - 2 + count % 2 >= 5 for count in counts)


def _has_run(rules: Rules, hand: int, size: int, length: int) -> bool:
    """Return whether ``length`` ranks in a row, below the two, have at least ``size`` cards each."""
    row = 0
    for count in _counts(rules, hand)[: len(rules.ruleset.ranks) - 1]:
        row = row + 1 if count >= size else 0
        if row == length:
            return True
    return False


def _counts(rules: Rules, hand: int) -> list[int]:
    return [(hand & rank).bit_count() for rank in rules.rank_masks]


def _pairs(counts: Sequence[int]) -> int:
    return sum([count // 2 for count in counts])


_IS: dict[str, Callable[[Rules, int], bool]] = {
    "dragon": _is_dragon,
    "dragon_without_two": _is_dragon_without_two,
    "four_twos": _has_four_twos,
    "six_pairs": _has_six_pairs,
    "five_pairs_and_triple": _has_five_pairs_and_triple,
    "five_pair_run": lambda rules, hand: _has_run(rules, hand, 2, 5),
    "three_triple_run": lambda rules, hand: _has_run(rules, hand, 3, 3),
}
