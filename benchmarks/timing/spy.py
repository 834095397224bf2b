"""The bot that times its turns: it learns, guesses and plays."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from benchmarks.spying import Counting, Inference, Pass, Seen, choose, forced_actions
from benchmarks.timing.setting import Setting, program
from benchmarks.timing.talking import OPTIONS, Send, answer
from referee.bot.turn import read_turn
from referee.bot.view import SessionView
from referee.net.channel import async_channel
from referee.v1 import bots_pb2, spectators_pb2, spectators_pb2_grpc


class Watcher:
    """A spectator, which notes when each action of a session was shown."""

    def __init__(self) -> None:
        self._ids: dict[int, str] = {}
        self._times: dict[str, list[float]] = {}
        self._news = asyncio.Event()

    async def watch(self, address: str, match_id: str) -> None:
        """Follow a match to its end."""
        async with async_channel(address, None, OPTIONS) as channel:
            stub = spectators_pb2_grpc.SpectatorServiceStub(channel)
            async for response in stub.WatchMatch(spectators_pb2.WatchMatchRequest(match_id=match_id)):
                came = time.perf_counter()
                for update in response.updates:
                    if update.HasField("session_started"):
                        started = update.session_started
                        self._ids[started.session] = started.session_id
                        self._times[started.session_id] = []
                    elif update.HasField("action"):
                        self._times[self._ids[update.action.session]].append(came)
                self._news.set()

    async def times(self, session_id: str, actions: int) -> list[float]:
        """Return when each of the first ``actions`` actions was shown; wait for those still on their way."""
        while len(self._times.get(session_id, ())) < actions:
            self._news.clear()
            await self._news.wait()
        return self._times.get(session_id, [])[:actions]


class SpySession:
    """One session of the spy."""

    def __init__(self, view: SessionView) -> None:
        self.view = view
        self.seen: Seen | None = None
        self.since = 0.0
        """When it last acted."""
        self.passes: list[Pass] = []
        self.gaps: list[tuple[float, int, int]] = []
        """Seconds, and the range of the actions that fell into them: from, to."""
        self.watcher: Watcher | None = None


class Spy:
    """Times its turns in all its sessions, learns and plays."""

    def __init__(self, address: str, setting: Setting) -> None:
        self._address = address
        self._setting = setting
        self._inference = Inference(reads=setting.reads)
        self._counting: Counting | None = None
        self.rows: list[tuple[str, int, float, float]] = []
        """Session, action, and the chances that it was forced: without the time, and with it."""

    def stream(self) -> Callable[[Any, float, Send], Awaitable[None]]:
        """Return the function that takes the events of one of its streams."""
        sessions: dict[int, SpySession] = {}
        watcher = Watcher()
        watching: list[asyncio.Task[None]] = []

        async def take(event: Any, came: float, send: Send) -> None:
            match event.WhichOneof("event"):
                case "session_started":
                    started = event.session_started
                    session = sessions[started.session] = SpySession(SessionView.of(started))
                    if self._setting.watches:
                        session.watcher = watcher
                        if not watching:
                            match = started.session_id.rpartition("/")[0]
                            watching.append(asyncio.create_task(watcher.watch(self._address, match)))
                case "deal_started":
                    self._deal(sessions[event.deal_started.session], event.deal_started, came)
                case "turn":
                    session = sessions[event.turn.session]
                    request = await self._turn(session, event.turn, came)
                    session.since = time.perf_counter()
                    await send(request)
                case "deal_ended":
                    self._learn(sessions[event.deal_ended.session], event.deal_ended)

        return take

    def _deal(self, session: SpySession, started: Any, came: float) -> None:
        view = session.view
        view.deal_started(started)
        self._counting = self._counting or Counting(view.rules)
        session.seen = Seen(view.rules, self._counting, view.seat, view.hand, view.counts)
        session.since, session.passes, session.gaps = came, [], []

    async def _turn(self, session: SpySession, message: Any, came: float) -> bots_pb2.PlayRequest:
        view, seen = session.view, session.seen
        assert seen is not None
        first = seen.index
        view.happened(message.actions)
        passes = []
        for action in view.actions[first:]:
            noted = seen.take(action.seat, view.rules.parse(" ".join(action.cards)))
            if noted is not None:
                noted.prior = self._inference.prior(program(view.seats[noted.seat]), view.rules, noted)
                passes.append(noted)
        if session.watcher is None:
            gaps = [(came - session.since, first, seen.index)]
        else:
            times = [session.since, *await session.watcher.times(view.session_id, seen.index)]
            gaps = [(times[at + 1] - times[at], at, at + 1) for at in range(first, seen.index)]
        for gap in gaps:
            self._read(session, passes, *gap)
        session.passes += passes
        session.gaps += gaps
        turn = read_turn(view, message)
        return answer(message, view, choose(seen, view.hand, turn.legal_codes, turn.can_pass))

    def _read(
        self, session: SpySession, passes: Sequence[Pass], seconds: float, first: int, last: int
    ) -> None:
        """Update the passes that fell into a gap, given its length."""
        view = session.view
        within = [noted for noted in passes if first <= noted.index < last]
        others = [action for action in view.actions[first:last] if action.seat != view.seat]
        priors = [noted.prior for noted in within]
        timed = self._inference.read(seconds, len(others) - len(within), priors)
        for noted, chance in zip(within, timed, strict=True):
            noted.forced = chance

    def _learn(self, session: SpySession, ended: Any) -> None:
        view = session.view
        view.happened(ended.actions)
        hands = [view.mask(bots_pb2.Hand.FromString(hand).cards) for hand in ended.hands]
        masks = [view.rules.parse(" ".join(action.cards)) for action in view.actions]
        forced = forced_actions(view.rules, hands, view.dealer, 1 if view.clockwise else -1, masks)
        for noted in session.passes:
            bot = program(view.seats[noted.seat])
            self._inference.learn_pass(bot, view.rules, noted, forced[noted.index])
            self.rows.append((view.session_id, noted.index, noted.prior, noted.forced))
        for seconds, first, last in session.gaps:
            others = [at for at in range(first, last) if view.actions[at].seat != view.seat]
            self._inference.learn_gap(seconds, len(others), sum(not forced[at] for at in others))
