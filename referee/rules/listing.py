"""Listing every combination in a hand, for any ruleset: the hot path.

What a hand holds of a few ranks, of a suit and of a sequence is looked up; only plays that combine cards of
several of these are built for each hand. That is done in loops, which are faster here than comprehensions
because most hands have few such plays, and with sums, which are faster than unions.
"""

from collections.abc import Mapping

from referee.rules.pack import Pack
from referee.rules.runs import Runs, SuitedRuns
from referee.rules.strength import Strength
from referee.rules.tables import RANK_BITS, Tables, Triple
from referee.rules.twopairs import TwoPairs
from referee.ruleset import Ruleset
from referee.ruleset.runs import RUNS

SHORT = 3
"""The most cards of the plays that ``Lister.short_plays`` lists."""


class Lister:
    """Lists the combinations in a hand as sorted play codes; ``codes`` returns the code of any mask."""

    def __init__(self, ruleset: Ruleset, pack: Pack, strength: Strength, codes: Mapping[int, int]) -> None:
        kinds = ruleset.plays
        self._pack = pack
        self._full, self._jokers = pack.full, pack.tops & ~pack.twos
        tables = Tables(ruleset, pack, strength, codes)
        self._chunks, self._suits, self._sequences = tables.chunks, tables.suits, tables.sequences
        self._fours, self._twos = tables.fours, tables.twos
        self._many: dict[str, Runs | SuitedRuns | TwoPairs] = {
            kind: Runs(pack, strength, kind) for kind in RUNS if kind in kinds and kind != "suited_run"
        }
        if "suited_run" in kinds:
            self._many["suited_run"] = SuitedRuns(pack, strength, codes)
        if "bare_two_pair" in kinds:
            self._many["bare_two_pair"] = TwoPairs(pack, strength, flushes=False, bare=True)
        if "two_pair" in kinds:
            self._many["two_pair"] = TwoPairs(pack, strength, "flush" in kinds)
        self._short_runs: list[Runs | SuitedRuns] = []
        if "run" in kinds:
            self._short_runs.append(Runs(pack, strength, "run", SHORT))
        if "suited_run" in kinds:
            self._short_runs.append(SuitedRuns(pack, strength, codes, SHORT))
        self._pairs = "pair" in kinds
        self._triples = "triple" in kinds
        self._full_houses = "full_house" in kinds
        # Four cards of a rank hold several triples, except of four packs, where they can be all the same.
        self._alone = 0 if pack.decks > 3 else 1
        # By suit, the other cards, where three packs have full houses in a suit that may be flushes.
        several = pack.decks > 2 and "flush" in kinds
        self._mixed = tuple([pack.full & ~suit for suit in pack.suit_masks]) if several else ()
        self._four_of_a_kind = "quads" in kinds or "bare_quads" in kinds
        self._straights = "straight" in kinds
        self._flushes = "flush" in kinds or "straight_flush" in kinds
        self._dragon = (1 << strength.ranks) - 1 if "dragon" in kinds else 0
        self._codes = codes
        self._plus_two = "straight_flush_plus_two" in kinds

    def plays(self, hand: int, few: bool = False) -> list[int]:
        """Return the codes of all combinations in ``hand``, ascending.

        If ``hand`` may have more cards than the ruleset lets a seat hold, ask for their ``tally``. ``few``
        leaves out the kinds of which there may be very many.
        """
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
        held, ranks = ranks, ranks & RANK_BITS
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
        if self._many and not few:
            for many in self._many.values():
                plays += many.plays(hand, held)
        plays.sort()  # fast, because the parts are nearly in order
        return plays

    def tally(self, hand: int) -> list[tuple[int, int]]:
        """Return codes of combinations in any number of cards, ascending, each with how many it stands for.

        It stands for itself alone, except if there may be very many of its kind: then for all that differ
        from it only in cards that do not decide their strength.
        """
        tally = [(code, 1) for code in self.plays(hand, few=True)]
        for many in self._many.values():
            tally += many.tally(hand)
        tally.sort()
        return tally

    def tally_of(self, kind: str, hand: int) -> list[tuple[int, int]]:
        """Return the same for a single kind of which there may be very many, in no particular order."""
        return self._many[kind].tally(hand)

    def short_plays(self, hand: int) -> list[int]:
        """Return those of ``plays`` that have up to ``SHORT`` cards."""
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
        for runs in self._short_runs:
            plays += runs.plays(hand, ranks)
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
        return [play for play in plays if not self._is_of_a_suit(play)] if self._mixed else plays

    def _is_of_a_suit(self, play: int) -> bool:
        """Return whether a play that several packs have in one suit is in one, and listed with that."""
        cards = play & self._full
        return not all(cards & other for other in self._mixed) and cards.bit_count() == 5

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
