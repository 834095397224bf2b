"""Helpers for bots: pure functions of the referee's own rules, for any ruleset.

Cards are masks and plays are codes of compiled rules, as in ``turn.rules``, ``turn.hand_mask`` and
``turn.legal_codes`` of the SDK.
"""

from referee.helpers.decompose import (
    Decomposer,
    Decomposition,
    by_kind,
    by_rank,
    by_suit,
    decompose,
    sort_hand,
)
from referee.helpers.unseen import Unseen, stronger_singles

__all__ = [
    "Decomposer",
    "Decomposition",
    "Unseen",
    "by_kind",
    "by_rank",
    "by_suit",
    "decompose",
    "sort_hand",
    "stronger_singles",
]
