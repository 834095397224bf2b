"""Worlds: what the others may hold, given what was seen.

In a world, every seat has its true number of cards, among them those that are known. Hands with which a seat
would hardly have passed when it did are sampled less often.
"""

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from referee.helpers.unseen import stronger_singles
from referee.position import Position

__all__ = ["PASSED", "PASSED_TOP", "World", "Worlds"]

PASSED = 0.35
"""How likely a seat is to pass that can beat the play, compared with one that cannot."""
PASSED_TOP = 0.8
"""The same if only cards of the highest rank beat the play, which many bots keep back."""
TRIES = 6
"""How many times the hidden cards are dealt for a world; one of these is chosen."""


class World(NamedTuple):
    """Hands consistent with what was seen."""

    hands: list[int]
    """The whole hands, as masks by seat."""
    taken: list[int]
    """The cards in these hands that are not known, as masks by seat."""
    stock: list[int]
    """The indices of all other unknown cards: the stock is taken from them, the last one first."""


class Worlds:
    """Samples worlds of one position."""

    def __init__(
        self,
        position: Position,
        random: Random,
        known: Sequence[int] = (),
        *,
        weighs_passes: bool = True,
    ) -> None:
        """Prepare for ``position``; ``known`` has, by seat, the mask of further cards that it surely holds.

        These are cards given in an exchange, or leftover cards that were shown when a seat took them. Cards
        that it has played since may be among them. Without ``weighs_passes``, passes have no influence.
        """
        rules = self._rules = position.rules
        self._position, self._random = position, random
        self._hands = position.hands
        self._hidden = list(position.hidden)
        self.sure = [0] * len(self._hidden)
        """By seat, the mask of the cards that it is known to hold besides."""
        pool = position.unseen
        for seat, mask in enumerate(known):
            for card in rules.cards(mask):
                if card in pool and self._hidden[seat]:
                    pool.remove(card)
                    self.sure[seat] = rules.add(self.sure[seat], rules.mask([card]))
                    self._hidden[seat] -= 1
        self._pool = [rules.mask([card]) for card in pool]
        self._indices = dict(zip(self._pool, pool, strict=True))
        self._stronger = stronger_singles(rules)
        self._passes = self._passed(position) if weighs_passes else []

    def sample(self) -> World:
        """Draw a world at random."""
        add = self._rules.add
        chosen, stock = self._dealt()
        total = self._weight(chosen)
        for _ in range(TRIES - 1 if self._passes else 0):
            taken, rest = self._dealt()
            weight = self._weight(taken)
            total += weight
            if self._random.random() * total < weight:
                chosen, stock = taken, rest
        return World([add(hand, some) for hand, some in zip(self._hands, chosen, strict=True)], chosen, stock)

    def position(self, world: World) -> Position:
        """Return the complete position of a world."""
        return self._position.with_cards(world.taken, world.stock)

    def _passed(self, position: Position) -> list[tuple[int, int, int]]:
        """Return, for each pass on a single, the seat and the ordinary and the top cards that beat it."""
        rules = self._rules
        top, passed, to_beat = rules.tops, [], 0
        for action in position.actions:
            if action.cards:
                to_beat = rules.code(action.cards)
            elif self._hidden[action.seat] and (stronger := self._stronger.get(to_beat)):
                passed.append((action.seat, stronger & ~top, stronger & top))
        return passed

    def _weight(self, taken: Sequence[int]) -> float:
        weight = 1.0
        for seat, ordinary, top in self._passes:
            if taken[seat] & ordinary:
                weight *= PASSED
            elif taken[seat] & top:
                weight *= PASSED_TOP
        return weight

    def _dealt(self) -> tuple[list[int], list[int]]:
        rules, chance = self._rules, self._random.random
        order = {chance(): card for card in self._pool}  # faster than shuffling
        pool = [order[key] for key in sorted(order)]
        taken, place = [], 0
        for hidden, sure in zip(self._hidden, self.sure, strict=True):
            some = rules.joined(pool[place : place + hidden])
            taken.append(rules.add(sure, some) if sure else some)
            place += hidden
        return taken, [self._indices[card] for card in pool[place:]]
