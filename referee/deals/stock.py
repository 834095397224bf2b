"""The cards not dealt, as a pile to draw from."""

from collections.abc import Sequence

from referee.deals.action import Entry
from referee.deals.shuffle import shuffle
from referee.rules.plays import Rules
from referee.ruleset.limits import MOST_RESTOCKS


class Stock:
    """A deal's stock; its length is the number of cards still to be drawn."""

    __slots__ = ("_cards", "_restocks", "_rules", "_seed", "_used")

    def __init__(self, rules: Rules, seed: bytes, leftover: Sequence[int]) -> None:
        """Hold the cards of ``leftover``, each a mask, to be drawn from the front."""
        self._rules = rules
        self._seed = seed
        self._cards = list(reversed(leftover))
        self._restocks = 0
        self._used = 0

    def __len__(self) -> int:
        return len(self._cards)

    @property
    def cards(self) -> tuple[int, ...]:
        """The cards still to be drawn, each as a mask, next card first."""
        return tuple(reversed(self._cards))

    def copy(self, cards: Sequence[int] | None = None) -> "Stock":
        """Return an independent copy, with ``cards`` instead if they are given."""
        other = Stock(self._rules, self._seed, self.cards if cards is None else cards)
        other._restocks, other._used = self._restocks, self._used
        return other

    def draw(self, wanted: int, log: Sequence[Entry], finished: int) -> int:
        """Take up to ``wanted`` cards; return their mask.

        The first ``finished`` entries of the deal's log belong to finished tricks: if the rules have a
        restock, their cards are shuffled and become the stock whenever a card is due and there is none.
        """
        if wanted == 1 and self._cards:  # by far the most frequent draw
            return self._cards.pop()
        drawn = 0
        while wanted and (self._cards or self._restock(log, finished)):
            drawn = self._rules.add(drawn, self._cards.pop())
            wanted -= 1
        return drawn

    def _restock(self, log: Sequence[Entry], finished: int) -> bool:
        if not self._rules.ruleset.restock or self._restocks == MOST_RESTOCKS:
            return False
        aside = log[self._used : finished]
        cards = [card for entry in aside for card in self._rules.cards(entry[1])]
        if not cards:
            return False
        shuffle(self._seed, f"restock/{self._restocks}", cards)
        self._cards = [self._rules.mask([card]) for card in reversed(cards)]
        self._restocks += 1
        self._used = finished
        return True
