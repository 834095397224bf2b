"""A bot's stream to one referee: read and written in the event loop, answered in the bot's thread."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Any, TypeAlias

import grpc

from referee.bot.batch import Batch
from referee.bot.bots import Bot, thinks_together
from referee.bot.evidence import Entry, Evidence
from referee.bot.seat import Seat, UnreadSeat, hooks
from referee.bot.story import Story
from referee.bot.thinker import Thinker
from referee.bot.view import SessionView
from referee.errors import BotFailed
from referee.v1 import bots_pb2

FLUSH_SECONDS = 0.005
"""A bot that is thinking sends the answers that it has at least this often."""
LINGER_SECONDS = 0.3
"""How long a bot that wants no more sessions, and has none, waits for one that may be on its way."""
GOODBYE_SECONDS = 2.0
"""How long after its goodbye the bot waits for the referee to end the stream."""

_ENDS = ("deal_ended", "session_ended")
"""Events at which the bot may do something slow."""

Call: TypeAlias = "grpc.aio.StreamStreamCall[bytes, Any]"

log = logging.getLogger("bot")


class UnreadableMessage(Exception):
    """The referee sent something that is not a PlayResponse."""


class Stream:
    """One stream of a bot, from the hello to its end.

    The event loop reads, answers pings and writes; events go to the thread in which the bot thinks. Only that
    thread touches the seats.
    """

    def __init__(
        self,
        bot: Bot,
        thinker: Thinker,
        *,
        strict: bool = False,
        keep: Callable[[Entry], None] | None,
        story: Story,
        on_welcome: Callable[[bots_pb2.Welcome], None],
        on_failure: Callable[[BotFailed], None],
    ) -> None:
        """Create a stream; ``keep`` is called with a log entry after each session, in the bot's thread."""
        self.welcome: bots_pb2.Welcome | None = None
        """None before the referee has let the bot in."""
        self.closing: bots_pb2.Closing | None = None
        """What the referee said about its shutdown; None before that."""
        self._bot, self._thinker, self._strict = bot, thinker, strict
        self._hooked = hooks(bot)
        self._answer = self._answer_together if thinks_together(bot) else self._answer_in_turn
        self._events: deque[tuple[float, Iterable[Any]]] = deque()
        """When the messages came that wait for the bot, and their events."""
        self._keep, self._story = keep, story
        self._on_welcome, self._on_failure = on_welcome, on_failure
        self._seats: dict[int, Seat | UnreadSeat] = {}
        self._capacity = 0
        self._unsent: deque[bytes] = deque()
        self._wake = asyncio.Event()
        """Set when there is something to write."""
        self._patience = asyncio.timeout(None)
        self._loop = asyncio.get_running_loop()
        self._writing = asyncio.Lock()
        self._over = self._finishing = self._left = False

    @property
    def sessions(self) -> int:
        """How many sessions are open."""
        return len(self._seats)

    async def play(self, call: Call, hello: bots_pb2.Hello) -> None:
        """Play until the stream ends. Raise AioRpcError if it breaks, or UnreadableMessage."""
        writer = asyncio.create_task(self._write(call))
        try:
            async with self._patience:
                await call.write(bots_pb2.PlayRequest(hello=hello).SerializeToString())
                async for response in call:
                    self._take(response)
                    if self._unsent:
                        await self._flush(call)
        except TimeoutError:
            log.debug("the referee did not end the stream after the goodbye")
        finally:
            self._over = True
            writer.cancel()
            self._thinker.do(self._leave_sessions, lambda: None)

    def ask_for(self, sessions: int) -> None:
        """Ask the referee for this many sessions at once, unless it grants that already."""
        if sessions != self._capacity:
            self._capacity = sessions
            self._send(bots_pb2.PlayRequest(capacity=bots_pb2.Capacity(max_sessions=sessions)))

    def finish(self) -> None:
        """Ask for no more sessions, and leave when the open ones have ended."""
        self.ask_for(0)
        self._loop.call_later(LINGER_SECONDS, self._thinker.do, self._leave_when_idle, self._wake.set)

    def leave(self) -> None:
        """Say goodbye, whether or not sessions are open."""
        if self._over:
            return
        self._left = True
        self._wake.set()
        self._patience.reschedule(self._loop.time() + GOODBYE_SECONDS)

    # In the event loop

    def _take(self, response: Any) -> None:
        """Take in a lazy message."""
        if response is None:  # gRPC has logged why
            raise UnreadableMessage
        if response.HasField("ping"):
            self._send(bots_pb2.PlayRequest(pong=bots_pb2.Pong(id=response.ping.id)))
        if response.HasField("welcome"):
            self.welcome = response.welcome
            self._capacity = response.welcome.max_sessions
            self._on_welcome(response.welcome)
        if response.events:
            self._events.append((time.monotonic(), response.events))
            self._thinker.do(self._think, self._wake.set)
        if response.HasField("closing"):
            self.closing = response.closing
            log.info("the referee closes: %s", response.closing.reason)

    def _send(self, request: bots_pb2.PlayRequest) -> None:
        self._unsent.append(request.SerializeToString())
        self._wake.set()

    async def _flush(self, call: Call) -> None:
        """Write what is to be sent. Raise AioRpcError if the stream is broken."""
        with suppress(asyncio.InvalidStateError):  # the stream has ended, as its reader will see
            async with self._writing:
                while self._unsent:
                    await call.write(self._unsent.popleft())

    async def _write(self, call: Call) -> None:
        """Write what is to be sent while nothing is read, until the goodbye."""
        with suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):
            while not self._left or self._unsent:
                await self._wake.wait()
                self._wake.clear()
                await self._flush(call)
            await call.write(bots_pb2.PlayRequest(goodbye=bots_pb2.Goodbye()).SerializeToString())
            await call.done_writing()

    # In the bot's thread

    def _think(self) -> None:
        """Take in what has come, and answer the turns in it: all at once, or in parts if that takes long."""
        if self._thinker.interrupted:
            return
        try:
            if self._events:  # else it was answered together with an earlier message
                self._answer(*self._events.popleft())
        except BotFailed as error:
            self._call(self._on_failure, error)
        if self._finishing:
            self._leave_when_idle()

    def _answer_in_turn(self, came: float, events: Iterable[Any]) -> None:
        moves: list[bytes] = []
        seats, clock = self._seats, time.monotonic
        began = now = clock()
        for event in events:
            if self._over:
                return
            try:
                if not event.HasField("turn"):
                    if moves and self._hooked and event.WhichOneof("event") in _ENDS:
                        self._put(moves)
                        moves, began = [], clock()
                    self._happened(event)
                    now = clock()
                    continue
                turn, before = event.turn, now
                seat = seats[turn.session]
                moves.append(seat.answer(turn))
                now = clock()
                seat.spent.add(turn, came, before, now)
            except BotFailed:
                raise
            except Exception:
                moves += self._give_up(event)
            if now - began > FLUSH_SECONDS:
                self._put(moves)
                moves, began = [], now
        if moves:
            self._unsent.append(b"".join(moves))

    def _answer_together(self, came: float, events: Iterable[Any]) -> None:
        """Take in these events and all that have come since, and answer all turns that are then open."""
        batch = Batch(self._bot)
        waiting = [(came, events), *self._events]
        self._events.clear()
        for arrived, event in ((arrived, event) for arrived, events in waiting for event in events):
            if self._over:
                return
            try:
                self._gather(arrived, event, batch)
            except BotFailed:
                raise
            except Exception:
                self._put(self._give_up(event))
        self._reply(batch)

    def _reply(self, batch: Batch) -> None:
        """Answer the turns of a batch."""
        turns, begun = batch.turns(), time.monotonic()
        for moves in batch.answers():
            self._put((moves,))
        now = time.monotonic()
        for turn in turns:
            turn.seat.spent.add(turn.message, turn.came, begun, now)

    def _gather(self, came: float, event: Any, batch: Batch) -> None:
        """Take in an event; turns that can be answered together wait in the batch."""
        message: Any = getattr(event, event.WhichOneof("event") or "", None)
        if getattr(message, "session", None) in batch:  # its view is about to change, so it is answered first
            self._reply(batch)
        if not event.HasField("turn"):
            self._happened(event)
            return
        seat = self._seats[message.session]
        if isinstance(seat, Seat) and message.kind == bots_pb2.TURN_KIND_PLAY:
            batch.add(seat, message, came)
        else:
            self._put((seat.answer(message),))

    def _put(self, moves: Iterable[bytes]) -> None:
        """Let moves be sent while the bot goes on thinking."""
        self._unsent.append(b"".join(moves))
        self._call(self._wake.set)

    def _happened(self, event: Any) -> None:
        """Take in a lazy event other than a turn; an unknown one has no kind."""
        match event.WhichOneof("event"):
            case "session_started":
                started = event.session_started
                seat = Seat(self._bot, SessionView.of(started), strict=self._strict)
                seat.evidence = self._evidence(started)
                self._seats[started.session] = seat
                self._story.began(seat.view, resumed=started.resumed)
            case "deal_started":
                self._seats[event.deal_started.session].deal_started(event.deal_started)
            case "deal_ended":
                self._seats[event.deal_ended.session].deal_ended(event.deal_ended)
            case "session_ended":
                self._session_ended(event.session_ended)
            case "fault":
                at = self._seats.get(event.fault.session)
                self._story.fault(at.view if isinstance(at, Seat) else None, event.fault)
                if at is not None and at.evidence is not None:
                    at.evidence.fault(event.fault)
            case "seat_forfeited":
                gone = event.seat_forfeited
                left = self._seats.get(gone.session)
                if isinstance(left, Seat):
                    self._story.forfeited(left.view, gone.seat)
            case "notice":
                log.info("notice: %s", event.notice.text)

    def _session_ended(self, ended: bots_pb2.SessionEnded) -> None:
        left = self._seats.pop(ended.session, None)
        if left is not None and left.evidence is not None:
            self._note(left.evidence.ended(ended))
        if isinstance(left, Seat):
            self._story.ended(left.view, ended, str(left.spent))
            left.session_ended(ended)

    def _evidence(self, started: bots_pb2.SessionStarted) -> Evidence | None:
        """Return what collects evidence of a session from now on; None if no log is kept."""
        return None if self._keep is None else Evidence(started)

    def _note(self, entry: Entry | None) -> None:
        """Keep the log entry of a session, if there is one."""
        if entry is None or self._keep is None:
            return
        if entry.differs:
            log.error("session %s: the referee has signed what the bot did not see", entry.line["session"])
        self._keep(entry)

    def _leave_sessions(self) -> None:
        """Keep log entries of the sessions that were open when the stream ended."""
        for seat in self._seats.values():
            if seat.evidence is not None:
                self._note(seat.evidence.left())

    def _give_up(self, event: Any) -> Iterable[bytes]:
        """Play the session of an unreadable event by default actions; return the answer to a turn."""
        kind = event.WhichOneof("event")
        message = getattr(event, kind)
        log.exception("session %d cannot be read; its turns are answered by default", message.session)
        before = self._seats.get(message.session)
        if kind == "session_started":
            self._seats[message.session] = UnreadSeat(message.seat, evidence=self._evidence(message))
        elif isinstance(before, Seat):
            view = before.view
            hand = view.numbers(view.hand)
            self._seats[message.session] = UnreadSeat(view.seat, hand, evidence=before.evidence)
        elif before is None:
            return ()
        return (self._seats[message.session].answer(message),) if kind == "turn" else ()

    def _leave_when_idle(self) -> None:
        self._finishing = True
        if not self._seats:
            self._call(self.leave)

    def _call(self, function: Callable[..., None], *arguments: object) -> None:
        """Call a function in the event loop, unless that has ended."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(partial(function, *arguments))
