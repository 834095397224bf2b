"""Listing every combination in a hand, for any ruleset: the hot path.

What a hand holds of a few ranks, of a suit and of a sequence is looked up; only plays that combine cards of
several of these are built for each hand. That is done in loops, which are faster here than comprehensions
because most hands have few such plays, and with sums, which are faster than unions.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, groupby, islice, product
from math import prod

from referee.memo import Memo
from referee.rules.pack import Pack
from referee.rules.strength import Strength
from referee.rules.tables import RANK_BITS, RANKS, Codes, Tables, Triple
from referee.ruleset import Ruleset
from referee.ruleset.axes.sequences import RUNS, pairs_beside

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


_NO_CARD = [0]


class TwoPairs:
    """Lists two pairs, unless they are ``bare`` with a fifth card of a third rank.

    With several packs, two pairs and a card of one suit may be a flush as well. Where ``flushes`` are played,
    those are listed with the other plays in suit, whichever of the two they are.
    """

    def __init__(self, pack: Pack, strength: Strength, flushes: bool, bare: bool = False) -> None:
        self._pack, self._strength = pack, strength
        self._suits = pack.suit_masks if flushes and pack.decks > 1 else ()
        self._kind = "bare_two_pair" if bare else "two_pair"
        self._ones = Memo[int, Codes](lambda held: tuple(pack.choose(held & pack.ones, 1)))
        self._pairs = Memo(self._pairs_of)
        masks = list(enumerate(pack.rank_masks))
        self._ranks = Memo[int, Codes](lambda bits: tuple([mask for rank, mask in masks if bits >> rank & 1]))

    def plays(self, hand: int, ranks: int) -> list[int]:
        """Return the codes of all in a hand, in no particular order; ``ranks`` as ``Matching`` has them."""
        twice = ranks >> RANKS & RANK_BITS
        plays: list[int] = []
        if twice & twice - 1:
            for _, pairs, fifths in self._each(hand, twice):
                if self._suits:
                    plays += [pair + card for pair in pairs for card in self._mixed(pair, fifths)]
                else:
                    plays += [pair + card for pair in pairs for card in fifths]
        return plays

    def tally(self, hand: int) -> list[tuple[int, int]]:
        """Return one of those that differ in the fifth card and the suits of the lower pair, and how many."""
        held = enumerate([(hand & mask).bit_count() for mask in self._pack.rank_masks])
        tally: list[tuple[int, int]] = []
        for high, pairs, fifths in self._each(hand, sum([1 << rank for rank, count in held if count > 1])):
            for _, same in groupby(pairs, high.__and__):
                plays = [pair + card for pair in same for card in self._mixed(pair, fifths)]
                if plays:
                    tally.append((plays[0], len(plays)))
        return tally

    def _each(self, hand: int, twice: int) -> Iterator[tuple[int, Codes, list[int]]]:
        """Yield the mask of the higher rank, two pairs without a fifth card, and the cards that may be that.

        ``twice`` are the ranks that are held twice, as bits.
        """
        bare = self._kind == "bare_two_pair"
        singles = [card for chunk in self._pack.chunks for card in self._ones[hand & chunk]]
        ones = hand & self._pack.ones
        below: list[tuple[int, int, int]] = []
        for rank in self._ranks[twice]:
            cards = hand & rank
            # Where the cards of the rank are among the single ones: both ascend.
            start = (ones & (rank & -rank) - 1).bit_count()
            end = start + (cards & ones).bit_count()
            for others, first, after in below:
                yield (
                    rank,
                    self._pairs[cards | others],
                    _NO_CARD if bare else singles[:first] + singles[after:start] + singles[end:],
                )
            below.append((cards, start, end))

    def _pairs_of(self, held: int) -> Codes:
        """Return the codes of two pairs of the cards held of two ranks, without a fifth card."""
        low, high = [held & mask for mask in self._pack.rank_masks if held & mask]
        lows = self._pack.choose(low, 2)
        return tuple(
            [self._head(top, low) | top | pair for top in self._pack.choose(high, 2) for pair in lows]
        )

    def _head(self, top: int, low: int) -> int:
        cards, lower = self._pack.cards(top), self._pack.cards(low)
        suit = max([self._strength.suit_rank[card] for card in cards])
        value = self._strength.of_two_pair(cards[0] >> 2, lower[0] >> 2, suit)
        return self._strength.head(self._kind, value)

    def _mixed(self, pair: int, fifths: list[int]) -> list[int]:
        """Return the cards that do not make a flush that is played of two pairs."""
        for suit in self._suits:
            other = self._pack.full & ~suit
            if not pair & other:
                return [card for card in fifths if card & other]
        return fifths


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
