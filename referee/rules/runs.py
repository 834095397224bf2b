"""Listing the runs in a hand: so many cards of each of several consecutive ranks, perhaps with pairs.

A whole pack holds billions of them, of few strengths: ``tally`` counts them without listing them.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, islice, product
from math import prod

from referee.memo import Memo
from referee.rules.pack import Pack
from referee.rules.strength import Strength
from referee.rules.tables import RANK_BITS, RANKS, Codes
from referee.ruleset.runs import RUNS, pairs_beside

Run = tuple[int, Mapping[int, Codes], Codes, int]
"""A run: the mask of the rank whose suit counts; by the cards held of it, the codes of runs without their
other cards; the masks of the other ranks, two by two; how many pairs go with it."""


class SuitedRuns:
    """Lists the runs of one suit."""

    def __init__(self, pack: Pack, strength: Strength, codes: Mapping[int, int], longest: int = 15) -> None:
        """Prepare for the runs of up to ``longest`` ranks; by default, of all."""
        self._codes = codes
        ranks = [mask & pack.ones for mask in pack.rank_masks]
        places = [bits for bits in strength.runs["suited_run"] if bits.bit_count() <= longest]
        self._masks = []
        for suit in pack.suit_masks:
            for bits in places:
                cards = [mask & suit for rank, mask in enumerate(ranks) if bits >> rank & 1]
                if all(cards):
                    self._masks.append(sum(cards))

    def plays(self, hand: int, _: int = 0) -> list[int]:
        """Return the codes of the runs in a hand, in no order."""
        codes, lacking = self._codes, ~hand
        return [codes[mask] for mask in self._masks if not mask & lacking]

    def tally(self, hand: int) -> list[tuple[int, int]]:
        """Return each of them, with 1 as the number that it stands for."""
        return [(code, 1) for code in self.plays(hand)]


class Runs:
    """Lists the runs of one kind."""

    def __init__(self, pack: Pack, strength: Strength, kind: str, longest: int = 15) -> None:
        """Prepare for the runs of up to ``longest`` ranks; by default, of all."""
        self._pack, self._strength, self._kind = pack, strength, kind
        self._width = RUNS[kind]
        # By suit, the other cards, where runs of one suit are another kind.
        apart = kind == "run" and "suited_run" in strength.runs
        self._mixed = tuple([pack.full & ~suit for suit in pack.suit_masks]) if apart else ()
        self._shift = (self._width - 1) * RANKS
        self._ranks = [(1 << rank, mask) for rank, mask in enumerate(pack.rank_masks)]
        self._sets = Memo(self._sets_of)
        self._pairs = Memo[int, Codes](lambda held: tuple(pack.choose(held, 2)))
        places = {bits: place for bits, place in strength.runs[kind].items() if bits.bit_count() <= longest}
        runs = [(bits, self._run(bits, *place)) for bits, place in places.items()]
        self._runs = Memo[int, list[Run]](lambda ranks: [run for bits, run in runs if not bits & ~ranks])

    def plays(self, hand: int, ranks: int) -> list[int]:
        """Return the codes of the runs in a hand, in no order; ``ranks`` are as ``Matching`` has them."""
        plays: list[int] = []
        for top, heads, others, pairs in self._runs[ranks >> self._shift & RANK_BITS]:
            runs: Sequence[int] = heads[hand & top]
            for rank in others:
                longer: list[int] = []
                for some in self._sets[hand & rank]:
                    for run in runs:
                        longer.append(run + some)  # noqa: PERF401
                runs = longer
            if pairs:
                beside = [
                    sum(some) for ways in self._beside(hand, top, others, pairs) for some in product(*ways)
                ]
                runs = [run + some for run in runs for some in beside]
            plays += runs
        return [play for play in plays if not self._is_of_a_suit(play)] if self._mixed else plays

    def _is_of_a_suit(self, play: int) -> bool:
        return not all(play & other for other in self._mixed)

    def tally(self, hand: int) -> list[tuple[int, int]]:
        """Return one run of those that differ only in cards that do not decide, and how many these are."""
        tally: list[tuple[int, int]] = []
        for top, heads, others, pairs in self._held(hand):
            sets = [self._sets[hand & rank] for rank in others]
            cards, number = sum([some[0] for some in sets]), prod(map(len, sets))
            if pairs:
                beside = list(self._beside(hand, top, others, pairs))
                if not beside:
                    continue
                cards += sum([some[0] for some in beside[0]])
                number *= sum(prod(map(len, ways)) for ways in beside)
            tally += [(code + cards, number) for code in heads[hand & top]]
            if self._mixed:
                tally[-len(heads[hand & top]) :] = self._without_suited(heads[hand & top], sets)
        return tally

    def _without_suited(self, heads: Codes, sets: Sequence[Codes]) -> Iterator[tuple[int, int]]:
        """Yield the same of runs not of one suit; ``sets`` has the ways to take their other cards."""
        number = prod(map(len, sets))
        for head in heads:
            ways = [sum(some) for some in islice(product(*sets), 2)]
            suited = sum(
                all(any(not (head + way) & other for way in some) for some in sets) for other in self._mixed
            )
            play = next((head + way for way in ways if not self._is_of_a_suit(head + way)), 0)
            if play:
                yield play, number - suited

    def _held(self, hand: int) -> list[Run]:
        ranks = 0
        for bit, mask in self._ranks:
            if (hand & mask).bit_count() >= self._width:
                ranks |= bit
        return self._runs[ranks]

    def _beside(self, hand: int, top: int, others: Codes, pairs: int) -> Iterator[tuple[Codes, ...]]:
        """Yield the ways to pick so many ranks that are not in a run: by rank, the pairs held of it."""
        taken = top + sum(others)
        free = [mask for _, mask in self._ranks if not mask & taken]
        yield from combinations(
            [self._pairs[hand & mask] for mask in free if self._pairs[hand & mask]], pairs
        )

    def _run(self, bits: int, level: int, counting: int) -> Run:
        masks = self._pack.rank_masks
        ranks = [masks[rank] for rank in range(len(masks)) if bits >> rank & 1 and rank != counting]
        others = tuple([sum(ranks[place : place + 2]) for place in range(0, len(ranks), 2)])
        length = bits.bit_count()
        heads = Memo[int, Codes](
            lambda held: tuple([self._head(cards, level, length) for cards in self._sets[held]])
        )
        return masks[counting], heads, others, pairs_beside(self._kind, length)

    def _sets_of(self, held: int) -> Codes:
        """Return the ways to take the cards of a run from those held of one rank or of two."""
        ranks = [held & mask for mask in self._pack.rank_masks if held & mask]
        ways = [self._pack.choose(rank, self._width) for rank in ranks]
        return tuple(map(sum, product(*ways)))

    def _head(self, deciding: int, level: int, length: int) -> int:
        cards = self._pack.cards(deciding)
        return self._strength.run(self._kind, level, cards, length) | deciding
