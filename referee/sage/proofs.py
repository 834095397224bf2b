"""What can be proved without a search: plays that win the deal whatever the others hold.

A play is *boss* if nothing unseen beats it. Who plays boss after boss and then the last unit goes out first,
where all that matters in a turn is the play to beat.
"""

from collections.abc import Iterable, Sequence

from referee.helpers.decompose import Decomposer
from referee.helpers.unseen import Unseen
from referee.rules.plays import Rules


def run_out(rules: Rules, hand: int, codes: Sequence[int], decomposer: Decomposer, unseen: Unseen) -> int:
    """Return a legal play that begins to play out the hand without losing the lead, for sure; 0 for none."""
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
