"""The bots that forfeited a session which goes on without them."""

from collections.abc import Callable, Sequence

from referee.deals.action import Forfeit
from referee.deals.deal import Deal
from referee.deals.substitutes import Substitutes
from referee.matches.match import Limits
from referee.records.record import played_for


class Forfeits:
    """Which seats are played for, since when, and what acts for the seats that are not asked."""

    __slots__ = ("_limits", "_seats", "act", "all")

    def __init__(self, limits: Limits, seats: int) -> None:
        self._limits = limits
        self._seats = seats
        self.all: list[Forfeit] = []
        """In the order in which they came."""
        self.act: Callable[[Deal], None] | None = None if limits.ask_forced else Deal.act_for_forced
        """Acts for seats that are not asked: those that are forced, and those that are played for."""

    def add(self, *forfeits: Forfeit) -> None:
        """Play for the seats of more bots from now on."""
        if forfeits:
            self.all += forfeits
            limits = self._limits
            self.act = Substitutes(self.seats, limits.on_forfeit, forced=not limits.ask_forced)

    @property
    def seats(self) -> set[int]:
        """The seats that are played for."""
        return {forfeit.seat for forfeit in self.all}

    def goes_on_without(self, seats: Sequence[int]) -> bool:
        """Return whether the session goes on if the bots in these seats, too, forfeit it."""
        return self._limits.on_forfeit != "end_session" and len(self.seats | {*seats}) < self._seats

    def recorded(self) -> list[dict[str, object]]:
        """Return the forfeits in the form of a deal's record."""
        return played_for(self.all, self._limits.on_forfeit)
