"""The search for tables: no owner twice at a table, no meeting repeated, neighbours in the standing together.

A round is searched by seeded simulated annealing over the assignment to tables, because a greedy choice
leaves the last tables with repeats that earlier tables could have avoided.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations, permutations
from random import Random
from typing import NamedTuple

from arena.core.pairing.values import History, Pairing, Tables, shuffled
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


ALL_ORDERS = 4
"""Up to this table size all orders are compared; above it, two are exchanged until that no longer helps."""


class Positions:
    """How often each entrant has had each position, and has come directly after each other one."""

    def __init__(self, tables: Iterable[Sequence[int]] = (), now_at: Mapping[int, int] | None = None) -> None:
        """Count these tables.

        With ``now_at``, the table of each entrant, only tables of these entrants are put in order: who came
        after somebody at another table does not matter, and is left out.
        """
        self._had: Counter[tuple[int, int]] = Counter()
        self._followed: Counter[tuple[int, int]] = Counter()
        self._now_at = now_at
        for table in tables:
            self.add(table)

    def add(self, table: Sequence[int]) -> None:
        """Count a table that was played in this order."""
        now_at = self._now_at
        for position, entrant in enumerate(table):
            self._had[entrant, position] += 1
            before = table[position - 1]
            if now_at is None or now_at.get(before, before) == now_at.get(entrant, entrant):
                self._followed[before, entrant] += 1

    def cost(self, table: Sequence[int]) -> tuple[int, int]:
        """Return the cost of this order: positions had before, then neighbours had before."""
        had, followed = self._had, self._followed
        return (
            sum([had[key] for key in zip(table, range(len(table)), strict=True) if key in had]),
            sum([followed[key] for key in zip((table[-1], *table), table, strict=False) if key in followed]),
        )

    def order(self, table: Sequence[int], rng: Random) -> tuple[int, ...]:
        """Return the table in the order with the lowest cost, drawn by lot among equals."""
        drawn = shuffled(table, rng)
        if not self._had:
            return tuple(drawn)
        if len(drawn) <= ALL_ORDERS:
            return min(permutations(drawn), key=self.cost)
        return self._descend(drawn)

    def _descend(self, table: list[int]) -> tuple[int, ...]:
        cost = self.cost(table)
        while cost > (0, 0):
            best, i, j = min(
                (self.cost(_exchanged(table, i, j)), i, j) for i, j in combinations(range(len(table)), 2)
            )
            if best >= cost:
                break
            table, cost = _exchanged(table, i, j), best
        return tuple(table)


def _exchanged(table: list[int], i: int, j: int) -> list[int]:
    changed = list(table)
    changed[i], changed[j] = changed[j], changed[i]
    return changed


SWAPS, SWAPS_EACH = 15_000, 40
"""Swaps tried in a round: a fixed number, and more for each entrant."""

REACH = 12
"""A table exchanges entrants only with tables at most this many tables away in the standing."""

PAIRS_EACH = 8
"""How many pairs are worth computing in advance, for each swap that will look some of them up."""

COOL, COLD = 20.0, 0.5
"""The largest increase accepted at the start of a cool search, and at the end of any; costs are integers."""


Change = Callable[[Sequence[int], Sequence[int], int, int], int]
"""Returns the additional cost of exchanging a place of the first table and one of the second."""


class Cost(NamedTuple):
    """The cost of a round, most important part first."""

    owners: int
    """Pairs of one owner at a table."""
    repeats: int
    """Meetings repeated: a pair that has met n times counts n."""
    gaps: int
    """Squares of the differences in score of all pairs at a table, in half points."""


class Costs:
    """The cost of two sitting together: same owner, then repeated meetings, then the gap between them.

    Entrants are numbered by place in the standing. A repeated meeting weighs more than all the gaps that an
    exchange can open, the third meeting of two twice as much, and so on; two of one owner at a table weigh as
    much as a thousand repeats, or more if an exchange could avoid as many.
    """

    def __init__(self, standing: Sequence[int], size: int, history: History, *, gaps: bool) -> None:
        places = {entrant: place for place, entrant in enumerate(standing)}
        self.level = [0] * len(standing)
        """Score of each place in half points; without scores, the place."""
        if gaps:
            scores = history.scores
            self.level = [round(2 * scores.get(one, 0)) for one in standing] if scores else [*places.values()]
        pairs = size * (size - 1) // 2 * min(len(standing) // size, 2 * REACH)
        self.repeat = max(64, pairs * (max(self.level, default=0) - min(self.level, default=0)) ** 2)
        first_of: dict[int, int] = {}
        self.owner = [
            first_of.setdefault(history.owners[entrant], place) if entrant in history.owners else place
            for entrant, place in places.items()
        ]
        self._sign = [chr(place) for place in range(len(standing))]
        """What stands for each place in ``_met``."""
        self._met = self._meetings(places, history.tables)
        """Whom each place has met, a sign for each time. Texts are searched as fast as dictionaries are, and
        take a thirtieth of their room: in a large tournament, millions of pairs have met."""
        self.often = max((max(Counter(met).values(), default=0) for met in self._met), default=0)
        """The most often that two have met."""
        # An exchange parts 2 * (size - 1) pairs. Even if all of these have met that often, it saves less than
        # two of one owner cost, by more than any search accepts: what starts apart stays apart.
        self.same_owner = max(1000, 2 * size * (self.often + 1)) * self.repeat
        self.apart = history.owners_apart
        """Whether no table may have an owner twice."""

    def _meetings(self, places: Mapping[int, int], tables: Iterable[Sequence[int]]) -> list[str]:
        sign = self._sign
        tables_of: list[list[str]] = [[] for _ in sign]
        for table in tables:
            seated = [places[entrant] for entrant in table if entrant in places]
            signs = "".join([sign[place] for place in seated])
            for place in seated:
                tables_of[place].append(signs)
        return ["".join(signs).replace(own, "") for own, signs in zip(sign, tables_of, strict=True)]

    def times_met(self, one: int, two: int) -> int:
        """Return how often two places have met."""
        return self._met[one].count(self._sign[two])

    def beside(self, one: int, others: Sequence[int]) -> int:
        """Return the cost of place ``one`` sitting with ``others``."""
        met, sign, owner, level, repeat = self._met[one], self._sign, self.owner, self.level, self.repeat
        own_level, own_owner = level[one], owner[one]
        cost = 0
        for other in others:
            cost += (own_level - level[other]) ** 2
            if sign[other] in met:
                cost += repeat * met.count(sign[other])
            if owner[other] == own_owner:
                cost += self.same_owner
        return cost

    def table(self, table: Sequence[int]) -> int:
        """Return the cost of a whole table."""
        return sum(self.beside(one, table[:index]) for index, one in enumerate(table))

    def change(self, one: Sequence[int], two: Sequence[int], p: int, q: int) -> int:
        """Return the additional cost if place ``p`` of table ``one`` and ``q`` of ``two`` are exchanged."""
        beside_p, beside_q = [place for place in one if place != p], [place for place in two if place != q]
        before = self.beside(p, beside_p) + self.beside(q, beside_q)
        return self.beside(q, beside_p) + self.beside(p, beside_q) - before

    def change_looked_up(self) -> Change:
        """Return ``change`` as a function that looks up the costs of pairs; it is several times faster."""
        pairs = self._pairs()

        def change(one: Sequence[int], two: Sequence[int], p: int, q: int) -> int:
            of_p, of_q = pairs[p], pairs[q]
            total = -2 * of_p[q]  # the sums below count it, although the two do not meet
            for place in one:
                total += of_q[place] - of_p[place]
            for place in two:
                total += of_p[place] - of_q[place]
            return total

        return change

    def _pairs(self) -> list[list[int]]:
        """Return the cost of each place sitting with each other one; 0 with itself."""
        everyone = range(len(self.level))
        return [[self.beside(one, (two,)) if one != two else 0 for two in everyone] for one in everyone]

    def parts(self, tables: Sequence[Sequence[int]]) -> Cost:
        """Return the cost of these tables, criterion by criterion."""
        pairs = [pair for table in tables for pair in combinations(table, 2)]
        return Cost(
            sum(self.owner[one] == self.owner[two] for one, two in pairs),
            sum(self.times_met(one, two) for one, two in pairs),
            sum((self.level[one] - self.level[two]) ** 2 for one, two in pairs),
        )


def placed(tables: Tables, byes: Sequence[int], history: History, rng: Random) -> Pairing:
    """Return the pairing of these tables, with everyone in the position that keeps positions most even."""
    now_at = {entrant: number for number, table in enumerate(tables) for entrant in table}
    positions = Positions(history.tables, now_at)
    return Pairing(tuple(positions.order(table, rng) for table in tables), tuple(byes))


def sitting_out(standing: Sequence[int], byes: Sequence[int], count: int) -> tuple[int, ...]:
    """Return who gets a bye: of those with the fewest so far, the lowest in the standing."""
    so_far = Counter(byes)
    lowest_first = sorted(range(len(standing)), key=lambda place: (so_far[standing[place]], -place))
    return tuple(standing[place] for place in lowest_first[:count])


def seat(places: int, size: int, costs: Costs, rng: Random, most_swaps: int | None = None) -> Tables:
    """Return tables of the places 0 … places - 1, searched for the lowest cost, the best places first.

    A search that starts cool keeps the order of the standing where possible; in a small field, where repeats
    are hard to avoid, another one starts hot, and the better of the two is taken. ``most_swaps`` limits the
    swaps that each of them tries.
    """
    plain = [list(range(at, at + size)) for at in range(0, places, size)]
    if len(plain) < 2 or not any(map(costs.table, plain)):
        return plain
    first = parted(plain, costs.owner) if costs.apart else plain
    starts = [COOL, float(costs.repeat)] if len(plain) <= 2 * REACH else [COOL]
    swaps = SWAPS + SWAPS_EACH * places
    swaps = swaps if most_swaps is None else min(swaps, most_swaps)
    change = costs.change_looked_up() if places**2 <= PAIRS_EACH * swaps else costs.change
    searched = [_anneal([[*table] for table in first], change, start, swaps, rng) for start in starts]
    best = min(searched, key=lambda tables: sum(map(costs.table, tables)))
    return sorted((sorted(table) for table in best), key=sum)


def _anneal(tables: Tables, change: Change, start: float, swaps: int, rng: Random) -> Tables:
    """Exchange places between tables near each other, unless that costs more than is still accepted."""
    limit, cooling = start, (COLD / start) ** (1 / swaps)
    count, random = len(tables), rng.random
    for _ in range(swaps):
        limit *= cooling
        here = int(random() * count)
        first, last = max(0, here - REACH), min(count - 1, here + REACH)
        there = first + int(random() * (last - first))
        one, two = tables[here], tables[there if there < here else there + 1]
        i, j = int(random() * len(one)), int(random() * len(two))
        worse = change(one, two, one[i], two[j])
        if worse <= 0 or worse < limit * random():
            one[i], two[j] = two[j], one[i]
    return tables
