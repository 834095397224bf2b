"""Matches in play as pages show them: a referee is watched once for all who look at a match.

What happens is told as messages: the name of an event and its JSON. Whoever comes is first told how the
sessions stand. Bots are faster than people: of a deal that runs too fast to be followed step by step, how it
stands is told twice a second, and of many sessions at once some are shown.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from typing import TypeAlias

import grpc

from arena.errors import ArenaError
from arena.settings import Settings
from arena.web.inplay import Glance, LiveSession, Message
from arena.web.sse import event
from referee.channel import async_channel
from referee.errors import CardError, RulesetError
from referee.v1 import bots_pb2, spectators_pb2, spectators_pb2_grpc

Call: TypeAlias = "AsyncIterable[spectators_pb2.WatchMatchResponse]"
Updates = Sequence[spectators_pb2.WatchUpdate]

log = logging.getLogger(__name__)

RETRY_SECONDS = 2.0
"""How long to wait before referees are asked again for a match that none of them plays."""

SHOWN = 4
"""Sessions of a match that are told of at once; when one has ended, another one is."""

TELL_SECONDS = 0.5
"""How often something is told of a match at most."""

MOST_STEPS = 6
"""Steps of a session that are told one by one; of more at once, how it stands is told."""

LINGERS = 10.0
"""How many seconds a match is looked at after somebody glanced at it."""

MOST_GLANCED = 200
"""Matches beyond which no more are looked at for a glance."""

BEHIND = 200
"""Messages that wait for somebody at most; whoever is further behind is told anew how all stands."""

WITHHELD = (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED)

Told = bytes
"""A message as it is sent: to how many, it is written once."""

END: Message = ("end", {})
IDLE: Message = ("idle", {"why": "no referee plays this match at the moment"})
STOP: Told = b""
"""Ends a stream without a word."""
WITHHELD_WORDS = {
    "anyone": "this match is not shown while it is played: other tables play its deals too",
    "token": "this arena shows matches in play to its organisers and operators only",
}
"""Why a match is not shown, by the setting ``spectators``."""


def written(message: Message) -> Told:
    """Return a message as it is sent."""
    return event(*message)


ENDED = written(END)
"""After it nothing more is told."""


class LeftBehind(Exception):
    """The referee left updates out, as they were read too slowly: how all stands has to be asked anew."""


class Watched:
    """A match that somebody looks at."""

    def __init__(
        self, settings: Settings, match_id: str, is_done: Callable[[], bool], *, trusted: bool = False
    ) -> None:
        """Prepare to watch; ``trusted``: for those who may see what is not shown to everybody."""
        self._settings, self._id, self._is_done = settings, match_id, is_done
        why = WITHHELD_WORDS["anyone" if trusted else settings.spectators]
        self._hidden: Message = ("idle", {"why": why})
        self._metadata = (("authorization", f"Bearer {settings.worker_secret()}"),) if trusted else None
        self._open: dict[int, bots_pb2.SessionStarted] = {}
        """All sessions that are open."""
        self._shown: dict[int, LiveSession] = {}
        self._news: dict[int, tuple[LiveSession, list[Message]]] = {}
        """By session, what followers are to be told."""
        self._due: asyncio.TimerHandle | None = None
        """When they are."""
        self._told_at = 0.0
        self._idle: Message | None = None
        self.followers: set[asyncio.Queue[Told]] = set()
        self.glanced_until = 0.0
        """Till when it is looked at though nobody follows it, in the event loop's time."""

    def glances(self) -> tuple[list[Glance], int]:
        """Return the sessions that are shown, at a glance, and how many are open in all."""
        return [self._shown[number].glance() for number in sorted(self._shown)], len(self._open)

    def state(self) -> list[Told]:
        """Return what somebody who comes is told."""
        told = [self._idle] if self._idle else []
        return [written(one) for one in (*told, *(shown.told() for shown in self._shown.values()))]

    async def run(self) -> None:
        """Watch until the match is done and stored."""
        while not await self._done():
            why = await self._watch()
            self.tell()
            self._open.clear()
            self._shown.clear()
            if await self._done():
                break
            if why != self._idle:
                self._idle = why
                self._tell(why)
            await asyncio.sleep(RETRY_SECONDS)
        self._idle = END
        self._tell(END)

    async def _done(self) -> bool:
        try:
            return await asyncio.to_thread(self._is_done)
        except ArenaError as error:
            log.warning("match %s cannot be looked up now: %s", self._id, error)
            return False

    async def _watch(self) -> Message:
        """Watch the match at the referee that plays it to its end; return why there is nothing to see."""
        why = IDLE
        for address in self._settings.referees:
            async with async_channel(address, self._settings.client_tls(), ()) as channel:
                stub = spectators_pb2_grpc.SpectatorServiceStub(channel)
                call = stub.WatchMatch(
                    spectators_pb2.WatchMatchRequest(match_id=self._id), metadata=self._metadata
                )
                try:
                    async with aclosing(delayed(call, self._settings.live_delay_seconds)) as batches:
                        async for updates in batches:
                            for update in updates:
                                self.take(update)
                except grpc.aio.AioRpcError as error:
                    why = self._hidden if error.code() in WITHHELD else why
                except LeftBehind:
                    return IDLE
                except (CardError, RulesetError, ValueError, KeyError) as error:
                    log.warning("match %s cannot be shown: %s", self._id, error)
        return why

    def take(self, update: spectators_pb2.WatchUpdate) -> None:
        """Take in what happened, and tell it soon."""
        self._idle = None
        match update.WhichOneof("update"):
            case "session_started":
                self._open[update.session_started.session] = update.session_started
            case "deal_started":
                if (session := self._show(update.deal_started.session)) is not None:
                    self._note(session, session.begin(update.deal_started))
            case "action":
                if (session := self._shown.get(update.action.session)) is not None:
                    self._note(session, session.act(update.action))
            case "deal_ended":
                if (session := self._shown.get(update.deal_ended.session)) is not None:
                    self._note(session, session.close(update.deal_ended))
            case "session_ended":
                del self._open[update.session_ended.session]
                if (session := self._shown.pop(update.session_ended.session, None)) is not None:
                    scores = list(update.session_ended.scores)
                    self._note(session, ("over", {"session": session.number, "scores": scores}))
            case "left_out":
                raise LeftBehind

    def _show(self, number: int) -> LiveSession | None:
        """Return a session of which a deal begins, if it is shown or may be from now on."""
        if number not in self._shown and len(self._shown) < SHOWN:
            self._shown[number] = LiveSession(self._open[number])
        return self._shown.get(number)

    def _note(self, session: LiveSession, message: Message | None) -> None:
        """Have something told: at once, or when it is time again."""
        if message is None:
            return
        self._news.setdefault(session.number, (session, []))[1].append(message)
        if self._due is None:
            loop = asyncio.get_running_loop()
            self._due = loop.call_later(max(0.0, self._told_at + TELL_SECONDS - loop.time()), self.tell)

    def tell(self) -> None:
        """Tell what is new."""
        if self._due is not None:
            self._due.cancel()
            self._due, self._told_at = None, asyncio.get_running_loop().time()
        news, self._news = self._news, {}
        for session, messages in news.values():
            if len(messages) > MOST_STEPS:
                over = [message for message in messages if message[0] == "over"]
                messages = [session.told(), *over]
            for message in messages:
                self._tell(message)

    def stop(self) -> None:
        """Tell nothing any more."""
        if self._due is not None:
            self._due.cancel()

    def _tell(self, message: Message) -> None:
        told = written(message) if self.followers else STOP
        for queue in self.followers:
            if queue.qsize() >= BEHIND:
                _empty(queue)
                for one in self.state():
                    queue.put_nowait(one)
            else:
                queue.put_nowait(told)


def _empty(queue: asyncio.Queue[Told]) -> None:
    while not queue.empty():
        queue.get_nowait()


async def delayed(call: Call, seconds: float) -> AsyncGenerator[Updates]:
    """Yield what a call tells, so many seconds after it came. Raise AioRpcError at its end, if it failed."""
    loop = asyncio.get_running_loop()
    waiting: asyncio.Queue[tuple[float, Updates | None]] = asyncio.Queue()

    async def read() -> None:
        try:
            async for response in call:
                waiting.put_nowait((loop.time() + seconds, response.updates))
        finally:
            waiting.put_nowait((loop.time() + seconds, None))

    reading = asyncio.create_task(read())
    try:
        while True:
            at, updates = await waiting.get()
            await asyncio.sleep(at - loop.time())
            if updates is None:
                break
            yield updates
        await reading
    finally:
        reading.cancel()
        with suppress(asyncio.CancelledError, grpc.aio.AioRpcError):
            await reading


Looked: TypeAlias = tuple[str, bool]
"""A match, and whether for those who may see what is not shown to everybody."""


class Watching:
    """The matches that are looked at."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._watched: dict[Looked, tuple[Watched, asyncio.Task[None]]] = {}
        self._closed = False

    @property
    def watched(self) -> int:
        """How many matches are looked at."""
        return len(self._watched)

    def glances(self, match_id: str, is_done: Callable[[], bool]) -> tuple[list[Glance], int]:
        """Return what is seen at this moment of the sessions of a match, and how many are open in all.

        It is looked at for a while from then on: at the first glance nothing is seen yet. ``is_done`` is as
        for ``joined``.
        """
        looked = match_id, False
        if self._closed or (looked not in self._watched and len(self._watched) >= MOST_GLANCED):
            return [], 0
        watched = self._begun(looked, is_done)
        loop = asyncio.get_running_loop()
        if watched.glanced_until < loop.time() + LINGERS / 2:
            watched.glanced_until = loop.time() + LINGERS
            loop.call_later(LINGERS + 0.1, self._let_go, looked)
        return watched.glances()

    def _begun(self, looked: Looked, is_done: Callable[[], bool]) -> Watched:
        if looked not in self._watched:
            match_id, trusted = looked
            watched = Watched(self._settings, match_id, is_done, trusted=trusted)
            self._watched[looked] = watched, asyncio.create_task(watched.run())
        return self._watched[looked][0]

    def _let_go(self, looked: Looked) -> None:
        """Look no longer at a match that nobody follows, nor has glanced at lately."""
        watched, task = self._watched.get(looked, (None, None))
        if watched is None or task is None or watched.followers:
            return
        if self._closed or watched.glanced_until <= asyncio.get_running_loop().time():
            del self._watched[looked]
            watched.stop()
            task.cancel()

    @asynccontextmanager
    async def joined(
        self, match_id: str, is_done: Callable[[], bool], *, trusted: bool = False
    ) -> AsyncIterator[asyncio.Queue[Told]]:
        """Look at a match while the block lasts; what happens comes in the queue, first how it stands.

        ``is_done`` is asked, in a thread, where no referee plays it. ``trusted`` is for those who may see
        what is not shown to everybody.
        """
        looked = match_id, trusted
        watched = self._begun(looked, is_done)
        watched.tell()  # to the others, before the new one is told how all stands
        queue: asyncio.Queue[Told] = asyncio.Queue()
        for message in [STOP] if self._closed else watched.state():
            queue.put_nowait(message)
        watched.followers.add(queue)
        try:
            yield queue
        finally:
            watched.followers.remove(queue)
            self._let_go(looked)

    def close(self) -> None:
        """End all streams: the process stops, and who looks comes back to another one."""
        self._closed = True
        for watched, _ in self._watched.values():
            for queue in watched.followers:
                queue.put_nowait(STOP)
