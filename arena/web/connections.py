"""Limits for connections: how long one without a request stays open, and how many a peer may have."""

import asyncio
from collections import Counter

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from referee.hosts import host_at

HEAD_SECONDS = 20.0
"""Maximum time for the head of a request, from the start of the connection or the head's first byte."""

MOST_OF_PEER = 500
"""Maximum number of concurrent connections from one host; further ones are closed."""


def bounded(*, by_peer: bool) -> type[H11Protocol]:
    """Return the protocol class for a server's connections; ``by_peer`` limits those of each peer."""
    opened: Counter[str] = Counter()

    class Connection(H11Protocol):
        """A connection that is closed if no request comes."""

        _late: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            """Accept the connection, or close it if its peer has too many."""
            super().connection_made(transport)
            if self.client is not None:
                host = host_at(self.client[0])
                opened[host] += 1
                if by_peer and opened[host] > MOST_OF_PEER:
                    transport.close()
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            """Forget the connection."""
            super().connection_lost(exc)
            self._heed()
            if self.client is not None:
                host = host_at(self.client[0])
                opened[host] -= 1
                if not opened[host]:
                    del opened[host]

        def data_received(self, data: bytes) -> None:
            """Take bytes; from the first byte of a head on, the rest has to come in time."""
            super().data_received(data)
            cycle: RequestResponseCycle | None = self.cycle
            if cycle is None or cycle.response_complete:
                self._watch()
            else:
                self._heed()

        def on_response_complete(self) -> None:
            """Wait for the next request, for as long as the server lets connections be idle."""
            self._heed()
            super().on_response_complete()

        def _watch(self) -> None:
            if self._late is None:
                self._late = self.loop.call_later(HEAD_SECONDS, self.transport.close)

        def _heed(self) -> None:
            if self._late is not None:
                self._late.cancel()
                self._late = None

    return Connection
