"""Cards as they are shown and spoken, in a ruleset's order."""

from referee.helpers.decompose import sort_hand
from referee.rules.plays import Rules
from referee.ruleset.axes.pack import JOKER_NAMES, SUIT_NAMES

Cards = tuple[str, ...]
"""Cards in text, such as ``3D``, in the order in which they are shown."""

_SPOKEN = {"T": "10", "J": "jack", "Q": "queen", "K": "king", "A": "ace"}


def in_order(rules: Rules, mask: int) -> Cards:
    """Return the cards of a mask, the lowest in the ruleset's order first."""
    return tuple(map(rules.text, sort_hand(rules, mask)))


def face(card: str) -> str:
    """Return the text in a card's corner: its rank, with 10 for a ten."""
    return "10" if card[:-1] == "T" else card[:-1]


def spoken_rank(rank: str) -> str:
    """Return a rank as it is spoken: ``king``, ``10``."""
    return _SPOKEN.get(rank, rank)


def spoken(card: str) -> str:
    """Return a card as it is spoken: ``3 of diamonds``, ``red joker``."""
    if card in JOKER_NAMES:
        return JOKER_NAMES[card]
    return f"{spoken_rank(card[:-1])} of {SUIT_NAMES[card[-1]]}"
