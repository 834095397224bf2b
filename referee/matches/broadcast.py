"""What spectators of a match are shown: encoded once for all of them, bounded, and read at their own pace."""

from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice

from referee.matches.events import LeftOut, Sight

Encoder = Callable[[Sight], bytes]
"""Encodes what spectators see as a message; such messages can be concatenated into one with everything."""

BACKLOG = 2000
"""How many updates are kept for slow spectators; those who fall further behind are told how many they missed.
"""
BATCH = 500
"""The most updates in one message."""
FRESH = 500
"""How many updates old the picture for newcomers may be; they get those updates after it."""


class Broadcast:
    """A match as spectators see it. The cost of an update does not depend on how many there are."""

    def __init__(self, sights: Callable[[], Sequence[Sight]], encode: Encoder) -> None:
        """Create a broadcast; ``sights`` returns what a newcomer must be shown first."""
        self.encode = encode
        self.over = False
        self.spectators = 0
        self._sights = sights
        self._updates: deque[bytes] = deque(maxlen=BACKLOG)
        self.end = 0
        """Number of the next update."""
        self._picture: list[bytes] = []
        self._picture_at = -FRESH - 1

    @property
    def start(self) -> int:
        """Number of the oldest update that is kept."""
        return self.end - len(self._updates)

    def show(self, sight: Sight) -> None:
        """Add an update."""
        self._updates.append(self.encode(sight))
        self.end += 1

    def join(self) -> "Spectator":
        """Return a new spectator, who first sees how the tables stand."""
        self.spectators += 1
        if self.end - self._picture_at > FRESH:
            self._picture = [self.encode(sight) for sight in self._sights()]
            self._picture_at = self.end
        return Spectator(self, self._picture, self._picture_at)

    def leave(self) -> None:
        """Note that a spectator has left."""
        self.spectators -= 1
        if not self.spectators:
            self._picture_at = -FRESH - 1  # what happens while nobody looks is not an update

    def updates(self, since: int) -> list[bytes]:
        """Return up to a batch of the kept updates from number ``since`` on."""
        first = since - self.start
        return list(islice(self._updates, first, first + BATCH))


class Spectator:
    """Someone who follows a match."""

    def __init__(self, broadcast: Broadcast, picture: Sequence[bytes], at: int) -> None:
        self._broadcast = broadcast
        self._picture = picture
        self._drawn = 0
        self._at = at

    @property
    def done(self) -> bool:
        """Whether everything was seen and nothing will follow."""
        caught_up = self._drawn == len(self._picture) and self._at == self._broadcast.end
        return self._broadcast.over and caught_up

    def take(self) -> bytes:
        """Return the next WatchMatchResponse, encoded; empty when there is nothing new."""
        if self._drawn < len(self._picture):
            first, self._drawn = self._drawn, min(self._drawn + BATCH, len(self._picture))
            return b"".join(self._picture[first : self._drawn])
        parts: list[bytes] = []
        missed = self._broadcast.start - self._at
        if missed > 0:
            parts.append(self._broadcast.encode(LeftOut(missed)))
            self._at = self._broadcast.start
        updates = self._broadcast.updates(self._at)
        self._at += len(updates)
        return b"".join(parts + updates)
