"""Watches a referee's port: breaks off connections that send too much, and keeps their hosts out."""

import asyncio
import contextlib
import ctypes
import errno
import logging
import math
import socket
import struct
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager

from referee.matches.auth import BotIdentity
from referee.matches.lobby import Lobby
from referee.processes import descriptors
from referee.protocol.reasons import Reason, Refused
from referee.service import sockets
from referee.service.peers import CallContext, Peer, peer_at, peer_of
from referee.service.sockets import RECEIVED_AT, Connection, attach, equals
from referee.service.stream import clock
from referee.service.traffic import Traffic

_SOCK_DIAG = 4
"""The netlink protocol of ``sock_diag``."""
_CLOSED = 0b101
"""Its groups of closed TCP sockets, of IPv4 and of IPv6."""
_FAMILY, _PORT, _PEER_PORT, _ADDRESS, _ATTRIBUTES = 16, 20, 22, 40, 88
"""Where a message has the family, the two ports and the peer's address, and where its attributes begin."""
_INFO = 2
"""The attribute that holds a ``struct tcp_info``."""
_BYTES = 256 << 10
"""How many bytes the kernel may keep for us; it drops what is beyond that."""


class Endings:
    """The connections of a port that end from now on, as the kernel reports each, even those that nobody saw.

    This is ``sock_diag``'s group of closed sockets, to which anybody may listen on Linux (``ss -E`` does).
    Where it does not exist, no connection seems to end.
    """

    def __init__(self, port: int) -> None:
        self._closings: socket.socket | None = None
        if sys.platform != "linux":
            return
        with contextlib.suppress(OSError):  # a kernel without it
            events = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _SOCK_DIAG)
            try:
                events.setblocking(False)
                events.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BYTES)
                attach(events, equals(_PORT, port))
                events.bind((0, _CLOSED))
            except OSError:
                events.close()
                raise
            self._closings = events

    def take(self) -> list[Connection]:
        """Return the connections that have ended since the last call; their files are closed."""
        return [] if self._closings is None else list(_read_closings(self._closings))

    def close(self) -> None:
        """Stop listening."""
        if self._closings is not None:
            self._closings.close()


def _read_closings(events: socket.socket) -> Iterator[Connection]:
    while True:
        try:
            message = events.recv(4096)
        except OSError as error:
            if error.errno == errno.ENOBUFS:  # there were more than the kernel keeps, which it reports once
                continue
            return
        (port,) = struct.unpack_from(">H", message, _PEER_PORT)
        if port:  # it was no listening socket
            family = message[_FAMILY]
            address = message[_ADDRESS : _ADDRESS + (4 if family == socket.AF_INET else 16)]
            peer = peer_at(socket.inet_ntop(family, address), port)
            yield Connection(-1, peer, _received(message))


def _received(message: bytes) -> int:
    """Return how many bytes the kernel had received, as far as the message says."""
    at = _ATTRIBUTES
    while at + 4 <= len(message):
        length, kind = struct.unpack_from("=HH", message, at)
        if kind == _INFO and length >= 4 + RECEIVED_AT + 8:
            (received,) = struct.unpack_from("=Q", message, at + 4 + RECEIVED_AT)
            return int(received)
        at += max(4, length + 3 & ~3)
    return 0


LOOK_SECONDS = 0.1
"""How often the connections are checked."""
AGAIN_SECONDS = 0.02
"""How soon they may be checked again if a call was one too many."""
SHARE = 0.01
"""Which share of the time the checks may take."""
TRIM_SECONDS, TRIM_FOR = 5.0, 20.0
"""How often memory is given back after connections were broken off, and for how long: gRPC still delivers the
calls that it had read from them."""
LOG_SECONDS = 60.0
"""How long the log does not say the same again, in seconds."""
LEAVE_SECONDS = 1.0
"""How long a connection for which there is no room may take to read that."""

log = logging.getLogger("referee")


def trim_heap() -> None:
    """Give memory that is free back to the system; glibc keeps nearly all of it for later."""
    if sys.platform == "linux":
        with contextlib.suppress(AttributeError):  # another libc
            ctypes.CDLL(None).malloc_trim(0)


class Gate:
    """What a referee knows about its connections, and does about them."""

    def __init__(self, lobby: Lobby) -> None:
        self._lobby = lobby
        self._traffic = Traffic()
        self._port = 0
        self._looked_at = 0.0
        self._refused: set[str] = set()
        self._logged: dict[str, float] = {}
        self._crowded = False
        """Whether descriptors are so few that no more connections can be served."""
        self._aborted_at = self._trimmed_at = -math.inf
        self._leaving: dict[Peer, float] = {}
        """When connections for which there was no room are broken off."""
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

    def playing(self, context: CallContext, bot: BotIdentity) -> AbstractContextManager[None]:
        """Treat the connection of a bot's stream as known while the block runs."""
        owner = bot.name.partition("/")[0]
        return self._traffic.playing(peer_of(context), bot.version_id, clock(), owner)

    def admit(self, context: CallContext) -> None:
        """Raise Refused if there is no room for the connection of a call, which is broken off soon after."""
        peer = peer_of(context)
        if self._crowded and peer is not None and not self._traffic.knows(peer):
            self._leaving[peer] = clock() + LEAVE_SECONDS
            raise Refused(Reason.BUSY, "the referee has no room for more connections")

    def called(self, context: CallContext, headers: int = 0) -> None:
        """Note that a call came; ``headers`` is what its headers came to, if that was too much."""
        now = clock()
        self._look_again(self._traffic.called(peer_of(context), now, headers), now)

    def unpacked(self, context: CallContext, size: int) -> None:
        """Note how large a message of a call is unpacked; gzip can make a thousand bytes of one."""
        now = clock()
        self._look_again(self._traffic.unpacked(peer_of(context), size, now), now)

    def _look_again(self, too_much: bool, now: float) -> None:
        if too_much and now >= self._looked_at + AGAIN_SECONDS:
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
            begun = time.thread_time()  # what it uses: it may wait for a processor while others flood
            try:
                self._look(clock())
            except Exception as error:
                if self._may_log("", clock()):
                    bug = not isinstance(error, OSError)
                    log.error("the connections cannot be checked: %s", error, exc_info=bug)
            await self._trim(clock())
            await asyncio.sleep(max(LOOK_SECONDS, (time.thread_time() - begun) / SHARE))

    async def _trim(self, now: float) -> None:
        """Have memory given back while connections are broken off, and for some time afterwards."""
        if self._trimmed_at + TRIM_SECONDS <= now < self._aborted_at + TRIM_FOR:
            self._trimmed_at = now
            await asyncio.to_thread(trim_heap)

    def _look(self, now: float) -> None:
        self._looked_at = now
        if self._endings is not None:
            self._traffic.ended(self._endings.take(), now)
        connections = sockets.connections(self._port)
        for connection in self._traffic.look(connections, now):
            self._cut_off(self._traffic.bots(connection.peer), now)
            sockets.abort(connection)
            self._aborted_at = now
        self._keep_room(connections, now)
        barred = self._traffic.barred
        if barred != self._refused:
            sockets.refuse(self._port, barred)
            self._tell(barred, now)
            self._refused = barred

    def _keep_room(self, connections: Sequence[Connection], now: float) -> None:
        """Note whether there is room for more connections, and break off those for which there was none.

        If descriptors are about to run out, no connection can be accepted even to be refused; then all those
        are broken off on which no bot plays, and which have shown no token of the arena.
        """
        count, limit = len(connections), descriptors.limit()
        self._crowded = count >= descriptors.room(limit)
        full = count >= limit - descriptors.RESERVE // 2
        for connection in connections if full or self._leaving else ():
            leaves = full or self._leaving.get(connection.peer, math.inf) <= now
            if leaves and not self._traffic.knows(connection.peer):
                sockets.abort(connection)
        self._leaving = {peer: at for peer, at in self._leaving.items() if at > now}
        if self._crowded and self._may_log("room", now):
            log.warning("%d connections are open, and %d descriptors allowed: no bot is let in", count, limit)

    def _may_log(self, what: str, now: float) -> bool:
        """Return whether something was not logged in the last minute; it is, then."""
        self._logged = {text: at for text, at in self._logged.items() if now - at < LOG_SECONDS}
        return self._logged.setdefault(what, now) == now

    def _cut_off(self, versions: Iterable[int], now: float) -> None:
        """Keep bots that flood out for a while."""
        for version in versions:
            bot = self._lobby.connection(version)
            if bot is not None:
                self._lobby.cut_off(bot, "too many bytes", now)

    def _tell(self, hosts: Collection[str], now: float) -> None:
        """Log which hosts are kept out."""
        for host in hosts:
            if self._may_log(host, now):
                log.warning("%s exceeds its traffic limit; connections are closed until it slows down", host)
