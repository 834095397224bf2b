"""A bot's stream on the referee's side: what it says and takes in, and when it ends."""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import grpc
from grpc.aio import EOF  # type: ignore[attr-defined]

from referee.matches.auth import BotIdentity
from referee.matches.connection import CloseCode, Connection, Pace, Wants
from referee.matches.connections import MAX_SESSIONS
from referee.matches.events import Notice, Turn
from referee.matches.kinds import NoticeCode
from referee.matches.lobby import Lobby
from referee.protocol.encode import other_event, turn_event
from referee.protocol.reasons import MEANINGS, Reason, Unreadable
from referee.protocol.version import MAX_MESSAGE_BYTES
from referee.protocol.wire import read_encoded_move
from referee.ruleset.model import Ruleset
from referee.service.serving import ServerOptions
from referee.v1 import bots_pb2

RETRY_SECONDS = MEANINGS[Reason.CLOSING].retry_seconds or 0.0
"""How long bots should stay away when the referee has ended their streams."""


def _closing(connection: Connection, now: float) -> bytes:
    """Return the message that tells the bot that the referee is shutting down."""
    response = bots_pb2.PlayResponse()
    shutdown = connection.take_shutdown()
    if shutdown is not None:
        response.closing.reason = shutdown.reason
        response.closing.end_delay.FromMilliseconds(round(1000 * max(0.0, shutdown.end_at - now)))
        response.closing.retry_delay.FromMilliseconds(round(1000 * RETRY_SECONDS))
    return response.SerializeToString()


def next_message(lobby: Lobby, connection: Connection, now: float) -> bytes:
    """Return the PlayResponse to send now; empty if there is nothing to say."""
    outbox = connection.outbox
    parts: list[bytes] = []
    if connection.ping_due:
        ping = bots_pb2.Ping(id=connection.take_ping(now))
        parts.append(bots_pb2.PlayResponse(ping=ping).SerializeToString())
    if connection.shutdown_due is not None:
        parts.append(_closing(connection, now))
    if parts and outbox.hold(now) > 0:
        return b"".join(parts)
    credit, wants = connection.round_trip, connection.wants
    seats, owed = connection.seats, outbox.owed
    size, taken, owed_before = 0, 0, len(owed)
    events = outbox.take(now)
    for taken, event in enumerate(events, 1):  # noqa: B007  # how many were taken is read after a break
        if type(event) is Turn:
            handle = event.info.handle
            seat = seats.get(handle)
            if seat is None:
                continue
            try:
                if not seat.table.hand_out(event, now, credit):
                    continue
                part = turn_event(event, wants)
            except Exception:
                lobby.fail(seat.table)
                continue
            owed.add(handle)
        else:
            part = other_event(event)
        parts.append(part)
        size += len(part)
        if size > MAX_MESSAGE_BYTES:
            break
    outbox.note_sent(len(owed) - owed_before)
    if taken < len(events):
        outbox.put_back(events[taken:])
    return b"".join(parts)


def take_request(lobby: Lobby, connection: Connection, request: Any, now: float) -> bool:
    """Handle a lazy PlayRequest: answers, a pong, a capacity; return whether it has a goodbye."""
    lobby.note_time(now)
    useful = says_goodbye = False
    if request.moves:
        useful = True
        connection.heard_at = now
        seats, owed = connection.seats, connection.outbox.owed
        if connection.pace is not None and connection.answers(request.moves[0].session, now):
            lobby.grew()
        for move in request.moves:
            handle, sequence = move.session, move.sequence
            seat = seats.get(handle)
            if seat is None:
                lobby.misplaced(connection, handle, sequence, now)
            else:
                table = seat.table
                cards = read_encoded_move(table.info.rules, move)
                try:
                    if table.answer(seat.index, sequence, cards, now):
                        owed.discard(handle)
                        continue
                except Exception:
                    lobby.fail(table)
                    continue
                lobby.useless(connection, now)
            if connection.closing is not None:
                return False
        connection.outbox.heard(len(request.moves))
        lobby.settle(now)
    if request.HasField("pong"):
        useful = connection.pong(request.pong.id, now) or useful
    if request.HasField("capacity"):  # never useful: each one makes the lobby look at all matches
        lobby.resize(connection, min(request.capacity.max_sessions, MAX_SESSIONS))
    if request.HasField("goodbye"):
        says_goodbye = useful = True
    if request.HasField("hello"):
        notice = Notice(NoticeCode.UNEXPECTED, "a hello belongs in the first message only")
        lobby.notice(connection, notice)
        useful = False
    if not useful:
        lobby.useless(connection, now)
    return says_goodbye


PlayContext: TypeAlias = "grpc.aio.ServicerContext[Any, bytes]"
After: TypeAlias = Callable[[Callable[[], None]], None]

clock = time.monotonic
log = logging.getLogger("referee")


READ_SECONDS = 0.002
"""How long to go on reading what has arrived, when time has run out, before the lobby is told so; the delay
with which this was noticed is added."""
MOST_READ_SECONDS = 0.25
"""The most that is added for the delay."""


class Alarm:
    """Calls the lobby's ``tick`` when it is due: one timer for all tables.

    The answers that had arrived by then are read first: an event loop that was busy or stopped may get to
    its timers before its sockets, and gRPC's own thread may be busy with others. The lobby is told the time
    at which the timer rang, so that nothing else runs out meanwhile.
    """

    def __init__(self, lobby: Lobby, after: After = lambda call: call()) -> None:
        """Create the alarm; ``after`` calls its argument once everything now in gRPC's sockets was read."""
        self._lobby = lobby
        self._after = after
        self._timer: asyncio.TimerHandle | None = None
        self._due = 0.0
        """When the timer rings; uvloop's own handles cannot always tell."""
        self._reading = False
        """Whether the timer has rung, and what has arrived is being read."""

    def set(self) -> None:
        """Set the timer again after a change in the lobby."""
        if self._reading:
            return
        when = self._lobby.next_tick()
        if when is None:
            return
        if self._timer is not None:
            if self._due <= when:
                return
            self._timer.cancel()
        self._timer, self._due = asyncio.get_running_loop().call_at(when, self._ring), when

    def _ring(self) -> None:
        self._timer = None
        self._reading = True
        now = clock()
        late = min(max(0.0, now - self._due), MOST_READ_SECONDS)
        tick = partial(self._tick, now)
        asyncio.get_running_loop().call_later(READ_SECONDS + late, self._after, tick)

    def _tick(self, rung_at: float) -> None:
        self._reading = False
        try:
            self._lobby.tick(rung_at)
        finally:
            self.set()


async def read_message(context: PlayContext) -> Any:
    """Return the bot's next message: a lazy PlayRequest or Unreadable; None at the end."""
    message: Any = await context.read()
    return None if message is EOF else message


class BotStream:
    """A bot's stream: a reader that never waits for the writer, and one writer."""

    def __init__(
        self,
        lobby: Lobby,
        alarm: Alarm,
        identity: BotIdentity,
        max_sessions: int,
        wants: Wants | None = None,
        pace: Pace | None = None,
        lacks: Callable[[Ruleset], Sequence[str]] = lambda ruleset: (),
        host: str = "",
    ) -> None:
        self._lobby = lobby
        self._alarm = alarm
        self._go = asyncio.Event()
        """Set when a message may be sent."""
        self._timer: asyncio.TimerHandle | None = None
        """Rings when the next message is no longer held back."""
        self._loop = asyncio.get_running_loop()
        self.connection = Connection(
            identity, max_sessions, self._woken, clock(), wants=wants, pace=pace, lacks=lacks, host=host
        )
        self.said_goodbye = False
        self.over = asyncio.Event()
        """Set when the bot or the referee ends the stream."""

    def _woken(self) -> None:
        """Let the writer send what waits, now or when a timer rings."""
        if self._go.is_set():
            return
        connection = self.connection
        if connection.closing is not None:
            self._go.set()
            if connection.blocked:
                self.over.set()  # the writer will not get to it
        elif connection.ping_due or connection.shutdown_due is not None:
            self._go.set()
        elif not connection.outbox.events:
            return
        elif (hold := connection.outbox.hold(clock())) <= 0:
            self._go.set()
        elif self._timer is None:
            self._timer = self._loop.call_later(hold, self._ring)

    def _ring(self) -> None:
        self._timer = None
        if self.connection.outbox.events:
            self._woken()

    async def write(self, context: PlayContext, options: ServerOptions) -> None:
        """Send the welcome and then what waits, in batches by the hold rule, until the stream is over."""
        connection = self.connection
        welcome = bots_pb2.Welcome(
            bot=connection.identity.name,
            max_sessions=connection.max_sessions,
            max_message_bytes=MAX_MESSAGE_BYTES,
            referee_id=options.referee_id,
            referees=[bots_pb2.Referee(id=id_, address=address) for id_, address in options.referees],
        )
        message = bots_pb2.PlayResponse(welcome=welcome).SerializeToString()
        while True:
            if message:
                connection.writing(clock())
                await context.write(message)
                connection.written(clock())
            if connection.closing is not None and not connection.outbox and not connection.shutdown_due:
                self.over.set()
                return
            self._woken()  # for what came while the message was written
            if not self._go.is_set():  # else a coroutine would be created for nothing
                await self._go.wait()
            self._go.clear()
            message = next_message(self._lobby, connection, clock())

    async def listen(self, context: PlayContext) -> None:
        """Handle what the bot sends until it ends the stream or the stream breaks."""
        try:
            read: Any = context.read
            while (request := await read()) is not EOF:
                if type(request) is Unreadable:
                    self._lobby.close(self.connection, CloseCode.UNREADABLE, request.reason, clock())
                    return
                self.handle(request)
                if self.said_goodbye or self.connection.closing is not None:
                    return
        finally:
            self.over.set()

    def broke(self, task: asyncio.Task[None]) -> None:
        """Note that the task that reads or writes the stream has ended, with a gRPC error if it broke."""
        if task.cancelled():
            return
        error = task.exception()
        if error is not None:
            if not isinstance(error, grpc.aio.BaseError | grpc.RpcError):
                log.error("the stream of %s failed", self.connection.identity.name, exc_info=error)
            self.over.set()

    def handle(self, request: Any) -> None:
        """Handle a lazy PlayRequest: answers, a pong, a capacity, a goodbye."""
        if take_request(self._lobby, self.connection, request, clock()):
            self.said_goodbye = True
        self._alarm.set()
