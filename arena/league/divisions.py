"""Promotion and relegation: who plays in which division next."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Level:
    """What counts of a division here."""

    size: int | None
    """Its places; None: everyone who has none above, which only the lowest can offer."""
    promoted: int
    """How many of it go up, and as many come down for them; of no meaning in the highest."""


def next_divisions(
    levels: Sequence[Level], groups: Sequence[Sequence[int]], newcomers: Sequence[int]
) -> list[list[int]]:
    """The members of each level in the next season, in the order of their seeding.

    ``levels`` stand from the highest to the lowest; ``groups`` are their members so far, each in the order of
    the final standings and without those who are gone; ``newcomers`` come behind all of them.

    From the highest down, each level takes those who come down to it, then its own best, and leaves as many
    places as are promoted to the best of the next level. A place that is still empty goes to the next best
    below, whoever it is; where there is nobody below, the best of those who would go down stay.
    """
    below = [list(group) for group in groups]
    below[-1] += newcomers
    result: list[list[int]] = []
    come_down: list[int] = []
    for level, lower in pairwise(levels):
        own = below.pop(0)
        assert level.size is not None, "only the lowest level takes everyone"
        placed, too_many = come_down[: level.size], come_down[level.size :]
        free = level.size - len(placed)
        best = max(0, free - lower.promoted)
        stay, go_down = own[:best], too_many + own[best:]
        rise = _take(below, free - len(stay))
        spared = free - len(stay) - len(rise)
        stay, go_down = stay + go_down[:spared], go_down[spared:]
        result.append(placed + stay + rise)
        come_down = go_down
    return [*result, come_down + below.pop()]


def regroup(names: Sequence[str], former: Sequence[tuple[str, Sequence[int]]]) -> list[list[int]]:
    """The members of former levels in those of now, by their names; both from the highest to the lowest.

    The members of a level that is gone stand before those of the next lower one that is still there.
    """
    groups: list[list[int]] = [[] for _ in names]
    homeless: list[int] = []
    for name, members in former:
        homeless += members
        if name in names:
            groups[names.index(name)] += homeless
            homeless = []
    groups[-1] += homeless
    return groups


def _take(groups: Sequence[list[int]], count: int) -> list[int]:
    """Take the first of the first groups that have any."""
    taken: list[int] = []
    for group in groups:
        more = count - len(taken)
        taken += group[:more]
        del group[:more]
    return taken
