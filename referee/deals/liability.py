"""Who pays for all: who ignored the precaution before the next seat went out (pagat.com, "Scoring")."""

from collections.abc import Sequence

from referee.deals.action import Entry
from referee.rules.plays import Rules


class Liability:
    """Remembers who last ignored the precaution, and whose next action it counts for."""

    __slots__ = ("_action", "_following", "_seat")

    def __init__(self) -> None:
        self._seat: int | None = None
        self._following = self._action = -1

    def copy(self) -> "Liability":
        """Return a liability that goes on by itself."""
        other = Liability()
        other.ignored(self._seat, self._following, self._action)
        return other

    def ignored(self, seat: int | None, following: int, action: int) -> None:
        """Note that ``seat`` ignored it in the action of this index, with ``following`` next."""
        self._seat, self._following, self._action = seat, following, action

    def payer(self, rules: Rules, log: Sequence[Entry]) -> int | None:
        """Return who pays, the deal having been played out by the last action of ``log``; None for nobody.

        The next seat must have gone out with a single, no other action coming between.
        """
        seat, cards, _, _ = log[-1]
        at_once = self._action == len(log) - 2 and seat == self._following
        return self._seat if at_once and rules.count(cards) == 1 else None
