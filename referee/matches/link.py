"""How a table reaches its bots, its match and its authors' logs."""

from collections.abc import Callable

from referee.matches.clock import Alarms
from referee.matches.connections import Connections
from referee.matches.events import (
    Event,
    Fault,
    Notice,
    SessionEnded,
    SessionInfo,
    Sight,
    event_entry,
)
from referee.matches.journal import Journal
from referee.matches.kinds import FaultKind
from referee.matches.match import Signed
from referee.matches.running import Match

_NOTED = frozenset((Fault, Notice))
"""Events that authors may read later."""
_SETTLING = frozenset((Fault, SessionEnded))
"""Events after which a bot owes the session nothing."""


class TableLink:
    """The ``TableEvents`` of one table at a referee."""

    # fmt: off
    __slots__ = (
        "_alarms", "_connections", "_finished", "_info", "_journal", "_match", "_sign", "_versions",
    )
    # fmt: on

    def __init__(
        self,
        info: SessionInfo,
        match: Match,
        versions: list[int],
        connections: Connections,
        alarms: Alarms,
        journal: Journal,
        sign: Callable[[str], Signed],
        finished: Callable[[], None],
    ) -> None:
        """Create a link; ``versions`` are the bots by seat, ``finished`` is called at the session's end."""
        self._info = info
        self._match = match
        self._versions = versions
        self._connections = connections
        self._alarms = alarms
        self._journal = journal
        self._sign = sign
        self._finished = finished

    def send(self, seat: int, event: Event) -> None:
        kind, version = type(event), self._versions[seat]
        if kind in _NOTED:
            assert isinstance(event, Fault | Notice)
            self._journal.add(event_entry(version, self._info, event))
        connection = self._connections.get(version)
        if connection is not None:
            if kind in _SETTLING:
                connection.outbox.owed.discard(self._info.handle)
            connection.outbox.put(event)

    def probe(self, seat: int) -> None:
        connection = self._connections.get(self._versions[seat])
        if connection is not None:
            connection.probe()

    def in_doubt(self, seat: int, ran_out_at: float, now: float) -> bool:
        return self._connections.uplink.in_doubt(self._versions[seat], ran_out_at, now)

    def blame(self, seat: int, handed_at: float | None, now: float) -> FaultKind | None:
        connection = self._connections.get(self._versions[seat])
        if connection is None:
            return FaultKind.DISCONNECT
        if handed_at is None:
            return None if connection.was_ready(now) else FaultKind.STALL
        return FaultKind.STALL if connection.is_stuck(now) else FaultKind.TIMEOUT

    def expect(self, when: float) -> None:
        self._alarms.set(when, self._info.handle)

    def show(self, sight: Sight) -> None:
        self._match.broadcast.show(sight)

    def sign(self, digest: str) -> Signed:
        return self._sign(digest)

    def finished(self) -> None:
        self._finished()
