"""What a set of cards is: its kind and strength, from the cards alone (docs/rules.md, "Combinations")."""

from referee.rules.pack import Pack
from referee.rules.strength import Strength


class Classifier:
    """Returns the play code of any mask; 0 if the cards are not a combination of the ruleset."""

    def __init__(self, pack: Pack, strength: Strength) -> None:
        self._pack = pack
        self._strength = strength

    def code(self, mask: int) -> int:
        """Return the play code of ``mask``, or 0."""
        head = self._head(self._pack.cards(mask))
        return head | mask if head else 0

    def _head(self, cards: list[int]) -> int:
        ranks = [card >> 2 for card in cards]
        if len(cards) == 5:
            return self._five(cards, ranks)
        if len(cards) == 7:
            return self._plus_two(cards)
        if len(set(ranks)) > 1:
            return self._pair_run(cards, ranks)
        match len(cards):
            case 1:
                return self._strength.head("single", ranks[0] * 4 + self._best_suit(cards))
            case 2:
                return self._strength.head("pair", ranks[0] * 4 + self._best_suit(cards))
            case 3:
                return self._of_rank("triple", cards)
            case 4:
                return self._of_rank("bare_quads", cards)
        return 0

    def _five(self, cards: list[int], ranks: list[int]) -> int:
        distinct = len(set(ranks))
        if distinct <= 2:
            most = max(ranks, key=ranks.count)
            kind = "quads" if ranks.count(most) > 3 else "full_house"
            return self._of_rank(kind, [card for card in cards if card >> 2 == most])
        if len({card & 3 for card in cards}) == 1:
            return self._suited(cards, ranks)
        return self._sequence("straight", cards, ranks) if distinct == 5 else 0

    def _suited(self, cards: list[int], ranks: list[int]) -> int:
        suit = self._best_suit(cards)
        rank_bits = _bits(ranks)
        if rank_bits == self._strength.royal:
            return self._strength.head("royal_flush", suit)
        if rank_bits in self._strength.sequences and self._strength.suited != "flush":
            return self._sequence(self._strength.suited, cards, ranks)
        return self._strength.head("flush", self._strength.of_flush(ranks, suit))

    def _sequence(self, kind: str | None, cards: list[int], ranks: list[int]) -> int:
        level, counting = self._strength.sequences.get(_bits(ranks), (0, None))
        if counting is None:
            return 0
        suit = self._best_suit([card for card in cards if card >> 2 == counting])
        return self._strength.head(kind, level * 4 + suit)

    def _plus_two(self, cards: list[int]) -> int:
        best = 0
        for suit in range(4):
            held = _bits([card >> 2 for card in cards if card & 3 == suit])
            for rank_bits, (level, _) in self._strength.sequences.items():
                if rank_bits & ~held == 0:
                    value = level * 4 + self._strength.suit_rank[suit]
                    best = max(best, self._strength.head("straight_flush_plus_two", value))
        return best

    def _pair_run(self, cards: list[int], ranks: list[int]) -> int:
        if any(ranks.count(rank) != 2 for rank in ranks):
            return 0
        last = self._last_of_run(set(ranks))
        if last is None:
            return 0
        suit = self._best_suit([card for card in cards if card >> 2 == last])
        return self._strength.head("pair_run", self._strength.of_run(last, suit), len(ranks) // 2)

    def _last_of_run(self, ranks: set[int]) -> int | None:
        total = self._strength.ranks
        ace = total - 2
        if len(ranks) == total:
            return ace
        # Consecutive in the cycle A 2 3 … K A: exactly one rank has no successor in the set, and the ace
        # may have both neighbours in it only in the full circle.
        ends = [rank for rank in ranks if (rank + 1) % total not in ranks]
        through_ace = {ace - 1, ace, ace + 1} <= ranks
        return ends[0] if len(ends) == 1 and not through_ace else None

    def _of_rank(self, kind: str, cards: list[int]) -> int:
        return self._strength.head(kind, self._strength.of_rank(cards[0] >> 2, self._best_suit(cards)))

    def _best_suit(self, cards: list[int]) -> int:
        return max([self._strength.suit_rank[card & 3] for card in cards])


def _bits(ranks: list[int]) -> int:
    bits = 0
    for rank in ranks:
        bits |= 1 << rank
    return bits
