"""The tables behind the listing of a hand: the plays in a few ranks, in a suit, in a legal sequence.

They are filled as hands come, so that nothing is computed that no hand needs. For plays that combine cards of
several tables, they hold heads of play codes (codes whose cards are not complete).
"""

from collections.abc import Callable, Mapping

from referee.memo import Memo
from referee.rules.pack import Pack
from referee.rules.strength import Strength
from referee.ruleset import Ruleset

MOST_ENTRIES = 1 << 13
"""How many entries a table keeps: all possible ones, except for suits of 15 ranks or of two packs."""

RANKS = 16
"""How many bits the bits of ranks take up, jokers included."""
RANK_BITS = (1 << RANKS) - 1

# Plain tuples, not named ones or lists: the hot path unpacks them, and they are close together in memory.

Codes = tuple[int, ...]
"""Play codes, or masks."""

Triple = tuple[int, int, int]
"""Three cards of a rank: the code of the triple (0 if not played), the code of a full house without its pair,
and the mask of the whole rank."""

Matching = tuple[Codes, Codes, tuple[Triple, ...], int]
"""What is held of one rank or of two: the codes of singles, the codes of pairs (only their masks if pairs are
not played) and the triples, all ascending; and the bits of the ranks, then of those held twice, and of those
held three times, each ``RANKS`` bits further up."""

Fours = tuple[Codes, Codes]
"""What four or more cards of a rank make: the codes of bare quads and of five cards of the rank, and the
codes of quads without the other card."""

Suited = tuple[Codes, Codes]
"""What is held of a suit: the codes of its plays of five cards except straights, ascending, and the masks of
those in a legal sequence, which are not straights although they have the ranks of one."""

Sequence = tuple[int, Mapping[int, Codes], int, int, list[tuple[int, int]]]
"""A legal sequence: the mask of one copy of each card of the rank whose suit counts; by the cards held of it,
the codes of straights without the other four cards, ascending; the masks of two and two other ranks; and for
each suit, a straight flush plus two: its code without cards, and the mask of its straight flush."""


class Tables:
    """The tables of one ruleset; ``codes`` returns the play code of any mask."""

    def __init__(self, ruleset: Ruleset, pack: Pack, strength: Strength, codes: Mapping[int, int]) -> None:
        self._pack = pack
        self._strength = strength
        self._codes = codes
        self._pairs_played = "pair" in ruleset.plays
        self._bare_quads = "bare_quads" in ruleset.plays
        self._quads = "quads" in ruleset.plays
        self._flushes = "flush" in ruleset.plays
        self._ranks = Memo(self._rank)
        self.chunks = [
            (sum(pack.rank_masks[first : first + 2]), Memo(self._chunk, MOST_ENTRIES))
            for first in range(0, len(pack.rank_masks), 2)
        ]
        """Masks of two ranks each (the last rank may be alone), low to high, and what may be held of them."""
        self.suits = [
            (mask, Memo(self._suit_table(mask), MOST_ENTRIES))
            for _, mask in sorted(zip(strength.suits, pack.suit_masks, strict=True))
        ]
        """Masks of the suits, low to high, and what may be held of them, five cards or more."""
        self.fours = Memo(self._fours)
        """Fours and fives by the cards held of a rank, four or more."""
        self.twos = Memo(self._one_of_each)
        """Masks of two cards, ascending, by the cards held of two ranks: one of each."""
        levels = [(bits, self._sequence(bits)) for bits in strength.sequences]
        self.sequences: Memo[int, list[Sequence]] = Memo(
            lambda ranks: [sequence for bits, sequence in levels if not bits & ~ranks]
        )
        """The legal sequences, weakest first, by the bits of the ranks held."""

    def _chunk(self, held: int) -> Matching:
        singles: list[int] = []
        pairs: list[int] = []
        triples: list[Triple] = []
        ranks = 0
        for mask in self._pack.rank_masks:
            if held & mask:
                some_singles, some_pairs, some_triples, rank = self._ranks[held & mask]
                singles += some_singles
                pairs += some_pairs
                triples += some_triples
                ranks |= rank
        return tuple(singles), tuple(pairs), tuple(triples), ranks

    def _rank(self, held: int) -> Matching:
        pack, codes = self._pack, self._codes
        rank = pack.cards(held)[0] >> 2
        singles = [codes[card] for card in pack.choose(held & pack.ones, 1)]
        pairs = pack.choose(held, 2)
        if self._pairs_played:
            pairs = [codes[pair] for pair in pairs]
        triples = [self._triple(cards, rank) for cards in pack.choose(held, 3)]
        ranks = sum([1 << rank + RANKS * times for times in range(min(3, held.bit_count()))])
        return tuple(sorted(singles)), tuple(sorted(pairs)), tuple(sorted(triples)), ranks

    def _triple(self, cards: int, rank: int) -> Triple:
        full_house = self._strength.head("full_house", self._value(cards)) | cards
        return self._codes[cards], full_house, self._pack.rank_masks[rank]

    def _fours(self, held: int) -> Fours:
        fours, fives = self._pack.choose(held, 4), self._pack.choose(held, 5)
        plays = [self._codes[cards] for cards in fours] if self._bare_quads else []
        if not self._quads:
            return tuple(plays), ()
        plays += [self._codes[cards] for cards in fives]
        heads = [self._strength.head("quads", self._value(four)) | four for four in fours]
        return tuple(plays), tuple(heads)

    def _value(self, matching: int) -> int:
        """Return the value of the cards of one rank that decide a triple, a full house or quads."""
        cards = self._pack.cards(matching)
        suits = [self._strength.suit_rank[card] for card in cards]
        return self._strength.of_rank(cards[0] >> 2, max(suits))

    def _suit_table(self, suit: int) -> Callable[[int], Suited]:
        """Return a function from the cards held of ``suit`` to its plays of five cards."""
        strength, codes, choose = self._strength, self._codes, self._pack.choose
        sequences = [mask for bits in strength.sequences if (mask := self._of_suit(bits, suit))]
        royal = self._of_suit(strength.royal, suit)

        def suited(held: int) -> Suited:
            in_sequence = [mask for mask in sequences if not mask & ~held]
            masks = choose(held, 5) if self._flushes else in_sequence
            if royal and not (self._flushes or royal & ~held or royal in masks):
                masks = [*masks, royal]
            if strength.suited == "straight":
                masks = [mask for mask in masks if mask not in in_sequence]
                in_sequence = []
            return tuple(sorted(filter(None, [codes[mask] for mask in masks]))), tuple(in_sequence)

        return suited

    def _of_suit(self, ranks: int, suit: int) -> int:
        """Return one copy of each card of ``suit`` with these ranks (bits), or 0 if the pack lacks one."""
        masks = enumerate(self._pack.rank_masks)
        cards = [mask & suit & self._pack.ones for rank, mask in masks if ranks >> rank & 1]
        return sum(cards) if all(cards) else 0

    def _sequence(self, bits: int) -> Sequence:
        pack, strength = self._pack, self._strength
        level, counting = strength.sequences[bits]
        values = [level * 4 + suit for suit in strength.suits]
        plus_two = [strength.head("straight_flush_plus_two", value) for value in values]
        ranks = [rank for rank in range(strength.ranks) if bits >> rank & 1 and rank != counting]
        one, two, three, four, top = (pack.rank_masks[rank] & pack.ones for rank in (*ranks, counting))
        suited = [self._of_suit(bits, suit) for suit in pack.suit_masks]
        heads = Memo(self._straight_heads(values))
        flushes = [(head, flush) for head, flush in zip(plus_two, suited, strict=True) if flush]
        return top, heads, three | four, one | two, flushes

    def _straight_heads(self, values: list[int]) -> Callable[[int], Codes]:
        """Return a function from the cards held of a rank to the heads of straights with these.

        ``values`` are the straights' values by the suit of that card.
        """
        pack, heads = self._pack, [self._strength.head("straight", value) for value in values]
        return lambda held: tuple(sorted([heads[card & 3] | pack.mask([card]) for card in pack.cards(held)]))

    def _one_of_each(self, held: int) -> Codes:
        rank = self._pack.rank_masks[self._pack.cards(held)[0] >> 2]
        ones = self._pack.choose(held & rank, 1)
        return tuple([more | one for more in self._pack.choose(held & ~rank, 1) for one in ones])
