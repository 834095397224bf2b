"""Listing pair runs ("sister pairs"): two or more pairs of consecutive ranks."""

from referee.memo import Memo
from referee.rules.pack import Pack
from referee.rules.strength import Strength

MOST = 100_000
"""How many pair runs of one hand are listed in full; for more, see ``Runs.plays``."""


class Runs:
    """Lists the pair runs among the pairs of a hand."""

    def __init__(self, pack: Pack, strength: Strength) -> None:
        self._pack = pack
        self._strength = strength
        self._ranks = strength.ranks
        self._places = Memo(self._place)

    def plays(self, pairs: list[int]) -> list[int]:
        """Return the codes of the runs that these pairs (masks) make, in no particular order.

        Beyond ``MOST`` runs (in hands of nearly a whole pack, or of thirty and more cards of two packs, which
        may have billions), only one is listed of those that differ only in the suits below the last pair.
        """
        held = self._by_place(pairs)
        inner = held
        if len(pairs) > 26 and self._number(held) > MOST:
            inner = {place: twos[:1] for place, twos in held.items()}
        codes: list[int] = []
        for start in held:
            if start + 1 in held:
                codes += self._from(start, held, inner)
        return codes

    def _from(self, start: int, held: dict[int, list[int]], inner: dict[int, list[int]]) -> list[int]:
        codes: list[int] = []
        runs = inner[start]
        for end in self._ends(start):
            if end not in held:
                break
            for pair in held[end]:
                _, suit = self._places[pair]
                head = self._strength.head("pair_run", end * 4 + suit, end - start + 1) | pair
                codes += [head | run for run in runs]
            runs = [pair | run for pair in inner[end] for run in runs]
        return codes

    def _by_place(self, pairs: list[int]) -> dict[int, list[int]]:
        """Group pairs by their place in the sequence A 2 3 … K A; those of aces are at both ends."""
        held: dict[int, list[int]] = {}
        for pair in pairs:
            held.setdefault(self._places[pair][0], []).append(pair)
        if 0 in held:
            held[self._ranks] = held[0]
        return held

    def _place(self, pair: int) -> tuple[int, int]:
        """Return a pair's place in that sequence, with the ace first, and the rank of its best suit."""
        cards = self._pack.cards(pair)
        suit = max([self._strength.suit_rank[card & 3] for card in cards])
        return ((cards[0] >> 2) + 2) % self._ranks, suit

    def _number(self, held: dict[int, list[int]]) -> int:
        total = 0
        for start in held:
            runs = len(held[start])
            for end in self._ends(start):
                runs *= len(held.get(end, ()))
                total += runs
        return total

    def _ends(self, start: int) -> range:
        # The run of all ranks ends with the ace, so it is left out if the ace begins it.
        return range(start + 1, self._ranks + 1 if start else self._ranks - 1)
