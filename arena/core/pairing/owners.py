"""No owner twice at a table: how many tables can be filled under that rule, by whom, and how."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from arena.core.pairing.values import Tables
from arena.errors import SpecError

NAMED = 4
"""The most bots that a refusal names."""


def owner_of(bot: str) -> str:
    """Return the owner of ``owner/bot@version``."""
    return bot.partition("/")[0]


def by_owner(bots: Sequence[str]) -> list[list[str]]:
    """Return the bots of each owner, in the order of ``bots``."""
    owned: dict[str, list[str]] = {}
    for bot in bots:
        owned.setdefault(owner_of(bot), []).append(bot)
    return list(owned.values())


def check_tables(own: Sequence[str], entrants: int, size: int) -> None:
    """Raise SpecError if one owner has more bots than ``entrants`` fill tables of ``size``."""
    tables = entrants // size
    if len(own) > tables:
        there = "is 1 table" if tables == 1 else f"are {tables} tables"
        raise SpecError(
            "entrants",
            f"{_owner_with_bots(own)}, and there {there} of {size} for {entrants}, "
            "with no owner twice at a table; allow_same_owner = true allows it",
        )


def would_meet(own: Sequence[str], format: str) -> SpecError:
    """Return the refusal of an owner's bots in a format in which any of them may meet."""
    who = _owner_with_bots(own)
    return SpecError("entrants", f"{who}, who would meet in a {format}; allow_same_owner = true allows it")


def _owner_with_bots(own: Sequence[str]) -> str:
    more = [f"{len(own) - NAMED} more"] if len(own) > NAMED else []
    return f"{owner_of(own[0])} has {len(own)} bots ({', '.join([*own[:NAMED], *more])})"


def most_tables(bots: Iterable[int], size: int) -> int:
    """Return the most tables of ``size`` that can be filled with no owner twice at any.

    ``bots`` is how many each owner has. At T tables an owner can seat T bots, so T tables need ``size * T``
    bots, of which no more than T of each owner count. That is enough: they are dealt out owner by owner.
    """
    counts = list(bots)
    least, most = 0, sum(counts) // size
    # The bots that count grow ever more slowly with T, so all T up to the largest possible one can be filled.
    while least < most:
        middle = (least + most + 1) // 2
        if sum(min(count, middle) for count in counts) >= size * middle:
            least = middle
        else:
            most = middle - 1
    return least


def first_seated(line: Sequence[int], size: int, owners: Mapping[int, int]) -> set[int]:
    """Return who plays: the first in line that fill the most tables with no owner twice at any.

    Whoever is not in ``owners`` shares no owner with anyone; if it is empty, nobody is passed over.
    """
    of = [(entrant, owners[entrant]) if entrant in owners else (entrant, None) for entrant in line]
    alone = sum(owner is None for _, owner in of)
    counts = Counter(owner for _, owner in of if owner is not None)
    tables = most_tables([*counts.values(), *[1] * alone], size)
    seated: set[int] = set()
    seats: Counter[int] = Counter()
    for entrant, owner in of:
        if len(seated) == tables * size:
            break
        if owner is None or seats[owner] < tables:
            seated.add(entrant)
            if owner is not None:
                seats[owner] += 1
    return seated


def parted(tables: Tables, owner: Sequence[int]) -> Tables:
    """Return the tables with few and near exchanges, after which no owner is twice at any.

    ``owner`` is that of each place; none may have more places than there are tables.
    """
    tables = [[*table] for table in tables]
    counts = [Counter(owner[place] for place in table) for table in tables]
    for here, table in enumerate(tables):
        while (twice := next((who for who, times in counts[here].items() if times > 1), None)) is not None:
            # An owner with no more places than there are tables, and with two here, has none at some table.
            # There, all places are of others; here, two fewer are, so some other owner has more places there
            # than here. Exchanging one of each leaves fewer pairs of one owner than before, so this ends.
            there = _nearest_without(twice, counts, here)
            leaving = [place for place in table if owner[place] == twice]
            coming = [
                place for place in tables[there] if counts[there][owner[place]] > counts[here][owner[place]]
            ]
            p, q = min(
                ((p, q) for p in leaving for q in coming), key=lambda pair: (abs(pair[0] - pair[1]), pair)
            )
            table[table.index(p)], tables[there][tables[there].index(q)] = q, p
            for at, gone, come in ((here, p, q), (there, q, p)):
                counts[at].subtract([owner[gone]])
                counts[at][owner[come]] += 1
    return tables


def _nearest_without(owner: int, counts: Sequence[Counter[int]], here: int) -> int:
    for away in range(1, len(counts)):
        for there in (here + away, here - away):
            if 0 <= there < len(counts) and not counts[there][owner]:
                return there
    raise ValueError("an owner has more places than there are tables")
