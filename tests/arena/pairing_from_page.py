"""Seatings and pairings as docs/pairings.md specifies them, written from that page alone.

It shares no code with the arena, and is compared with it (``test_pairing_page``). Questions and answers are
those of the vectors.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from hashlib import sha256
from itertools import combinations, count, permutations, product
from math import log, sqrt
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

PAGE = Path(__file__).parents[2] / "docs/pairings.md"

Table = list[int]


class Round(NamedTuple):
    """A round: of points, places or entrants."""

    tables: list[Table]
    byes: list[int]


def cut(items: Sequence[int], k: int) -> list[Table]:
    return [list(items[at : at + k]) for at in range(0, len(items), k)]


def up(a: int, b: int) -> int:
    """Return a / b, rounded up."""
    return (a + b - 1) // b


# Chance


def generator(seed: bytes, label: str) -> Random:
    return Random(int.from_bytes(sha256(seed + label.encode()).digest(), "big"))


def below(rng: Random, m: int) -> int:
    return int(rng.random() * m)


def shuffle(rng: Random, items: list[int]) -> None:
    for i in range(len(items) - 1, 0, -1):
        j = below(rng, i + 1)
        items[i], items[j] = items[j], items[i]


def even_squares(total: int, cells: int) -> int:
    e, m = divmod(total, cells)
    return m * (e + 1) ** 2 + (cells - m) * e**2


# Seatings


def zigzag(k: int) -> list[int]:
    return [((z + 1) // 2 if z % 2 else -(z // 2)) % k for z in range(k)]


def block(k: int) -> list[Table]:
    if k % 2:
        orders = [[s * i % k for i in range(k)] for s in range(1, k)]
    else:
        r = k - 1
        orders = [[r, *((t + z) % r for z in zigzag(r))] for t in range(r)]
        orders += [order[::-1] for order in orders]
    return [order[at:] + order[:at] for order in orders for at in range(k)]


def seatings(k: int, sessions: int, *, duplicate: bool = False) -> list[Table]:
    if duplicate:
        return [list(range(k)) for _ in range(sessions)]
    whole, rest = divmod(sessions, len(block(k)))
    return block(k) * whole + (searched_seatings(k, rest) if rest else [])


class SeatingCost:
    """What seatings cost, session by session."""

    def __init__(self) -> None:
        self._times: Counter[tuple[int, int]] = Counter()
        self.cost = 0

    def add(self, order: Table, step: int) -> None:
        """Count a session, or with ``step`` -1 no longer."""
        for seat, place in enumerate(order):
            for key, weight in ((place, seat), 4), ((place, ~order[seat - 1]), 1):
                self.cost += weight * (2 * self._times[key] * step + 1)
                self._times[key] += step


def searched_seatings(k: int, sessions: int) -> list[Table]:
    rng = generator(b"", f"seatings/{k}/{sessions}")
    first = [[(z + t) % k for z in zigzag(k)] for t in range(sessions)]
    second = [list(range(k)) for _ in range(sessions)]
    for order in second:
        shuffle(rng, order)
    bound = 4 * even_squares(k * sessions, k * k) + even_squares(k * sessions, k * (k - 1))
    return min(settle_seatings(rng, start, bound) for start in (first, second))[1]


def settle_seatings(rng: Random, found: list[Table], bound: int) -> tuple[int, list[Table]]:
    k, limit = len(found[0]), 6.0
    costs = SeatingCost()
    for order in found:
        costs.add(order, 1)
    for _ in range(20_000):
        if costs.cost == bound:
            break
        limit *= (1 / 6) ** (1 / 20000)
        order = found[below(rng, len(found))]
        i, j, old = below(rng, k), below(rng, k), costs.cost
        costs.add(order, -1)
        order[i], order[j] = order[j], order[i]
        costs.add(order, 1)
        w = costs.cost - old
        if w > 0 and w > limit * rng.random():
            costs.add(order, -1)
            order[i], order[j] = order[j], order[i]
            costs.add(order, 1)
    return costs.cost, found


# Tables from an order


def met(tables: Sequence[Table]) -> Counter[tuple[int, int]]:
    found: Counter[tuple[int, int]] = Counter()
    for table in tables:
        for pair in permutations(table, 2):
            found[pair] += 1
    return found


class Costs:
    """What each two places of a list of entrants cost, if they sit together."""

    def __init__(
        self, listed: list[int], k: int, levels: list[int], met_before: Counter[tuple[int, int]]
    ) -> None:
        n = len(listed)
        c = k * (k - 1) / 2 * min(n / k, 24)
        self.repeat = max(64, c * (max(levels) - min(levels)) ** 2)
        self.most = max((met_before[pair] for pair in combinations(listed, 2)), default=0)
        self.same_owner = max(1000, 2 * k * (self.most + 1)) * self.repeat
        self.of: list[list[float]] = [
            [(levels[p] - levels[q]) ** 2 + self.repeat * met_before[listed[p], listed[q]] for q in range(n)]
            for p in range(n)
        ]

    def add_owners(self, owners: list[int]) -> None:
        for p, q in permutations(range(len(owners)), 2):
            if owners[p] == owners[q]:
                self.of[p][q] += self.same_owner

    def of_table(self, table: Table) -> float:
        return sum(self.of[p][q] for p, q in combinations(table, 2))


def tables_from_order(
    rng: Random, k: int, costs: Costs, owners: list[int] | None, swaps: int | None = None
) -> list[Table]:
    n = len(costs.of)
    tables = cut(range(n), k)
    if len(tables) == 1 or not any(map(costs.of_table, tables)):
        return tables
    if owners is not None:
        separate(tables, owners)
    s = 15_000 + 40 * n if swaps is None else swaps
    found = [anneal(rng, tables, costs, 20, s)]
    if len(tables) <= 24:
        found.append(anneal(rng, tables, costs, costs.repeat, s))
    best = min(found, key=lambda each: sum(map(costs.of_table, each)))
    return sorted(map(sorted, best), key=sum)


def anneal(rng: Random, tables: list[Table], costs: Costs, start: float, s: int) -> list[Table]:
    tables = [list(table) for table in tables]
    k, of, limit, last = len(tables[0]), costs.of, float(start), len(tables) - 1
    for _ in range(s):
        limit *= (0.5 / start) ** (1 / s)
        h = below(rng, len(tables))
        a, b = max(0, h - 12), min(last, h + 12)
        t = below(rng, b - a) + a
        t += t >= h
        i, j = below(rng, k), below(rng, k)
        here, there = tables[h], tables[t]
        p, q = here[i], there[j]
        w = sum(of[q][x] - of[p][x] for x in here if x != p)
        w += sum(of[p][x] - of[q][x] for x in there if x != q)
        if w <= 0 or w < limit * rng.random():
            here[i], there[j] = q, p
    return tables


def most_tables(owners: list[int], k: int) -> int:
    counts = Counter(owners).values()
    return max(t for t in range(len(owners) // k + 1) if sum(min(c, t) for c in counts) >= k * t)


def who_plays(line: list[int], owners: Mapping[int, int] | None, k: int) -> list[int]:
    if owners is None:
        return line[: len(line) // k * k]
    t, of = most_tables([owners[one] for one in line], k), Counter[int]()
    taken: list[int] = []
    for one in line:
        if of[owners[one]] < t and len(taken) < k * t:
            of[owners[one]] += 1
            taken.append(one)
    return taken


def separate(tables: list[Table], owners: list[int]) -> None:
    came = count()
    since = {place: next(came) for table in tables for place in table}
    for h, here in enumerate(tables):
        while True:
            twice = [o for o, c in Counter(owners[p] for p in here).items() if c >= 2]
            if not twice:
                break
            owner = min(twice, key=lambda o: min(since[p] for p in here if owners[p] == o))
            near = sorted((abs(t - h), t < h, t) for t in range(len(tables)) if t != h)
            there = next(tables[t] for _, _, t in near if all(owners[q] != owner for q in tables[t]))
            at_h, at_t = Counter(owners[p] for p in here), Counter(owners[q] for q in there)
            _, p, q = min(
                (abs(p - q), p, q)
                for p in here
                if owners[p] == owner
                for q in there
                if at_t[owners[q]] > at_h[owners[q]]
            )
            here[here.index(p)], there[there.index(q)] = q, p
            since[q], since[p] = next(came), next(came)


# The order at a table


def order_tables(
    rng: Random, tables: list[Table], before: Sequence[Table], *, also_these: bool = False
) -> list[Table]:
    had: Counter[tuple[int, int]] = Counter()
    after: Counter[tuple[int, int]] = Counter()

    def note(table: Table) -> None:
        for at, one in enumerate(table):
            had[one, at] += 1
            after[one, table[at - 1]] += 1

    def cost(table: Table) -> tuple[int, int]:
        return (
            sum(had[one, at] for at, one in enumerate(table)),
            sum(after[one, table[at - 1]] for at, one in enumerate(table)),
        )

    for table in before:
        note(table)
    ordered = []
    for given in tables:
        table = list(given)
        shuffle(rng, table)
        if had:
            table = best_order(table, cost)
        if also_these:
            note(table)
        ordered.append(table)
    return ordered


def best_order(table: Table, cost: Any) -> Table:
    if len(table) <= 4:
        return list(min(permutations(table), key=cost))
    while True:
        changed = []
        for i, j in combinations(range(len(table)), 2):
            other = list(table)
            other[i], other[j] = other[j], other[i]
            changed.append((cost(other), i, j, other))
        least = min(changed)
        if least[0] >= cost(table):
            return table
        table = least[3]


# Standings, which docs/formats.md specifies


class Line(NamedTuple):
    score: Fraction
    opponents_cut: Fraction
    opponents: Fraction
    wins: int
    points: int


def match_scores(points: Sequence[int]) -> list[Fraction]:
    return [
        sum(Fraction(1) if own > other else Fraction(1, 2) for other in points if other <= own)
        - Fraction(1, 2)
        for own in points
    ]


def standings(given: Mapping[str, Any]) -> dict[int, Line]:
    entrants = range(1, len(given["owners"]) + 1)
    score = dict.fromkeys(entrants, Fraction(0))
    wins, points = Counter[int](), Counter[int]()
    opponents: dict[int, list[int]] = {one: [] for one in entrants}
    for one in given["played"]:
        for bye in one["byes"]:
            score[bye] += Fraction(given["size"] - 1, 2)
        for table, totals in zip(one["tables"], one["points"], strict=True):
            for bot, won, total in zip(table, match_scores(totals), totals, strict=True):
                score[bot] += won
                points[bot] += total
                wins[bot] += won == len(table) - 1
                opponents[bot] += [other for other in table if other != bot]
    lines = {}
    for one in entrants:
        faced = sorted(score[other] for other in opponents[one])
        lines[one] = Line(score[one], mean(faced[1:]), mean(faced), wins[one], points[one])
    return lines


def mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values) if values else Fraction(0)


# The formats

Given = Mapping[str, Any]


def answer(given: Given) -> list[dict[str, object]]:
    """Return the rounds that follow from what has been played, until results are needed."""
    found: list[Round] = FORMATS[given["format"]](given)
    return [{"tables": one.tables, "byes": one.byes} for one in found]


def present(given: Given) -> list[int]:
    return [one for one in range(1, len(given["owners"]) + 1) if one not in given["withdrawn"]]


def owners_of(given: Given) -> dict[int, int] | None:
    return dict(enumerate(given["owners"], 1)) if given["owners_apart"] else None


def seated(given: Given) -> list[Table]:
    return [table for one in given["played"] for table in one["tables"]]


def swiss(given: Given) -> list[Round]:
    k, number = given["size"], len(given["played"]) + 1
    rng = generator(bytes.fromhex(given["lots"]), f"swiss/{number}")
    lines = standings(given)
    best = sorted(present(given), key=lambda one: (*(-value for value in lines[one]), one))
    byes = Counter(bye for one in given["played"] for bye in one["byes"])
    line = sorted(best if number > 1 else present(given), key=lambda one: -byes[one])
    playing = who_plays(line, owners_of(given), k)
    if not playing:
        return []
    listed = [one for one in best if one in playing]
    levels = [int(2 * lines[one].score) for one in listed]
    if number == 1:
        shuffle(rng, listed)
        levels = [0] * len(listed)
    costs = Costs(listed, k, levels, met(seated(given)))
    owners = [given["owners"][one - 1] for one in listed]
    costs.add_owners(owners)
    tables = [
        [listed[p] for p in table]
        for table in tables_from_order(rng, k, costs, owners if given["owners_apart"] else None)
    ]
    return [
        Round(order_tables(rng, tables, seated(given)), [one for one in line[::-1] if one not in playing])
    ]


def continuous(given: Given) -> list[Round]:
    k, batch = given["size"], len(given["played"]) + 1
    rng = generator(bytes.fromhex(given["lots"]), f"continuous/{batch}")
    n = len(given["owners"])
    free = {one["entrant"]: one for one in given["free"]}
    latest = seated(given)[-n:]
    lately: dict[int, list[Table]] = {}
    for table in seated(given):
        for one in table:
            lately[one] = [*lately.get(one, []), table][-3:]
    recent = [
        table
        for one in given["played"][-n:]
        for table in one["tables"]
        if any(table is late for bot in table for late in lately[bot]) and any(bot in free for bot in table)
    ]
    sat = Counter(bot for table in latest for bot in table)
    line = sorted(free, key=lambda one: (sat[one], free[one]["weight"], one))
    playing = who_plays(line, owners_of(given), k)
    if not playing:
        return []
    listed = sorted(playing, key=lambda one: (-free[one]["rating"], one))
    levels = [round(free[one]["rating"]) for one in listed]
    slacks = [round(uncertainty(free[one]["weight"], k) / 2) for one in listed]
    met_lately = met(recent)
    costs = Costs(listed, k, [0] * len(listed), Counter())
    costs.repeat = 10_000
    most = max(met_lately[pair] for pair in combinations(listed, 2))
    d = max(levels) - min(levels)
    costs.same_owner = k * k * (d * d + max(100, most) * 10_000)
    for p, q in permutations(range(len(listed)), 2):
        apart = max(0, abs(levels[p] - levels[q]) - slacks[p] - slacks[q])
        costs.of[p][q] = apart**2 + 10_000 * met_lately[listed[p], listed[q]]
    owners = [given["owners"][one - 1] for one in listed]
    costs.add_owners(owners)
    swaps = min(15_000 + 40 * len(listed), 400 * (len(listed) // k))
    tables = [
        [listed[p] for p in table]
        for table in tables_from_order(rng, k, costs, owners if given["owners_apart"] else None, swaps)
    ]
    return [Round(order_tables(rng, tables, recent), [])]


def uncertainty(weight: float, k: int) -> float:
    s = log(10) / 400 * 0.16
    g = (1 - 32 * s) ** (2 * weight)
    v = 32 * (k * k - 1) / 12 / (k - 1) ** 2 / (2 * s - 32 * s * s)
    return 1.96 * sqrt(g * 200**2 + (1 - g) * v)


def knockout(given: Given) -> list[Round]:
    k = given["size"]
    advance = given["options"].get("advance", max(1, k // 2))
    alive, number = present(given), len(given["played"]) + 1
    if given["played"]:
        alive = onwards(given, advance)
    t, _ = plan(len(alive), k, advance, number)
    if not t:
        return []
    rng = generator(bytes.fromhex(given["lots"]), f"knockout/{number}")
    by_seed = sorted(alive)
    out = len(by_seed) - t * k
    byes, playing = by_seed[:out], by_seed[out:]
    rows = cut(playing, t)
    rows = [row[::-1] if at % 2 else row for at, row in enumerate(rows)]
    tables = [list(column) for column in zip(*rows, strict=True)]
    if t >= 2:
        improve(rng, given, playing, tables)
    return [Round(order_tables(rng, tables, seated(given)), byes)]


def plan(n: int, k: int, advance: int, number: int) -> tuple[int, int]:
    """Return how many tables a knockout plays of n bots, and how many are left afterwards."""
    if n < k:
        return 0, 0
    if n == k:
        return 1, 1
    whole = [1]
    while whole[-1] * k < n:
        t = whole[-1]
        whole.append(max(t * k // advance, up(t * k, k - 1)))
    m = max(t for t in whole if t * k < n) * k
    if n in [t * k for t in whole] or (number > 1 and n % k == 0):
        return n // k, m
    if n - m > n // k * (k - 1):
        m = n // k * k
    return min(up(n - m, k - advance), n // k), m


def onwards(given: Given, advance: int) -> list[int]:
    one, ranked = given["played"][-1], []
    _, m = plan(sum(map(len, [*one["tables"], one["byes"]])), given["size"], advance, len(given["played"]))
    for table, points in zip(one["tables"], one["points"], strict=True):
        at_table = sorted((-own, bot) for bot, own in zip(table, points, strict=True))
        ranked += [(place, *result) for place, result in enumerate(at_table)]
    best = [*one["byes"], *(bot for _, _, bot in sorted(ranked))]
    return [bot for bot in best if bot not in given["withdrawn"]][:m]


def improve(rng: Random, given: Given, playing: list[int], tables: list[Table]) -> None:
    k = given["size"]
    costs = Costs(playing, k, [0] * len(playing), met(seated(given)))
    costs.add_owners([given["owners"][one - 1] for one in playing])
    place = {one: at for at, one in enumerate(playing)}

    def cost(table: Table) -> float:
        return costs.of_table([place[one] for one in table])

    for _ in range(200):
        bad = [table for table in tables if cost(table)]
        if not bad:
            return
        for here in bad:
            there = tables[below(rng, len(tables))]
            row = below(rng, k)
            old = cost(here) + cost(there)
            here[row], there[row] = there[row], here[row]
            if cost(here) + cost(there) > old:
                here[row], there[row] = there[row], here[row]


def gauntlet(given: Given) -> list[Round]:
    k, lots = given["size"], bytes.fromhex(given["lots"])
    entrants = list(range(1, len(given["owners"]) + 1))
    challengers = entrants[: given["options"].get("challengers", 1)]
    field = entrants[len(challengers) :]
    f = len(field)
    rng = generator(lots, "gauntlet")
    shuffle(rng, field)
    shuffle(rng, challengers)
    a = min(len(challengers), f // (k - 1))
    groups = cut(challengers, a)
    e = up(f, k - 1)
    d, g = e * (k - 1) - f, len(groups)
    x = 1 if given["rounds"] is None else up(given["rounds"], g * e)
    number = len(given["played"]) + 1
    turn, i = divmod(number - 1, e)
    y, j = divmod(turn, g)
    b = j * x * d + (y * e + i) * (k - 1)
    group = groups[j]
    tables = [
        [one, *(field[(b + z * f // len(group) + at) % f] for at in range(k - 1))]
        for z, one in enumerate(group)
    ]
    playing = {bot for table in tables for bot in table}
    ordered = order_tables(generator(lots, f"gauntlet/{number}"), tables, seated(given))
    return [Round(ordered, [one for one in entrants if one not in playing])]


def round_robin(given: Given) -> list[Round]:
    k, n, r, lots = given["size"], len(given["owners"]), given["rounds"], bytes.fromhex(given["lots"])
    before = seated(given)
    first = len(given["played"])
    if r is not None and n > 64 and n * r > 4000 and (n > 400 or r % len(schedule(n, k))):
        rng = generator(lots, f"round-robin/{first + 1}")
        tables, byes = searched_round(given, rng)
        return [Round(order_tables(rng, tables, before, also_these=True), byes)]
    found = []
    for number, one in enumerate(planned(given, generator(lots, "round-robin")), 1):
        if number > first:
            rng = generator(lots, f"round-robin/{number}")
            ordered = order_tables(rng, one.tables, before, also_these=True)
            before += ordered
            found.append(Round(ordered, one.byes))
    return found


def planned(given: Given, rng: Random) -> Iterator[Round]:
    for one in [*plan_of_schedules(given, rng)]:
        entrants = list(range(1, len(given["owners"]) + 1))
        shuffle(rng, entrants)
        for tables, byes in one:
            yield Round([[entrants[p] for p in table] for table in tables], [entrants[p] for p in byes])


def searched_round(given: Given, rng: Random) -> Round:
    k, n = given["size"], len(given["owners"])
    byes = Counter(bye for one in given["played"] for bye in one["byes"])
    listed = list(range(1, n + 1))
    shuffle(rng, listed)
    last_first = listed[::-1]
    out = sorted(last_first, key=lambda one: byes[one])[: n % k]
    listed = [one for one in listed if one not in out]
    costs = Costs(listed, k, [0] * len(listed), met(seated(given)))
    tables = tables_from_order(rng, k, costs, None)
    return Round([[listed[p] for p in table] for table in tables], out)


Schedule = list[Round]


def plan_of_schedules(given: Given, rng: Random) -> Iterator[Schedule]:
    k, n, r = given["size"], len(given["owners"]), given["rounds"]
    if r is None:
        yield covering(n, k) if given["options"].get("meetings") == "at-least-once" else schedule(n, k)
        return
    if n > 64:
        whole = schedule(n, k)
        yield from [whole] * (r // len(whole)) if r % len(whole) == 0 else [part(n, k, r)]
        return
    fewest = min([n - 1 if n % k == 0 else n, *equal_rounds(n, k)])
    if r < fewest and construction(n, k) is None:
        yield part(n, k, r)
        return
    whole = schedule(n, k)
    w = len(whole)
    t, q = divmod(r, w)
    if t > 0 and spread(n, whole) > 0:
        u = max(0, min(t - 1, (n * r - 4000) // (n * w)))
        yield from [whole] * u
        yield whole + after(n, k, r - (u + 1) * w, whole, rng)
        return
    yield from [whole] * t
    if q:
        yield whole[:q] if w * (k - 1) <= n else part(n, k, q)


# Turns and classes


def spread(n: int, rounds: Schedule) -> int:
    found = met([table for one in rounds for table in one.tables])
    counts = [found[pair] for pair in combinations(range(n), 2)]
    return max(counts) - min(counts)


def turned(p: int, t: int, g: int, n: int) -> int:
    orbit, place = divmod(p, g)
    return p if (orbit + 1) * g > n else orbit * g + (place + t) % g


def turns(base: Schedule, g: int, n: int) -> Schedule:
    return [
        Round(
            [[turned(p, t, g, n) for p in table] for table in one.tables],
            [turned(p, t, g, n) for p in one.byes],
        )
        for one in base
        for t in range(g)
    ]


def draw_base(rng: Random, n: int, k: int, b: int, g: int) -> Schedule:
    y, o = n % k, n // g
    base = []
    for i in range(b):
        byes = [g * (z % o) + z // o % g for z in range(i * y, i * y + y)]
        others = [p for p in range(n) if p not in byes]
        shuffle(rng, others)
        base.append(Round(cut(others, k), byes))
    return base


class Classes:
    """The classes of pairs under turns of order g, and how often each meets."""

    def __init__(self, n: int, g: int, before: Counter[tuple[int, int]]) -> None:
        self.of = [[0] * n for _ in range(n)]
        numbers: dict[object, int] = {}
        sizes: Counter[int] = Counter()
        self.met: list[int] = []
        for p, q in combinations(range(n), 2):
            (a, x), (b, y) = divmod(p, g), divmod(q, g)
            if (b + 1) * g > n:
                name: object = (a, b)
            elif a == b:
                name = (a, a, min((x - y) % g, (y - x) % g))
            else:
                name = (a, b, (x - y) % g)
            at = numbers.setdefault(name, len(numbers))
            if at == len(self.met):
                self.met.append(0)
            self.of[p][q] = self.of[q][p] = at
            sizes[at] += 1
            self.met[at] += before[p, q]
        self.weight = [g // sizes[at] for at in range(len(self.met))]
        self.cost = sum(w * m * m for w, m in zip(self.weight, self.met, strict=True))

    def add(self, p: int, others: Sequence[int], step: int) -> None:
        of, met_, weight = self.of[p], self.met, self.weight
        for x in others:
            at = of[x]
            m = met_[at]
            met_[at] = m + step
            self.cost += weight[at] * (2 * m * step + 1)


def settle(
    rng: Random, base: Schedule, n: int, k: int, g: int, cold: float, s: int, before: Counter[tuple[int, int]]
) -> int:
    """Settle base rounds; return the unevenness that is left."""
    classes = Classes(n, g, before)
    for one in base:
        for table in one.tables:
            for at, p in enumerate(table):
                classes.add(p, table[:at], 1)
    bound = even_squares(sum(classes.met) * g, n * (n - 1) // 2)
    limit = 5.0

    def exchange(here: Table, i: int, there: Table, j: int) -> None:
        p, q = here[i], there[j]
        for table, at, old, new in ((here, i, p, q), (there, j, q, p)):
            if not any(table is one.byes for one in base):
                others = table[:at] + table[at + 1 :]
                classes.add(old, others, -1)
                classes.add(new, others, 1)
        here[i], there[j] = q, p

    for _ in range(s):
        if classes.cost * g == bound:
            break
        limit *= (cold / 5) ** (1 / s)
        one = base[below(rng, len(base))]
        here = one.tables[below(rng, len(one.tables))]
        there = [*one.tables, one.byes][below(rng, len(one.tables) + 1)]
        if here is there or not there:
            continue
        i, j = below(rng, k), below(rng, len(there))
        exchanges = [(here, i, there, j)]
        p, q = here[i] // g, there[j] // g
        if there is one.byes and p != q:
            other = base[below(rng, len(base))]
            byes = [(other.byes, at) for at, x in enumerate(other.byes) if x // g == p]
            seats = [(table, at) for table in other.tables for at, x in enumerate(table) if x // g == q]
            if not byes or not seats:
                continue
            exchanges.append((*seats[0], *byes[0]))
        old = classes.cost
        for each in exchanges:
            exchange(*each)
        w = classes.cost - old
        if w > 0 and w > limit * rng.random():
            for each in exchanges[::-1]:
                exchange(*each)
    return classes.cost * g - bound


def search(n: int, k: int, r: int, g: int, cold: float, s: int) -> tuple[Schedule, int]:
    rng = generator(b"", f"{n} points, tables of {k}, {r} rounds, turns of {g}, {cold}")
    base = draw_base(rng, n, k, r // g, g)
    uneven = settle(rng, base, n, k, g, cold, s, Counter())
    return turns(base, g, n), uneven


def equal_rounds(n: int, k: int) -> list[int]:
    found = []
    for r in range(1, 2 * n + 1):
        a, rest = divmod(r * (n - n % k), n)
        b, more = divmod(a * (k - 1), n - 1)
        if not rest and not more and (n != 2 * k or b * (k - 2) % (n - 2) == 0):
            found.append(r)
    return [r for r in found if r <= n] or found[:1]


def orders(n: int, k: int, r: int, least: int) -> list[int]:
    return [g for g in range(r, least - 1, -1) if r % g == 0 and (n % g == 0 or (n % k == 0 and n % g == 1))]


def schedule(n: int, k: int) -> Schedule:
    made = construction(n, k)
    if made is not None:
        return made
    equal, w = equal_rounds(n, k), n - 1 if n % k == 0 else n
    if n > 64:
        return search(n, k, w, w, 0.8, 1500 * n)[0]
    tried: list[tuple[int, Schedule]] = []
    for r in dict.fromkeys([*equal, w]):
        for g in orders(n, k, r, 2)[:2]:
            for cold in (1.5, 0.8):
                found, _ = search(n, k, r, g, cold, 120_000)
                difference = spread(n, found)
                if difference == 0 or (r == w and w not in equal and difference <= 1):
                    return found
                if r == w:
                    tried.append((difference, found))
    return min(tried, key=lambda one: one[0])[1]


def part(n: int, k: int, r: int) -> Schedule:
    tried = []
    for g in dict.fromkeys([*orders(n, k, r, 2)[:2], 1]):
        found, uneven = search(n, k, r, g, 0.6, 120_000 + (100 * n * r if g == 1 else 0))
        if uneven == 0:
            return found
        tried.append((uneven, found))
    return min(tried, key=lambda one: one[0])[1]


def after(n: int, k: int, r: int, whole: Schedule, rng: Random) -> Schedule:
    base = draw_base(rng, n, k, r, 1)
    settle(
        rng, base, n, k, 1, 0.6, 100_000 + 100 * n * r, met([table for one in whole for table in one.tables])
    )
    return base


def covering(n: int, k: int) -> Schedule:
    e = up(n - 1, k - 1)
    r = up(up(n * e, k), n // k)
    while True:
        made = construction(n, k)
        if made is not None and len(made) == r:
            return made
        for g in orders(n, k, r, 1)[:4]:
            found = cover(n, k, r, g)
            if found is not None:
                return found
        r += 1 + r // 64


def cover(n: int, k: int, r: int, g: int) -> Schedule | None:
    rng = generator(b"", f"covering of {n} points, tables of {k}, {r} rounds, turns of {g}")
    base = draw_base(rng, n, k, r // g, g)
    classes = Classes(n, g, Counter())
    sizes = [g // w for w in classes.weight]
    for one in base:
        for table in one.tables:
            for at, p in enumerate(table):
                classes.add(p, table[:at], 1)
    limit = 1.5 * g

    def never() -> int:
        return sum(size for size, m in zip(sizes, classes.met, strict=True) if not m)

    def exchange(here: Table, i: int, there: Table, j: int) -> None:
        p, q = here[i], there[j]
        for table, at, old, new in ((here, i, p, q), (there, j, q, p)):
            others = table[:at] + table[at + 1 :]
            classes.add(old, others, -1)
            classes.add(new, others, 1)
        here[i], there[j] = q, p

    u = never()
    for _ in range(60_000):
        if u == 0:
            break
        limit *= (0.5 / 1.5) ** (1 / 60000)
        one = base[below(rng, len(base))]
        h, t = below(rng, len(one.tables)), below(rng, len(one.tables))
        if h == t:
            continue
        here, there = one.tables[h], one.tables[t]
        i, j = below(rng, k), below(rng, k)
        exchange(here, i, there, j)
        new = never()
        if new > u and new - u > limit * rng.random():
            exchange(here, i, there, j)
        else:
            u = new
    return turns(base, g, n) if u == 0 else None


# Constructions


def construction(n: int, k: int) -> Schedule | None:
    if k == 2:
        return circle(n)
    if n == k:
        return [Round([list(range(n))], [])]
    if k in (3, 4, 5, 7, 8) and any(n == k**d for d in range(2, 20)):
        return affine(n, k)
    kept = base_rounds().get((n, k))
    if kept is not None:
        g, tables = kept
        return turns([Round(tables, [])], g, n)
    if k == 3 and n % 3 == 0 and n // 3 % 6 == 1 and is_prime(n // 3):
        return three_orbits(n // 3)
    if k == 3 and n % 2 == 1 and (n - 1) // 2 % 6 == 1 and is_prime((n - 1) // 2):
        return two_orbits((n - 1) // 2)
    if n > 64 and n % k == 1 and is_prime(n):
        v, c = powers(n), (n - 1) // k
        return turns([Round([[v[i + c * at] for at in range(k)] for i in range(c)], [0])], n, n)
    return None


def is_prime(p: int) -> bool:
    return p > 1 and all(p % d for d in range(2, int(sqrt(p)) + 1))


def powers(p: int) -> list[int]:
    for root in range(1, p):
        found = [pow(root, e, p) for e in range(p - 1)]
        if len(set(found)) == p - 1:
            return found
    raise AssertionError


def circle(n: int) -> Schedule:
    m = n - 1 if n % 2 == 0 else n
    return [
        Round(
            [
                *([[n - 1, t]] if m < n else []),
                *([(t + j) % m, (t - j) % m] for j in range(1, (m - 1) // 2 + 1)),
            ],
            [] if m < n else [t],
        )
        for t in range(m)
    ]


def affine(n: int, k: int) -> Schedule:
    d = next(d for d in range(2, 20) if k**d == n)

    def times(a: int, b: int) -> int:
        if k in (3, 5, 7):
            return a * b % k
        product_, modulus = 0, {4: 0b111, 8: 0b1011}[k]
        for bit in range(3):
            if b >> bit & 1:
                product_ ^= a << bit
        for bit in range(5, -1, -1):
            if product_ >> bit & 1 and 1 << bit >= k:
                product_ ^= modulus << (bit - modulus.bit_length() + 1)
        return product_

    def plus(a: int, b: int) -> int:
        return (a + b) % k if k in (3, 5, 7) else a ^ b

    def number(digits: Sequence[int]) -> int:
        found = 0
        for digit in digits:
            found = found * k + digit
        return found

    rounds = []
    for lead in range(d):
        for rest in product(range(k), repeat=d - 1 - lead):
            direction = (*([0] * lead), 1, *rest)
            tables = [
                [
                    number([plus(a, times(step, b)) for a, b in zip(start, direction, strict=True)])
                    for step in range(k)
                ]
                for start in product(range(k), repeat=d)
                if start[lead] == 0
            ]
            rounds.append(Round(tables, []))
    return rounds


def three_orbits(p: int) -> Schedule:
    t, powers_, n = (p - 1) // 6, powers(p), 3 * p

    def v(i: int) -> int:
        return powers_[i % (p - 1)]

    def across(i: int) -> Table:
        return [v(i), p + v(i + 2 * t), 2 * p + v(i + 4 * t)]

    base = [[0, p, 2 * p]]
    base += [[j * p + v(i + 2 * t * at) for at in range(3)] for i in range(t) for j in range(3)]
    base += [across(i + m * t) for i in range(t) for m in (1, 3, 5)]
    rounds = turns([Round(base, [])], p, n)
    for i, m in product(range(t), (0, 2, 4)):
        rounds.append(Round([[turned(x, at, p, n) for x in across(i + m * t)] for at in range(p)], []))
    return rounds


def two_orbits(p: int) -> Schedule:
    t, powers_ = (p - 1) // 6, powers(p)

    def v(i: int) -> int:
        return powers_[i % (p - 1)]

    m = powers_.index((v(t) + 1) * pow(2, -1, p) % p)
    base = [[0, p, 2 * p]]
    base += [[v(i + c), v(i + c + t), p + v(i + c + m)] for i in range(t) for c in (0, 2 * t, 4 * t)]
    base += [[p + v(i + m + c * t) for c in (1, 3, 5)] for i in range(t)]
    return turns([Round(base, [])], p, 2 * p + 1)


def base_rounds() -> dict[tuple[int, int], tuple[int, list[Table]]]:
    rows = re.findall(
        r"^\| (\d+) \| (\d) \| (\d+) \| `([\d ¦]+)` \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    return {
        (int(n), int(k)): (int(g), [[int(p) for p in table.split()] for table in tables.split("¦")])
        for n, k, g, tables in rows
    }


FORMATS: Mapping[str, Any] = {
    "swiss": swiss,
    "continuous": continuous,
    "knockout": knockout,
    "gauntlet": gauntlet,
    "round-robin": round_robin,
}
