"""Watches a referee's port: breaks off connections that send too much, and keeps their hosts out."""

import asyncio
import logging
from collections.abc import Collection, Iterable
from contextlib import AbstractContextManager

from referee.matches.lobby import Lobby
from referee.service import sockets
from referee.service.endings import Endings
from referee.service.peers import CallContext, peer_of
from referee.service.stream import clock
from referee.service.traffic import Traffic

LOOK_SECONDS = 0.1
"""How often the connections are checked."""
AGAIN_SECONDS = 0.02
"""How soon they may be checked again if a call was one too many."""
SHARE = 0.01
"""Which share of the time the checks may take."""
LOG_SECONDS = 60.0
"""How long the log does not name the same host again, in seconds."""

log = logging.getLogger("referee")


class Gate:
    """What a referee knows about its connections, and does about them."""

    def __init__(self, lobby: Lobby) -> None:
        self._lobby = lobby
        self._traffic = Traffic()
        self._port = 0
        self._looked_at = 0.0
        self._refused: set[str] = set()
        self._logged: dict[str, float] = {}
        self._watching: asyncio.Task[None] | None = None
        self._endings: Endings | None = None

    def start(self, port: int) -> None:
        """Begin to watch a port."""
        self._port = port
        self._endings = Endings(port)
        self._watching = asyncio.create_task(self._keep_watching())

    def stop(self) -> None:
        """Stop watching."""
        if self._watching is not None:
            self._watching.cancel()
        if self._endings is not None:
            self._endings.close()
            self._endings = None

    def playing(self, context: CallContext, version: int) -> AbstractContextManager[None]:
        """Treat the connection of a bot's stream as known while the block runs."""
        return self._traffic.playing(peer_of(context), version, clock())

    def called(self, context: CallContext, headers: int = 0) -> None:
        """Note that a call came; ``headers`` is what its headers came to, if that was too much."""
        now = clock()
        if self._traffic.called(peer_of(context), now, headers) and now >= self._looked_at + AGAIN_SECONDS:
            self._look(now)

    def lasting(self, context: CallContext) -> AbstractContextManager[None]:
        """Count a call only if its client breaks it off before the block ends."""
        return self._traffic.lasting(peer_of(context), clock)

    def know(self, context: CallContext) -> None:
        """Treat the connection of a call as known from now on: it has presented a token of the arena."""
        self._traffic.know(peer_of(context), clock())

    def cut(self, context: CallContext) -> None:
        """Break off the connection of a call that takes nothing, unless it is known."""
        peer = peer_of(context)
        if peer is not None and not self._traffic.knows(peer):
            for connection in sockets.connections(self._port):
                if connection.peer == peer:
                    sockets.abort(connection)

    async def _keep_watching(self) -> None:
        while True:
            begun = clock()
            try:
                self._look(begun)
            except Exception:
                log.exception("the connections cannot be checked")
            await asyncio.sleep(max(LOOK_SECONDS, (clock() - begun) / SHARE))

    def _look(self, now: float) -> None:
        self._looked_at = now
        if self._endings is not None:
            self._traffic.ended(self._endings.take(), now)
        for connection in self._traffic.look(sockets.connections(self._port), now):
            self._cut_off(self._traffic.bots(connection.peer), now)
            sockets.abort(connection)
        barred = self._traffic.barred
        if barred != self._refused:
            sockets.refuse(self._port, barred)
            self._tell(barred, now)
            self._refused = barred

    def _cut_off(self, versions: Iterable[int], now: float) -> None:
        """Keep bots that flood out for a while."""
        for version in versions:
            bot = self._lobby.connection(version)
            if bot is not None:
                self._lobby.cut_off(bot, "too many bytes", now)

    def _tell(self, hosts: Collection[str], now: float) -> None:
        """Log which hosts are kept out."""
        self._logged = {host: at for host, at in self._logged.items() if now - at < LOG_SECONDS}
        for host in hosts:
            if host not in self._logged:
                self._logged[host] = now
                log.warning("%s sends too much; its connections are aborted until it sends less", host)
