"""Matches in play as pages show them: a referee is watched once for all who look at a match.

What happens is told as messages: the name of an event and its JSON values. Whoever comes is first told how
the sessions stand.
"""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from typing import TypeAlias

import grpc

from arena.errors import ArenaError
from arena.replays.live import Data, LiveDeal
from arena.settings import Settings
from referee.channel import async_channel
from referee.errors import CardError, RulesetError
from referee.protocol.numbers import CardNumbers, card_numbers
from referee.rules.plays import Rules
from referee.rules.rulebook import rules_of
from referee.v1 import bots_pb2, spectators_pb2, spectators_pb2_grpc

Call: TypeAlias = "AsyncIterable[spectators_pb2.WatchMatchResponse]"
Updates = Sequence[spectators_pb2.WatchUpdate]

log = logging.getLogger(__name__)

RETRY_SECONDS = 2.0
"""How long to wait before referees are asked again for a match that none of them plays."""

BEHIND = 2_000
"""Messages that wait for somebody at most; whoever is further behind is told anew how all stands."""

ENDS = {
    bots_pb2.DEAL_END_OUT: "out",
    bots_pb2.DEAL_END_DRAGON: "dragon",
    bots_pb2.DEAL_END_LAST_TOP_CARD: "last_top_card",
    bots_pb2.DEAL_END_FORFEIT: "forfeit",
}

WITHHELD = (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED)

Message = tuple[str, Data]

END: Message = ("end", {})
IDLE: Message = ("idle", {"why": "no referee plays this match at the moment"})
STOP: Message = ("", {})
"""Ends a stream without a word."""
HIDDEN: Message = ("idle", {"why": "this match is not shown while it is played"})


class LiveSession:
    """A session that is being played."""

    def __init__(self, started: bots_pb2.SessionStarted) -> None:
        self.number = int(started.session_id.rpartition("/")[2])
        self.seats = list(started.seats)
        self.rules: Rules = rules_of(json.loads(started.ruleset))
        self.cards: CardNumbers = card_numbers(self.rules)
        self.scores = list(started.scores)
        self.deal = 0
        self.steps: LiveDeal | None = None

    def told(self) -> Message:
        """Return how it stands, with the deal's steps so far."""
        values: Data = {"session": self.number, "deal": self.deal, "scores": self.scores}
        if self.steps is not None:
            values["data"] = self.steps.data()
        return "deal", values

    def begin(self, started: bots_pb2.DealStarted) -> Message:
        """Begin a deal."""
        step = 1 if started.direction == bots_pb2.DIRECTION_CLOCKWISE else -1
        self.deal = started.deal
        self.steps = LiveDeal(self.rules, self.seats, started.dealer, step, started.hand_sizes)
        return self.told()

    def act(self, action: spectators_pb2.WatchAction) -> Message | None:
        """Note an action."""
        if self.steps is None:
            return None
        if action.kind == bots_pb2.ACTION_KIND_PASS:
            step = self.steps.passes(action.seat, action.drawn)
        elif action.kind == bots_pb2.ACTION_KIND_EXCHANGE:
            step = self.steps.exchange(action.seat)
        else:
            bomb = action.kind == bots_pb2.ACTION_KIND_BOMB
            step = self.steps.play(action.seat, self.cards.mask(action.cards), bomb)
        return self._step(step)

    def close(self, ended: bots_pb2.DealEnded) -> Message | None:
        """End a deal."""
        if self.steps is None:
            return None
        self.scores = list(ended.scores)
        left = [self.cards.mask(hand.cards) for hand in ended.left]
        return self._step(self.steps.end(ENDS.get(ended.end, "out"), left, ended.out, ended.points))

    def _step(self, step: Data) -> Message:
        return "step", {"session": self.number, "deal": self.deal, "scores": self.scores, "step": step}


class LeftBehind(Exception):
    """The referee left updates out, as they were read too slowly: how all stands has to be asked anew."""


class Watched:
    """A match that somebody looks at."""

    def __init__(self, settings: Settings, match_id: str, is_done: Callable[[], bool]) -> None:
        self._settings, self._id, self._is_done = settings, match_id, is_done
        self._sessions: dict[int, LiveSession] = {}
        self._idle: Message | None = None
        self.followers: set[asyncio.Queue[Message]] = set()

    def state(self) -> list[Message]:
        """Return what somebody who comes is told."""
        told = [self._idle] if self._idle else []
        return told + [session.told() for session in self._sessions.values() if session.deal]

    async def run(self) -> None:
        """Watch until the match is done and stored."""
        while True:
            why = await self._watch()
            self._sessions.clear()
            if await self._done():
                self._idle = END
                self._tell(END)
                return
            if why != self._idle:
                self._idle = why
                self._tell(why)
            await asyncio.sleep(RETRY_SECONDS)

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
                call = stub.WatchMatch(spectators_pb2.WatchMatchRequest(match_id=self._id))
                try:
                    async with aclosing(delayed(call, self._settings.live_delay_seconds)) as batches:
                        async for updates in batches:
                            for update in updates:
                                self.take(update)
                except grpc.aio.AioRpcError as error:
                    why = HIDDEN if error.code() in WITHHELD else why
                except LeftBehind:
                    return IDLE
                except (CardError, RulesetError, ValueError, KeyError) as error:
                    log.warning("match %s cannot be shown: %s", self._id, error)
        return why

    def take(self, update: spectators_pb2.WatchUpdate) -> None:
        """Take in what happened, and tell it."""
        self._idle = None
        match update.WhichOneof("update"):
            case "session_started":
                self._sessions[update.session_started.session] = LiveSession(update.session_started)
            case "deal_started":
                self._tell(self._sessions[update.deal_started.session].begin(update.deal_started))
            case "action":
                self._tell(self._sessions[update.action.session].act(update.action))
            case "deal_ended":
                self._tell(self._sessions[update.deal_ended.session].close(update.deal_ended))
            case "session_ended":
                gone = self._sessions.pop(update.session_ended.session)
                self._tell(("over", {"session": gone.number, "scores": list(update.session_ended.scores)}))
            case "left_out":
                raise LeftBehind

    def _tell(self, message: Message | None) -> None:
        for queue in self.followers if message else ():
            if queue.qsize() >= BEHIND:
                _empty(queue)
                for one in self.state():
                    queue.put_nowait(one)
            elif message is not None:
                queue.put_nowait(message)


def _empty(queue: asyncio.Queue[Message]) -> None:
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


class Watching:
    """The matches that are looked at."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._watched: dict[str, tuple[Watched, asyncio.Task[None]]] = {}
        self._closed = False

    @property
    def watched(self) -> int:
        """How many matches are looked at."""
        return len(self._watched)

    @asynccontextmanager
    async def joined(
        self, match_id: str, is_done: Callable[[], bool]
    ) -> AsyncIterator[asyncio.Queue[Message]]:
        """Look at a match while the block lasts; what happens comes in the queue, first how it stands.

        ``is_done`` is asked, in a thread, where no referee plays it.
        """
        if match_id not in self._watched:
            watched = Watched(self._settings, match_id, is_done)
            self._watched[match_id] = watched, asyncio.create_task(watched.run())
        watched, task = self._watched[match_id]
        queue: asyncio.Queue[Message] = asyncio.Queue()
        for message in [STOP] if self._closed else watched.state():
            queue.put_nowait(message)
        watched.followers.add(queue)
        try:
            yield queue
        finally:
            watched.followers.remove(queue)
            if not watched.followers:
                del self._watched[match_id]
                task.cancel()

    def close(self) -> None:
        """End all streams: the process stops, and who looks comes back to another one."""
        self._closed = True
        for watched, _ in self._watched.values():
            for queue in watched.followers:
                queue.put_nowait(STOP)
