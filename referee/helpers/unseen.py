"""The cards that a seat has not seen, and what they can beat; which single cards beat which."""

from collections.abc import Sequence

from referee.deals.facts import stronger_singles
from referee.rules.plays import Rules

__all__ = ["Unseen", "stronger_singles"]


MOST_LISTED = 44
"""The most unseen cards of one pack whose plays are looked at; of two packs, half as many, and so on."""

SHORT = 3
"""The most cards of the plays that ``Rules.list_short`` lists."""


class Unseen:
    """Answers whether unseen cards can beat a play, given how many cards the others hold.

    The answer errs on one side only: a play reported as boss is one, but some bosses are missed.
    """

    def __init__(self, rules: Rules, cards: int, counts: Sequence[int]) -> None:
        """Prepare for the mask of the unseen ``cards`` and the numbers of cards that the other seats hold."""
        self._rules = rules
        self.cards = cards
        self._most = max(counts, default=0)
        self._short: list[int] | None = None
        self._all: list[int] | None = None
        self._is_many = rules.count(cards) * rules.decks > MOST_LISTED

    def may_beat(self, code: int) -> bool:
        """Return whether some seat may hold a play that beats this one."""
        rules, most = self._rules, self._most
        size = (code & rules.full).bit_count()
        bombs = rules.ruleset.bombs
        if size > most and not bombs:
            return False
        if most <= SHORT or (size <= SHORT and not bombs):
            if self._short is None:
                self._short = rules.list_short(self.cards)
            return _has_better(rules, self._short, code, most)
        if self._is_many:
            return True
        if self._all is None:
            self._all = [code for code, _ in rules.tally(self.cards)]
        return _has_better(rules, self._all, code, most)

    def is_boss(self, code: int) -> bool:
        """Return whether no unseen cards beat this play."""
        return not self.may_beat(code)


def _has_better(rules: Rules, plays: list[int], code: int, most: int) -> bool:
    return any((play & rules.full).bit_count() <= most for play in rules.following(plays, code))
