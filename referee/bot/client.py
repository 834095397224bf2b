"""A bot on all referees of an arena: finds them, keeps one stream to each, and comes back when one breaks."""

import asyncio
import logging
import random
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import NoReturn

import grpc

from referee.bot.bots import Bot, is_async, one_for_all
from referee.bot.evidence import Entry
from referee.bot.story import PERIOD_SECONDS, Story
from referee.bot.stream import Call, Stream, UnreadableMessage
from referee.bot.thinker import Thinker
from referee.errors import BotFailed, ConnectionRefused
from referee.net.channel import async_channel
from referee.net.failures import why_failed
from referee.net.tls import ClientTls
from referee.protocol import lazy
from referee.protocol.reasons import Failure, Reason, read_failure
from referee.protocol.version import PROTOCOL_VERSION
from referee.ruleset import DEFAULT, load_ruleset
from referee.v1 import bots_pb2

FIRST_BACKOFF, LAST_BACKOFF = 0.1, 5.0
"""Seconds between attempts to connect: doubling, each wait drawn at random from half of that to all of it."""
UNREACHED_BACKOFF = 60.0
"""The longest such wait for a referee that the bot has only heard of and never reached."""

_OPTIONS = (
    ("grpc.max_receive_message_length", -1),
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 2_000),
    ("grpc.use_local_subchannel_pool", 1),  # a connection of its own: one can carry 256 bots only
)
_PLAY = f"/{bots_pb2.DESCRIPTOR.services_by_name['BotService'].full_name}/Play"

log = logging.getLogger("bot")

EXPLAIN_SECONDS = 1.0
"""How long a connection may take before the bot finds out why: gRPC reports some causes only later."""


class BotClient:
    """A bot on all referees of an arena.

    ``max_sessions`` is how many sessions it plays at once, on all of them together; 0 leaves that to them.
    A strict bot does not go on when its own code fails. ``keep`` is called with the log entry of each
    session.
    """

    def __init__(
        self,
        bot: Bot,
        token: str,
        max_sessions: int = 0,
        *,
        tls: ClientTls | None = None,
        strict: bool = False,
        keep: Callable[[Entry], None] | None = None,
    ) -> None:
        self._bot, self._tls, self._strict = one_for_all(bot), tls, strict
        self.waits = is_async(self._bot)
        """Whether the bot thinks in coroutines, which have an event loop of their own."""
        self._keep = keep
        self._story = Story()
        self._metadata = (("authorization", f"Bearer {token}"),)
        self._max_sessions = max_sessions
        self._addresses: Sequence[str] = ()
        self._listed: Sequence[bots_pb2.Referee] = ()
        """The referees of the arena, as listed in the last welcome."""
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._streams: dict[str, Stream] = {}
        """The current attempt at each address, which may not be welcomed yet."""
        self._live: dict[str, str] = {}
        """The address of each referee with a stream on which the bot is welcomed, by the referee's id."""
        self._reached: set[str] = set()
        """The ids of referees on which the bot was ever welcomed."""
        self._failed: set[str] = set()
        """Addresses at which no referee answered the last attempt."""
        self._explained: dict[str, str] = {}
        """What the author was told about an address: why no referee answers there."""
        self._stopping = self._finishing = False
        self._group: asyncio.TaskGroup
        self._thinker: Thinker

    async def run(self, addresses: Sequence[str]) -> None:
        """Play as ``play`` does, with a thread of the bot's own to think in."""
        thinker = Thinker(asyncio.get_running_loop())
        thinker.start()
        try:
            await self.play(addresses, thinker)
        finally:
            thinker.stop()

    async def play(self, addresses: Sequence[str], thinker: Thinker) -> None:
        """Play until told to leave, or until finished when told to finish; ``thinker`` runs the bot's code.

        Raise ConnectionRefused if a referee refuses the bot, and BotFailed if a strict bot fails.
        """
        load_ruleset(DEFAULT)  # load the code that reads rulesets now, not while a clock runs
        self._addresses, self._thinker = addresses, thinker
        summing_up = asyncio.create_task(self._sum_up())
        try:
            async with asyncio.TaskGroup() as self._group:
                self.meet(addresses)
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
        finally:
            summing_up.cancel()
            self._story.sum_up()

    async def _sum_up(self) -> None:
        while True:
            await asyncio.sleep(PERIOD_SECONDS)
            self._story.sum_up()

    def stop(self) -> None:
        """Finish at the first call, leave at the second, as signals ask for."""
        if self._stopping:
            self.leave()
        else:
            self.finish()

    def finish(self) -> None:
        """Take no more sessions, and leave when the open ones have ended."""
        if count := sum(stream.sessions for stream in self._streams.values()):
            log.info("finishing %d open sessions; another signal leaves at once", count)
        self._finishing = True
        self._part(Stream.finish)

    def leave(self) -> None:
        """Say goodbye everywhere at once; open sessions go on without the bot."""
        self._finishing = False
        self._part(Stream.leave)

    def _part(self, how: Callable[[Stream], None]) -> None:
        self._stopping = True
        for address, task in self._tasks.items():
            stream = self._streams.get(address)
            if stream is not None and address in self._live.values():
                how(stream)
            elif not (self._finishing and stream is not None and stream.sessions):
                task.cancel()

    # Finding referees

    def meet(self, addresses: Sequence[str]) -> None:
        """Open a stream to each address that has none."""
        for address in addresses:
            task = self._tasks.get(address)
            if (task is None or task.done()) and not self._stopping:
                self._tasks[address] = self._group.create_task(self._stay_connected(address))

    def _meet_listed(self) -> None:
        """Open a stream to each referee of the arena that has none."""
        self.meet([referee.address for referee in self._listed if referee.id not in self._live])

    def _welcomed(self, address: str, welcome: bots_pb2.Welcome) -> None:
        name = welcome.referee_id or address
        self._live[name] = address
        self._reached.add(name)
        self._failed.discard(address)
        self._explained.pop(address, None)
        log.info("%s is connected to referee %s", welcome.bot, _spelt(name, address))
        if self._stopping:
            self._streams[address].finish()
            return
        if welcome.referees:
            self._listed = welcome.referees
        self._meet_listed()
        self._share_out()

    def _share_out(self) -> None:
        """Ask each referee for its share of the sessions, leaving out those that are out of reach."""
        if not self._max_sessions or self._stopping:
            return
        within = [referee.id for referee in self._listed if not self._out_of_reach(referee)]
        for place, name in enumerate(within):
            if name in self._live:
                stream = self._streams[self._live[name]]
                stream.ask_for(self._max_sessions // len(within) + (place < self._max_sessions % len(within)))

    def _out_of_reach(self, referee: bots_pb2.Referee) -> bool:
        """Return whether the bot never reached a referee, and its address leads nowhere or to another one."""
        if referee.id in self._reached:
            return False
        return referee.address in self._failed or referee.address in self._live.values()

    def _elsewhere(self, address: str, failure: Failure | None) -> str | None:
        """Return another address at which the bot is connected to the referee behind this one."""
        names = {referee.id for referee in self._listed if referee.address == address}
        if failure is not None and failure.reason == Reason.ALREADY_CONNECTED:
            names = {failure.metadata.get("referee_id", "")}
        return next((self._live[name] for name in names if name in self._live), None)

    # Staying connected

    async def _stay_connected(self, address: str) -> None:
        """Keep a stream to an address until the bot leaves, or is connected to the same referee elsewhere."""
        backoff = _Backoff()
        while True:
            stream, failure = await self._attempt(address)
            if failure is not None and failure.final:
                raise ConnectionRefused(f"referee {address}: {failure.text}")
            if self._stopping and not (self._finishing and stream.sessions and not _closed(stream, failure)):
                return
            if (other := self._elsewhere(address, failure)) is not None:
                log.info("referee %s: not needed, the bot is connected to it at %s", address, other)
                self._meet_listed()  # this address may have led to another referee before
                return
            if stream.welcome is not None:
                backoff = _Backoff()
            if self._note(address, stream, failure) and failure is not None:
                await self._explain(address, failure.text)
            heard_of = stream.welcome is None and address not in self._addresses and address in self._failed
            await asyncio.sleep(backoff.draw(_least_wait(stream, failure), patient=heard_of))

    async def _attempt(self, address: str) -> tuple[Stream, Failure | None]:
        """Open a stream and play until it ends. Return it and how it failed; None for an orderly end."""
        stream = self._streams[address] = Stream(
            self._bot,
            self._thinker,
            strict=self._strict,
            keep=self._keep,
            story=self._story,
            on_welcome=lambda welcome: self._welcomed(address, welcome),
            on_failure=self._fail,
        )
        try:
            async with async_channel(address, self._tls, _OPTIONS) as channel:
                play = channel.stream_stream(_PLAY, None, lazy.PlayResponse.FromString)
                call: Call = play(None, metadata=self._metadata)
                explaining = asyncio.create_task(self._explain_soon(address, channel))
                try:
                    await stream.play(call, self._hello())
                finally:
                    explaining.cancel()
        except grpc.aio.AioRpcError as error:
            return stream, read_failure(error)
        except UnreadableMessage:
            return stream, Failure(grpc.StatusCode.INTERNAL, "a message cannot be read", "", None, {})
        finally:
            self._live = {name: at for name, at in self._live.items() if at != address}
        return stream, None

    def _hello(self) -> bots_pb2.Hello:
        sdk = f"bigtwo-bot python {version('bigtwo-bot')}"
        return bots_pb2.Hello(
            protocol_version=PROTOCOL_VERSION, sdk=sdk, max_sessions=self._max_sessions or None
        )

    def _note(self, address: str, stream: Stream, failure: Failure | None) -> bool:
        """Log how a stream ended, unless the referee is out of reach. Return whether it is."""
        silent = failure is not None and not failure.reason and stream.welcome is None
        if silent and address not in self._failed:
            self._failed.add(address)
            self._share_out()
        if failure is not None and not silent:
            log.info("referee %s: %s", address, failure.text)
        return silent

    async def _explain_soon(self, address: str, channel: grpc.aio.Channel) -> None:
        """Log why nobody is reached if that takes long: gRPC waits for TLS even where none is spoken."""
        await asyncio.sleep(EXPLAIN_SECONDS)
        if channel.get_state() is not grpc.ChannelConnectivity.READY:
            await self._explain(address)

    async def _explain(self, address: str, otherwise: str = "") -> None:
        """Log why nobody is reached, once for each reason; what gRPC says, ``otherwise``, only at first."""
        why = await why_failed(address, self._tls, otherwise)
        if not why and address not in self._explained:
            why = otherwise
        if why and self._explained.get(address) != why:
            self._explained[address] = why
            log.warning("referee %s cannot be reached: %s; trying again", address, why)

    def _fail(self, error: BotFailed) -> None:
        """Make ``run`` end with an error."""

        async def fail() -> NoReturn:
            raise error

        self._stopping = True
        self._group.create_task(fail())


class _Backoff:
    """Waits between attempts to connect."""

    def __init__(self) -> None:
        self._next = FIRST_BACKOFF

    def draw(self, least: float, *, patient: bool = False) -> float:
        """Return how many seconds to wait: at least ``least``, and up to a minute if ``patient``."""
        wait = self._next * random.uniform(0.5, 1)  # noqa: S311 no secret
        self._next = min(2 * self._next, UNREACHED_BACKOFF if patient else LAST_BACKOFF)
        return max(wait, least * random.uniform(1, 1.25))  # noqa: S311 no secret


def _least_wait(stream: Stream, failure: Failure | None) -> float:
    """Return how many seconds the referee asked the bot to wait."""
    if failure is not None and failure.retry_seconds is not None:
        return failure.retry_seconds
    if stream.closing is not None:
        return stream.closing.retry_delay.ToMilliseconds() / 1000
    return 0.0


def _closed(stream: Stream, failure: Failure | None) -> bool:
    """Return whether a stream ended because its referee shuts down, which ends the sessions there as well."""
    return stream.closing is not None or (failure is not None and failure.reason == Reason.CLOSING)


def _spelt(name: str, address: str) -> str:
    return address if name == address else f"{name} at {address}"
