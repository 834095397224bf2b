"""The policies that play the reference: each chooses among the legal plays by a rule of one sentence."""

from collections.abc import Callable, Sequence

from referee.deals.dealing import landmarks
from referee.rules.plays import Rules

Policy = Callable[[Rules, Sequence[int], Sequence[int], int], int]
"""Return the code that a seat plays, 0 for a pass.

The arguments are the rules, what the seat may do (codes, ascending, and finally 0 if it may pass), the
hands, and the seat."""

NEARLY_OUT = 3
"""Keeper holds nothing back once a seat has so few cards."""
LAST_CARDS = 6
"""Keeper holds nothing back once it has so few cards itself."""


def greedy(rules: Rules, choices: Sequence[int], hands: Sequence[int], seat: int) -> int:
    """Return the weakest of the plays with the most cards."""
    full = rules.full
    return max(choices, key=lambda code: ((code & full).bit_count(), -code))


def keeper(rules: Rules, choices: Sequence[int], hands: Sequence[int], seat: int) -> int:
    """Return the same of the plays without a card of the highest rank and without bombs, until the end."""
    if hands[seat].bit_count() <= LAST_CARDS or any(0 < hand.bit_count() <= NEARLY_OUT for hand in hands):
        return greedy(rules, choices, hands, seat)
    kept = landmarks(rules).ranks[-1]
    some = [code for code in choices if not code & kept and not rules.is_bomb(code)]
    return greedy(rules, some or choices, hands, seat)


POLICIES: tuple[Policy, ...] = (greedy, keeper)
"""The policies by number; how many they are is a power of two."""
