"""Compiled rules: every question about combinations, answered from play codes.

A play code is a combination as an int: (group << strength bits | strength) << width | mask. Plays of
one group are compared by strength; the bombs that beat any play are the last group, above all others; 0 is
not a play. So the plays of a hand are a sorted list of codes, what beats a play is a slice of it (and the
slice of bombs), and a play is still held if ``code & gone == 0`` for the bits that left the hand. Bombs that
beat only some plays are in the group of their kind, see ``Limited``.

With one pack of 52 cards most rulesets' codes have at most 62 bits, which compiled code handles without
making objects of them; longer codes work alike.
"""

from bisect import bisect, bisect_left
from collections.abc import Callable
from functools import lru_cache
from itertools import chain

from referee.rules.listing import Lister
from referee.rules.pack import Pack
from referee.rules.strength import Limited, Strength
from referee.ruleset import Ruleset
from referee.ruleset.axes.sequences import RUNS, pairs_beside


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
        if len(cards) == 5 and (five := self._five(cards, ranks)):
            return five
        if len(cards) == 7 and (seven := self._plus_two(cards)):
            return seven
        if len(set(ranks)) > 1:
            return self._dragon(cards, ranks) or self._run(cards, ranks)
        match len(cards):
            case 1:
                return self._strength.head("single", ranks[0] * 4 + self._best_suit(cards))
            case 2:
                return self._strength.head_of_rank("pair", ranks[0] * 4 + self._best_suit(cards))
            case 3:
                return self._of_rank("triple", cards)
            case 4:
                return self._of_rank("bare_quads", cards)
        return 0

    def _five(self, cards: list[int], ranks: list[int]) -> int:
        joker = ranks[-1] >= self._strength.ranks
        suited = len({card & 3 for card in cards}) == 1 and not joker
        kind, deciding = self._matching(cards, ranks)
        if kind and (not suited or self._strength.of_one_suit[kind] == kind):
            return self._two_pair(cards, *deciding) if kind == "two_pair" else self._of_rank(kind, deciding)
        if joker:
            return 0
        if suited:
            return self._suited(cards, ranks)
        return self._sequence("straight", cards, ranks) if len(set(ranks)) == 5 else 0

    def _matching(self, cards: list[int], ranks: list[int]) -> tuple[str, list[int]]:
        """Return what five cards are by their ranks and the cards, or of two pairs the ranks, that decide."""
        distinct = set(ranks)
        if len(distinct) <= 2:
            most = max(ranks, key=ranks.count)
            kind = "quads" if ranks.count(most) > 3 else "full_house"
            return kind, [card for card in cards if card >> 2 == most]
        paired = sorted([rank for rank in distinct if ranks.count(rank) == 2])
        return ("two_pair", paired) if len(paired) == 2 else ("", [])

    def _two_pair(self, cards: list[int], low: int, high: int) -> int:
        suit = self._best_suit([card for card in cards if card >> 2 == high])
        return self._strength.head("two_pair", self._strength.of_two_pair(high, low, suit))

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

    def _dragon(self, cards: list[int], ranks: list[int]) -> int:
        if not len(cards) == len(set(ranks)) == self._strength.ranks > max(ranks):  # no joker
            return 0
        return self._strength.head("dragon", self._best_suit(cards[-1:]))

    def _run(self, cards: list[int], ranks: list[int]) -> int:
        counts = {rank: ranks.count(rank) for rank in ranks}
        if [*counts.values()] == [2, 2]:
            suit = self._best_suit(cards[2:])
            two_pair = self._strength.of_two_pair(ranks[-1], ranks[0], suit)
            if head := self._strength.head("bare_two_pair", two_pair):
                return head
        most = max(counts.values())
        run = [rank for rank, count in counts.items() if count == most]
        beside = [count for count in counts.values() if count < most]
        if any(count != 2 for count in beside):
            return 0
        for kind, places in self._strength.runs.items():
            if self._is_other(kind, cards):
                continue
            if RUNS[kind] == most and pairs_beside(kind, len(run)) == len(beside):
                level, counting = places.get(_bits(run), (0, None))
                if counting is not None:
                    deciding = [card for card in cards if card >> 2 == counting]
                    return self._strength.run(kind, level, deciding, len(run))
        return 0

    def _is_other(self, kind: str, cards: list[int]) -> bool:
        """Return whether the suits of cards of consecutive ranks make them no run of this kind."""
        if "suited_run" not in self._strength.runs or RUNS[kind] > 1:
            return False
        return (kind == "suited_run") != (len({card & 3 for card in cards}) == 1)

    def _of_rank(self, kind: str, cards: list[int]) -> int:
        return self._strength.head_of_rank(
            kind, self._strength.of_rank(cards[0] >> 2, self._best_suit(cards))
        )

    def _best_suit(self, cards: list[int]) -> int:
        suit_rank = self._strength.suit_rank
        return max([suit_rank[card] for card in cards])


def _bits(ranks: list[int]) -> int:
    bits = 0
    for rank in ranks:
        bits |= 1 << rank
    return bits


MOST_CODES = 1 << 17
"""How many plays are remembered: all those of one pack; of two, all but runs of pairs and seven cards."""


class Codes(dict[int, int]):
    """Play codes by mask, computed on first use; what is not a combination is not kept."""

    def __init__(self, classify: Callable[[int], int]) -> None:
        super().__init__()
        self._classify = classify

    def __missing__(self, mask: int) -> int:
        code = self._classify(mask)
        if code:
            if len(self) >= MOST_CODES:
                self.clear()
            self[mask] = code
        return code


class Rules(Pack):
    """The combinations of a ruleset: what they are, which beats which, and which a hand holds."""

    def __init__(self, ruleset: Ruleset) -> None:
        super().__init__(ruleset.ranks, ruleset.decks, ruleset.jokers, ruleset.removed_cards)
        self.ruleset = ruleset
        strength = Strength(ruleset, self.width)
        self._codes = Codes(Classifier(self, strength).code)
        self.code: Callable[[int], int] = self._codes.__getitem__
        """Return the play code of a mask's cards; 0 if they are not a combination."""
        self.group_full = (1 << self.width + strength.bits) - 1
        self.first_bomb = strength.first_bomb
        self.limited = None if ruleset.bombs_beat == "any" else Limited(ruleset, strength)
        self.kind, self.place, self.end_of_kind = strength.kind, strength.place, strength.end_of_kind
        lister = Lister(ruleset, self, strength, self._codes)
        self.list_plays, self.list_short = lister.plays, lister.short_plays
        self.tally, self.tally_of = lister.tally, lister.tally_of

    def is_bomb(self, code: int) -> bool:
        """Return whether the play beats plays of another kind and size."""
        return code >= self.first_bomb or (self.limited is not None and self.limited.is_bomb(code))

    def beats(self, code: int, other: int) -> bool:
        """Return whether the first play beats the second on the table."""
        # Above it, and in its group, or a bomb: these are the last group, so none is below another play.
        if code > other | self.full and (code <= other | self.group_full or code >= self.first_bomb):
            return True
        return self.limited is not None and self.limited.beats(code, other)

    def following(self, plays: list[int], to_beat: int) -> list[int]:
        """Return those of ``plays`` (ascending) that beat the play ``to_beat``, ascending."""
        low = bisect(plays, to_beat | self.full)
        high = bisect(plays, to_beat | self.group_full, low)
        beating = plays[low:high]
        if high < len(plays) and plays[-1] >= self.first_bomb:
            beating += plays[bisect_left(plays, self.first_bomb, high) :]
        spans = self.limited.over(to_beat) if self.limited else ()
        bombs = [plays[bisect_left(plays, first) : bisect_left(plays, end)] for first, end in spans]
        return sorted({*beating, *chain(*bombs)}) if any(bombs) else beating

    def beaten(self, plays: list[int], code: int) -> list[int]:
        """Return those of ``plays`` (ascending) that the play ``code`` beats, ascending."""
        if self.limited and self.limited.is_bomb(code):
            return [play for play in plays if self.beats(code, play)]
        high = bisect_left(plays, code & ~self.full)
        if code >= self.first_bomb:
            return plays[:high]
        return plays[bisect_left(plays, code & ~self.group_full) : high]

    def bombs_on(self, plays: list[int], to_beat: int) -> list[int]:
        """Return the bombs among ``plays`` (ascending) that beat the play ``to_beat``, ascending."""
        if self.limited:
            return [play for play in self.following(plays, to_beat) if self.is_bomb(play)]
        return plays[max(bisect(plays, to_beat | self.full), bisect_left(plays, self.first_bomb)) :]


@lru_cache(maxsize=32)
def compile_ruleset(ruleset: Ruleset) -> Rules:
    """Return the rules of a ruleset, compiled once in a process."""
    return Rules(ruleset)
