"""The service for the arena's workers."""

import asyncio
import contextlib
import logging
import sqlite3
from collections.abc import Collection
from typing import Any, TypeAlias

import grpc
from google.protobuf.duration_pb2 import Duration

from referee.errors import Draining, MatchRefused, RulesetError
from referee.matches.auth import Scope
from referee.matches.lobby import STOPPED_BY_WORKER, Lobby
from referee.matches.match import MatchSpec
from referee.matches.running import Match
from referee.protocol import requests
from referee.protocol.reasons import Reason, Refused, Unreadable, readable
from referee.ruleset import load_ruleset
from referee.ruleset.model import Ruleset
from referee.service.access import Access
from referee.service.begun import BegunAttempts
from referee.service.calls import Calls, generic_handler, running_match, why_ended
from referee.service.meter import Meter
from referee.service.peers import CallContext
from referee.service.stream import Alarm, clock
from referee.worker.v1alpha1 import worker_pb2

SERVICE = worker_pb2.DESCRIPTOR.services_by_name["WorkerService"]

PROGRESS_SECONDS = 0.5
"""How often a worker is sent the progress of a match and the finished deals of its open sessions."""

PROBE_SECONDS = 5.0
"""How often a referee that cannot note the attempts that it begins tries whether it can again."""

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


def _read_match(request: worker_pb2.RunMatchRequest) -> MatchSpec:
    """Return the match of a request. Raise Refused if it does not describe one."""
    try:
        return requests.read_match(request)
    except (MatchRefused, RulesetError) as error:
        raise _field_invalid(error) from None


class WorkerServicer:
    """What workers call."""

    def __init__(
        self, lobby: Lobby, alarm: Alarm, access: Access, meter: Meter, begun: BegunAttempts | None
    ) -> None:
        self._lobby = lobby
        self._alarm = alarm
        self._access = access
        self._meter = meter
        self._begun = begun
        self._probing: asyncio.Task[None] | None = None

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
        spec = _read_match(request)
        if latest := await self._note_begun(spec):
            log.warning("match %s: attempt %d was begun before: nothing is played", spec.match_id, latest)
            await context.write(requests.begun_response(latest).SerializeToString())
            return
        match = await self._open(spec, wake)
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

    async def _note_begun(self, spec: MatchSpec) -> int:
        """Note durably that the attempts of a match begin; return 0, or the latest if one has begun before.

        Raise Refused if that cannot be noted.
        """
        if self._begun is None:
            return 0
        try:
            latest = await asyncio.to_thread(self._begun.begin, spec.attempts.values())
        except sqlite3.Error as error:
            log.error("match %s: its attempts cannot be noted: %s", spec.match_id, error)
            self._take_none(self._begun, error)
            raise Refused(Reason.MATCH_STOPPED, self._lobby.hindrance) from None
        self._lobby.hindrance = ""
        return latest

    def _take_none(self, begun: BegunAttempts, error: sqlite3.Error) -> None:
        """Report that no match is taken, until attempts can be noted again."""
        self._lobby.hindrance = f"cannot note the attempts that it begins: {error}"
        if self._probing is None or self._probing.done():
            self._probing = asyncio.create_task(self._probe(begun))

    async def _probe(self, begun: BegunAttempts) -> None:
        while self._lobby.hindrance:
            await asyncio.sleep(PROBE_SECONDS)
            with contextlib.suppress(sqlite3.Error):
                await asyncio.to_thread(begun.prove_writable)
                self._lobby.hindrance = ""
        log.info("attempts can be noted again: matches are taken")

    def stop(self) -> None:
        """Stop what runs between calls."""
        if self._probing is not None:
            self._probing.cancel()

    async def _forget(self, spec: MatchSpec, sessions: Collection[int]) -> None:
        """Take back the attempts at sessions of which nobody was shown a card, before the worker is told."""
        if self._begun is not None and sessions:
            begun = spec.attempts
            attempts = [begun[number] for number in sessions]
            try:
                await asyncio.to_thread(self._begun.forget, attempts)
            except sqlite3.Error as error:  # if they are begun again, the arena takes other numbers
                log.warning("attempts that did not begin cannot be taken back: %s", error)

    async def _open(self, spec: MatchSpec, wake: asyncio.Event) -> Match:
        """Begin a match. Raise Refused if the referee does not take it."""
        try:
            return self._lobby.open_match(spec, clock(), wake.set)
        except Draining as error:
            refused = Refused(Reason.CLOSING, str(error))
        except (MatchRefused, RulesetError) as error:
            refused = _field_invalid(error)
        await self._forget(spec, [*spec.attempts])
        raise refused

    async def _follow(self, match: Match, wake: asyncio.Event, context: RunContext) -> None:
        deals_due = clock() + PROGRESS_SECONDS
        began, left = False, 0
        while True:
            while results := match.take_results():  # more may come while one is written
                for result in results:
                    self._meter.finished(len(result.records))
                    await context.write(requests.result_response(result).SerializeToString())
            over = match.done or bool(match.ended)
            if over or clock() >= deals_due:
                for response in requests.deals_responses(match.take_deals()):  # bots are served in between
                    await context.write(response.SerializeToString())
                deals_due = clock() + PROGRESS_SECONDS
            if not over or match.left or not began:  # without any update, a worker knows that nothing began
                progress = self._lobby.progress(match)
                await self._forget(match.spec, progress.sessions_left[left:])
                left = len(progress.sessions_left)
                await context.write(requests.progress_response(progress).SerializeToString())
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
            not_ready=lobby.not_ready,
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
        if self._begun is not None and request.attempts:
            attempts = requests.read_attempts(request.attempts)
            try:
                if latest := await asyncio.to_thread(self._begun.latest, attempts):
                    response.attempts_begun.latest = latest
            except sqlite3.Error as error:
                self._take_none(self._begun, error)
                response.not_ready = lobby.not_ready
        return response
