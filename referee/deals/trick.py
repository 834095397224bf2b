"""The current trick: what is to be beaten, who may still do so, and who may bomb it out of turn."""

from collections.abc import Sequence

from referee.deals.action import NOBODY


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


class Trick:
    """The play to beat, who played it, and who is locked out."""

    __slots__ = ("_hands", "_next", "last_seat", "locked", "to_beat", "window")

    def __init__(self, order: Sequence[int], hands: Sequence[int]) -> None:
        """Begin with a lead. ``order`` has the next seat by seat; ``hands`` is shared, not copied."""
        self._next, self._hands = order, hands
        self.window = CLOSED
        """Who may bomb the last play out of turn."""
        self.begin()

    def begin(self) -> None:
        """Forget the last trick: a lead comes next, and everybody may follow."""
        self.to_beat = 0
        """Code of the trick's last play; 0 when leading."""
        self.last_seat = NOBODY
        """Who made that play."""
        self.locked = 0
        """The seats, as bits, that may not act until the trick ends."""

    def copy(self, hands: Sequence[int]) -> "Trick":
        """Return an independent copy that reads these hands."""
        other = Trick.__new__(Trick)
        other._next, other._hands = self._next, hands
        other.to_beat, other.last_seat, other.locked = self.to_beat, self.last_seat, self.locked
        other.window = self.window if self.window is CLOSED else self.window.copy()
        return other

    def after(self, seat: int, stop: int) -> int:
        """Return the next seat that holds cards and is not locked out; ``stop`` if that comes first."""
        order, hands, locked = self._next, self._hands, self.locked
        seat = order[seat]
        while seat != stop and (not hands[seat] or locked >> seat & 1):
            seat = order[seat]
        return seat

    def others(self, seat: int) -> list[int]:
        """Return, in order of play, all seats after ``seat`` that hold cards and are not locked out."""
        order, hands, locked = self._next, self._hands, self.locked
        seats = []
        other = order[seat]
        while other != seat:
            if hands[other] and not locked >> other & 1:
                seats.append(other)
            other = order[other]
        return seats

    def lock_all(self) -> None:
        """Lock every seat out, as all have passed."""
        self.locked = (1 << len(self._hands)) - 1
