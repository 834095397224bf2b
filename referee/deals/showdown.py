"""Comparing hands by what they could play: the loser's tie-break and the honours left in hand.

Sources: pagat.com, "Dealing and starting the play" and "Scoring variations" (Taiwan).
"""

from collections.abc import Iterable
from functools import lru_cache

from referee.deals.dealing import landmarks
from referee.rules.plays import Rules
from referee.ruleset.axes.scoring import HONOUR_KINDS

_STRAIGHT_FLUSHES = ("straight_flush", "royal_flush", "straight_flush_plus_two")

_UNORDERED = (
    "single",
    "pair",
    "run",
    "suited_run",
    "triple",
    "bare_two_pair",
    "pair_run",
    "bare_quads",
    "triple_run",
    "triple_plus_two_pairs",
    "triple_run_plus_pairs",
    "straight_flush_plus_two",
    "dragon",
)
"""The kinds that are not of five cards; of those that may have the same number, the weaker first."""

Worth = tuple[int, int, int]
"""How good a play is: its number of cards, the place of its kind, its strength within the kind."""


def worth(rules: Rules, play: int) -> Worth:
    """Return how good a play is: more cards first, then the kind by ``five_card_order``, then strength.

    Kinds that the ruleset does not order, and that may have as many cards, come before in a fixed order.
    """
    kind = rules.kind(play)
    order = (*_UNORDERED, *rules.ruleset.five_card_order)
    place = order.index(kind)
    return rules.count(play & rules.full), place, play >> rules.width


def best_play(rules: Rules, hand: int) -> Worth:
    """Return the worth of the best play in a hand that is not empty."""
    return max(worth(rules, play) for play in rules.list_plays(hand))


def best_honour(rules: Rules, hand: int) -> Worth | None:
    """Return the worth of the best honour in a hand, None if it has none."""
    honours = [play for play in rules.list_plays(hand) if rules.kind(play) in HONOUR_KINDS]
    return max([worth(rules, play) for play in honours], default=None)


def holds(rules: Rules, honour: str, hand: int) -> bool:
    """Return whether a hand holds an honour, as ``honours_left`` names it.

    Four of a kind need no fifth card here, and a straight flush no two more.
    """
    match honour:
        case "quads":
            return any((hand & rank).bit_count() > 3 for rank in rules.rank_masks)
        case "straight_flush":
            return any(not flush & ~hand for flush in _straight_flushes(rules))
    return bool(hand & _cards_of(rules, honour))


def shows(rules: Rules, honour: str, play: int) -> bool:
    """Return whether a play, given as a code, is or has an honour, as ``final_honours`` names it."""
    match honour:
        case "quads":
            return rules.kind(play) in ("quads", "bare_quads")
        case "straight_flush":
            return rules.kind(play) in _STRAIGHT_FLUSHES
    return bool(play & _cards_of(rules, honour))


def _cards_of(rules: Rules, honour: str) -> int:
    return landmarks(rules).all_twos if honour == "twos" else landmarks(rules).top


@lru_cache(maxsize=64)
def _straight_flushes(rules: Rules) -> tuple[int, ...]:
    """Return the masks of all sequences in one suit, and of the royal flushes if these are a kind."""
    ruleset = rules.ruleset
    sequences = [sequence.split() for level in ruleset.straights for sequence in level]
    if "royal_flush" in ruleset.five_card_order:
        sequences.append([*ruleset.ranks[-6:-1]])
    flushes = [
        [ruleset.ranks.index(rank) * 4 + suit for rank in sequence]
        for sequence in sequences
        for suit in range(4)
    ]
    return tuple(rules.mask(flush) for flush in flushes if {*flush} <= {*rules.indices})


def loser(rules: Rules, hands: tuple[int, ...], seats: Iterable[int]) -> int:
    """Return which of ``seats``, given in order of play from the dealer's next, lost with these cards left.

    That is the seat with the most cards. In a tie, each shows the best play of its cards left: the one with
    the fewest cards, then the weakest, loses. If that ties too, the first seat loses.
    """
    counts = {seat: rules.count(hands[seat]) for seat in seats}
    most = max(counts.values())
    tied = [seat for seat, count in counts.items() if count == most]
    if len(tied) == 1:
        return tied[0]
    return min(tied, key=lambda seat: best_play(rules, hands[seat]))
