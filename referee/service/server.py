"""The referee as a gRPC server: starts, drains and stops."""

import asyncio
import gc
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import grpc

from referee.errors import ListenError
from referee.matches.auth import Authenticator
from referee.matches.lobby import BEAT_SECONDS, Lobby
from referee.net.channel import SERVER_OPTIONS
from referee.processes.descriptors import raise_limit
from referee.processes.loops import new_event_loop
from referee.protocol import encode
from referee.ruleset import DEFAULT, load_ruleset
from referee.service import bots, logs, spectators, workers
from referee.service.access import Access
from referee.service.calls import Calls
from referee.service.gate import Gate
from referee.service.loopback import Loopback
from referee.service.serving import ServerOptions
from referee.service.stream import Alarm, clock

if TYPE_CHECKING:
    from referee.service.tools import Tools


from referee.matches.connection import CloseCode

REVOKED_SECONDS = 2.0
"""How often the tokens of connected bots are checked."""


async def keep_beating(lobby: Lobby, alarm: Alarm, access: Access) -> None:
    """Beat until cancelled."""
    asked_at = clock()
    asking: asyncio.Task[None] | None = None
    while True:
        await asyncio.sleep(BEAT_SECONDS)
        try:
            lobby.beat(clock())
            alarm.set()
        except Exception:  # without a beat, pauses and lost streams would go unnoticed
            log.exception("the lobby's beat failed")
        if clock() - asked_at >= REVOKED_SECONDS and (asking is None or asking.done()):
            asked_at = clock()
            asking = asyncio.create_task(_close_revoked(lobby, access))


async def _close_revoked(lobby: Lobby, access: Access) -> None:
    connections = {each.identity.version_id: each for each in lobby.connections}
    if not connections:
        return
    identities = [connection.identity for connection in connections.values()]
    for version, why in (await access.revoked(identities)).items():
        if lobby.connection(version) is connections[version]:  # it may have come back with a valid token
            lobby.close(connections[version], CloseCode.REVOKED, why, clock())


__all__ = ["ServerOptions", "run", "serve", "set_up_process", "take_precedence"]

STOP_GRACE = 1.0
"""Seconds that open calls have to end when the referee stops."""
CLOSING = "the referee is shutting down"
PRECEDENCE = -5
"""The nice value of a referee."""
DEFAULT_OPTIONS = ServerOptions()
SERVICES = (
    bots.SERVICE,
    spectators.SERVICE,
    logs.SERVICE,
    workers.SERVICE,
)

log = logging.getLogger("referee")

STREAMS = 256
"""The most calls at once on one connection; gRPC's core turns away further ones at little cost."""
RECEIVED = 256 << 10
"""About how many bytes of a connection gRPC reads at once: what one connection has sent keeps the others
waiting no longer than it takes to read these."""
HANDSHAKE_MS = 10_000
"""How long a new connection may take to speak HTTP/2."""
IDLE_MS = 60_000
"""How long a connection without calls may stay open."""
PENDING = 50_000
"""How many calls may wait for the event loop to take them. Beyond its default of 1,000, gRPC's core turns
away random calls of any client: a worker's match, and not just what belongs to a flood."""
_OPTIONS = (
    *SERVER_OPTIONS,
    ("grpc.max_concurrent_streams", STREAMS),
    ("grpc.tcp_receive_buffer_size", RECEIVED),
    ("grpc.server_handshake_timeout_ms", HANDSHAKE_MS),
    ("grpc.max_connection_idle_ms", IDLE_MS),
    ("grpc.server.max_pending_requests", PENDING),
    ("grpc.server.max_pending_requests_hard_limit", PENDING),
)


async def serve(
    listen: str,
    authenticator: Authenticator,
    stop: asyncio.Event,
    *,
    options: ServerOptions = DEFAULT_OPTIONS,
    hurry: asyncio.Event | None = None,
    on_ready: Callable[[int], None] | None = None,
) -> None:
    """Serve until ``stop`` is set; then take no new match, and end when the open sessions are finished.

    That takes ``drain_seconds`` at most, and ends at once when ``hurry`` is set. ``on_ready`` gets the port.
    Raise ListenError.
    """
    services = Services(authenticator, options)
    server = grpc.aio.server(options=_OPTIONS)
    server.add_generic_rpc_handlers(tuple(services.handlers()))
    port = _open_port(server, listen, options)
    services.loopback.attach(server)
    await server.start()
    services.loopback.start()
    services.gate.start(port)
    log.info("listening on %s (port %d)%s", listen, port, " with TLS" if options.tls else "")
    beat = asyncio.create_task(keep_beating(services.lobby, services.alarm, services.access))
    if on_ready is not None:
        on_ready(port)
    await stop.wait()
    services.drain()
    await _drain(services.lobby, options.drain_seconds, hurry or asyncio.Event())
    beat.cancel()
    await services.end()
    await server.stop(0)
    services.close()


class Services:
    """The services of a referee, and what they share."""

    def __init__(self, authenticator: Authenticator, options: ServerOptions) -> None:
        options = replace(options, journal=options.meter.over(options.journal))
        load_ruleset(DEFAULT)  # load the code that reads rulesets now, not while bots play
        self.lobby = Lobby(options.journal, encode.sight, options.sign)
        self.loopback = Loopback(self.lobby)
        self.alarm = Alarm(self.lobby, self.loopback.after)
        self.gate = Gate(self.lobby)
        self.access = Access(authenticator, self.gate)
        options.meter.attach(self.lobby)
        self._calls = Calls(options.meter, self.gate)
        self._bots = bots.BotServicer(self.lobby, self.alarm, self.access, self.gate, options)
        self._spectators = spectators.SpectatorServicer(
            self.lobby, self.access, self.gate, open_to_anyone=options.open_to_spectators
        )
        self._logs = logs.LogServicer(self.access, options.journal)
        self._workers = workers.WorkerServicer(
            self.lobby, self.alarm, self.access, options.meter, options.begun
        )
        names = tuple(service.full_name for service in SERVICES)
        self.tools = _tools(names) if options.for_tools else None

    def handlers(self) -> Iterator["grpc.GenericRpcHandler[Any, Any]"]:
        """Yield the calls of each service for a server, after what must be asked first."""
        yield self._calls.sieve()
        for servicer in (
            self._bots,
            self._spectators,
            self._logs,
            self._workers,
            *(self.tools or ()),
        ):
            yield servicer.handler(self._calls)

    def drain(self) -> None:
        """Tell operators' tools that the referee takes no more matches."""
        if self.tools is not None:
            self.tools.health.drain()

    async def end(self) -> None:
        """Stop what runs, refuse new calls, and give the open ones some time to end."""
        self.lobby.close_all(CLOSING)
        if self.tools is not None:
            self.tools.health.end()
        self._calls.stopping = True
        deadline = clock() + STOP_GRACE
        while self._calls.open and clock() < deadline:
            await asyncio.sleep(0.01)
        self._workers.stop()
        self.gate.stop()
        await self.loopback.stop()

    def close(self) -> None:
        """Let the threads that calls have used end; no call may come after this."""
        self.access.close()
        self._logs.close()


def _tools(names: tuple[str, ...]) -> "Tools":
    from referee.service.tools import tools  # which a light installation lacks

    return tools(names)


def _open_port(server: grpc.aio.Server, listen: str, options: ServerOptions) -> int:
    """Return the port that the server listens on. Raise ListenError."""
    try:
        if options.tls is None:
            return server.add_insecure_port(listen)
        return server.add_secure_port(listen, options.tls.credentials())
    except RuntimeError:
        tls = ", or its TLS certificate or key is invalid" if options.tls is not None else ""
        text = f"cannot listen on {listen}: the port is taken or the address is not ours{tls}"
        raise ListenError(text) from None


def set_up_process() -> None:
    """Tune this process for refereeing only."""
    take_precedence()
    raise_limit()
    # What tables create is freed as soon as nothing holds it; only closed streams leave cycles. Looking for
    # them after every 700 objects, as Python does by default, takes a twentieth of all time.
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 5, 5)


def take_precedence() -> bool:
    """Give this process precedence over others on its host; return whether that worked.

    The process may not be allowed to, and if it was started with an unusual priority, it keeps that. All bots
    wait for the one referee, and it measures their time: if it has to wait for a processor itself, because
    bots on the same host use them all, everyone waits, and the processors are idle afterwards.
    """
    if sys.platform == "win32" or os.getpriority(os.PRIO_PROCESS, 0) != 0:
        return False
    try:
        os.setpriority(os.PRIO_PROCESS, 0, PRECEDENCE)
    except PermissionError:
        return False
    return True


async def _drain(lobby: Lobby, seconds: float, hurry: asyncio.Event) -> None:
    deadline = clock() + seconds
    lobby.drain(CLOSING, deadline)
    if not lobby.drained:
        log.info("draining: %d sessions have %.0f s to finish", lobby.sessions, seconds)
    while not lobby.drained and not hurry.is_set() and clock() < deadline:
        await asyncio.sleep(BEAT_SECONDS)
    if not lobby.drained:
        log.warning("%d sessions are not finished; they are void and run again", lobby.sessions)


def run(
    listen: str,
    authenticator: Authenticator,
    *,
    options: ServerOptions = DEFAULT_OPTIONS,
    on_ready: Callable[[int], None] | None = None,
) -> None:
    """Serve until SIGTERM, and then until the open sessions are finished; SIGINT ends the referee at once.

    Raise ListenError.
    """
    set_up_process()

    async def main() -> None:
        stop, hurry = asyncio.Event(), asyncio.Event()

        def end_now() -> None:
            stop.set()
            hurry.set()

        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, stop.set)
        loop.add_signal_handler(signal.SIGINT, end_now)
        await serve(listen, authenticator, stop, options=options, hurry=hurry, on_ready=on_ready)

    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(main())
