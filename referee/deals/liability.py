"""Who pays for all: whoever ignored the precaution before the next seat went out (pagat.com, "Scoring")."""

from collections.abc import Sequence

from referee.deals.action import Entry
from referee.rules.plays import Rules


class Liability:
    """Remembers who last ignored the precaution, and which seat must go out next for that to count."""

    __slots__ = ("_action", "_following", "_seat")

    def __init__(self) -> None:
        self._seat: int | None = None
        self._following = self._action = -1

    def copy(self) -> "Liability":
        """Return an independent copy."""
        other = Liability()
        other.ignored(self._seat, self._following, self._action)
        return other

    def ignored(self, seat: int | None, following: int, action: int) -> None:
        """Note that ``seat`` ignored the precaution in the action of this index, with ``following`` next."""
        self._seat, self._following, self._action = seat, following, action

    def payer(self, rules: Rules, log: Sequence[Entry]) -> int | None:
        """Return who pays after the last action of ``log`` ended the deal; None for nobody.

        The next seat must have gone out with a single, with no other action in between.
        """
        seat, cards, _, _ = log[-1]
        at_once = self._action == len(log) - 2 and seat == self._following
        return self._seat if at_once and rules.count(cards) == 1 else None
