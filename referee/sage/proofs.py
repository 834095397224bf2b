"""What can be proved without a search: plays that win the deal whatever the others hold.

A play is *boss* if nothing unseen beats it. A seat that plays boss after boss and then its last unit goes out
first, under rules in which only the play to beat matters in a turn.
"""

from collections.abc import Iterable, Sequence

from referee.helpers.decompose import Decomposer
from referee.helpers.unseen import Unseen
from referee.rules.plays import Rules


def run_out(rules: Rules, hand: int, codes: Sequence[int], decomposer: Decomposer, unseen: Unseen) -> int:
    """Return a legal play after which the hand surely goes out without losing the lead; 0 for none."""
    full = rules.full
    for code in sorted(codes, key=lambda code: -(code & full).bit_count()):
        left = rules.remove(hand, code & full)
        if not left:
            return code
        units = decomposer.best(left).plays
        if (len(units) == 1 or _without_boss(units, unseen) <= 1) and unseen.is_boss(code):
            return code
    return 0


def _without_boss(units: Iterable[int], unseen: Unseen) -> int:
    """Return how many of the units may be beaten."""
    return sum([unseen.may_beat(unit) for unit in units])
