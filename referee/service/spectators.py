"""The service for spectators, whose turns are fair among hosts and come after those of the tables."""

import asyncio
import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import grpc

from referee.matches.auth import Scope
from referee.matches.lobby import Lobby
from referee.matches.running import Match
from referee.protocol.reasons import Reason, Refused, Unreadable, readable
from referee.service.access import Access
from referee.service.calls import Calls, generic_handler, running_match, why_ended
from referee.service.gate import Gate
from referee.service.peers import host_of
from referee.v1 import spectators_pb2

SPECTATOR_SECONDS, SPECTATOR_TURNS = 0.02, 32
"""How often spectators are served, and how many each time."""
SHARE = 0.05
"""Which share of the time that may take: what some spectators cost makes others wait."""
TURN_SECONDS, MESSAGE_SECONDS, BYTE_SECONDS = 2e-5, 8e-5, 1e-8
"""What a turn, a message and each of its bytes cost in addition to what is measured: the event loop's work,
and that of gRPC in a thread of its own. Five million bytes a second use up the spectators' whole share."""

clock = time.monotonic


class Pacer:
    """Serves spectators in turn, some at a time. Hosts take turns: many from one do not delay another's."""

    def __init__(self) -> None:
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        """By host; the host whose turn is next comes first."""
        self._timer: asyncio.TimerHandle | None = None
        self._free_at = 0.0
        """From when on spectators may be served again."""

    async def turn(self, host: str) -> None:
        """Wait for the turn of a spectator of this host."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(host, deque()).append(future)
        if self._timer is None:
            self._wait(clock())
        await future

    @contextmanager
    def spending(self) -> Iterator[None]:
        """Count the time of the block, in which nothing is awaited."""
        begun = clock()
        try:
            yield
        finally:
            self.spend(clock() - begun)

    def note_sent(self, size: int) -> None:
        """Count what a message of this size costs."""
        self.spend(MESSAGE_SECONDS + size * BYTE_SECONDS)

    def spend(self, seconds: float) -> None:
        """Make spectators wait until the tables have had their share for this time."""
        self._free_at = max(self._free_at, clock()) + seconds / SHARE

    def _wait(self, now: float) -> None:
        seconds = max(SPECTATOR_SECONDS, self._free_at - now)
        self._timer = asyncio.get_running_loop().call_later(seconds, self._serve)

    def _serve(self) -> None:
        self._timer = None
        now = clock()
        turns = SPECTATOR_TURNS if now >= self._free_at else 0
        while turns and self._waiting:
            host = next(iter(self._waiting))
            queue = self._waiting.pop(host)
            future = queue.popleft()
            if queue:
                self._waiting[host] = queue  # behind all others
            if not future.done():
                future.set_result(None)
                self.spend(TURN_SECONDS)
                turns -= 1
        if self._waiting:
            self._wait(now)


SERVICE = spectators_pb2.DESCRIPTOR.services_by_name["SpectatorService"]

MAX_SPECTATORS = 20_000
UNREAD, UNREAD_FROM_PEER = 64 << 20, 32 << 20
"""How many bytes may wait for connections of spectators to take them, in all and from one host: beyond that
nothing is sent, and spectators are told later how much they missed."""
TAKE_SECONDS = 60.0
"""How long a spectator's connection may take no data before it is broken off."""
SHARED_DEALS = "the deals of this match are played at other tables too"
WATCHING = "watching needs a token of an organiser or a spectator"

WatchContext: TypeAlias = "grpc.aio.ServicerContext[spectators_pb2.WatchMatchRequest, bytes]"


class SpectatorServicer:
    """What spectators call."""

    def __init__(self, lobby: Lobby, access: Access, gate: Gate, *, open_to_anyone: bool) -> None:
        self._lobby = lobby
        self._access = access
        self._gate = gate
        self._open_to_anyone = open_to_anyone
        self._pacer = Pacer()
        self._arriving = 0
        """How many calls wait to be shown a match."""
        self._unread: Counter[str] = Counter()
        """Unread bytes by host."""

    def handler(self, calls: Calls) -> "grpc.GenericRpcHandler[Any, Any]":
        """Return the service's calls for a server."""
        watch = calls.streaming(self.WatchMatch, spectators_pb2.WatchMatchRequest)
        return generic_handler(SERVICE, {"WatchMatch": watch})

    async def WatchMatch(
        self, message: spectators_pb2.WatchMatchRequest | Unreadable, context: WatchContext
    ) -> None:
        """Show a match to a spectator."""
        watching = (Scope.ORGANISER, Scope.SPECTATOR)
        if not self._open_to_anyone:  # an arena's pages show matches to its organisers with a worker's token
            await self._access.require(context, *watching, Scope.WORKER, why=WATCHING)
        match = running_match(self._lobby, readable(message).match_id)
        if match.spec.shared_deals:
            await self._access.require(context, *watching, why=f"{SHARED_DEALS}; {WATCHING}")
        if self._lobby.spectators + self._arriving >= MAX_SPECTATORS:
            raise Refused(Reason.BUSY, "too many spectators")
        self._gate.admit(context)
        with self._gate.lasting(context):
            await self._show(match, context)
        if match.ended:
            raise why_ended(self._lobby, match)

    async def _show(self, match: Match, context: WatchContext) -> None:
        host = host_of(context)
        await self._arrive(host)
        with self._pacer.spending():  # which may draw a picture for newcomers
            spectator = self._lobby.watch(match)
        try:
            while True:
                if self._may_write(host):
                    with self._pacer.spending():
                        updates = spectator.take()
                    if updates:
                        await self._write(context, host, updates)
                if spectator.done:
                    return
                await self._pacer.turn(host)
        finally:
            self._lobby.unwatch(match)

    async def _arrive(self, host: str) -> None:
        self._arriving += 1
        try:
            await self._pacer.turn(host)
        finally:
            self._arriving -= 1

    def _may_write(self, host: str) -> bool:
        return self._unread[host] < UNREAD_FROM_PEER and self._unread.total() < UNREAD

    async def _write(self, context: WatchContext, host: str, updates: bytes) -> None:
        """Send updates, which cost memory until the connection takes them. Raise Refused if it does not."""
        self._unread[host] += len(updates)
        self._pacer.note_sent(len(updates))
        try:
            async with asyncio.timeout(TAKE_SECONDS):
                await context.write(updates)
        except TimeoutError:
            self._gate.cut(context)
            raise Refused(Reason.BUSY, "the spectator takes nothing") from None
        finally:
            self._unread[host] -= len(updates)
            if not self._unread[host]:
                del self._unread[host]
