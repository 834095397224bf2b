"""The cards not dealt, as a pile to draw from."""

from collections.abc import Sequence

from referee.action import Entry
from referee.plays import Rules
from referee.shuffle import shuffle

MOST_RESTOCKS = 10
"""How often in a deal the cards of finished tricks may become the stock."""


class Stock:
    """A deal's stock; its length is the number of cards still to be drawn."""

    __slots__ = ("_cards", "_decks", "_restocks", "_rules", "_seed", "_used")

    def __init__(self, rules: Rules, seed: bytes, leftover: Sequence[int]) -> None:
        """Hold the indices of ``leftover``, drawn from its front, where the rules have a stock."""
        self._rules = rules
        self._seed = seed
        self._cards = list(reversed(leftover)) if rules.ruleset.leftover == "stock" else []
        self._restocks = 0
        self._used = 0
        self._decks = rules.decks

    def __len__(self) -> int:
        return len(self._cards)

    def draw(self, wanted: int, log: Sequence[Entry], finished: int) -> int:
        """Take up to ``wanted`` cards; return their mask.

        The first ``finished`` of the deal's log belong to finished tricks: where the rules say so, their
        cards, shuffled, become the stock whenever a card is due and there is none.
        """
        if wanted == 1 and self._cards:  # by far the most frequent draw
            return 1 << self._cards.pop() * self._decks
        drawn: list[int] = []
        while len(drawn) < wanted and (self._cards or self._restock(log, finished)):
            drawn.append(self._cards.pop())
        return self._rules.mask(drawn) if drawn else 0

    def _restock(self, log: Sequence[Entry], finished: int) -> bool:
        if not self._rules.ruleset.restock or self._restocks == MOST_RESTOCKS:
            return False
        aside = log[self._used : finished]
        cards = [card for entry in aside for card in self._rules.cards(entry[1])]
        if not cards:
            return False
        shuffle(self._seed, f"restock/{self._restocks}", cards)
        self._cards = cards[::-1]
        self._restocks += 1
        self._used = finished
        return True
