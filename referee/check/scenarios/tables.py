"""Small rulesets for positions that are laid out by hand."""

from referee.check.session import Hands

SMALL: dict[str, object] = {"extends": "chinese", "direction": "clockwise"}
FOUR: Hands = {1: ["3D 3C 4D 4C 5S", None, None, None]}
"""Hands of five cards: seat 0 leads, with a choice."""
FOLLOWING: Hands = {1: ["3D 6D 8C 9D JC", "4D 5C 7H 9S KD", None, None]}
"""Hands of five cards: seat 0 leads a low card, seat 1 may beat it."""


def small(hand_size: int = 5, **fields: object) -> dict[str, object]:
    """Return a ruleset of four players, clockwise, with hands of this size; ``fields`` override the rest."""
    return {**SMALL, "name": f"check-{hand_size}", "hand_size": hand_size, **fields}


def three(hand_size: int = 5, **fields: object) -> dict[str, object]:
    """Return the same for three players."""
    return small(hand_size, name=f"check-three-{hand_size}", players=3, **fields)
