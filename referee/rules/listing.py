"""Listing every combination in a hand, for any ruleset: the hot path.

What a hand holds of a few ranks, of a suit and of a sequence is looked up; only plays that combine cards of
several of these are built for each hand. That is done in loops, which are faster here than comprehensions
because most hands have few such plays, and with sums, which are faster than unions.
"""

from collections.abc import Mapping

from referee.memo import Memo
from referee.rules.pack import Pack
from referee.rules.strength import Strength
from referee.rules.tables import Tables, Triple
from referee.ruleset import Ruleset

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
        suit = max([self._strength.suit_rank[card] for card in cards])
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


class Lister:
    """Lists the combinations in a hand as sorted play codes; ``codes`` returns the code of any mask."""

    def __init__(self, ruleset: Ruleset, pack: Pack, strength: Strength, codes: Mapping[int, int]) -> None:
        kinds = ruleset.plays
        self._pack = pack
        self._full, self._jokers = pack.full, pack.tops & ~pack.twos
        tables = Tables(ruleset, pack, strength, codes)
        self._chunks, self._suits, self._sequences = tables.chunks, tables.suits, tables.sequences
        self._fours, self._twos = tables.fours, tables.twos
        self._runs = Runs(pack, strength) if "pair_run" in kinds else None
        self._pairs = "pair" in kinds
        self._triples = "triple" in kinds
        self._full_houses = "full_house" in kinds
        # Four cards of a rank hold several triples, except of four packs, where they can be all the same.
        self._alone = 0 if pack.decks > 3 else 1
        self._four_of_a_kind = "quads" in kinds or "bare_quads" in kinds
        self._straights = "straight" in kinds
        self._flushes = "flush" in kinds or "straight_flush" in kinds
        self._dragon = (1 << strength.ranks) - 1 if "dragon" in kinds else 0
        self._codes = codes
        self._plus_two = "straight_flush_plus_two" in kinds

    def plays(self, hand: int) -> list[int]:
        """Return the codes of all combinations in ``hand``, ascending."""
        plays: list[int] = []
        pairs: list[int] = []
        triples: list[Triple] = []
        ranks = 0
        for mask, chunks in self._chunks:
            some_singles, some_pairs, some_triples, some_ranks = chunks[hand & mask]
            plays += some_singles
            pairs += some_pairs
            triples += some_triples
            ranks |= some_ranks
        if self._pairs:
            plays += pairs
        if triples and self._triples:
            plays += [code for code, _, _ in triples]
        plays += self._straights_and_flushes(hand, ranks)
        if triples:
            plays += self._full_houses_and_quads(hand, pairs, triples)
        if self._plus_two:
            plays += self._flushes_plus_two(hand, ranks)
        if self._dragon and not self._dragon & ~ranks:
            plays += self._dragons(hand)
        if self._runs and len(pairs) > 1:
            plays += self._runs.plays([pair & self._full for pair in pairs if not pair & self._jokers])
        plays.sort()  # fast, because the parts are nearly in order
        return plays

    def short_plays(self, hand: int) -> list[int]:
        """Return those of ``plays`` that have up to three cards."""
        plays: list[int] = []
        pairs: list[int] = []
        triples: list[Triple] = []
        for mask, chunks in self._chunks:
            some_singles, some_pairs, some_triples, _ = chunks[hand & mask]
            plays += some_singles
            pairs += some_pairs
            triples += some_triples
        if self._pairs:
            plays += pairs
        if triples and self._triples:
            plays += [code for code, _, _ in triples]
        plays.sort()
        return plays

    def _straights_and_flushes(self, hand: int, ranks: int) -> list[int]:
        flushes: list[int] = []
        in_sequence: list[int] = []
        if self._flushes:
            for mask, suits in self._suits:
                held = hand & mask
                if held.bit_count() > 4:
                    some_flushes, some_in_sequence = suits[held]
                    flushes += some_flushes
                    in_sequence += some_in_sequence
        if not self._straights:
            return flushes
        twos = self._twos
        plays: list[int] = []
        for top, heads, high, low, _ in self._sequences[ranks]:
            highs, lows = twos[hand & high], twos[hand & low]
            for head in heads[hand & top]:
                for some in highs:
                    part = head + some
                    for more in lows:
                        plays.append(part + more)  # noqa: PERF401
        if in_sequence:
            plays = [code for code in plays if code & self._full not in in_sequence]
        return plays + flushes

    def _full_houses_and_quads(self, hand: int, pairs: list[int], triples: list[Triple]) -> list[int]:
        plays: list[int] = []
        if self._full_houses:
            full = self._full
            for _, head, rank in triples:
                for pair in pairs:
                    if not pair & rank:
                        plays.append(head + (pair & full))  # noqa: PERF401
        if len(triples) > self._alone and self._four_of_a_kind:
            for rank in {rank for _, _, rank in triples}:
                held = hand & rank
                if held.bit_count() > 3:
                    plays += self._four_and_more(held, hand ^ held)
        return plays

    def _four_and_more(self, held: int, others: int) -> list[int]:
        plays, quads = self._fours[held]
        cards = self._pack.choose(others & self._pack.ones, 1)
        return [*plays, *[head | card for head in quads for card in cards]]

    def _dragons(self, hand: int) -> list[int]:
        masks = [0]
        for rank in self._pack.rank_masks[: self._dragon.bit_length()]:
            cards = self._pack.choose(hand & rank & self._pack.ones, 1)
            masks = [mask | card for mask in masks for card in cards]
        return [self._codes[mask] for mask in masks]

    def _flushes_plus_two(self, hand: int, ranks: int) -> list[int]:
        pack = self._pack
        flushes = [held for *_, suited in self._sequences[ranks] for held in suited if not held[1] & ~hand]
        strongest: dict[int, int] = {}
        for head, flush in sorted(flushes):
            for two in pack.choose(pack.remove(hand, flush), 2):
                cards = pack.add(flush, two)
                strongest[cards] = head | cards
        return list(strongest.values())
