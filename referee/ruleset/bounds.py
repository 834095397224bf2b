"""How many plays a hand can hold at most: what a turn may have to list, and an action space to have.

For every way to divide a hand's cards by rank, the plays of each kind are counted, or bounded where suits
matter. The largest of these sums is an upper bound for every hand, and a close one for the presets.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from math import comb, prod

from referee.errors import Problem
from referee.ruleset.axes.dealing import most_cards
from referee.ruleset.axes.sequences import COUNTED, RUNS, pairs_beside, run_order
from referee.ruleset.model import Ruleset
from referee.ruleset.straights import cycle

Sized = tuple[int, int]
"""A number of cards, and how many plays of so many there can be."""

MOST_LISTED_BYTES = 1 << 20
"""The most bytes that the legal plays of a turn may take in its message (docs/protocol.md)."""

ALWAYS_LISTABLE = 17
"""Of so many cards, all plays of any kinds fit."""


@lru_cache(maxsize=64)
def most_plays(ruleset: Ruleset) -> int:
    """Return a number of plays that no hand exceeds, not counting the pass."""
    return max(sum(count for _, count in parts) for parts in _bounds(ruleset))


@lru_cache(maxsize=64)
def most_listed_bytes(ruleset: Ruleset) -> int:
    """Return a number of bytes that no list of a hand's plays in a message exceeds."""
    return max(sum(count * (cards + _PLAY_BYTES) for cards, count in parts) for parts in _bounds(ruleset))


_PLAY_BYTES = 4
"""What a play takes in a message besides its cards, of which each takes one."""


def listing_problem(ruleset: Ruleset) -> Iterator[Problem]:
    """Yield a problem if the legal plays of a turn could be more than fit into a message."""
    cards = most_cards(ruleset)
    if cards > ALWAYS_LISTABLE and any(kind in ruleset.plays for kind in COUNTED):
        size = most_listed_bytes(ruleset)
        if size > MOST_LISTED_BYTES:
            many = f"about {size / 2**20:.1f} MiB with these kinds of plays"
            yield Problem(
                "hand_size", f"the plays of a hand of {cards} cards could be {many}, and a turn has 1"
            )


def _bounds(ruleset: Ruleset) -> Iterator[Iterator[Sized]]:
    """Yield, by how a hand may be divided by rank, the bounds of its plays."""
    copies, ranks, cards = 4 * ruleset.decks, len(ruleset.rank_names), most_cards(ruleset)
    bound = _Bound(ruleset)
    return (bound.of(counts) for counts in _divisions(cards, ranks, copies))


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

    def of(self, counts: Sequence[int]) -> Iterator[Sized]:
        """Yield the bound for these numbers of cards by rank, in descending order, in parts."""
        ways = self._ways
        pairs, triples = [ways[2][n] for n in counts], [ways[3][n] for n in counts]
        fours, distinct = [ways[4][n] for n in counts], [min(n, 4) for n in counts]
        some: Mapping[str, tuple[int, Callable[[], int]]] = {
            "single": (1, lambda: sum(distinct)),
            "pair": (2, lambda: sum(pairs)),
            "triple": (3, lambda: sum(triples)),
            "bare_quads": (4, lambda: sum(fours)),
            "full_house": (5, lambda: _joined(triples, pairs)),
            "bare_two_pair": (4, lambda: (sum(pairs) ** 2 - sum(pair**2 for pair in pairs)) // 2),
            "two_pair": (5, lambda: _two_pairs(pairs, distinct)),
            "quads": (5, lambda: _joined(fours, distinct) + sum(ways[5][n] for n in counts)),
            "dragon": (self._ranks, lambda: prod(distinct[: self._ranks])),
        }
        for kind in self._kinds & some.keys():
            if kind != "dragon" or len(counts) >= self._ranks:
                cards, count = some[kind]
                yield cards, count()
        yield from self._five(distinct, len(counts), sum(counts))
        yield from self._runs({1: distinct, 2: pairs, 3: triples})

    def _five(self, distinct: Sequence[int], ranks: int, cards: int) -> Iterator[Sized]:
        """Yield a bound for the plays that depend on suits and sequences."""
        kinds = self._kinds
        windows = self._windows(ranks)
        if "flush" in kinds:
            yield 5, _most_flushes(cards, ranks, self._decks)
        if "straight" in kinds or "flush" not in kinds:
            yield 5, windows * prod(distinct[:5])
        if "straight_flush_plus_two" in kinds:
            suited = min(windows, cards - 4) * (cards // 5)
            yield 7, suited * comb(max(cards - 5, 0), 2)

    def _windows(self, ranks: int) -> int:
        """Return how many sequences there can be in this number of ranks."""
        if ranks < 5:
            return 0
        if self._consecutive and ranks < self._ranks:
            return min(len(self._sequences), ranks - 4)
        return min(len(self._sequences), comb(ranks, 5))

    def _runs(self, ways: Mapping[int, Sequence[int]]) -> Iterator[Sized]:
        """Yield a bound for the runs of every kind; ``ways`` has the sets of so many cards by rank."""
        for kind, orders in self._orders.items():
            sets = sorted(filter(None, ways[RUNS[kind]]), reverse=True)
            pairs = sorted(filter(None, ways[2]), reverse=True)
            full = len(sets) >= self._ranks
            for length, sequences in orders.items():
                starts = sequences if full else min(sequences, len(sets) - length + 1)
                if kind == "suited_run":
                    yield length, 4 * max(starts, 0)
                    continue
                beside = pairs_beside(kind, length)
                if length <= len(sets) and beside <= len(pairs) - length:
                    chosen = comb(len(pairs) - length, beside) * prod(pairs[:beside])
                    yield length * RUNS[kind] + 2 * beside, starts * prod(sets[:length]) * chosen


def _joined(ways: Sequence[int], others: Sequence[int]) -> int:
    """Return how many ways there are to pick one of ``ways`` of a rank and one of ``others`` of another."""
    return sum(ways) * sum(others) - sum(map(prod, zip(ways, others, strict=True)))


def _two_pairs(pairs: Sequence[int], singles: Sequence[int]) -> int:
    """Return how many ways there are to pick two pairs and a card of three ranks."""
    ranks = range(len(pairs))
    every = sum(singles)
    return sum(
        pairs[low] * pairs[high] * (every - singles[low] - singles[high])
        for low, high in combinations(ranks, 2)
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
