"""The cards not dealt, as a pile to draw from.

A card that is not known is a blank: a bit beyond those of the pack. ``Position`` is what has such cards.
"""

from collections.abc import Callable, Sequence

from referee.deals.action import Entry
from referee.deals.shuffle import shuffle
from referee.native import native
from referee.rules.plays import Rules
from referee.ruleset.axes.dealing import MOST_RESTOCKS

_GAP = 8
"""Bits between the pack and the blanks, so that no arithmetic on the copies of a card reaches them."""


def blank(rules: Rules, number: int) -> int:
    """Return the mask of the blank with this number, from 0."""
    return 1 << rules.width + _GAP + number


@native(allow_interpreted_subclasses=True)  # else __new__ would call __init__
class Stock:
    """A deal's stock; its length is the number of cards still to be drawn."""

    __slots__ = ("_cards", "_planned", "_rules", "_seed", "_used", "aside", "renewals")

    def __init__(
        self,
        rules: Rules,
        seed: bytes,
        leftover: Sequence[int],
        planned: Sequence[Sequence[int]] = (),
    ) -> None:
        """Hold the cards of ``leftover``, each a mask, to be drawn from the front.

        ``planned`` has the cards of the first renewals, if they are not to come from the seed. Without a
        seed, the cards of the others are blanks.
        """
        self._rules = rules
        self._seed = seed
        self._cards = list(reversed(leftover))
        self._planned = planned
        self._used = 0
        self.renewals: tuple[tuple[int, ...], ...] = ()
        """The cards of the stock after each renewal so far, each as a mask, next card first."""
        self.aside: tuple[int, ...] = ()
        """The mask of the cards that were set aside and became the stock, for each renewal so far."""

    def __len__(self) -> int:
        return len(self._cards)

    @property
    def cards(self) -> tuple[int, ...]:
        """The cards still to be drawn, each as a mask, next card first."""
        return tuple(reversed(self._cards))

    def copy(self) -> "Stock":
        """Return an independent copy."""
        other = Stock.__new__(Stock)
        other._rules, other._seed, other._planned = self._rules, self._seed, self._planned
        other._cards, other._used = self._cards[:], self._used
        other.renewals, other.aside = self.renewals, self.aside
        return other

    def turn_over(self, turned: Callable[[int], int], seed: bytes) -> None:
        """Put other cards in the place of those here; renewals to come follow from ``seed``."""
        self._seed = seed
        self._cards = [*map(turned, self._cards)]
        self.renewals = tuple(tuple(map(turned, cards)) for cards in self.renewals)

    def draw(self, count: int, log: Sequence[Entry], finished: int) -> int:
        """Take up to ``count`` cards; return their mask.

        The first ``finished`` entries of the deal's log belong to finished tricks: if the rules have a
        restock, their cards are shuffled and become the stock whenever a card is due and there is none.
        """
        if count == 1 and self._cards:  # by far the most frequent draw
            return self._cards.pop()
        drawn = 0
        while count and (self._cards or self._restock(log, finished)):
            drawn = self._rules.add(drawn, self._cards.pop())
            count -= 1
        return drawn

    def _restock(self, log: Sequence[Entry], finished: int) -> bool:
        number = len(self.renewals)
        if not self._rules.ruleset.restock or number == MOST_RESTOCKS:
            return False
        rules = self._rules
        cards = [card for entry in log[self._used : finished] for card in rules.cards(entry[1])]
        if not cards:
            return False
        self.aside += (rules.mask(cards),)
        if number < len(self._planned):
            renewed = self._planned[number]
        elif self._seed:
            shuffle(self._seed, f"restock/{number}", cards)
            renewed = [rules.mask([card]) for card in cards]
        else:
            first = len(rules.pack) + sum(map(len, self.renewals))
            renewed = [blank(rules, first + place) for place in range(len(cards))]
        self.renewals += (tuple(renewed),)
        self._cards = list(reversed(renewed))
        self._used = finished
        return True
