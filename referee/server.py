"""The referee as a gRPC server: moves batches between streams and the hall."""

import asyncio
import contextlib
import logging
import signal
import time
from collections.abc import AsyncIterator, Callable, Sequence
from typing import TypeAlias

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from referee import wire
from referee.auth import Authenticator, BotIdentity
from referee.errors import ConnectionRefused, ListenError, MatchRefused, RulesetError
from referee.events import Notice, NoticeCode, TurnDue
from referee.hall import STOPPED_BY_WORKER, TAKEN_OVER, Connection, Hall, Match, Spectator
from referee.v1 import match_pb2, play_pb2, referee_pb2, referee_pb2_grpc

PROTOCOL_VERSION = 1
HELLO_SECONDS = 10.0
"""How long a new stream may take to say hello."""
PROGRESS_SECONDS = 1.0
"""How often a worker hears of a match in which nothing finishes."""
MAX_MESSAGE_BYTES = 1 << 20
"""Largest message that the referee takes."""
STOP_GRACE = 1.0
"""Seconds that open calls have to end when the referee stops."""

PlayContext: TypeAlias = "grpc.aio.ServicerContext[play_pb2.PlayRequest, play_pb2.PlayResponse]"
RunContext: TypeAlias = "grpc.aio.ServicerContext[match_pb2.RunMatchRequest, match_pb2.RunMatchResponse]"
WatchContext: TypeAlias = (
    "grpc.aio.ServicerContext[match_pb2.WatchMatchRequest, match_pb2.WatchMatchResponse]"
)

log = logging.getLogger("referee")
clock = time.monotonic

_OPTIONS = (
    ("grpc.so_reuseport", 0),
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", -1),
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.http2.min_ping_interval_without_data_ms", 5_000),
)


class Alarm:
    """Calls the hall's ``tick`` when it is due: one timer for all tables."""

    def __init__(self, hall: Hall) -> None:
        self._hall = hall
        self._timer: asyncio.TimerHandle | None = None

    def set(self) -> None:
        """To be called whenever the hall was given something to do."""
        when = self._hall.next_tick()
        if when is None:
            return
        if self._timer is not None:
            if self._timer.when() <= when:
                return
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_at(when, self._ring)

    def _ring(self) -> None:
        self._timer = None
        self._hall.tick(clock())
        self.set()


class BotStream:
    """A bot's stream: a reader that never waits for the writer, and one writer."""

    def __init__(self, hall: Hall, alarm: Alarm, identity: BotIdentity, hello: play_pb2.Hello) -> None:
        self._hall = hall
        self._alarm = alarm
        self._wake = asyncio.Event()
        self.connection = Connection(identity, hello.max_sessions, hello.list_legal_plays, self._wake.set)

    async def write(self, context: PlayContext, addresses: Sequence[str]) -> None:
        """Sends the welcome and then what waits, in batches by the hold rule, until cancelled."""
        outbox = self.connection.outbox
        welcome = play_pb2.Welcome(
            bot=self.connection.identity.name,
            max_sessions=self.connection.max_sessions,
            max_message_bytes=MAX_MESSAGE_BYTES,
            referees=addresses,
        )
        await context.write(play_pb2.PlayResponse(welcome=welcome))
        while True:
            await self._wake.wait()
            hold = outbox.hold(clock())
            if hold > 0:
                await self._hold(hold)
            self._wake.clear()
            response = self._batch()
            if response.events:
                await context.write(response)

    async def _hold(self, seconds: float) -> None:
        """Waits until the batch may go: the bot has sent something, or the time is over."""
        outbox = self.connection.outbox
        deadline = clock() + seconds
        while outbox.hold(clock()) > 0:
            self._wake.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(deadline):
                    await self._wake.wait()

    def _batch(self) -> play_pb2.PlayResponse:
        now = clock()
        connection = self.connection
        response = play_pb2.PlayResponse()
        for event in connection.outbox.take(now):
            if isinstance(event, TurnDue):
                turn = event.table.turn(event.seat, event.sequence, now)
                if turn is not None:
                    connection.outbox.owed.add(turn.info.handle)
                    wire.write_turn(response.events.add().turn, turn, connection.list_plays)
            else:
                wire.add_event(response, event)
        return response

    def read(self, request: play_pb2.PlayRequest) -> None:
        """Takes a batch of moves."""
        now = clock()
        connection, hall = self.connection, self._hall
        for move in request.moves:
            place = hall.place(connection, move.session)
            cards = wire.read_move(place[0].info.rules, move) if place else 0
            hall.answer(connection, move.session, move.sequence, cards, now)
        if request.HasField("hello"):
            connection.outbox.put(Notice(NoticeCode.UNEXPECTED, "hello belongs into the first message only"))
        connection.outbox.heard()
        hall.settle(now)
        self._alarm.set()


class RefereeServicer(referee_pb2_grpc.RefereeServiceServicer):
    """The service's three calls."""

    def __init__(self, hall: Hall, authenticator: Authenticator, addresses: Sequence[str] = ()) -> None:
        self._hall = hall
        self._alarm = Alarm(hall)
        self._authenticator = authenticator
        self._addresses = list(addresses)

    async def Play(  # type: ignore[override]
        self, request_iterator: AsyncIterator[play_pb2.PlayRequest], context: PlayContext
    ) -> None:
        hello = await _read_hello(request_iterator, context)
        identity = await asyncio.to_thread(self._authenticator.bot, hello.token)
        if identity is None:
            await context.abort(grpc.StatusCode.UNAUTHENTICATED, "token: unknown or revoked")
            raise AssertionError
        stream = BotStream(self._hall, self._alarm, identity, hello)
        try:
            self._hall.connect(stream.connection, clock())
        except ConnectionRefused as error:
            await context.abort(grpc.StatusCode.ALREADY_EXISTS, str(error))
        self._alarm.set()
        log.info("bot %s connected (%s)", identity.name, hello.sdk or "no sdk named")
        said_goodbye = False
        writer = asyncio.create_task(stream.write(context, self._addresses))
        writer.add_done_callback(_forget)
        try:
            async for request in request_iterator:
                stream.read(request)
                if request.HasField("goodbye"):
                    said_goodbye = True
                    break
        finally:
            # Nothing may be awaited here: a call that the client broke off is not resumed.
            writer.cancel()
            self._hall.disconnect(stream.connection, clock())
            self._alarm.set()
            log.info("bot %s %s", identity.name, "left" if said_goodbye else "lost its connection")

    async def RunMatch(  # type: ignore[override]
        self, request: match_pb2.RunMatchRequest, context: RunContext
    ) -> None:
        await self._require_worker(context)
        wake = asyncio.Event()
        try:
            match = self._hall.open_match(wire.read_match(request), clock(), wake.set)
        except (MatchRefused, RulesetError) as error:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))
            raise AssertionError from None
        self._alarm.set()
        log.info("match %s: %d sessions", request.match_id, len(request.sessions))
        try:
            await self._follow(match, wake, context)
        finally:
            self._hall.close_match(match, STOPPED_BY_WORKER)
            self._alarm.set()

    async def _follow(self, match: Match, wake: asyncio.Event, context: RunContext) -> None:
        while True:
            for result in match.take_results():
                await context.write(wire.result_response(result))
            if match.ended:
                code = grpc.StatusCode.ABORTED if match.ended == TAKEN_OVER else grpc.StatusCode.UNAVAILABLE
                await context.abort(code, match.ended)
            if match.done:
                return
            await context.write(wire.progress_response(self._hall.progress(match)))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(PROGRESS_SECONDS):
                    await wake.wait()
            wake.clear()

    async def _require_worker(self, context: RunContext) -> None:
        metadata = {key: str(value) for key, value in context.invocation_metadata() or ()}
        token = metadata.get("authorization", "").removeprefix("Bearer ")
        if not token or not await asyncio.to_thread(self._authenticator.worker, token):
            await context.abort(grpc.StatusCode.UNAUTHENTICATED, "authorization: not a worker's token")

    async def WatchMatch(  # type: ignore[override]
        self, request: match_pb2.WatchMatchRequest, context: WatchContext
    ) -> None:
        match = self._hall.match(request.match_id)
        if match is None:
            await context.abort(
                grpc.StatusCode.NOT_FOUND, f"match_id: {request.match_id!r} is not running here"
            )
            raise AssertionError
        wake = asyncio.Event()
        spectator = Spectator(wake.set)
        self._hall.watch(match, spectator)
        try:
            while not spectator.over:
                await wake.wait()
                wake.clear()
                response = match_pb2.WatchMatchResponse()
                for sight in spectator.take():
                    wire.add_sight(response, sight)
                if response.updates:
                    await context.write(response)
        finally:
            self._hall.unwatch(match, spectator)


def _forget(writer: asyncio.Task[None]) -> None:
    """A writer fails when its stream breaks, which the reader notices too."""
    if not writer.cancelled():
        writer.exception()


async def _read_hello(requests: AsyncIterator[play_pb2.PlayRequest], context: PlayContext) -> play_pb2.Hello:
    """The hello that opens a stream; ends the call if the first message is another, or none comes."""
    try:
        async with asyncio.timeout(HELLO_SECONDS):
            first = await anext(requests, None)
    except TimeoutError:
        await context.abort(
            grpc.StatusCode.DEADLINE_EXCEEDED, f"hello: none came within {HELLO_SECONDS:.0f} s"
        )
    if first is None or not first.HasField("hello"):
        await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "hello: the first message must be a hello")
        raise AssertionError
    if first.hello.protocol_version != PROTOCOL_VERSION:
        text = f"protocol_version: {first.hello.protocol_version} is not spoken here, {PROTOCOL_VERSION} is"
        await context.abort(grpc.StatusCode.FAILED_PRECONDITION, text)
    return first.hello


async def serve(
    listen: str,
    authenticator: Authenticator,
    stop: asyncio.Event,
    *,
    addresses: Sequence[str] = (),
    on_ready: Callable[[int], None] | None = None,
) -> None:
    """Serves until ``stop`` is set. ``on_ready`` is given the port. Raises ListenError."""
    hall = Hall()
    server = grpc.aio.server(options=_OPTIONS)
    referee_pb2_grpc.add_RefereeServiceServicer_to_server(
        RefereeServicer(hall, authenticator, addresses), server
    )
    names = (referee_pb2.DESCRIPTOR.services_by_name["RefereeService"].full_name, health.SERVICE_NAME)
    health_servicer = health.aio.HealthServicer()  # type: ignore[attr-defined]
    health_pb2_grpc.add_HealthServicer_to_server(health_servicer, server)
    reflection.enable_server_reflection((*names, reflection.SERVICE_NAME), server)
    try:
        port = server.add_insecure_port(listen)
    except RuntimeError:
        raise ListenError(
            f"cannot listen on {listen}: the port is taken or the address is not ours"
        ) from None
    await server.start()
    for name in names:
        await health_servicer.set(name, health_pb2.HealthCheckResponse.SERVING)
    log.info("listening on %s (port %d)", listen, port)
    if on_ready is not None:
        on_ready(port)
    await stop.wait()
    await health_servicer.enter_graceful_shutdown()
    hall.close_all("the referee is shutting down")
    await server.stop(STOP_GRACE)


def run(
    listen: str,
    authenticator: Authenticator,
    *,
    addresses: Sequence[str] = (),
    on_ready: Callable[[int], None] | None = None,
) -> None:
    """Serves until SIGTERM or SIGINT. Raises ListenError."""

    async def main() -> None:
        stop = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        await serve(listen, authenticator, stop, addresses=addresses, on_ready=on_ready)

    asyncio.run(main())
