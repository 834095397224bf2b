"""The live streams of the bots at a referee, and the seats that each bot has at its tables."""

from collections import deque
from collections.abc import Iterator, Mapping

from referee.errors import ConnectionRefused
from referee.matches.connection import PING_SECONDS, Connection
from referee.matches.match import Presence
from referee.matches.seat import Seat
from referee.matches.uplink import Uplink
from referee.ruleset.model import Ruleset

MAX_SESSIONS = 256
"""How many sessions at once one bot gets on one referee, unless it asks for fewer."""
PENALTY_SECONDS = 10.0
"""How long a bot that was cut off for flooding has to stay away."""


class Connections:
    """At most one live connection for each bot version. A bot keeps its seats while it is away."""

    def __init__(self) -> None:
        self._live: dict[int, Connection] = {}
        self._seats: dict[int, dict[int, Seat]] = {}
        """By version and handle of the session; a live connection holds its version's dictionary too."""
        self.uplink = Uplink(self._live)
        self._penalties: dict[int, float] = {}
        self._to_ping: deque[tuple[float, Connection]] = deque()

    def __iter__(self) -> Iterator[Connection]:
        return iter(self._live.values())

    def add(self, connection: Connection, now: float) -> None:
        """Take in a bot's stream. Raise ConnectionRefused if the bot has a live one already."""
        version = connection.identity.version_id
        if version in self._live:
            raise ConnectionRefused(f"{connection.identity.name} has a live connection already")
        self._live[version] = connection
        self.uplink.came(connection)
        connection.seats = self._seats.setdefault(version, {})
        connection.probe()
        self._to_ping.append((now + PING_SECONDS, connection))

    def remove(self, connection: Connection, now: float, *, broken: bool) -> bool:
        """Forget a stream, which holds no seats from now on; return whether it was live.

        It is ``broken`` unless its bot or the referee wanted it to end.
        """
        version = connection.identity.version_id
        if self._live.get(version) is not connection:
            return False
        del self._live[version]
        self.uplink.left(connection, now, broken=broken)
        connection.seats = {}
        self._forget_empty(version)
        return True

    def get(self, version: int) -> Connection | None:
        """Return the live connection of a bot version."""
        return self._live.get(version)

    def versions(self) -> list[int]:
        """Return the bot versions that are connected."""
        return list(self._live)

    def presence(self, version: int) -> Presence:
        """Return the presence of a bot version here; one that an outage silenced is not connected."""
        connection = self._live.get(version)
        if connection in self.uplink.missing():
            connection = None
        most = connection.max_sessions if connection is not None else 0
        return Presence(connection is not None, most, len(self.seats(version)))

    def thinking(self, version: int, now: float) -> float:
        """Return how long, in seconds, the longest open decision of a bot version has taken so far."""
        seats = self.seats(version).values()
        return max((seat.clock.elapsed(now) for seat in seats if seat.turn is not None), default=0.0)

    # Seats

    def seats(self, version: int) -> Mapping[int, Seat]:
        """Return the seats of a bot version, by the handles of their sessions."""
        return self._seats.get(version, {})

    def sit(self, version: int, handle: int, seat: Seat) -> None:
        """Give a bot version a seat in a session."""
        self._seats.setdefault(version, {})[handle] = seat

    def leave(self, version: int, handle: int, *, early: bool = False) -> None:
        """Take a bot version's seat in a session away; ``early`` if the session was void or forfeited."""
        self._seats[version].pop(handle).leave()
        connection = self._live.get(version)
        if early and connection is not None:
            connection.note_over(handle)
        self._forget_empty(version)

    def why_absent(self, version: int, ruleset: Ruleset, least: int = 1) -> str:
        """Return why a bot version cannot be given a session of a ruleset, as a verb phrase; empty if it can.

        ``least`` is how many sessions at once it must accept here.
        """
        connection = self._live.get(version)
        if connection is None:
            return "was not connected"
        if not connection.max_sessions:
            return "took no sessions at this referee"
        if connection.max_sessions < least:
            return f"took {connection.max_sessions} sessions at once at this referee, fewer than {least}"
        lacks = connection.lacks(ruleset)
        return f"could not play the ruleset (it asks for {'; '.join(lacks)})" if lacks else ""

    def has_room(self, version: int, reserved: int = 0) -> bool:
        """Return whether a bot version can have one more session while ``reserved`` are kept for others."""
        connection = self._live.get(version)
        most = MAX_SESSIONS if connection is None else connection.room
        return len(self.seats(version)) + reserved < (most or MAX_SESSIONS)

    def _forget_empty(self, version: int) -> None:
        if version not in self._live and not self._seats.get(version):
            self._seats.pop(version, None)

    # Penalties

    def penalise(self, version: int, now: float) -> None:
        """Keep a bot version out for ``PENALTY_SECONDS``."""
        self._penalties[version] = now + PENALTY_SECONDS

    def penalty(self, version: int, now: float) -> float:
        """Return for how many seconds a bot version is still kept out."""
        until = self._penalties.get(version)
        if until is None:
            return 0.0
        if until <= now:
            del self._penalties[version]
        return max(0.0, until - now)

    # Time

    def ping(self, now: float) -> list[Connection]:
        """Ping the streams whose turn it is; return those that are lost instead."""
        lost = []
        while self._to_ping and self._to_ping[0][0] <= now:
            _, connection = self._to_ping.popleft()
            if self._live.get(connection.identity.version_id) is not connection:
                continue
            if connection.is_lost(now):
                lost.append(connection)
            else:
                connection.probe()
                self._to_ping.append((now + PING_SECONDS, connection))
        return lost

    def delay(self, seconds: float) -> None:
        """Note that the referee was away for ``seconds``."""
        for connection in self._live.values():
            connection.delay(seconds)
        self.uplink.delay(seconds)
