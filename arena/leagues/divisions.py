"""Promotion and relegation: who plays in which division next."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Level:
    """The settings of a division that matter here."""

    size: int | None
    """The number of its places; None for everyone without a place above, which only the lowest can offer."""
    promoted: int
    """How many of its members go up, while as many come down; without meaning in the highest."""


def next_divisions(
    levels: Sequence[Level],
    groups: Sequence[Sequence[int]],
    newcomers: Sequence[int],
    barred: Sequence[Collection[int]] | None = None,
) -> list[list[int]]:
    """Return the members of each level in the next season, in the order of their seeding.

    ``levels`` run from the highest to the lowest; ``groups`` are their members so far, each in the order of
    the final standings and without those who are gone; ``newcomers`` come after all of them.

    From the highest down, each level takes those who come down to it, then its own best, and leaves the
    places for promotion to the best of the next level. A place that is still empty goes to the next best
    below, whoever it is; if nobody is below, the best of those who would go down stay. ``barred`` are, for
    each level but the lowest, those who cannot be in it: they go down first, and do not come up.
    """
    below = [list(group) for group in groups]
    below[-1] += newcomers
    result: list[list[int]] = []
    come_down: list[int] = []
    for at, (level, lower) in enumerate(pairwise(levels)):
        out = barred[at] if barred else ()
        own = below.pop(0)
        too_high = [member for member in (*come_down, *own) if member in out]
        come_down, own = ([member for member in group if member not in out] for group in (come_down, own))
        assert level.size is not None, "only the lowest level takes everyone"
        placed, too_many = come_down[: level.size], come_down[level.size :]
        free = level.size - len(placed)
        best = max(0, free - lower.promoted)
        stay, go_down = own[:best], too_many + own[best:]
        rise = _take(below, free - len(stay), out)
        spared = free - len(stay) - len(rise)
        stay, go_down = stay + go_down[:spared], go_down[spared:]
        result.append(placed + stay + rise)
        come_down = too_high + go_down
    return [*result, come_down + below.pop()]


def owners_apart(
    levels: Sequence[Level],
    groups: Sequence[Sequence[int]],
    newcomers: Sequence[int],
    owners: Mapping[int, str],
    sizes: Sequence[int],
) -> tuple[list[list[int]], list[int]]:
    """Return ``next_divisions`` with no owner twice at a table, and who is left out for that.

    No level has more bots of an owner than tables; ``sizes`` are the table sizes of each level. An owner's
    last ones go down, or do not come up, and others do in their place; those of the lowest level are left
    out. If there are too few owners at a level for a table, and nobody is below, all stay: it plays no
    tournament.
    """
    barred: list[set[int]] = [set() for _ in levels]
    while True:
        left = [[member for member in group if member not in barred[-1]] for group in (*groups, newcomers)]
        divided = next_divisions(levels, left[:-1], left[-1], barred)
        for at, (members, size) in enumerate(zip(divided, sizes, strict=True)):
            table = len(members) >= size
            if table and (any(divided[at + 1 :]) or len({owners[member] for member in members}) >= size):
                best, full = _best(members, owners, len(members) // size)
                below = {member for group in divided[at:] for member in group if owners[member] in full}
                if not best.issuperset(members):
                    barred[at] |= below - best
                    break
        else:
            return divided, [
                member for group in (*groups, newcomers) for member in group if member in barred[-1]
            ]


def _best(members: Sequence[int], owners: Mapping[int, str], tables: int) -> tuple[set[int], set[str]]:
    """Return the best of each owner, at most one per table, and the owners that have one for each table."""
    had: Counter[str] = Counter()
    best = set()
    for member in members:
        if had[owners[member]] < tables:
            best.add(member)
            had[owners[member]] += 1
    return best, {owner for owner, count in had.items() if count == tables}


def regroup(names: Sequence[str], former: Sequence[tuple[str, Sequence[int]]]) -> list[list[int]]:
    """Return the members of former levels in the present ones, by name; both from the highest to the lowest.

    The members of a level that is gone come before those of the next lower one that still exists.
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


def _take(groups: Sequence[list[int]], count: int, barred: Collection[int]) -> list[int]:
    """Take the first ``count`` members from the groups in order, except those who are barred."""
    taken: list[int] = []
    for group in groups:
        more = [member for member in group if member not in barred][: count - len(taken)]
        taken += more
        gone = set(more)
        group[:] = [member for member in group if member not in gone]
    return taken
