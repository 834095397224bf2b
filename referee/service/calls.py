"""The calls of the referee's service: who may make them, and how they end."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeAlias, cast

import grpc

from referee.errors import Draining, LogClosed, LogQueryError, MatchRefused, RulesetError
from referee.matches.auth import Authenticator, Scope
from referee.matches.connection import CloseCode
from referee.matches.journal import Entry, EntryKind
from referee.matches.lobby import BEAT_SECONDS, STOPPED_BY_WORKER, TAKEN_OVER, Lobby
from referee.matches.running import Match
from referee.protocol import requests, twin
from referee.protocol.messages import CallContext, Unreadable, readable, reader
from referee.service.access import MAX_TOKEN, Access, bearer
from referee.service.metrics import Meter
from referee.service.pacer import Pacer
from referee.service.reception import Reception
from referee.service.serving import ServerOptions
from referee.service.stream import Alarm, BotStream, PlayContext, clock
from referee.v1 import log_pb2, match_pb2, referee_pb2

PROGRESS_SECONDS = 1.0
"""How often a worker hears of a match in which nothing finishes."""
REVOKED_SECONDS = 2.0
"""How often it is asked whether a connected bot's token was revoked."""
MAX_SPECTATORS = 20_000
SHARED_DEALS = "the deals of this match are played at other tables too"
WATCHING = "watching needs a token of an organiser or a spectator"
LOOK_SECONDS = 0.2
"""How often it is looked whether the client of a broken call has ended it."""

RunContext: TypeAlias = "grpc.aio.ServicerContext[match_pb2.RunMatchRequest, match_pb2.RunMatchResponse]"
WatchContext: TypeAlias = "grpc.aio.ServicerContext[match_pb2.WatchMatchRequest, bytes]"
StatusContext: TypeAlias = "grpc.aio.ServicerContext[match_pb2.StatusRequest, match_pb2.StatusResponse]"

_Call: TypeAlias = Callable[[Any, CallContext], Awaitable[None]]

log = logging.getLogger("referee")


class RefereeServicer:
    """The service's calls."""

    def __init__(self, lobby: Lobby, authenticator: Authenticator, options: ServerOptions) -> None:
        self._lobby = lobby
        self._alarm = Alarm(lobby)
        self._authenticator = authenticator
        self._options = options
        self._journal = options.journal
        self._meter = options.meter or Meter()
        self._pacer = Pacer()
        self._access = Access(authenticator)
        self._reception = Reception(lobby, self._alarm, self._access, options)
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
                    self._sized("Play", "in", reader(twin.PlayRequest)),
                    self._sized("Play", "out"),
                ),
                "RunMatch": grpc.unary_stream_rpc_method_handler(
                    self._counted(self.RunMatch),
                    reader(match_pb2.RunMatchRequest),
                    self._sized("RunMatch", "out", match_pb2.RunMatchResponse.SerializeToString),
                ),
                "HoldMatch": grpc.unary_unary_rpc_method_handler(
                    self.HoldMatch,
                    reader(match_pb2.HoldMatchRequest),
                    match_pb2.HoldMatchResponse.SerializeToString,
                ),
                "WatchMatch": grpc.unary_stream_rpc_method_handler(
                    self._counted(self.WatchMatch),
                    reader(match_pb2.WatchMatchRequest),
                    self._sized("WatchMatch", "out"),
                ),
                "ReadLog": grpc.unary_unary_rpc_method_handler(
                    self.ReadLog, reader(log_pb2.ReadLogRequest), log_pb2.ReadLogResponse.SerializeToString
                ),
                "Status": grpc.unary_unary_rpc_method_handler(
                    self.Status, reader(match_pb2.StatusRequest), match_pb2.StatusResponse.SerializeToString
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
        """Tell the lobby the time, and close the streams of revoked tokens, until cancelled."""
        asked_at = clock()
        asking: asyncio.Task[None] | None = None
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            try:
                self._lobby.beat(clock())
                self._alarm.set()
            except Exception:  # without a beat, nothing would be known of pauses or lost streams
                log.exception("the lobby's beat failed")
            if clock() - asked_at >= REVOKED_SECONDS and (asking is None or asking.done()):
                asked_at = clock()
                asking = asyncio.create_task(self._close_revoked())

    async def _close_revoked(self) -> None:
        versions = self._lobby.connected()
        if not versions:
            return
        try:
            revoked = await asyncio.to_thread(self._authenticator.revoked, versions)
        except Exception as error:
            log.warning("cannot ask for revoked tokens: %s", error)
            return
        for version in revoked:
            connection = self._lobby.connection(version)
            if connection is not None:
                self._lobby.close(connection, CloseCode.REVOKED, "token: revoked", clock())

    # Bots

    async def Play(self, _requests: AsyncIterator[Any], context: PlayContext) -> None:
        """A bot's stream."""
        try:
            stream, hello = await self._reception.welcome(context)
        except grpc.aio.AbortError:
            self._meter.refused(context.code())
            raise
        connection = stream.connection
        identity = connection.identity
        self._alarm.set()
        sdk = " ".join(hello.sdk[:100].split()) or "no SDK named"
        log.info("bot %s connected (%s)", identity.name, sdk, extra={"bot": identity.name})
        self._journal.add(Entry(identity.version_id, EntryKind.CONNECTED, "", sdk))
        link = context
        if self._options.meter is not None:
            link = cast(PlayContext, self._meter.timed(context, connection.outbox.owed))
        writer: asyncio.Task[None] | None = None
        try:
            # Not left to the first message: a call that ends while that is on its way would send it again.
            await context.send_initial_metadata(())
            writer = asyncio.create_task(stream.write(link, self._options.addresses, self._options.address))
            listener = asyncio.create_task(stream.listen(link))
            for task in (writer, listener):
                task.add_done_callback(stream.broke)
            await stream.over.wait()
        finally:
            # Nothing may be awaited here: a call that the client broke off is not resumed.
            if writer is not None:
                writer.cancel()
            self._lobby.disconnect(connection, clock())
            self._alarm.set()
            self._note_end(stream)
        if connection.closing is not None:
            await context.abort(grpc.StatusCode[connection.closing.code.value], connection.closing.reason)

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

    # Workers

    async def RunMatch(self, message: match_pb2.RunMatchRequest | Unreadable, context: RunContext) -> None:
        """Runs a match for a worker."""
        request = await readable(message, context)
        await self._access.require(context, Scope.WORKER)
        wake = asyncio.Event()
        try:
            match = self._lobby.open_match(requests.read_match(request), clock(), wake.set)
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
            outcome = self._meter.closed(match, self._lobby.progress(match).decisions)
            self._lobby.close_match(match, STOPPED_BY_WORKER)
            self._alarm.set()
            if outcome != "done":
                reason = match.ended or STOPPED_BY_WORKER
                log.info("match %s: not finished: %s", request.match_id, reason, extra=about)

    async def _follow(self, match: Match, wake: asyncio.Event, context: RunContext) -> None:
        while True:
            while results := match.take_results():  # more may come while one is written
                for result in results:
                    self._meter.finished(len(result.records))
                    await context.write(requests.result_response(result))
            if match.ended:
                code = grpc.StatusCode.ABORTED if match.ended == TAKEN_OVER else grpc.StatusCode.UNAVAILABLE
                await context.abort(code, match.ended)
            if match.done:
                return
            await context.write(requests.progress_response(self._lobby.progress(match)))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(PROGRESS_SECONDS):
                    await wake.wait()
            wake.clear()

    async def HoldMatch(
        self, message: match_pb2.HoldMatchRequest | Unreadable, context: CallContext
    ) -> match_pb2.HoldMatchResponse:
        """Begins no further session of a match."""
        request = await readable(message, context)
        await self._access.require(context, Scope.WORKER)
        self._lobby.hold(await self._running(request.match_id, context))
        return match_pb2.HoldMatchResponse()

    async def _running(self, match_id: str, context: CallContext) -> Match:
        """The match of this name; ends the call if there is none."""
        match = self._lobby.match(match_id)
        if match is None:
            text = f"match_id: {match_id[:100]!r} is not running here"
            await context.abort(grpc.StatusCode.NOT_FOUND, text)
            raise AssertionError
        return match

    async def Status(
        self, message: match_pb2.StatusRequest | Unreadable, context: StatusContext
    ) -> match_pb2.StatusResponse:
        """How busy the referee is."""
        request = await readable(message, context)
        await self._access.require(context, Scope.WORKER, Scope.ORGANISER)
        lobby = self._lobby
        response = match_pb2.StatusResponse(
            draining=lobby.draining,
            matches=lobby.matches,
            sessions=lobby.sessions,
            streams=len(lobby.connected()),
            spectators=lobby.spectators,
        )
        for version in request.version_ids:
            place = lobby.presence(version)
            response.bots.add(
                connected=place.connected, max_sessions=place.max_sessions, sessions=place.sessions
            )
        return response

    # Authors

    async def ReadLog(
        self, message: log_pb2.ReadLogRequest | Unreadable, context: CallContext
    ) -> log_pb2.ReadLogResponse:
        """What the referees noted of a bot, for its author."""
        request = await readable(message, context)
        token = bearer(context)[:MAX_TOKEN]
        try:
            entries = await asyncio.to_thread(self._journal.read, token, requests.read_query(request))
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
        return log_pb2.ReadLogResponse(entries=map(requests.log_message, entries))

    # Spectators

    async def WatchMatch(
        self, message: match_pb2.WatchMatchRequest | Unreadable, context: WatchContext
    ) -> None:
        """Shows a match to a spectator."""
        request = await readable(message, context)
        anyone, watching = self._options.open_to_spectators, (Scope.ORGANISER, Scope.SPECTATOR)
        if not anyone:
            await self._access.require(context, *watching, reason=WATCHING)
        match = await self._running(request.match_id, context)
        if anyone and match.spec.shared_deals:
            await self._access.require(context, *watching, reason=f"{SHARED_DEALS}; {WATCHING}")
        if self._lobby.spectators >= MAX_SPECTATORS:
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "too many spectators; try again later")
        spectator = self._lobby.watch(match)
        newcomer = True
        try:
            while not spectator.done:
                await self._pacer.turn(newcomer=newcomer)
                newcomer = False
                updates = spectator.take()
                if updates:
                    await context.write(updates)
        finally:
            self._lobby.unwatch(match)
