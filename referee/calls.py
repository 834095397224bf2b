"""The calls of the referee's service: who may make them, and how they end."""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeAlias, TypeVar, cast

import grpc
from google.protobuf.message import DecodeError, Message

from referee import twin, wire
from referee.auth import Authenticator, BotIdentity, Scope
from referee.channel import ServerTls
from referee.connection import CloseCode, Connection
from referee.errors import (
    ConnectionRefused,
    Draining,
    LogClosed,
    LogQueryError,
    MatchRefused,
    RulesetError,
)
from referee.events import Notice, NoticeCode
from referee.hall import BEAT_SECONDS, MAX_SESSIONS, STOPPED_BY_WORKER, TAKEN_OVER, Hall, Match
from referee.journal import Entry, EntryKind, Journal, NoJournal
from referee.metrics import Meter
from referee.stream import Alarm, BotStream, PlayContext, Unreadable, clock, read_message
from referee.v1 import log_pb2, match_pb2, play_pb2, referee_pb2

PROTOCOL_VERSION = 1
HELLO_SECONDS = 10.0
"""How long a new stream may take to say hello."""
PROGRESS_SECONDS = 1.0
"""How often a worker hears of a match in which nothing finishes."""
HANDSHAKES = 256
"""Streams at once that have not said hello, of which the oldest are ended to make room; and as many again
whose token is being looked up: more are turned away."""
MAX_TOKEN = 512
"""Longest token that is looked up."""
TAKEOVER_SECONDS, TAKEOVER_LOOKS = 2.0, 100
"""How long a bot's live stream has to show that it lives when the bot connects a second time."""
REVOKED_SECONDS = 2.0
"""How often it is asked whether a connected bot's token was revoked."""
SPECTATOR_SECONDS, SPECTATOR_TURNS = 0.02, 20
"""How often spectators are served, and how many of them each time, so that any number of them leaves the
tables the better part of the time."""
MAX_SPECTATORS = 20_000
LOOK_SECONDS = 0.2
"""How often it is looked whether the client of a broken call has ended it."""

RunContext: TypeAlias = "grpc.aio.ServicerContext[match_pb2.RunMatchRequest, match_pb2.RunMatchResponse]"
WatchContext: TypeAlias = "grpc.aio.ServicerContext[match_pb2.WatchMatchRequest, bytes]"
StatusContext: TypeAlias = "grpc.aio.ServicerContext[match_pb2.StatusRequest, match_pb2.StatusResponse]"
CallContext: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"

_Call: TypeAlias = Callable[[Any, CallContext], Awaitable[None]]

log = logging.getLogger("referee")

_Answer = TypeVar("_Answer")
_Request = TypeVar("_Request", bound=Message)


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """How a referee serves."""

    addresses: Sequence[str] = ()
    """Addresses of all referees of the arena, for bots to open a stream to each."""
    share: tuple[int, int] = (0, 1)
    """Which of how many referees this is, counted from 0: a bot's sessions at once are shared out by it."""
    tls: ServerTls | None = None
    """None: without TLS."""
    drain_seconds: float = 30.0
    """How long open sessions may go on when the referee stops."""
    open_to_spectators: bool = True
    """Whether anyone may watch, without a token."""
    journal: Journal = NoJournal()  # noqa: RUF009  # it has no state
    """Keeps what bots' authors may read later."""
    meter: Meter | None = None
    """Counts what happens; None: nobody wants to know."""


def share_of(sessions: int, share: tuple[int, int]) -> int:
    """How many of a bot's sessions at once this referee may give it: all together keep the bot's limit."""
    index, referees = share
    wanted = min(sessions or MAX_SESSIONS * referees, MAX_SESSIONS * referees)
    return wanted // referees + (index < wanted % referees)


class Pacer:
    """Serves spectators in turn, some at a time: what they cost is bounded, however many they are."""

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._timer: asyncio.TimerHandle | None = None

    async def turn(self, *, newcomer: bool) -> None:
        """Waits for a spectator's turn; newcomers go first."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        if newcomer:
            self._waiting.appendleft(future)
        else:
            self._waiting.append(future)
        if self._timer is None:
            self._timer = loop.call_later(SPECTATOR_SECONDS, self._serve)
        await future

    def _serve(self) -> None:
        for _ in range(min(SPECTATOR_TURNS, len(self._waiting))):
            future = self._waiting.popleft()
            if not future.done():
                future.set_result(None)
        self._timer = None
        if self._waiting:
            self._timer = asyncio.get_running_loop().call_later(SPECTATOR_SECONDS, self._serve)


class RefereeServicer:
    """The service's calls."""

    def __init__(self, hall: Hall, authenticator: Authenticator, options: ServerOptions) -> None:
        self._hall = hall
        self._alarm = Alarm(hall)
        self._authenticator = authenticator
        self._options = options
        self._journal = options.journal
        self._meter = options.meter or Meter()
        self._pacer = Pacer()
        self._handshakes = 0
        self._silent: dict[int, asyncio.Timeout] = {}
        """Streams that have not said hello, the oldest first."""
        self._counter = count()
        self.stopping = False
        """Set when the referee is about to stop: broken calls are waited for no longer."""
        self.open = 0
        """Calls that have not ended."""

    def handlers(self) -> "grpc.GenericRpcHandler[Any, Any]":
        """The calls for a server. Messages that cannot be read come as Unreadable instead of ending the call
        with a traceback, and what bots and spectators get was encoded before."""
        return grpc.method_handlers_generic_handler(
            referee_pb2.DESCRIPTOR.services_by_name["RefereeService"].full_name,
            {
                "Play": grpc.stream_stream_rpc_method_handler(
                    self._counted(self.Play),
                    self._sized("Play", "in", _reader(twin.PlayRequest)),
                    self._sized("Play", "out"),
                ),
                "RunMatch": grpc.unary_stream_rpc_method_handler(
                    self._counted(self.RunMatch),
                    _reader(match_pb2.RunMatchRequest),
                    self._sized("RunMatch", "out", match_pb2.RunMatchResponse.SerializeToString),
                ),
                "WatchMatch": grpc.unary_stream_rpc_method_handler(
                    self._counted(self.WatchMatch),
                    _reader(match_pb2.WatchMatchRequest),
                    self._sized("WatchMatch", "out"),
                ),
                "ReadLog": grpc.unary_unary_rpc_method_handler(
                    self.ReadLog, _reader(log_pb2.ReadLogRequest), log_pb2.ReadLogResponse.SerializeToString
                ),
                "Status": grpc.unary_unary_rpc_method_handler(
                    self.Status, _reader(match_pb2.StatusRequest), match_pb2.StatusResponse.SerializeToString
                ),
            },
        )

    def _sized(self, call: str, direction: str, convert: Callable[[Any], Any] | None = None) -> Any:
        """``convert``, whose messages are counted if somebody wants to know; None: they are bytes."""
        if self._options.meter is None:
            return convert
        return self._meter.sized(call, direction, convert or bytes)

    def _counted(self, call: _Call) -> _Call:
        async def counted(request: Any, context: CallContext) -> None:
            self.open += 1
            try:
                await call(request, context)
            except grpc.aio.InternalError as error:
                # The client went, or takes nothing, while something was sent: no status reaches it any more.
                log.debug("a call broke: %s", error)
                await self._end_of(context)
            finally:
                self.open -= 1

        return counted

    async def _end_of(self, context: CallContext) -> None:
        """Waits until the client has ended the call, or the referee stops."""
        while not (context.done() or context.cancelled() or self.stopping):
            await asyncio.sleep(LOOK_SECONDS)

    async def beat(self) -> None:
        """Tells the hall the time, and closes the streams of revoked tokens, until cancelled."""
        asked_at = clock()
        asking: asyncio.Task[None] | None = None
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            self._hall.beat(clock())
            self._alarm.set()
            if clock() - asked_at >= REVOKED_SECONDS and (asking is None or asking.done()):
                asked_at = clock()
                asking = asyncio.create_task(self._close_revoked())

    async def _close_revoked(self) -> None:
        versions = self._hall.connected()
        if not versions:
            return
        try:
            revoked = await asyncio.to_thread(self._authenticator.revoked, versions)
        except Exception as error:
            log.warning("cannot ask for revoked tokens: %s", error)
            return
        for version in revoked:
            connection = self._hall.connection(version)
            if connection is not None:
                self._hall.close(connection, CloseCode.REVOKED, "token: revoked", clock())

    # Bots

    async def Play(
        self, _requests: AsyncIterator[play_pb2.PlayRequest | Unreadable], context: PlayContext
    ) -> None:
        """A bot's stream."""
        try:
            stream, hello = await self._welcome(context)
        except grpc.aio.AbortError:
            self._meter.refused(context.code())
            raise
        connection = stream.connection
        identity = connection.identity
        self._alarm.set()
        sdk = " ".join(hello.sdk[:100].split()) or "no SDK named"
        log.info("bot %s connected (%s)", identity.name, sdk, extra={"bot": identity.name})
        self._note(identity, EntryKind.CONNECTED, "", sdk)
        link = context
        if self._options.meter is not None:
            link = cast(PlayContext, self._meter.timed(context, connection.outbox.owed))
        writer = asyncio.create_task(stream.write(link, self._options.addresses))
        reader = asyncio.create_task(stream.listen(link))
        for task in (writer, reader):
            task.add_done_callback(_forget)
        try:
            await stream.over.wait()
        finally:
            # Nothing may be awaited here: a call that the client broke off is not resumed.
            writer.cancel()
            self._hall.disconnect(connection, clock())
            self._alarm.set()
            self._note_end(stream)
        if connection.closing is not None:
            await context.abort(grpc.StatusCode[connection.closing.code.value], connection.closing.reason)

    async def _welcome(self, context: PlayContext) -> tuple[BotStream, play_pb2.Hello]:
        """The stream of a bot that may play; ends the call if it may not."""
        first = await self._read_hello(context)
        hello = first.hello
        if self._handshakes >= HANDSHAKES:
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "too many bots are connecting; try again")
        self._handshakes += 1
        try:
            identity = None
            if 0 < len(hello.token) <= MAX_TOKEN:
                identity = await self._ask(self._authenticator.bot, hello.token, context)
            if identity is None:
                await context.abort(grpc.StatusCode.UNAUTHENTICATED, "token: unknown or revoked")
                raise AssertionError
            most = share_of(hello.max_sessions, self._options.share)
            stream = BotStream(self._hall, self._alarm, identity, most, hello.list_legal_plays)
            await self._connect(stream.connection, context)
        finally:
            self._handshakes -= 1
        if first.moves or first.HasField("goodbye") or first.HasField("pong"):
            text = "the first message holds the hello and nothing else; the rest was ignored"
            self._hall.notice(stream.connection, Notice(NoticeCode.UNEXPECTED, text))
        return stream, hello

    async def _read_hello(self, context: PlayContext) -> play_pb2.PlayRequest:
        """The message that opens a stream; ends the call if it has no hello, or none comes."""
        if len(self._silent) >= HANDSHAKES:
            oldest = self._silent.pop(next(iter(self._silent)))
            oldest.reschedule(asyncio.get_running_loop().time())
        number = next(self._counter)
        try:
            async with asyncio.timeout(HELLO_SECONDS) as patience:
                self._silent[number] = patience
                message = await read_message(context)
        except TimeoutError:
            await context.abort(grpc.StatusCode.DEADLINE_EXCEEDED, "hello: none came in time")
            raise AssertionError from None
        finally:
            self._silent.pop(number, None)
        return await _checked_hello(message, context)

    async def _connect(self, connection: Connection, context: PlayContext) -> None:
        """Lets the bot in, in the place of an earlier stream of it if that one gives no sign of life."""
        identity, hall = connection.identity, self._hall
        penalty = hall.penalty(identity.version_id, clock())
        if penalty > 0:
            text = f"flood: come back in {penalty:.1f} s"
            self._note(identity, EntryKind.REFUSED, "flood", text)
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, text)
        earlier = hall.connection(identity.version_id)
        if earlier is not None:
            await self._wait_for_life(earlier)
        try:
            hall.connect(connection, clock())
        except ConnectionRefused as error:
            self._note(identity, EntryKind.REFUSED, "already_connected", str(error))
            await context.abort(grpc.StatusCode.ALREADY_EXISTS, str(error))

    async def _wait_for_life(self, earlier: Connection) -> None:
        """Closes a stream that gives no sign of life."""
        asked_at = clock()
        earlier.probe()
        for _ in range(TAKEOVER_LOOKS):  # not by the clock: if the referee itself is stopped, none is taken
            if (
                earlier.heard_at > asked_at
                or self._hall.connection(earlier.identity.version_id) is not earlier
            ):
                return
            await asyncio.sleep(TAKEOVER_SECONDS / TAKEOVER_LOOKS)
        text = "the bot connected again, and this stream gave no sign of life"
        self._hall.close(earlier, CloseCode.REPLACED, text, clock())

    def _note_end(self, stream: BotStream) -> None:
        connection = stream.connection
        identity, closing = connection.identity, connection.closing
        if closing is not None:
            kind, code, text = EntryKind.LOST, closing.code.name.lower(), closing.reason
        elif stream.said_goodbye:
            kind, code, text = EntryKind.LEFT, "", "the bot said goodbye"
        else:
            kind, code, text = EntryKind.LOST, "broken", "the stream ended without a goodbye"
        log.info("bot %s %s: %s", identity.name, kind.value, text, extra={"bot": identity.name})
        details = {"round_trip_ms": round(connection.round_trip * 1000, 1)}
        self._journal.add(Entry(identity.version_id, kind, code, text, details=details))

    def _note(self, identity: BotIdentity, kind: EntryKind, code: str, text: str) -> None:
        self._journal.add(Entry(identity.version_id, kind, code, text))

    # Workers

    async def RunMatch(self, message: match_pb2.RunMatchRequest | Unreadable, context: RunContext) -> None:
        """Runs a match for a worker."""
        request = await _readable(message, context)
        await self._require(context, Scope.WORKER)
        wake = asyncio.Event()
        try:
            match = self._hall.open_match(wire.read_match(request), clock(), wake.set)
        except Draining as error:
            await context.abort(grpc.StatusCode.UNAVAILABLE, str(error))
            raise AssertionError from None
        except (MatchRefused, RulesetError) as error:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))
            raise AssertionError from None
        self._alarm.set()
        self._meter.opened(match)
        about = {"tournament": request.tournament, "match": request.match_id}
        log.info("match %s: %d sessions", request.match_id, len(request.sessions), extra=about)
        try:
            await self._follow(match, wake, context)
        finally:
            outcome = self._meter.closed(match, self._hall.progress(match).decisions)
            self._hall.close_match(match, STOPPED_BY_WORKER)
            self._alarm.set()
            if outcome != "done":
                reason = match.ended or STOPPED_BY_WORKER
                log.info("match %s: not finished: %s", request.match_id, reason, extra=about)

    async def _follow(self, match: Match, wake: asyncio.Event, context: RunContext) -> None:
        while True:
            while results := match.take_results():  # more may come while one is written
                for result in results:
                    self._meter.finished(len(result.records))
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

    async def Status(
        self, message: match_pb2.StatusRequest | Unreadable, context: StatusContext
    ) -> match_pb2.StatusResponse:
        """How busy the referee is."""
        request = await _readable(message, context)
        await self._require(context, Scope.WORKER, Scope.ORGANISER)
        hall = self._hall
        response = match_pb2.StatusResponse(
            draining=hall.draining,
            matches=hall.matches,
            sessions=hall.sessions,
            streams=len(hall.connected()),
            spectators=hall.spectators,
        )
        for version in request.version_ids:
            place = hall.standing(version)
            response.bots.add(
                connected=place.connected, max_sessions=place.max_sessions, sessions=place.sessions
            )
        return response

    # Authors

    async def ReadLog(
        self, message: log_pb2.ReadLogRequest | Unreadable, context: CallContext
    ) -> log_pb2.ReadLogResponse:
        """What the referees noted of a bot, for its author."""
        request = await _readable(message, context)
        token = _bearer(context)[:MAX_TOKEN]
        try:
            entries = await asyncio.to_thread(self._journal.read, token, wire.read_query(request))
        except LogClosed as error:
            await context.abort(grpc.StatusCode.PERMISSION_DENIED, str(error))
            raise AssertionError from None
        except LogQueryError as error:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))
            raise AssertionError from None
        except Exception as error:
            log.warning("cannot read the log of bots: %s", error)
            await context.abort(
                grpc.StatusCode.UNAVAILABLE, "the log cannot be read at the moment; try again"
            )
            raise AssertionError from None
        return log_pb2.ReadLogResponse(entries=map(wire.log_message, entries))

    # Tokens

    async def _ask(self, question: Callable[[str], _Answer], token: str, context: CallContext) -> _Answer:
        """Asks the authenticator; ends the call if that cannot answer now."""
        try:
            return await asyncio.to_thread(question, token)
        except Exception as error:
            log.warning("cannot look up a token: %s", error)
            text = "tokens cannot be looked up at the moment; try again"
            await context.abort(grpc.StatusCode.UNAVAILABLE, text)
            raise AssertionError from None

    async def _require(self, context: CallContext, *scopes: Scope) -> None:
        """Ends the call if its token does not allow it."""
        token = _bearer(context)
        scope = None
        if 0 < len(token) <= MAX_TOKEN:
            scope = await self._ask(self._authenticator.scope, token, context)
        if scope not in scopes:
            whose = " or ".join(f"{wanted.value}'s" for wanted in scopes)
            await context.abort(grpc.StatusCode.UNAUTHENTICATED, f"authorization: not a {whose} token")

    # Spectators

    async def WatchMatch(
        self, message: match_pb2.WatchMatchRequest | Unreadable, context: WatchContext
    ) -> None:
        """Shows a match to a spectator."""
        request = await _readable(message, context)
        await self._require_spectator(context)
        match = self._hall.match(request.match_id)
        if match is None:
            text = f"match_id: {request.match_id[:100]!r} is not running here"
            await context.abort(grpc.StatusCode.NOT_FOUND, text)
            raise AssertionError
        if self._hall.spectators >= MAX_SPECTATORS:
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "too many spectators; try again later")
        spectator = self._hall.watch(match)
        newcomer = True
        try:
            while not spectator.done:
                await self._pacer.turn(newcomer=newcomer)
                newcomer = False
                updates = spectator.take()
                if updates:
                    await context.write(updates)
        finally:
            self._hall.unwatch(match)

    async def _require_spectator(self, context: CallContext) -> None:
        if self._options.open_to_spectators:
            return
        token = _bearer(context)
        known = False
        if 0 < len(token) <= MAX_TOKEN:
            known = await self._ask(self._authenticator.scope, token, context) is not None
            known = known or await self._ask(self._authenticator.bot, token, context) is not None
        if not known:
            await context.abort(
                grpc.StatusCode.UNAUTHENTICATED, "authorization: watching needs a token of this arena"
            )


def _bearer(context: CallContext) -> str:
    metadata = {key: str(value) for key, value in context.invocation_metadata() or ()}
    return metadata.get("authorization", "").removeprefix("Bearer ")


def _reader(kind: type[_Request]) -> Callable[[bytes], _Request | Unreadable]:
    """Reads messages of a kind."""

    def read(data: bytes) -> _Request | Unreadable:
        try:
            return kind.FromString(data)
        except DecodeError:
            return Unreadable(kind.DESCRIPTOR.name, len(data))

    return read


async def _readable(message: _Request | Unreadable, context: CallContext) -> _Request:
    """The message of a call; ends the call if it could not be read."""
    if isinstance(message, Unreadable):
        await context.abort(grpc.StatusCode.INVALID_ARGUMENT, message.reason)
        raise AssertionError
    return message


def _forget(task: asyncio.Task[None]) -> None:
    """What reads or writes a stream fails when it breaks, which its call notices too."""
    if not task.cancelled():
        task.exception()


async def _checked_hello(
    message: play_pb2.PlayRequest | Unreadable | None, context: PlayContext
) -> play_pb2.PlayRequest:
    if message is None:
        await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "hello: the stream ended without one")
        raise AssertionError
    first = await _readable(message, context)
    if not first.HasField("hello"):
        await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "hello: the first message must be a hello")
    if first.hello.protocol_version != PROTOCOL_VERSION:
        text = f"protocol_version: {first.hello.protocol_version} is not spoken here, {PROTOCOL_VERSION} is"
        await context.abort(grpc.StatusCode.FAILED_PRECONDITION, text)
    return first
