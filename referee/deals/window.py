"""Who may bomb the last play out of turn, and what they answered."""

from collections.abc import Sequence


class Window:
    """The answers of the seats asked; its course does not reveal who holds a bomb."""

    __slots__ = ("_bombs", "_order", "waiting")

    def __init__(self, order: Sequence[int]) -> None:
        """Ask the seats of ``order``, the first having precedence."""
        self.waiting = tuple(order)
        """The seats that have not answered yet."""
        self._order = self.waiting
        self._bombs: dict[int, int] = {}

    def copy(self) -> "Window":
        """Return an independent copy with the same answers."""
        other = Window(self._order)
        other.waiting, other._bombs = self.waiting, dict(self._bombs)
        return other

    @property
    def answers(self) -> tuple[tuple[int, int], ...]:
        """Seats and codes (0: declined) of the answers given."""
        return tuple([(seat, self._bombs.get(seat, 0)) for seat in self._order if seat not in self.waiting])

    def key(self) -> tuple[object, ...]:
        """Return a value that is equal for windows that go on alike."""
        return self.waiting, self.answers

    def answer(self, seat: int, code: int) -> bool:
        """Note the bomb of ``seat``, or 0 if it declines; return whether all have answered."""
        place = self.waiting.index(seat)
        self.waiting = self.waiting[:place] + self.waiting[place + 1 :]
        if code:
            self._bombs[seat] = code
        return not self.waiting

    def bomb(self) -> tuple[int, int] | None:
        """Return the seat whose bomb is played and the bomb's code; None if all declined."""
        if not self._bombs:
            return None
        seat = min(self._bombs, key=self._order.index)
        return seat, self._bombs[seat]


CLOSED = Window(())
"""The window of a play that nobody may bomb out of turn."""
