"""The policies that play the reference: each chooses among the legal actions by a rule of one sentence."""

from collections.abc import Callable, Sequence
from functools import lru_cache

from referee.memo import Memo
from referee.rules.plays import Rules

Policy = Callable[[Sequence[int], Sequence[int], int], int]
"""Return the code that a seat plays, 0 for a pass.

The arguments are what it may do (codes, ascending, and finally 0 if it may pass), all hands, and the seat."""

STRONG = ("bare_quads", "quads", "straight_flush", "royal_flush", "straight_flush_plus_two")
"""The kinds that keeper keeps."""
FEW_OWN = 6
"""With so few cards keeper keeps nothing back."""
FEW = 3
"""Nor does it when any seat has so few."""


@lru_cache(maxsize=32)
def policies_of(rules: Rules) -> tuple[Policy, ...]:
    """Return the policies by number; how many they are is a power of two."""
    full = rules.full
    kept = rules.rank_masks[len(rules.ruleset.ranks) - 1]
    size = Memo[int, int](lambda code: (code & full).bit_count()).__getitem__
    gives_nothing_away = Memo[int, bool](
        lambda code: not code & kept and (not code or rules.kind(code) not in STRONG)
    ).__getitem__

    def greedy(choices: Sequence[int], _hands: Sequence[int], _seat: int) -> int:
        """Make the weakest of the plays with the most cards."""
        return max(choices, key=size)

    def keeper(choices: Sequence[int], hands: Sequence[int], seat: int) -> int:
        """Make the weakest of those with the most cards that give nothing away, until the end is near."""
        if hands[seat].bit_count() > FEW_OWN and min(map(int.bit_count, hands)) > FEW:
            choices = list(filter(gives_nothing_away, choices)) or choices
        return max(choices, key=size)

    return greedy, keeper
