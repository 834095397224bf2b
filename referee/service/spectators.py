"""The service for spectators."""

from typing import Any, TypeAlias

import grpc

from referee.matches.auth import Scope
from referee.matches.lobby import Lobby
from referee.matches.running import Match
from referee.protocol.messages import Unreadable, readable
from referee.protocol.reasons import Reason, Refused
from referee.service.access import Access
from referee.service.calls import Calls, generic_handler
from referee.service.pacer import Pacer
from referee.service.running import running_match, why_ended
from referee.v1 import spectators_pb2

SERVICE = spectators_pb2.DESCRIPTOR.services_by_name["SpectatorService"]

MAX_SPECTATORS = 20_000
SHARED_DEALS = "the deals of this match are played at other tables too"
WATCHING = "watching needs a token of an organiser or a spectator"

WatchContext: TypeAlias = "grpc.aio.ServicerContext[spectators_pb2.WatchMatchRequest, bytes]"


class SpectatorServicer:
    """What spectators call."""

    def __init__(self, lobby: Lobby, access: Access, *, open_to_anyone: bool) -> None:
        self._lobby = lobby
        self._access = access
        self._open_to_anyone = open_to_anyone
        self._pacer = Pacer()

    def handler(self, calls: Calls) -> "grpc.GenericRpcHandler[Any, Any]":
        """Return the service's calls for a server."""
        watch = calls.streaming(self.WatchMatch, spectators_pb2.WatchMatchRequest)
        return generic_handler(SERVICE, {"WatchMatch": watch})

    async def WatchMatch(
        self, message: spectators_pb2.WatchMatchRequest | Unreadable, context: WatchContext
    ) -> None:
        """Show a match to a spectator."""
        watching = (Scope.ORGANISER, Scope.SPECTATOR)
        if not self._open_to_anyone:
            await self._access.require(context, *watching, why=WATCHING)
        match = running_match(self._lobby, readable(message).match_id)
        if self._open_to_anyone and match.spec.shared_deals:
            await self._access.require(context, *watching, why=f"{SHARED_DEALS}; {WATCHING}")
        if self._lobby.spectators >= MAX_SPECTATORS:
            raise Refused(Reason.BUSY, "too many spectators")
        await self._show(match, context)
        if match.ended:
            raise why_ended(self._lobby, match)

    async def _show(self, match: Match, context: WatchContext) -> None:
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
