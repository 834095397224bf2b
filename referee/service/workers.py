"""The service for the arena's workers."""

import asyncio
import contextlib
import logging
from typing import Any, TypeAlias

import grpc
from google.protobuf.duration_pb2 import Duration

from referee.errors import Draining, MatchRefused, RulesetError
from referee.matches.auth import Scope
from referee.matches.lobby import STOPPED_BY_WORKER, Lobby
from referee.matches.running import Match
from referee.protocol import requests
from referee.protocol.messages import Unreadable, readable
from referee.protocol.reasons import Reason, Refused
from referee.ruleset import load_ruleset
from referee.ruleset.model import Ruleset
from referee.service.access import Access
from referee.service.calls import Calls, generic_handler
from referee.service.meter import Meter
from referee.service.peers import CallContext
from referee.service.running import running_match, why_ended
from referee.service.stream import Alarm, clock
from referee.worker.v1alpha1 import worker_pb2

SERVICE = worker_pb2.DESCRIPTOR.services_by_name["WorkerService"]

PROGRESS_SECONDS = 0.5
"""How often a worker is sent the progress of a match and the finished deals of its open sessions."""

RunContext: TypeAlias = "grpc.aio.ServicerContext[worker_pb2.RunMatchRequest, bytes]"

log = logging.getLogger("referee")


def _read_ruleset(text: str) -> Ruleset:
    """Return the ruleset of a request. Raise Refused if it is not one."""
    try:
        return load_ruleset(requests.read_ruleset(text))
    except (MatchRefused, RulesetError) as error:
        raise _field_invalid(error) from None


def _field_invalid(error: MatchRefused | RulesetError) -> Refused:
    text = f"ruleset.{error}" if isinstance(error, RulesetError) else str(error)
    return Refused(Reason.FIELD_INVALID, text, field=text.partition(":")[0])


class WorkerServicer:
    """What workers call."""

    def __init__(self, lobby: Lobby, alarm: Alarm, access: Access, meter: Meter) -> None:
        self._lobby = lobby
        self._alarm = alarm
        self._access = access
        self._meter = meter

    def handler(self, calls: Calls) -> "grpc.GenericRpcHandler[Any, Any]":
        """Return the service's calls for a server."""
        handlers = {
            "RunMatch": calls.streaming(self.RunMatch, worker_pb2.RunMatchRequest),
            "HoldMatch": calls.unary(self.HoldMatch, worker_pb2.HoldMatchRequest),
            "GetStatus": calls.unary(self.GetStatus, worker_pb2.GetStatusRequest),
        }
        return generic_handler(SERVICE, handlers)

    async def RunMatch(self, message: worker_pb2.RunMatchRequest | Unreadable, context: RunContext) -> None:
        """Run a match for a worker."""
        await self._access.require(context, Scope.WORKER)
        request = readable(message)
        wake = asyncio.Event()
        match = self._open(request, wake)
        self._alarm.set()
        self._meter.opened(match)
        about = {"tournament": request.tournament, "match": request.match_id}
        log.info("match %s: %d sessions", request.match_id, len(request.sessions), extra=about)
        try:
            await self._follow(match, wake, context)
        finally:
            outcome = self._meter.closed(match, self._lobby.progress(match).decisions)
            self._lobby.close_match(match, "" if match.done else STOPPED_BY_WORKER)
            self._alarm.set()
            if outcome != "done":
                log.info("match %s: not finished: %s", request.match_id, match.ended, extra=about)

    def _open(self, request: worker_pb2.RunMatchRequest, wake: asyncio.Event) -> Match:
        """Begin a match. Raise Refused if the referee does not take it."""
        try:
            return self._lobby.open_match(requests.read_match(request), clock(), wake.set)
        except Draining as error:
            raise Refused(Reason.CLOSING, str(error)) from None
        except (MatchRefused, RulesetError) as error:
            raise _field_invalid(error) from None

    async def _follow(self, match: Match, wake: asyncio.Event, context: RunContext) -> None:
        deals_due = clock() + PROGRESS_SECONDS
        began = False
        while True:
            while results := match.take_results():  # more may come while one is written
                for result in results:
                    self._meter.finished(len(result.records))
                    await context.write(requests.result_response(result).SerializeToString())
            over = match.done or bool(match.ended)
            if over or clock() >= deals_due:
                if deals := match.take_deals():
                    await context.write(requests.deals_response(deals).SerializeToString())
                deals_due = clock() + PROGRESS_SECONDS
            if not over or match.left or not began:  # without any update, a worker knows that nothing began
                progress = requests.progress_response(self._lobby.progress(match))
                await context.write(progress.SerializeToString())
                began = True
            if over and match.ended:
                raise why_ended(self._lobby, match)
            if over:
                return
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(PROGRESS_SECONDS):
                    await wake.wait()
            wake.clear()

    async def HoldMatch(
        self, message: worker_pb2.HoldMatchRequest | Unreadable, context: CallContext
    ) -> worker_pb2.HoldMatchResponse:
        """Begin no further session of a match."""
        await self._access.require(context, Scope.WORKER)
        self._lobby.hold(running_match(self._lobby, readable(message).match_id))
        return worker_pb2.HoldMatchResponse()

    async def GetStatus(
        self, message: worker_pb2.GetStatusRequest | Unreadable, context: CallContext
    ) -> worker_pb2.GetStatusResponse:
        """Report how busy the referee is, and the presence of bots."""
        await self._access.require(context, Scope.WORKER, Scope.ORGANISER)
        request = readable(message)
        ruleset = _read_ruleset(request.ruleset) if request.ruleset else None
        lobby = self._lobby
        response = worker_pb2.GetStatusResponse(
            draining=lobby.draining,
            matches=lobby.matches,
            sessions=lobby.sessions,
            streams=len(lobby.connected()),
            spectators=lobby.spectators,
        )
        for version in request.version_ids:
            presence, connection = lobby.presence(version), lobby.connection(version)
            response.bots.add(
                connected=presence.connected,
                max_sessions=presence.max_sessions,
                sessions=presence.sessions,
                lacks=() if ruleset is None or connection is None else connection.lacks(ruleset),
                bounds=() if connection is None else connection.bounds,
                thinking=Duration(seconds=int(lobby.connections.thinking(version, clock()))),
            )
        return response
