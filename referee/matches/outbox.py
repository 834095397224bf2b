"""What waits to be sent to one bot, and when it may be sent."""

from collections import deque
from collections.abc import Callable

from referee.matches.events import Event, Turn
from referee.native import native

HOLD_SECONDS = 0.010
"""How old a message must be before the next one is sent to a bot that still owes all its answers."""


@native(allow_interpreted_subclasses=True)
class Outbox:
    """The events for one stream, gathered into batches by the hold rule.

    The next message is held back while the bot owes answers, has sent fewer than half as many answers since
    the last message as that had turns, and that message is younger than ``HOLD_SECONDS``. Under load this
    makes batches grow, because the answers to one message lead to the turns of the next; it costs a lone
    session nothing.
    """

    __slots__ = ("_awaited", "_sent_at", "_wake", "events", "owed")

    def __init__(self, wake: Callable[[], None]) -> None:
        self.events: list[Event] = []
        """The events that wait, oldest first."""
        self._awaited = 0
        self._sent_at = 0.0
        self._wake = wake
        self.owed: set[int] = set()
        """Sessions in which the bot was sent a turn that it has not answered."""

    def put(self, event: Event) -> None:
        """Add an event, and wake the writer if that may change anything for it."""
        events = self.events
        events.append(event)
        if len(events) == 1 or not self.owed:
            self._wake()

    def note_sent(self, turns: int) -> None:
        """Note how many turns the last batch held."""
        self._awaited = (turns + 1) // 2

    def heard(self, answers: int) -> None:
        """Note that the bot has sent answers, which may release the next message."""
        self._awaited -= answers
        if self.events and self._awaited <= 0:
            self._wake()

    def hold(self, now: float) -> float:
        """Return for how many seconds to hold the next message back; 0 if it may go."""
        if self._awaited <= 0 or not self.owed:
            return 0.0
        return max(0.0, self._sent_at + HOLD_SECONDS - now)

    def take(self, now: float) -> list[Event]:
        """Take the batch to be sent now, oldest event first; empty if nothing waits."""
        batch, self.events = self.events, []
        if batch:
            self._sent_at = now
        return batch

    def put_back(self, events: list[Event]) -> None:
        """Put back what did not fit into the message; it goes first into the next one."""
        self.events[:0] = events
        self._awaited = 0
        self._wake()

    def __len__(self) -> int:
        return len(self.events)


class TurnQueue(Outbox):
    """Keeps the turns of seats without a stream in the order in which they are asked."""

    __slots__ = ("turns",)

    def __init__(self) -> None:
        super().__init__(lambda: None)
        self.turns: deque[Turn] = deque()

    def put(self, event: Event) -> None:
        """Add a turn."""
        if isinstance(event, Turn):
            self.turns.append(event)
