"""How even a tournament has been to its entrants, and why the tables of a Swiss round are as they are."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from arena.core.pairing.search import REACH, Cost, Costs
from arena.core.pairing.values import History, Pairing

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Exchange:
    """The exchange of two entrants with the lowest cost, and what it would have changed."""

    entrant: int
    """The entrant that would have left the table."""
    other: int
    """The entrant that would have taken its place."""
    table: int
    """Number of the table of the other one, from 1."""
    change: Cost
    """The change in the cost of the round; negative if it would be lower."""


@dataclass(frozen=True, slots=True)
class TableReason:
    """Why a table is as it is."""

    entrants: tuple[int, ...]
    """In the order of their positions."""
    places: tuple[int, ...]
    """Place of each in the standing before the round, from 1."""
    scores: tuple[float, ...]
    """Score of each before the round."""
    gap: float
    """Difference between the best and the least of the scores."""
    owners_avoided: tuple[Pair, ...]
    """Pairs of one owner that would sit together if the standing were simply cut into tables."""
    repeats_avoided: tuple[Pair, ...]
    """Pairs that have met, and would meet again at such tables."""
    owners_accepted: tuple[Pair, ...]
    """Pairs of one owner at this table."""
    repeats_accepted: tuple[Pair, ...]
    """Pairs at this table that have met before."""
    instead: Exchange | None
    """If something was accepted, the best exchange that avoids some of it; None if there is none."""


def explain(standing: Sequence[int], size: int, history: History, pairing: Pairing) -> list[TableReason]:
    """Return the reasons for the tables of a Swiss round, in their order.

    ``standing`` and ``history`` are those from which the round was paired; a pairing made in any other way is
    compared with them in the same way.
    """
    out = set(pairing.byes)
    order = [entrant for entrant in standing if entrant not in out]
    costs = Costs(order, size, history, gaps=True)
    place = {entrant: at for at, entrant in enumerate(order)}
    shown = {entrant: at for at, entrant in enumerate(standing, start=1)}
    tables = [[place[entrant] for entrant in table] for table in pairing.tables]
    together = {frozenset(pair) for table in tables for pair in combinations(table, 2)}
    plain = {at: [*range(at - at % size, at - at % size + size)] for at in range(len(order))}

    def named(pairs: Iterator[Pair]) -> tuple[Pair, ...]:
        return tuple(dict.fromkeys((order[one], order[two]) for one, two in pairs))

    def spared(table: Sequence[int]) -> list[Pair]:
        pairs = ((min(one, two), max(one, two)) for one in table for two in plain[one] if one != two)
        return [pair for pair in pairs if frozenset(pair) not in together]

    reasons = []
    for at, table in enumerate(tables):
        pairs, avoided = list(combinations(sorted(table), 2)), spared(table)
        cost = costs.parts([table])
        scores = tuple(history.scores.get(order[one], 0.0) for one in table)
        reasons.append(
            TableReason(
                entrants=tuple(order[one] for one in table),
                places=tuple(shown[order[one]] for one in table),
                scores=scores,
                gap=max(scores) - min(scores),
                owners_avoided=named(p for p in avoided if costs.owner[p[0]] == costs.owner[p[1]]),
                repeats_avoided=named(p for p in avoided if costs.times_met(*p)),
                owners_accepted=named(p for p in pairs if costs.owner[p[0]] == costs.owner[p[1]]),
                repeats_accepted=named(p for p in pairs if costs.times_met(*p)),
                instead=_instead(tables, at, costs, order) if cost.owners or cost.repeats else None,
            )
        )
    return reasons


def _instead(tables: list[list[int]], at: int, costs: Costs, order: Sequence[int]) -> Exchange | None:
    """Return the best exchange that leaves fewer pairs of one owner, or that have met, at table ``at``."""
    here = tables[at]
    before = costs.parts([here])
    options: list[tuple[Cost, int, int, int]] = []
    near = sorted(range(len(tables)), key=lambda other: (abs(other - at), other))[1 : 2 * REACH + 1]
    for other in near:
        there = tables[other]
        whole = costs.parts([here, there])
        for i, one in enumerate(here):
            for j, two in enumerate(there):
                mine = [*here[:i], two, *here[i + 1 :]]
                if costs.parts([mine])[:2] < before[:2]:
                    after = costs.parts([mine, [*there[:j], one, *there[j + 1 :]]])
                    change = Cost(*(new - old for new, old in zip(after, whole, strict=True)))
                    options.append((change, one, two, other))
    if not options:
        return None
    change, one, two, other = min(options)
    return Exchange(order[one], order[two], other + 1, change)


class Spread(NamedTuple):
    """The least and the most of a count."""

    least: int
    most: int


@dataclass(frozen=True, slots=True)
class Balance:
    """How evenly meetings, positions, neighbours and byes were spread."""

    entrants: int
    rounds: int
    meetings: Spread
    """How often two entrants sat at one table, over all pairs."""
    pairs: tuple[int, ...]
    """Number of pairs that never met, met once, twice, …"""
    positions: Spread
    """How often an entrant had a position at its table, over all entrants and positions."""
    neighbours: Spread
    """How often an entrant came directly after another one, over all ordered pairs."""
    byes: Spread
    """How often an entrant sat out."""


def balance(entrants: Sequence[int], pairings: Sequence[Pairing]) -> Balance:
    """Return the balance of these rounds."""
    tables_of: defaultdict[int, list[Sequence[int]]] = defaultdict(list)
    size = 0
    for table in (table for pairing in pairings for table in pairing.tables):
        size = len(table)
        for entrant in table:
            tables_of[entrant].append(table)
    met, had, followed = Counter[int](), Counter[int](), Counter[int]()
    for entrant, tables in tables_of.items():  # one at a time, since all pairs at once may be millions
        places = [table.index(entrant) for table in tables]
        met += _counts(other for table in tables for other in table if other > entrant)
        had += _counts(places)
        followed += _counts(table[place - 1] for table, place in zip(tables, places, strict=True))
    byes = _counts(entrant for pairing in pairings for entrant in pairing.byes)
    count = len(entrants)
    pairs = count * (count - 1) // 2
    often = {**met, 0: pairs - met.total()}
    return Balance(
        entrants=count,
        rounds=len(pairings),
        meetings=_spread(met, pairs),
        pairs=tuple(often.get(times, 0) for times in range(max(often) + 1)),
        positions=_spread(had, count * size),
        neighbours=_spread(followed, 2 * pairs),
        byes=_spread(byes, count),
    )


def _counts(happened: Iterable[int]) -> Counter[int]:
    """Return of how many things each number of times happened."""
    return Counter(Counter(happened).values())


def _spread(counts: Counter[int], all_of_them: int) -> Spread:
    """Return the spread over ``all_of_them``; those that never happened are not among ``counts``."""
    return Spread(
        min(counts, default=0) if counts.total() == all_of_them else 0,
        max(counts, default=0),
    )
