"""What a seat sees, as arrays: the one encoder of environments, tables and bots."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from referee.bot.turn import Turn
from referee.errors import LearningError
from referee.learning.axes import axes
from referee.learning.boss import Bosses
from referee.learning.features import FIXED, PLAY_FIELDS, Floats, Needed, PlayTable
from referee.learning.sight import KINDS, Sight, of_turn
from referee.rules.plays import compile_ruleset
from referee.ruleset import Ruleset, load_ruleset
from referee.ruleset.axes.dealing import most_cards
from referee.ruleset.axis import squashed
from referee.ruleset.bounds import most_plays

Source = str | Mapping[str, object] | Ruleset
"""A preset's name, a ruleset as an object (docs/rulesets.md), or a ruleset."""

MOST_SLOTS = 1 << 15
"""The most slots that are made unless a number is given."""

_BOSS, _OUT, _LEFT, _NEEDED = map(PLAY_FIELDS.index, ("boss", "out", "left", "needed"))


class Observations(NamedTuple):
    """What several seats see. The slots of all are in one array: for each seat a pass, then its plays."""

    observation: Floats
    """A row for each seat."""
    plays: Floats
    """A row for each slot: the features of a pass or a play."""
    legal: NDArray[np.bool_]
    """By slot, whether it may be chosen; False only for passes."""
    starts: NDArray[np.int64]
    """By seat, the index of its first slot, the pass; and finally the number of all slots."""

    def padded(self, slots: int | None = None) -> tuple[Floats, NDArray[np.int8]]:
        """Return features and mask with a first axis for the seats, and ``slots`` slots for each.

        None stands for as many as any seat needs. Raise LearningError if a seat needs more.
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

        Raise RulesetError for a wrong ruleset, LearningError for an impossible number of slots.
        """
        self.ruleset = ruleset if isinstance(ruleset, Ruleset) else load_ruleset(ruleset)
        self.rules = rules = compile_ruleset(self.ruleset)
        self.slots = _slots(self.ruleset, slots)
        """How many actions there are: a pass and as many plays as a hand can have."""
        self._cards = rules.width // rules.decks
        self._bytes = -(-rules.width // 8)
        self._most = most_cards(self.ruleset)
        self._shares = [count / self._most for count in range(self._most + 1)]
        self._axes = np.array(list(axes(self.ruleset).values()), np.float32)
        self._table = PlayTable(rules)
        self._needed, self._bosses = Needed(rules), Bosses(rules)
        self.fields = dict(self._fields())
        """The fields of an observation, in order, and how many numbers each has."""
        self.size = sum(self.fields.values())
        """How many numbers an observation has."""

    def of_turn(self, turn: Turn) -> Observed:
        """Return what a bot sees in a turn of the SDK."""
        seen = self.of_turns([turn])
        return Observed(seen.observation[0], seen.plays, seen.legal)

    def of_turns(self, turns: Sequence[Turn]) -> Observations:
        """Return the same for several turns at once. Raise LearningError if they are of another ruleset."""
        for turn in turns:
            if turn.rules is not self.rules and turn.ruleset != self.ruleset:
                raise LearningError(
                    f"the encoder is for {self.ruleset.label}, the turn of {turn.ruleset.label}"
                )
        return self.observe([of_turn(turn) for turn in turns])

    def observe(self, sights: Sequence[Sight]) -> Observations:
        """Return what seats see."""
        sizes = [1 + len(sight.plays) for sight in sights]
        if max(sizes, default=0) > self.slots:
            raise LearningError(f"slots: {self.slots} are too few here, {max(sizes)} are needed")
        ends = list(accumulate(sizes, initial=0))
        starts = np.array(ends, np.int64)
        rows = self._table.rows([code for sight in sights for code in (0, *sight.plays)])
        beats = self._table.rows([sight.to_beat for sight in sights])
        cards = self._card_fields(sights)
        plays = self._plays(sights, rows, sizes, cards)
        self._mark_bosses(plays, sights, rows)
        observation = np.empty((len(sights), self.size), np.float32)
        end = cards.shape[1]
        observation[:, :end] = cards
        scalars = np.array([self._scalars(sight) for sight in sights], np.float32)
        following = end + scalars.shape[1]
        observation[:, end:following] = scalars
        observation[:, following] = plays[starts[:-1], _NEEDED]
        fixed = following + 1 + len(FIXED)
        observation[:, following + 1 : fixed] = self._table.features[beats, : len(FIXED)]
        observation[:, fixed:] = self._axes
        legal = np.ones(len(rows), np.bool_)
        for place, sight in zip(ends, sights, strict=False):
            if not sight.can_pass:
                legal[place] = False
        return Observations(observation, plays, legal, starts)

    def _fields(self) -> Iterator[tuple[str, int]]:
        cards, players = self._cards, self.ruleset.players
        yield from (("hand", cards), ("unseen", cards), ("to_beat", cards), ("played", players * cards))
        yield from (("counts", players), ("passed", players), ("last", players), ("dealer", players))
        yield from (("scores", players), ("kind", len(KINDS)), ("can_pass", 1), ("elsewhere", 1))
        yield from (("needed", 1), ("beaten", len(FIXED)), ("ruleset", len(self._axes)))

    def _card_fields(self, sights: Sequence[Sight]) -> Floats:
        """Return the fields that have a number for each card."""
        size, full = self._bytes, self.rules.full
        data = bytearray()
        for sight in sights:
            data += sight.hand.to_bytes(size, "little")
            data += sight.unseen.to_bytes(size, "little")
            data += (sight.to_beat & full).to_bytes(size, "little")
            for seat in seats_from(sight.seat, sight.step, len(sight.played)):
                data += sight.played[seat].to_bytes(size, "little")
        bits = np.unpackbits(np.frombuffer(data, np.uint8).reshape(-1, size), axis=1, bitorder="little")
        shares = bits[:, : self.rules.width].astype(np.float32)
        if self.ruleset.decks > 1:
            copies = shares.reshape(len(shares), self._cards, self.ruleset.decks)
            shares = np.add.reduce(copies, axis=2) / np.float32(self.ruleset.decks)
        return shares.reshape(len(sights), -1)

    def _scalars(self, sight: Sight) -> list[float]:
        """Return the fields from ``counts`` to ``elsewhere``."""
        counts, passed, shares = sight.counts, sight.passed, self._shares
        players = len(counts)
        order = seats_from(sight.seat, sight.step, players)
        nobody = [0.0] * players
        last, dealer = nobody[:], nobody[:]
        if sight.last >= 0:
            last[order.index(sight.last)] = 1.0
        dealer[order.index(sight.dealer)] = 1.0
        kind = [0.0] * len(KINDS)
        kind[KINDS.index(sight.kind)] = 1.0
        others = sum(counts) - counts[sight.seat]
        return [
            *[shares[counts[seat]] for seat in order],
            *([float(passed >> seat & 1) for seat in order] if passed else nobody),
            *last,
            *dealer,
            *([squashed(sight.scores[seat]) for seat in order] if any(sight.scores) else nobody),
            *kind,
            float(sight.can_pass),
            (sight.unseen.bit_count() - others) / self.rules.width,
        ]

    def _plays(
        self, sights: Sequence[Sight], rows: Sequence[int], sizes: Sequence[int], cards: Floats
    ) -> Floats:
        """Return the features of all slots, with bosses not marked yet."""
        table, at = self._table, np.array(rows)
        plays: Floats = table.features.take(at, axis=0)
        hands = np.add.reduce(cards[:, : self._cards].reshape(len(sights), -1, 4), axis=2)
        if self.ruleset.decks > 1:
            hands = np.rint(hands * self.ruleset.decks)
        ranks = hands.astype(np.int8).repeat(sizes, axis=0) - table.ranks.take(at, axis=0)
        left = np.add.reduce(ranks, axis=1, dtype=np.int64)
        plays[:, _OUT] = left == 0
        plays[:, _LEFT] = left / self._most
        plays[:, _NEEDED] = self._needed.count(ranks) / self._most
        return plays

    def _mark_bosses(self, plays: Floats, sights: Sequence[Sight], rows: Sequence[int]) -> None:
        bosses, kinds, full, slot = [], self._table.kinds, self.rules.full, 0
        against, limits = self._bosses.against, self._bosses.limits
        ends = self.rules.end_of_kind
        for sight in sights:
            counts, seat = sight.counts, sight.seat
            most = max([count for other, count in enumerate(counts) if other != seat])
            last, end, threshold = "", 0, 0
            for code in sight.plays:
                slot += 1
                kind = kinds[rows[slot]]
                if kind != last or code >= end or limits:
                    last, end = kind, ends(code)
                    threshold = against(code, kind, sight.unseen, most)
                if code | full >= threshold:
                    bosses.append(slot)
            slot += 1
        if bosses:
            plays[bosses, _BOSS] = 1


def _slots(ruleset: Ruleset, slots: int | None) -> int:
    most = 1 + most_plays(ruleset)
    if slots is None and most > MOST_SLOTS:
        raise LearningError(
            f"slots: a hand may have {most - 1} plays under {ruleset.label}; say how many slots"
        )
    if slots is not None and not 2 <= slots <= most:
        raise LearningError(f"slots: must be from 2 to {most} under {ruleset.label}, not {slots}")
    return slots or most


@lru_cache(maxsize=256)
def seats_from(seat: int, step: int, players: int) -> tuple[int, ...]:
    """Return all seats in order of play, ``seat`` first."""
    return tuple((seat + step * turn) % players for turn in range(players))
