"""What a seat sees, as arrays: the one encoder of environments, tables and bots."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from referee.bot.turn import Turn
from referee.errors import LearningError
from referee.learning.axes import axes, squashed
from referee.learning.boss import Bosses
from referee.learning.needed import Needed
from referee.learning.plays import FIXED, Floats, PlayTable
from referee.learning.sight import KINDS, Sight, of_turn, unseen
from referee.learning.slots import most_cards, most_plays
from referee.rules.plays import compile_ruleset
from referee.ruleset import Ruleset, load_ruleset, pack_size

Source = str | Mapping[str, object] | Ruleset
"""A preset's name, a ruleset as an object (docs/rulesets.md), or a ruleset."""

MOST_SLOTS = 1 << 15
"""Slots that are made without being asked for."""

PLAY_FIELDS = (*FIXED, "pass", "boss", "out", "left", "needed")
"""The features of a play."""


class Observations(NamedTuple):
    """What several seats see. The plays of all stand in one array, a pass before those of each seat."""

    observation: Floats
    """A row for each seat."""
    plays: Floats
    """A row for each slot: the features of a pass or a play."""
    legal: NDArray[np.bool_]
    """By slot, whether it may be chosen; False only for passes."""
    starts: NDArray[np.int64]
    """By seat, the first of its slots, its pass; and last, how many there are in all."""

    def padded(self, slots: int | None = None) -> tuple[Floats, NDArray[np.int8]]:
        """Return features and mask with a first axis for the seats, and so many slots for each.

        None stands for as many as the seat with most needs. Raise LearningError if one needs more.
        """
        sizes = np.diff(self.starts)
        width = int(sizes.max(initial=1)) if slots is None else slots
        if sizes.max(initial=0) > width:
            raise LearningError(f"slots: {width} are too few here, {sizes.max()} are needed")
        rows = np.repeat(np.arange(len(sizes)), sizes)
        columns = np.arange(len(self.legal)) - np.repeat(self.starts[:-1], sizes)
        features = np.zeros((len(sizes), width, self.plays.shape[1]), np.float32)
        mask = np.zeros((len(sizes), width), np.int8)
        features[rows, columns] = self.plays
        mask[rows, columns] = self.legal
        return features, mask


class Observed(NamedTuple):
    """What one seat sees; its slots are a pass and then its legal plays, in the order of ``Turn.legal``."""

    observation: Floats
    plays: Floats
    """A row for each slot."""
    legal: NDArray[np.bool_]
    """By slot, whether it may be chosen; False only for a pass that is not legal."""


class Encoder:
    """Turns what a seat sees under one ruleset into arrays."""

    def __init__(self, ruleset: Source = "hong-kong", *, slots: int | None = None) -> None:
        """Prepare for a ruleset; ``slots`` lowers the number of slots for a pass and the legal plays.

        Raise RulesetError for a wrong ruleset, LearningError for slots that cannot be.
        """
        self.ruleset = ruleset if isinstance(ruleset, Ruleset) else load_ruleset(ruleset)
        self.rules = rules = compile_ruleset(self.ruleset)
        self.slots = _slots(self.ruleset, slots)
        """How many actions there are: a pass and as many plays as a hand can have."""
        self._cards = pack_size(self.ruleset) // self.ruleset.decks
        self._bytes = -(-rules.width // 8)
        self._most = most_cards(self.ruleset)
        self._axes = np.array(list(axes(self.ruleset).values()), np.float32)
        self._table = PlayTable(rules)
        self._needed, self._bosses = Needed(rules), Bosses(rules)
        self.fields = dict(self._fields())
        """The fields of an observation in their order, and how many numbers each has."""
        self.size = sum(self.fields.values())
        """How many numbers an observation has."""

    def of_turn(self, turn: Turn) -> Observed:
        """Return what a bot sees in a turn of the SDK."""
        seen = self.observe([of_turn(turn)])
        return Observed(seen.observation[0], seen.plays, seen.legal)

    def observe(self, sights: Sequence[Sight]) -> Observations:
        """Return what seats see."""
        sizes = [1 + len(sight.plays) for sight in sights]
        if max(sizes, default=0) > self.slots:
            raise LearningError(f"slots: {self.slots} are too few here, {max(sizes)} are needed")
        starts = np.zeros(len(sights) + 1, np.int64)
        np.cumsum(sizes, out=starts[1:])
        rows = self._table.rows([code for sight in sights for code in (0, *sight.plays)])
        beats = self._table.rows([sight.to_beat for sight in sights])
        hidden = [unseen(self.rules, sight) for sight in sights]
        cards = self._card_fields(sights, hidden)
        plays, needed = self._plays(sights, hidden, rows, starts, cards)
        observation = np.empty((len(sights), self.size), np.float32)
        end = cards.shape[1]
        observation[:, :end] = cards
        scalars = np.array([self._scalars(sight) for sight in sights], np.float32)
        following = end + scalars.shape[1]
        observation[:, end:following] = scalars
        observation[:, following] = needed
        observation[:, following + 1 : following + 1 + len(FIXED)] = self._table.features[beats]
        observation[:, following + 1 + len(FIXED) :] = self._axes
        legal = np.ones(len(rows), np.bool_)
        legal[starts[:-1]] = [sight.can_pass for sight in sights]
        return Observations(observation, plays, legal, starts)

    def _fields(self) -> Iterator[tuple[str, int]]:
        cards, players = self._cards, self.ruleset.players
        yield from (("hand", cards), ("unseen", cards), ("to_beat", cards), ("played", players * cards))
        yield from (("counts", players), ("passed", players), ("last", players), ("dealer", players))
        yield from (("scores", players), ("kind", len(KINDS)), ("can_pass", 1), ("elsewhere", 1))
        yield from (("needed", 1), ("beaten", len(FIXED)), ("ruleset", len(self._axes)))

    def _card_fields(self, sights: Sequence[Sight], hidden: Sequence[int]) -> Floats:
        """Return the fields that have a number for each card."""
        size, full = self._bytes, self.rules.full
        data = bytearray()
        for sight, cards in zip(sights, hidden, strict=True):
            data += sight.hand.to_bytes(size, "little")
            data += cards.to_bytes(size, "little")
            data += (sight.to_beat & full).to_bytes(size, "little")
            for mask in _around(sight, sight.played):
                data += mask.to_bytes(size, "little")
        bits = np.unpackbits(np.frombuffer(data, np.uint8).reshape(-1, size), axis=1, bitorder="little")
        shares = bits[:, : self.rules.width].astype(np.float32)
        if self.ruleset.decks == 2:
            shares = (shares[:, ::2] + shares[:, 1::2]) / np.float32(2)
        return shares.reshape(len(sights), -1)

    def _scalars(self, sight: Sight) -> list[float]:
        """Return the fields from ``counts`` to ``elsewhere``."""
        players, most = len(sight.counts), self._most
        order = _order(sight, players)
        played = sum([mask.bit_count() for mask in sight.played])
        elsewhere = (self.rules.width - played - sum(sight.counts)) / self.rules.width
        return [
            *[sight.counts[seat] / most for seat in order],
            *[float(sight.passed >> seat & 1) for seat in order],
            *[float(seat == sight.last) for seat in order],
            *[float(seat == sight.dealer) for seat in order],
            *[squashed(sight.scores[seat]) for seat in order],
            *[float(kind == sight.kind) for kind in KINDS],
            float(sight.can_pass),
            elsewhere,
        ]

    def _plays(
        self,
        sights: Sequence[Sight],
        hidden: Sequence[int],
        rows: Sequence[int],
        starts: NDArray[np.int64],
        cards: Floats,
    ) -> tuple[Floats, Floats]:
        """Return the features of all slots, and by seat about how many plays its hand takes."""
        table, fixed, most = self._table, len(FIXED), self._most
        sizes = np.diff(starts)
        hands = cards[:, : self._cards].reshape(len(sights), -1, 4).sum(axis=2) * self.ruleset.decks
        ranks = np.repeat(hands.astype(np.int8), sizes, axis=0) - table.ranks[rows]
        left = ranks.sum(axis=1, dtype=np.int16)
        needed = self._needed.count(ranks)
        plays = np.empty((len(rows), len(PLAY_FIELDS)), np.float32)
        plays[:, :fixed] = table.features[rows]
        plays[:, fixed] = 0
        plays[starts[:-1], fixed] = 1
        plays[:, fixed + 1] = self._boss(sights, hidden, rows)
        plays[:, fixed + 2] = left == 0
        plays[:, fixed + 3] = left / most
        plays[:, fixed + 4] = needed / most
        return plays, plays[starts[:-1], fixed + 4]

    def _boss(self, sights: Sequence[Sight], hidden: Sequence[int], rows: Sequence[int]) -> list[bool]:
        found, kinds, place = [], self._table.kinds, 0
        for sight, cards in zip(sights, hidden, strict=True):
            found.append(False)
            others = max([count for seat, count in enumerate(sight.counts) if seat != sight.seat])
            test = self._bosses.test(cards, others)
            place += 1
            for code in sight.plays:
                found.append(test(code, kinds[rows[place]]))
                place += 1
        return found


def _slots(ruleset: Ruleset, asked: int | None) -> int:
    most = 1 + most_plays(ruleset)
    if asked is None and most > MOST_SLOTS:
        raise LearningError(
            f"slots: a hand may have {most - 1} plays under {ruleset.label}; say how many slots"
        )
    if asked is not None and not 2 <= asked <= most:
        raise LearningError(f"slots: must be from 2 to {most} under {ruleset.label}, not {asked}")
    return asked or most


def _order(sight: Sight, players: int) -> list[int]:
    """Return the seats in order of play, the one who looks first."""
    return [(sight.seat + sight.step * turn) % players for turn in range(players)]


def _around(sight: Sight, values: Sequence[int]) -> list[int]:
    return [values[seat] for seat in _order(sight, len(values))]
