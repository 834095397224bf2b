"""Matches in play as pages show them: one subscription at the referee serves everyone who watches a match.

Events are sent as messages: a name and its JSON. New viewers first get the state of the sessions. Bots are
faster than people: if a deal runs too fast to be followed step by step, its state is sent twice a second, and
of many concurrent sessions only some are shown.
"""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TypeAlias

import grpc

from arena.errors import ArenaError
from arena.host.settings import Settings
from arena.queries.replays.live import Data, LiveDeal
from arena.queries.replays.steps import Words
from arena.web.feeds import event
from referee.errors import CardError, RulesetError
from referee.net.channel import async_channel
from referee.protocol.numbers import CardNumbers, card_numbers
from referee.rules.plays import Rules
from referee.rules.rulebook import rules_of
from referee.v1 import bots_pb2, spectators_pb2, spectators_pb2_grpc

ENDS = {
    bots_pb2.DEAL_END_OUT: "out",
    bots_pb2.DEAL_END_DRAGON: "dragon",
    bots_pb2.DEAL_END_LAST_TOP_CARD: "last_top_card",
    bots_pb2.DEAL_END_FORFEIT: "forfeit",
    bots_pb2.DEAL_END_INSTANT_WIN: "instant_win",
}

Message = tuple[str, Data]
"""The name of an event, and its values."""


class LiveSession:
    """A session that is being played."""

    def __init__(self, started: bots_pb2.SessionStarted) -> None:
        self.number = int(started.session_id.rpartition("/")[2])
        self.seats = list(started.seats)
        self.rules: Rules = rules_of(json.loads(started.ruleset))
        self.cards: CardNumbers = card_numbers(self.rules)
        self.scores = list(started.scores)
        self.deal, self.deals = 0, started.deals
        self.steps: LiveDeal | None = None
        self.deal_sent = 0
        """The deal of which viewers were last sent a part."""
        self.whole: Message | None = None
        """The state of that deal once it is over."""

    def message(self) -> Message:
        """Return the state of the session, with the deal's steps so far."""
        values: Data = {"session": self.number, "deal": self.deal, "scores": self.scores}
        if self.steps is not None:
            values["data"] = self.steps.data()
        return "deal", values

    def begin(self, started: bots_pb2.DealStarted) -> Message:
        """Begin a deal."""
        step = 1 if started.direction == bots_pb2.DIRECTION_CLOCKWISE else -1
        self.deal = started.deal
        self.steps = LiveDeal(self.rules, self.seats, started.dealer, step, started.hand_sizes)
        return self.message()

    def act(self, action: spectators_pb2.WatchAction) -> Message | None:
        """Record an action."""
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
        step = self._step(self.steps.end(ENDS.get(ended.end, "out"), left, ended.out, ended.points))
        if self.deal == self.deal_sent:
            self.whole = self.message()
        return step

    def catch_up(self) -> list[Message]:
        """Return the state, after the end of the deal of which viewers have a part."""
        ended = [self.whole] if self.whole is not None and self.deal != self.deal_sent else []
        return [*ended, self.message()]

    def _step(self, step: Data) -> Message:
        return "step", {"session": self.number, "deal": self.deal, "scores": self.scores, "step": step}

    def glance(self) -> "Glance":
        """Return a summary of the session."""
        held, words, seat_asked = self.steps.now() if self.steps is not None else ((), (), None)
        at = (self.number, self.deal, self.deals)
        return Glance(*at, tuple(self.seats), held, tuple(self.scores), words, seat_asked)


@dataclass(frozen=True, slots=True)
class Glance:
    """A summary of a session that is being played; values for bots are by seat."""

    session: int
    deal: int
    deals: int
    """Maximum number of deals in the session."""
    names: tuple[str, ...]
    held: tuple[int, ...]
    """Number of cards in each hand; empty before the start of a visible deal."""
    scores: tuple[int, ...]
    """Points in the session so far."""
    words: Words
    """What happened last."""
    asked: int | None
    """The seat whose turn it is; None if not known."""


Call: TypeAlias = "AsyncIterable[spectators_pb2.WatchMatchResponse]"
Updates = Sequence[spectators_pb2.WatchUpdate]

log = logging.getLogger(__name__)

RETRY_SECONDS = 2.0
"""Wait before asking the referees again for a match that none of them plays."""

SHOWN = 4
"""Maximum number of sessions of a match that are shown; when one ends, another takes its place."""

TELL_SECONDS = 0.5
"""Minimum time between two updates of a match."""

MOST_STEPS = 6
"""Maximum number of steps of a session that are sent one by one; for more at once, its state is sent."""

LINGERS = 10.0
"""Seconds for which a match is watched after somebody saw it in an overview."""

MOST_GLANCED = 200
"""Maximum number of matches that are watched for overviews."""

BEHIND = 200
"""Maximum number of queued messages for a viewer; one that is further behind gets the whole state again."""

WITHHELD = (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED)

Told = bytes
"""An encoded message, written once for all viewers."""

END: Message = ("end", {})
IDLE: Message = ("idle", {"why": "no referee plays this match at the moment"})
STOP: Told = b""
"""Ends a stream without a message."""
WITHHELD_WORDS = {
    "anyone": "this match is not shown while it is played: other tables play its deals too",
    "token": "this arena shows matches in play to its organisers and operators only",
}
"""Why a match is not shown, by the setting ``spectators``."""


def written(message: Message) -> Told:
    """Return an encoded message."""
    return event(*message)


ENDED = written(END)
"""The last message of a match."""


class LeftBehind(Exception):
    """Raised if the referee left out updates that were read too slowly: the state must be requested anew."""


class Watched:
    """A match that somebody watches."""

    def __init__(
        self, settings: Settings, match_id: str, is_done: Callable[[], bool], *, trusted: bool = False
    ) -> None:
        """Prepare to watch; ``trusted`` is for viewers who may see what is hidden from the public."""
        self._settings, self._id, self._is_done = settings, match_id, is_done
        why = WITHHELD_WORDS["anyone" if trusted else settings.spectators]
        self._hidden: Message = ("idle", {"why": why})
        self._metadata = (("authorization", f"Bearer {settings.worker_secret()}"),) if trusted else None
        self._open: dict[int, bots_pb2.SessionStarted] = {}
        """All sessions that are open."""
        self._shown: dict[int, LiveSession] = {}
        self._news: dict[int, tuple[LiveSession, list[Message]]] = {}
        """The pending messages by session."""
        self._due: asyncio.TimerHandle | None = None
        """The timer that sends them."""
        self._told_at = 0.0
        self._idle: Message | None = None
        self.followers: set[asyncio.Queue[Told]] = set()
        self.glanced_until = 0.0
        """Until when it is watched even without followers, in the event loop's time."""

    def glances(self) -> tuple[list[Glance], int]:
        """Return summaries of the sessions that are shown, and how many are open in all."""
        return [self._shown[number].glance() for number in sorted(self._shown)], len(self._open)

    def state(self) -> list[Told]:
        """Return the messages that a new viewer gets first."""
        messages = [self._idle] if self._idle else []
        return [
            written(message)
            for message in (*messages, *(session.message() for session in self._shown.values()))
        ]

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
        """Watch the match to its end at the referee that plays it; return why there is nothing to see."""
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
        """Take an update, and have it sent soon."""
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
        """Return the session in which a deal begins, if it is shown or can be from now on."""
        if number not in self._shown and len(self._shown) < SHOWN:
            self._shown[number] = LiveSession(self._open[number])
        return self._shown.get(number)

    def _note(self, session: LiveSession, message: Message | None) -> None:
        """Queue a message, to be sent at once or with the next update."""
        if message is None:
            return
        self._news.setdefault(session.number, (session, []))[1].append(message)
        if self._due is None:
            loop = asyncio.get_running_loop()
            self._due = loop.call_later(max(0.0, self._told_at + TELL_SECONDS - loop.time()), self.tell)

    def tell(self) -> None:
        """Send the pending messages."""
        if self._due is not None:
            self._due.cancel()
            self._due, self._told_at = None, asyncio.get_running_loop().time()
        news, self._news = self._news, {}
        for session, messages in news.values():
            if len(messages) > MOST_STEPS:
                over = [message for message in messages if message[0] == "over"]
                messages = [*session.catch_up(), *over]
            session.deal_sent, session.whole = session.deal, None
            for message in messages:
                self._tell(message)

    def stop(self) -> None:
        """Stop sending."""
        if self._due is not None:
            self._due.cancel()

    def _tell(self, message: Message) -> None:
        sent = written(message) if self.followers else STOP
        for queue in self.followers:
            if queue.qsize() >= BEHIND:
                _empty(queue)
                for text in self.state():
                    queue.put_nowait(text)
            else:
                queue.put_nowait(sent)


def _empty(queue: asyncio.Queue[Told]) -> None:
    while not queue.empty():
        queue.get_nowait()


async def delayed(call: Call, seconds: float) -> AsyncGenerator[Updates]:
    """Yield the updates of a call ``seconds`` after they came. Raise AioRpcError at its end if it failed."""
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
"""A match, and whether it is watched for trusted viewers."""


class Watching:
    """The matches that are being watched."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._watched: dict[Looked, tuple[Watched, asyncio.Task[None]]] = {}
        self._closed = False

    @property
    def watched(self) -> int:
        """Return how many matches are being watched."""
        return len(self._watched)

    def glances(self, match_id: str, is_done: Callable[[], bool]) -> tuple[list[Glance], int]:
        """Return summaries of the visible sessions of a match, and how many are open in all.

        The first call finds none, but starts watching the match for a while. ``is_done`` is as for
        ``joined``.
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
        """Stop watching a match that nobody follows or has recently seen in an overview."""
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
        """Watch a match during the block; the queue receives its messages, the state first.

        ``is_done`` is called, in a thread, if no referee plays it. ``trusted`` is for viewers who may see
        what is hidden from the public.
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
        """End all streams, because the process stops; viewers will reconnect to another one."""
        self._closed = True
        for watched, _ in self._watched.values():
            for queue in watched.followers:
                queue.put_nowait(STOP)
