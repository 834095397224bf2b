"""The bot's side of the Play stream: connects, batches, reconnects and logs."""

import asyncio
import contextlib
import logging
import os
import random
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, NoReturn, Protocol, TypeAlias

import grpc
import uvloop

from referee.bot.view import Play, SessionView, Turn
from referee.channel import ClientTls, async_channel
from referee.errors import ConnectionRefused, RefereeError
from referee.memo import Memo
from referee.protocol import twin
from referee.protocol.numbers import card_numbers
from referee.protocol.pieces import BYTES, VARINT, field, head, key, sized
from referee.protocol.version import PROTOCOL_VERSION
from referee.rules.plays import Rules
from referee.ruleset import DEFAULT, load_ruleset
from referee.v1 import play_pb2, referee_pb2

DEFAULT_REFEREE = "127.0.0.1:8710"
FLUSH_SECONDS = 0.005
"""A bot that thinks sends the answers it has at least this often."""
SLOW_SECONDS = 0.05
"""A bot that thinks for longer goes on in a thread, so that pings are answered meanwhile ..."""
FAST_TURNS = 200
"""... until so many turns in a row took less."""
FIRST_BACKOFF, LAST_BACKOFF = 0.1, 5.0
"""Seconds between attempts to connect: doubling, each drawn at random from half to the whole."""

_FINAL = {
    grpc.StatusCode.UNAUTHENTICATED,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.PERMISSION_DENIED,
}
"""Refusals that another attempt cannot change."""

_OPTIONS = (
    ("grpc.max_receive_message_length", -1),
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 2_000),
)

Answer: TypeAlias = Play | str | Sequence[str] | None
"""A play: as a ``Play``, as text ("3D 3C") or as a list of cards. None passes."""


class Chooser(Protocol):
    """A bot: an object whose ``choose`` answers turns of kind ``play``.

    It may also have ``exchange``, ``beat_own`` and ``bomb`` for the turns of these kinds; without them it
    returns its lowest card, ends the trick, and does not bomb.
    """

    def choose(self, turn: Turn) -> Answer: ...


Bot: TypeAlias = Callable[[Turn], Answer] | type[Chooser]

log = logging.getLogger("bot")

_PLAY = f"/{referee_pb2.DESCRIPTOR.services_by_name['RefereeService'].full_name}/Play"
_MOVE = play_pb2.Move.DESCRIPTOR
_MOVE_HEAD = head(key(play_pb2.PlayRequest.DESCRIPTOR, "moves", BYTES))
_SESSION = field(key(_MOVE, "session", VARINT))
_SEQUENCE = field(key(_MOVE, "sequence", VARINT))
_CARDS = key(_MOVE, "cards", BYTES)
_PASSES = key(_MOVE, "passes", VARINT) + b"\1"


@lru_cache(maxsize=64)
def _cards(rules: Rules) -> Memo[int, bytes]:
    """The cards of a move, encoded, by their mask."""
    packed = card_numbers(rules).packed
    return Memo(lambda mask: _CARDS + sized(packed(mask)))


class _Function:
    def __init__(self, choose: Callable[[Turn], Answer]) -> None:
        self.choose = choose


class _Seat:
    """The bot in one session."""

    __slots__ = ("_cards", "_choose", "_chooser", "view")

    def __init__(self, bot: Bot, started: play_pb2.SessionStarted) -> None:
        self.view = SessionView(started)
        self._cards = _cards(self.view.rules)
        self._chooser: Any = bot() if isinstance(bot, type) else _Function(bot)
        self._choose: Callable[[Turn], Answer] = self._chooser.choose

    def answer(self, message: Any) -> bytes:
        """A PlayRequest with the move that answers a turn of the twin protocol.

        Such messages set one after the other are one with all of them.
        """
        self.view.happened(message.actions[:])
        turn = Turn(self.view, message)
        try:
            plays = message.kind == play_pb2.TURN_KIND_PLAY
            mask = self._mask(self._choose(turn) if plays else self._decide(turn))
        except Exception:
            log.exception("the bot failed, the default action is taken: %s", turn)
            mask = _default(turn)
        move = _SESSION[message.session] + _SEQUENCE[message.sequence]
        move += self._cards[mask] if mask else _PASSES
        return _MOVE_HEAD[len(move)] + move

    def _decide(self, turn: Turn) -> Answer:
        """The answer to a turn that is no ordinary one."""
        method: Callable[[Turn], Answer] | None = getattr(self._chooser, turn.kind, None)
        if method is not None:
            return method(turn)
        if turn.can_pass:
            return None
        return turn.hand[0] if turn.kind == "exchange" else turn.legal[0]

    def _mask(self, answer: Answer) -> int:
        if answer is None:
            return 0
        if isinstance(answer, Play):
            return answer.code & self.view.rules.full
        return self.view.rules.parse(answer if isinstance(answer, str) else " ".join(answer))


def _default(turn: Turn) -> int:
    if turn.can_pass:
        return 0
    return min(turn.legal_codes, default=0) & turn.rules.full


class BotClient:
    """A bot on all referees of an arena."""

    def __init__(self, bot: Bot, token: str, max_sessions: int = 0, *, tls: ClientTls | None = None) -> None:
        self._bot = bot
        self._tls = tls
        self._hello = play_pb2.Hello(
            token=token,
            protocol_version=PROTOCOL_VERSION,
            sdk=f"bigtwo-arena python {version('bigtwo-arena')}",
            max_sessions=max_sessions,
        )
        self._streams: asyncio.TaskGroup
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._entries: dict[str, str] = {}
        """Which entry of the list of referees an address led to last, where the referee said it."""
        self._live: set[str] = set()
        """Addresses with a stream on which the bot was welcomed."""
        self._listed: Sequence[str] = ()
        """The referees of the arena, as the last welcome lists them."""
        self.leaving = asyncio.Event()

    def leave(self) -> None:
        """Says goodbye everywhere."""
        self.leaving.set()

    async def run(self, addresses: Sequence[str]) -> None:
        """Play until told to leave. Raise ConnectionRefused when a referee will not have the bot."""
        load_ruleset(DEFAULT)  # what reads rulesets is loaded now, not while the first turn's clock runs
        try:
            async with asyncio.TaskGroup() as self._streams:
                self.meet(addresses)
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None

    def meet(self, addresses: Sequence[str]) -> None:
        """Opens a stream to each referee that has none."""
        for address in addresses:
            task = self._tasks.get(address)
            if (task is None or task.done()) and self._other_way(address) is None:
                self._tasks[address] = self._streams.create_task(self._stay_connected(address))

    def _other_way(self, address: str) -> str | None:
        """Another address at which the bot is connected to the same referee."""
        entry = self._entries.get(address, address)
        for other in self._live:
            if other != address and self._entries[other] == entry:
                return other
        return None

    def _welcomed(self, address: str, welcome: play_pb2.Welcome) -> None:
        self._live.add(address)
        log.info("%s is connected to referee %s", welcome.bot, address)
        self._entries[address] = welcome.referee or address
        if len(welcome.referees) > 1:
            self._listed = welcome.referees
            self.meet(self._listed)

    async def _stay_connected(self, address: str) -> None:
        backoff = FIRST_BACKOFF
        while not self.leaving.is_set():
            stream = _Stream(self._bot, self.leaving, self._tls)
            reason = None
            self._entries[address] = address
            try:
                await stream.play(address, self._hello, partial(self._welcomed, address))
            except grpc.aio.AioRpcError as error:
                if error.code() in _FINAL:
                    raise ConnectionRefused(f"referee {address}: {error.details()}") from None
                reason = error.details()
                self._entries[address] = _refusing(error) or address
            finally:
                self._live.discard(address)
            if (other := self._other_way(address)) is not None:
                log.info("referee %s: not needed, the bot is connected to it at %s", address, other)
                self.meet(self._listed)  # this address may have led to another referee before
                return
            if reason is not None:
                log.info("referee %s: %s", address, reason)
            if stream.welcomed:
                backoff = FIRST_BACKOFF
            if not self.leaving.is_set():
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(backoff * random.uniform(0.5, 1)):
                        await self.leaving.wait()
                backoff = min(2 * backoff, LAST_BACKOFF)


def _refusing(error: grpc.aio.AioRpcError) -> str:
    """Which entry of the list of referees has refused the bot; empty where it does not say."""
    metadata: Any = error.trailing_metadata()
    return str(metadata.get("referee", ""))


class _Stream:
    """One connection to one referee."""

    def __init__(self, bot: Bot, leaving: asyncio.Event, tls: ClientTls | None) -> None:
        self.welcomed = False
        self._bot = bot
        self._leaving = leaving
        self._tls = tls
        self._seats: dict[int, _Seat] = {}
        self._writing = asyncio.Lock()
        self._slow = 0
        """Turns that are still to be answered in a thread."""
        self._waiting: deque[Any] = deque()
        self._thinker: asyncio.Future[None] | None = None

    async def play(self, address: str, hello: play_pb2.Hello, welcomed: Callable[[Any], None]) -> None:
        """Plays until the stream ends. Raises AioRpcError when it breaks."""
        async with async_channel(address, self._tls, _OPTIONS) as channel:
            call: Call = channel.stream_stream(_PLAY, None, twin.PlayResponse.FromString)(None)
            await call.write(play_pb2.PlayRequest(hello=hello).SerializeToString())
            farewell = asyncio.create_task(self._say_goodbye(call))
            try:
                async for response in call:
                    if response.HasField("ping"):
                        pong = play_pb2.PlayRequest(pong=play_pb2.Pong(id=response.ping.id))
                        await self._send(call, pong.SerializeToString())
                    if response.HasField("welcome"):
                        self.welcomed = True
                        welcomed(response.welcome)
                    if self._slow or self._thinker is not None:
                        self._waiting.append(response)
                        self._think_on(call)
                    elif response.events:
                        await self._answer(call, response)
            finally:
                farewell.cancel()
                self._waiting.clear()

    async def _say_goodbye(self, call: "Call") -> None:
        await self._leaving.wait()
        async with self._writing:
            await call.write(play_pb2.PlayRequest(goodbye=play_pb2.Goodbye()).SerializeToString())
            await call.done_writing()

    async def _answer(self, call: "Call", response: Any) -> None:
        """Takes in a batch of events and sends the answers, at the latest when the thinking takes long."""
        for request in self._answers(response.events):
            await self._send(call, request)

    def _answers(self, events: Iterable[Any]) -> Iterator[bytes]:
        """Takes in events; gives PlayRequests with the answers."""
        moves: list[bytes] = []
        seats, clock = self._seats, time.monotonic
        began = before = clock()
        for event in events:
            if not event.HasField("turn"):
                self._take(event)
                before = clock()
                continue
            turn = event.turn
            moves.append(seats[turn.session].answer(turn))
            now = clock()
            if now - before > SLOW_SECONDS:
                self._slow = FAST_TURNS
            elif self._slow:
                self._slow -= 1
            before = now
            if now - began > FLUSH_SECONDS:
                yield b"".join(moves)
                moves, began = [], now
        if moves:
            yield b"".join(moves)

    def _think_on(self, call: "Call") -> None:
        """Leaves what waits to a thread, so that the stream is read while the bot thinks; one at a time."""
        if self._thinker is not None or not self._waiting:
            return
        loop = asyncio.get_running_loop()

        def over(thinker: "asyncio.Future[None]") -> None:
            self._thinker = None
            if not thinker.cancelled() and (error := thinker.exception()) is not None:
                log.error("the bot's thread failed", exc_info=error)
            self._think_on(call)  # for what came when the thread was about to end

        self._thinker = loop.run_in_executor(None, self._think, call, loop)
        self._thinker.add_done_callback(over)

    def _think(self, call: "Call", loop: asyncio.AbstractEventLoop) -> None:
        """Answers what waits, turn by turn; runs in a thread."""
        while True:
            try:
                response = self._waiting.popleft()
            except IndexError:
                return
            for request in self._answers(response.events):
                asyncio.run_coroutine_threadsafe(self._send(call, request), loop)

    async def _send(self, call: "Call", request: bytes) -> None:
        async with self._writing:
            if not self._leaving.is_set():
                await call.write(request)

    def _take(self, event: Any) -> None:
        """Takes in an event of the twin protocol that is no turn; one that is not known here has no kind."""
        match event.WhichOneof("event"):
            case "session_started":
                started = event.session_started
                self._seats[started.session] = _Seat(self._bot, started)
            case "deal_started":
                self._seats[event.deal_started.session].view.deal_started(event.deal_started)
            case "deal_ended":
                view = self._seats[event.deal_ended.session].view
                view.happened(event.deal_ended.actions[:])
                view.deal_ended(event.deal_ended)
            case "session_ended":
                self._seats.pop(event.session_ended.session, None)
            case "fault":
                fault = event.fault
                log.warning("fault %d of %d: %s", fault.faults, fault.fault_limit, fault.reason)
            case "notice":
                log.info("notice: %s", event.notice.text)


Call: TypeAlias = "grpc.aio.StreamStreamCall[bytes, Any]"


def run(
    bot: Bot,
    *,
    token: str,
    addresses: Sequence[str],
    max_sessions: int = 0,
    tls: ClientTls | None = None,
) -> None:
    """Plays until SIGINT or SIGTERM. Raises ConnectionRefused when a referee will not have the bot."""

    async def play() -> None:
        client = BotClient(bot, token, max_sessions, tls=tls)
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, client.leave)
        await client.run(addresses)

    uvloop.run(play())


def main(bot: Bot, *, max_sessions: int = 0) -> NoReturn:
    """Runs a bot as a program that plays so many sessions at once; 0 leaves it to the referees.

    ``ARENA_TOKEN`` and ``ARENA_REFEREE`` (addresses, with commas) say who it is and where it plays. With
    ``ARENA_TLS_CA`` (a file of trusted certificates, or ``system``) it uses TLS, and shows
    ``ARENA_TLS_CLIENT_CERTIFICATE`` with ``ARENA_TLS_CLIENT_KEY`` if they are set.
    """
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr)
    token = os.environ.get("ARENA_TOKEN", "")
    if not token:
        sys.exit("ARENA_TOKEN: not set; it is the token that `arena bot register` printed")
    addresses = [a.strip() for a in os.environ.get("ARENA_REFEREE", DEFAULT_REFEREE).split(",") if a.strip()]
    if not addresses:
        sys.exit("ARENA_REFEREE: names no address")
    tls = _tls()
    try:
        run(bot, token=token, addresses=addresses, max_sessions=max_sessions, tls=tls)
    except RefereeError as error:
        sys.exit(str(error))
    sys.exit(0)


def _tls() -> ClientTls | None:
    """What the environment says of TLS."""
    own = ("ARENA_TLS_CLIENT_CERTIFICATE", "ARENA_TLS_CLIENT_KEY")
    given = [variable for variable in own if os.environ.get(variable)]
    if not os.environ.get("ARENA_TLS_CA"):
        if given:
            sys.exit(f"ARENA_TLS_CA: not set, though {given[0]} is; without it there is no TLS")
        return None
    if len(given) == 1:
        sys.exit(f"{' and '.join(own)}: only {given[0]} is set")
    authorities = None if os.environ["ARENA_TLS_CA"] == "system" else _file("ARENA_TLS_CA")
    return ClientTls(authorities, *map(_file, own))


def _file(variable: str) -> bytes | None:
    """What is in the file that a variable names; None if it is not set."""
    name = os.environ.get(variable)
    if not name:
        return None
    try:
        return Path(name).read_bytes()
    except OSError as error:
        sys.exit(f"{variable}: cannot read {name}: {error.strerror}")
