"""Groups and strengths of plays: what the upper bits of a play code hold.

A code is (group << strength bits | strength) << width | mask. Only plays of one group are compared,
by strength; the bombs that beat any play are the last group. A kind takes up a range of strengths in its
group, so a code's *head* (all but the mask) is the kind's first head plus the play's value within the kind.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from math import comb

from referee.cards import card_index
from referee.memo import Memo
from referee.ruleset import Ruleset
from referee.ruleset.axes.bombs import is_card, kind_of, rank_of, run_lengths
from referee.ruleset.axes.sequences import RUNS, run_order
from referee.ruleset.straights import StraightOrder, cycle

Section = tuple[str, int, int]
"""A kind, its part (of runs the number of ranks, see ``chosen`` for another), and how many strengths it
takes up."""

Span = tuple[int, int]
"""The first of some codes, and the one after the last."""


def chosen(rank: int) -> int:
    """Return the part of a kind that has the plays of one rank, which are bombs; 0 has those of others."""
    return -1 - rank


class Strength:
    """The strength of every play of a ruleset, from the properties that decide it.

    ``sequences`` maps the rank positions of a legal sequence, as bits, to its level and to the position of
    the rank whose suit counts. ``suited`` is the kind of five suited cards in sequence, except royal flushes;
    ``royal`` has the rank bits of a royal flush if that is a kind of its own, else it is 0.
    ``of_one_suit`` has, by what several packs have in one suit, the kind that it is, or None.
    ``runs`` has, by kind, the same of runs as ``sequences``, with levels for each length.
    """

    def __init__(self, ruleset: Ruleset, width: int) -> None:
        self.decks = ruleset.decks
        self.width = width
        self.ranks = len(ruleset.ranks)
        """The ranks that can be in a sequence: all but that of the jokers."""
        self._names = ruleset.ranks
        self.suits = tuple(0 if ruleset.equal_suits else ruleset.suits.index(suit) for suit in "DCHS")
        """The places of the suits D C H S among the suits, low to high; all the same if suits are equal."""
        self.suit_rank = self.suits * self.ranks + (0, 1)
        """By card, the place of its suit; of the jokers, the red one is higher."""
        self._rank_count = len(ruleset.rank_names)
        self._flush_order = ruleset.flush_order
        self._both_pairs = ruleset.two_pair_order == "ranks_then_suit"
        self.sequences = _sequences(ruleset)
        self.suited = _suited_kind(ruleset)
        self.royal = _royal(ruleset)
        self.of_one_suit = {kind: _strongest_kind(ruleset, (kind, "flush")) for kind in MATCHING}
        self.runs: dict[str, dict[int, tuple[int, int]]] = {
            kind: _runs(ruleset, kind) for kind in RUNS if kind in ruleset.plays
        }
        self._bombs, limits = ruleset.bombs, ruleset.bomb_limits
        free = [name for name in ruleset.bomb_order or ruleset.bombs if name not in limits]
        self._rank_of = {rank: place for place, rank in enumerate(ruleset.rank_names)}
        self._chosen = {(kind_of(name), self._rank_of[rank_of(name)]) for name in free if rank_of(name)}
        groups = self._groups(ruleset, free)
        self.bits = max(sum(count for _, _, count in group) for group in groups).bit_length()
        self._heads: dict[tuple[str, int], int] = {}
        self._place(groups)
        self.first_bomb = len(groups) - 1 << self.bits + width
        if not groups[-1]:
            self.first_bomb -= 1  # still above all plays, but not one bit longer, see ``referee.rules.plays``

    def head(self, kind: str | None, value: int, length: int = 0) -> int:
        """Return the code, still without cards, of a play of ``kind``; 0 if the kind is not played.

        ``length`` is the number of ranks of a run.
        """
        first = self._heads.get((kind or "", length), 0)
        return first + (value << self.width) if first else 0

    def head_of_rank(self, kind: str, value: int) -> int:
        """Return the same for a kind whose value tells a rank, which may be a bomb by that rank."""
        rank, suit = value >> 2, value & 3
        return self.head(kind, suit, chosen(rank)) if (kind, rank) in self._chosen else self.head(kind, value)

    def spans(self, name: str) -> list[Span]:
        """Return which codes have the plays that a name stands for, except bombs that beat any play."""
        kind, rank = kind_of(name), rank_of(name)
        if is_card(name):
            card = card_index(name, self._names)
            first = self.head("single", (card >> 2) * 4 + self.suit_rank[card])
            return [(first, first + (1 << self.width))]
        if rank:
            first = self.head_of_rank(kind, self._rank_of[rank] * 4)
            return [(first, first + (4 << self.width))]
        parts: Iterable[int] = range(1, self.ranks + 1) if kind in RUNS else [0]
        if kind == "pair_run":
            parts = run_lengths(name, self._bombs, self.ranks)
        firsts = filter(None, [self._heads.get((kind, part)) for part in parts])
        return [(first, self.end_of_kind(first)) for first in firsts if first < self.first_bomb]

    def kind(self, code: int) -> str:
        """Return the kind of a play code."""
        return self._kinds[bisect_right(self._starts, code) - 1]

    def end_of_kind(self, code: int) -> int:
        """Return a code above all plays of this kind, or runs of this length, and below the others."""
        section = bisect_right(self._starts, code) - 1
        return self._starts[section] + (self._sizes[section] << self.width)

    def place(self, code: int) -> float:
        """Return the strength of a play code among all of its kind, from 0 to 1."""
        section = bisect_right(self._starts, code) - 1
        return (code - self._starts[section] >> self.width) / max(self._sizes[section] - 1, 1)

    def of_rank(self, rank: int, suit: int) -> int:
        """Return the value of cards ranked by rank and then, with several packs, by their best suit."""
        return rank * 4 + (suit if self.decks > 1 else 0)

    def of_flush(self, ranks: Sequence[int], suit: int) -> int:
        """Return the value of a flush with these rank positions, ascending, in the suit of rank ``suit``."""
        if self._flush_order == "suit_then_top":
            return suit * self.ranks + ranks[-1]
        if self._flush_order == "top_then_suit":
            return ranks[-1] * 4 + suit
        return self._place_of_ranks(ranks) * 4 + suit

    def run(self, kind: str, level: int, deciding: Sequence[int], length: int) -> int:
        """Return the code, still without cards, of a run of this level and length; 0 if there are none.

        ``deciding`` are its cards of the rank whose suit counts. Their best suit decides, except that triples
        of one pack have none: they are never equal.
        """
        suit = max([self.suit_rank[card] for card in deciding])
        return self.head(kind, self.of_rank(level, suit) if RUNS[kind] > 2 else level * 4 + suit, length)

    def of_two_pair(self, high: int, low: int, suit: int) -> int:
        """Return the value of two pairs of these ranks; ``suit`` is the best suit of the higher pair."""
        return ((high * self._rank_count + low if self._both_pairs else high) * 4) + suit

    def _place_of_ranks(self, ranks: Sequence[int]) -> int:
        # The combinatorial number system: it orders sets of ranks from their highest rank down. With
        # several packs ranks may be equal; adding 0, 1, 2 … makes them distinct and keeps the order.
        spread = self.decks > 1
        return sum(comb(rank + spread * step, step + 1) for step, rank in enumerate(ranks))

    def _groups(self, ruleset: Ruleset, free: Sequence[str]) -> list[list[Section]]:
        """Return the sections of each group; ``free`` are the bombs that beat any play, weakest first."""
        rest = [kind for kind in (*ruleset.plays, "royal_flush") if kind not in free]
        five = [kind for kind in ruleset.five_card_order if kind in rest]
        groups = [self._sections(kind) for kind in rest if kind not in five and kind not in _APART]
        last = [section for name in free for section in self._bomb_sections(name)]
        for kind in self.runs:
            groups += [[section] for section in self._lengths(kind) if section not in last]
        if ruleset.kinds_compete:
            groups.append([section for kind in five for section in self._sections(kind)])
        else:
            groups += [self._sections(kind) for kind in five]
        return [*(group for group in groups if group), last]

    def _bomb_sections(self, name: str) -> list[Section]:
        kind, rank = kind_of(name), rank_of(name)
        if rank:
            return [(kind, chosen(self._rank_of[rank]), 4)]
        if kind == "pair_run":
            lengths = run_lengths(name, self._bombs, self.ranks)
            return [section for section in self._lengths(kind) if section[1] in lengths]
        return self._lengths(kind) if kind in RUNS else self._sections(kind)

    def _lengths(self, kind: str) -> list[Section]:
        """Return the sections of the runs of a kind, by length."""
        levels: dict[int, int] = {}
        for bits, (level, _) in self.runs[kind].items():
            length = bits.bit_count()
            levels[length] = max(levels.get(length, 0), level + 1)
        return [(kind, length, 4 * levels[length]) for length in sorted(levels)]

    def _sections(self, kind: str) -> list[Section]:
        if kind == "flush" and self._flush_order == "ranks_then_suit":
            return [(kind, 0, comb(self.ranks + 4 * (self.decks > 1), 5) * 4)]
        if kind == "dragon":
            return [(kind, 0, 4)]
        if kind in ("two_pair", "bare_two_pair") and self._both_pairs:
            return [(kind, 0, self._rank_count**2 * 4)]
        levels = 1 + max((level for level, _ in self.sequences.values()), default=0)
        return [(kind, 0, 4 * (levels if kind in _SEQUENCE_KINDS else self._rank_count))]

    def _place(self, groups: list[list[Section]]) -> None:
        self._starts: list[int] = []
        self._kinds: list[str] = []
        self._sizes: list[int] = []
        for number, group in enumerate(groups):
            strength = 0 if number else 1  # a code of 0 is no play
            for kind, length, count in group:
                head = (number << self.bits | strength) << self.width
                self._heads[kind, length] = head
                self._starts.append(head)
                self._kinds.append(kind)
                self._sizes.append(count)
                strength += count


_SEQUENCE_KINDS = ("straight", "straight_flush", "straight_flush_plus_two")

MATCHING = ("two_pair", "full_house", "quads")
"""The kinds of five cards that several packs have in one suit, where they may be flushes as well."""

_APART = (*RUNS, "royal_flush")
"""Kinds that need more than their name in ``plays``: their groups are made separately."""


def _sequences(ruleset: Ruleset) -> dict[int, tuple[int, int]]:
    return _places(ruleset, ruleset.straights, by_top=ruleset.straight_suit_of == "top")


def _runs(ruleset: Ruleset, kind: str) -> dict[int, tuple[int, int]]:
    runs: dict[int, tuple[int, int]] = {}
    for order in run_order(ruleset, kind).values():
        runs |= _places(ruleset, order, by_top=kind != "run" or ruleset.straight_suit_of == "top")
    return runs


def _places(ruleset: Ruleset, order: StraightOrder, by_top: bool) -> dict[int, tuple[int, int]]:
    """Return the level of each sequence and the rank whose suit counts, by the bits of its ranks."""
    places = {}
    for level, equals in enumerate(order):
        for sequence in equals:
            ranks = [ruleset.rank_names.index(rank) for rank in sequence.split()]
            places[sum(1 << rank for rank in ranks)] = (level, ranks[-1] if by_top else max(ranks))
    return places


def _suited_kind(ruleset: Ruleset) -> str | None:
    if "straight_flush" in ruleset.plays:
        return "straight_flush"
    return _strongest_kind(ruleset, ("straight", "flush"))


def _strongest_kind(ruleset: Ruleset, kinds: Sequence[str]) -> str | None:
    return next((kind for kind in reversed(ruleset.five_card_order) if kind in kinds), None)


def _royal(ruleset: Ruleset) -> int:
    if "royal_flush" not in ruleset.five_card_order:
        return 0
    order = cycle(ruleset.ranks)
    return sum(1 << ruleset.ranks.index(rank) for rank in (*order[-4:], order[0]))


class Limited:
    """The bombs of a ruleset that do not beat any play."""

    def __init__(self, ruleset: Ruleset, strength: Strength) -> None:
        limits = ruleset.bomb_limits
        self._width = strength.width
        self._bombs = [span for name in limits for span in strength.spans(name)]
        self._beaten: list[tuple[Span, Span]] = []
        for name, targets in limits.items():
            own = strength.spans(name)  # of a kind that is no run, there is just one
            self._beaten += [(longer, run) for place, run in enumerate(own) for longer in own[place + 1 :]]
            for target in targets:
                others = [beaten for beaten in strength.spans(target) if beaten not in own]
                self._beaten += [(span, beaten) for beaten in others for span in own]
        self._over = Memo(self._spans_over)

    def is_bomb(self, code: int) -> bool:
        """Return whether the play is such a bomb."""
        return _within(code, self._bombs)

    def over(self, code: int) -> list[Span]:
        """Return where the bombs are that beat this play, whether or not they are stronger in its group."""
        return self._over[code >> self._width]

    def beats(self, code: int, other: int) -> bool:
        """Return whether the first play is such a bomb, and may beat the second one out of its kind."""
        return _within(code, self.over(other))

    def _spans_over(self, head: int) -> list[Span]:
        code = head << self._width
        return sorted({bombs for bombs, (first, end) in self._beaten if first <= code < end})


def _within(code: int, spans: list[Span]) -> bool:
    return any(first <= code < end for first, end in spans)
