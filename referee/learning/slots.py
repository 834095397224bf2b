"""How many plays a hand can hold at most: what the action space of a ruleset needs.

For every way to divide a hand's cards by rank, the plays of each kind are counted, or bounded where suits
matter. The largest of these sums is an upper bound for every hand, and a close one for the presets.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from math import comb, prod

from referee.ruleset import Ruleset
from referee.ruleset.limits import most_cards
from referee.ruleset.runs import RUNS, pairs_beside, run_order
from referee.ruleset.straights import cycle


@lru_cache(maxsize=64)
def most_plays(ruleset: Ruleset) -> int:
    """Return a number of plays that no hand exceeds, not counting the pass."""
    copies, ranks, cards = 4 * ruleset.decks, len(ruleset.rank_names), most_cards(ruleset)
    bound = _Bound(ruleset)
    return max(bound.of(counts) for counts in _divisions(cards, ranks, copies))


def _divisions(cards: int, parts: int, largest: int) -> Iterator[tuple[int, ...]]:
    """Yield the ways to write ``cards`` as a falling sum of at most ``parts`` numbers up to ``largest``."""
    if not cards:
        yield ()
        return
    for first in range(min(cards, largest), 0, -1):
        if first * parts < cards:
            return
        for rest in _divisions(cards - first, parts - 1, first):
            yield (first, *rest)


class _Bound:
    """Bounds the number of plays by how many cards of each rank there are."""

    def __init__(self, ruleset: Ruleset) -> None:
        self._kinds = frozenset(ruleset.plays)
        self._ranks = len(ruleset.ranks)
        self._decks = ruleset.decks
        self._sequences = [sequence for level in ruleset.straights for sequence in level]
        order = cycle(ruleset.ranks) * 2
        runs = {frozenset(order[start : start + 5]) for start in range(self._ranks)}
        self._consecutive = all(frozenset(sequence.split()) in runs for sequence in self._sequences)
        self._orders = {
            kind: {length: sum(map(len, order)) for length, order in run_order(ruleset, kind).items()}
            for kind in RUNS
            if kind in ruleset.plays
        }
        self._ways = {
            size: {count: _multisets(count, 4, size, self._decks) for count in range(4 * self._decks + 1)}
            for size in range(1, 6)
        }

    def of(self, counts: Sequence[int]) -> int:
        """Return the bound for these numbers of cards by rank, in descending order."""
        kinds, ways, cards = self._kinds, self._ways, sum(counts)
        pairs, triples = [ways[2][n] for n in counts], [ways[3][n] for n in counts]
        fours = [ways[4][n] for n in counts]
        distinct = [min(n, 4) for n in counts]
        count = sum(distinct)
        count += sum(pairs) if "pair" in kinds else 0
        count += sum(triples) if "triple" in kinds else 0
        count += sum(fours) if "bare_quads" in kinds else 0
        if "full_house" in kinds:
            count += _joined(triples, pairs)
        if "two_pair" in kinds:
            count += _two_pairs(pairs, distinct)
        if "quads" in kinds:
            count += _joined(fours, distinct) + sum(ways[5][n] for n in counts)
        if "dragon" in kinds and len(counts) >= self._ranks:
            count += prod(distinct[: self._ranks])
        count += self._five(distinct, len(counts), cards)
        return count + self._runs({1: distinct, 2: pairs, 3: triples})

    def _five(self, distinct: Sequence[int], ranks: int, cards: int) -> int:
        """Return a bound for the plays that depend on suits and sequences."""
        kinds = self._kinds
        windows = self._windows(ranks)
        straights = windows * prod(distinct[:5])
        count = 0
        if "straight" in kinds:
            count += straights
        if "flush" in kinds:
            count += _most_flushes(cards, ranks, self._decks)
        elif "straight" not in kinds:
            count += straights
        if "straight_flush_plus_two" in kinds:
            suited = min(windows, cards - 4) * (cards // 5)
            count += suited * comb(max(cards - 5, 0), 2)
        return count

    def _windows(self, ranks: int) -> int:
        """Return how many sequences there can be in this number of ranks."""
        if ranks < 5:
            return 0
        if self._consecutive and ranks < self._ranks:
            return min(len(self._sequences), ranks - 4)
        return min(len(self._sequences), comb(ranks, 5))

    def _runs(self, ways: Mapping[int, Sequence[int]]) -> int:
        """Return a bound for the runs of every kind; ``ways`` has the sets of so many cards by rank."""
        count = 0
        for kind, orders in self._orders.items():
            sets = sorted(filter(None, ways[RUNS[kind]]), reverse=True)
            pairs = sorted(filter(None, ways[2]), reverse=True)
            full = len(sets) >= self._ranks
            for length, sequences in orders.items():
                starts = sequences if full else min(sequences, len(sets) - length + 1)
                beside = pairs_beside(kind, length)
                if length <= len(sets) and beside <= len(pairs) - length:
                    chosen = comb(len(pairs) - length, beside) * prod(pairs[:beside])
                    count += starts * prod(sets[:length]) * chosen
        return count


def _joined(ways: Sequence[int], others: Sequence[int]) -> int:
    """Return how many ways there are to pick one of ``ways`` of a rank and one of ``others`` of another."""
    return sum(ways) * sum(others) - sum(map(prod, zip(ways, others, strict=True)))


def _two_pairs(pairs: Sequence[int], singles: Sequence[int]) -> int:
    """Return how many ways there are to pick two pairs and a card of three ranks."""
    ranks = range(len(pairs))
    every = sum(singles)
    return sum(
        pairs[one] * pairs[other] * (every - singles[one] - singles[other])
        for one, other in combinations(ranks, 2)
    )


def _multisets(cards: int, kinds: int, size: int, decks: int) -> int:
    """Return how many different sets of ``size`` cards there are at most, with up to ``decks`` of a kind.

    There are most if the cards are spread evenly.
    """
    share, more = divmod(min(cards, kinds * decks), kinds)
    ways = [1] + [0] * size
    for kind in range(kinds):
        copies = share + (kind < more)
        ways = [sum(ways[max(total - copies, 0) : total + 1]) for total in range(size + 1)]
    return ways[size]


@lru_cache(maxsize=4096)
def _most_flushes(cards: int, ranks: int, decks: int) -> int:
    """Return how many sets of five suited cards there are at most among these numbers of cards and ranks."""
    a_suit = {held: _multisets(held, ranks, 5, decks) for held in range(decks * ranks + 1)}
    best: Mapping[int, int] = {0: 0}
    for _ in range(4):
        following: dict[int, int] = {}
        for used, count in best.items():
            for held, more in a_suit.items():
                if used + held <= cards:
                    following[used + held] = max(following.get(used + held, 0), count + more)
        best = following
    return max(best.values())
