"""The service for bots: their streams, from the welcome to the last status."""

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Any

import grpc

from referee.matches.connection import CloseCode
from referee.matches.journal import Entry, EntryKind
from referee.matches.lobby import Lobby
from referee.protocol import lazy
from referee.protocol.reasons import Reason, Refused
from referee.reading.plain import plain_line
from referee.service.access import Access
from referee.service.calls import Calls, generic_handler
from referee.service.gate import Gate
from referee.service.reception import Reception
from referee.service.serving import ServerOptions
from referee.service.stream import Alarm, BotStream, PlayContext, clock
from referee.v1 import bots_pb2

SERVICE = bots_pb2.DESCRIPTOR.services_by_name["BotService"]

log = logging.getLogger("referee")


class BotServicer:
    """What bots call."""

    def __init__(
        self, lobby: Lobby, alarm: Alarm, access: Access, gate: Gate, options: ServerOptions
    ) -> None:
        self._lobby = lobby
        self._alarm = alarm
        self._access = access
        self._gate = gate
        self._options = options
        self._reception = Reception(lobby, alarm, options)

    def handler(self, calls: Calls) -> "grpc.GenericRpcHandler[Any, Any]":
        """Return the service's calls for a server."""
        return generic_handler(SERVICE, {"Play": calls.both_ways(self.Play, lazy.PlayRequest)})

    async def Play(self, _requests: AsyncIterator[Any], context: PlayContext) -> None:
        """Serve a bot's stream."""
        stream, sdk = await self._admit(context)
        with self._gate.playing(context, stream.connection.identity):
            await self._serve(stream, sdk, context)
        closing = stream.connection.closing
        if closing is not None:
            if closing.code is CloseCode.LOST:
                self._gate.cut(context)  # it would not take a status either, and what was written to it waits
            raise Refused(Reason(closing.code.value), closing.reason)

    async def _serve(self, stream: BotStream, sdk: str, context: PlayContext) -> None:
        """Serve a bot that was let in until its stream is over."""
        connection = stream.connection
        identity = connection.identity
        self._alarm.set()
        log.info("bot %s connected (%s)", identity.name, sdk, extra={"bot": identity.name})
        self._options.journal.add(Entry(identity.version_id, EntryKind.CONNECTED, "", sdk))
        link: PlayContext = self._options.meter.timed(context, connection.outbox.owed)
        writer: asyncio.Task[None] | None = None
        try:
            # Not left to the first message: a call that ends while that is on its way would send them again.
            await context.send_initial_metadata(())
            writer = asyncio.create_task(stream.write(link, self._options))
            listener = asyncio.create_task(stream.listen(link))
            for task in (writer, listener):
                task.add_done_callback(stream.broke)
            await stream.over.wait()
        finally:
            # Nothing may be awaited here: a call that the client broke off is not resumed.
            if writer is not None:
                writer.cancel()
            self._lobby.disconnect(connection, clock(), left=stream.said_goodbye)
            self._alarm.set()
            self._note_end(stream)

    async def _admit(self, context: PlayContext) -> tuple[BotStream, str]:
        """Return the stream of a bot that may play, and its SDK. Raise Refused if it may not."""
        try:
            identity = await self._access.bot(context)
            if not self._lobby.connections.seats(identity.version_id):  # else it comes back to its sessions
                self._gate.admit(context)
            stream, hello = await self._reception.welcome(identity, context)
        except Refused as refusal:
            self._options.meter.refused(refusal.reason)
            raise
        return stream, plain_line(hello.sdk[:100], 100) or "no SDK named"

    def _note_end(self, stream: BotStream) -> None:
        connection = stream.connection
        identity, closing = connection.identity, connection.closing
        if closing is not None:
            kind, code, text = EntryKind.LOST, closing.code.value.lower(), closing.reason
        elif stream.said_goodbye:
            kind, code, text = EntryKind.LEFT, "", "the bot said goodbye"
        else:
            kind, code, text = EntryKind.LOST, "broken", "the stream ended without a goodbye"
        log.info("bot %s %s: %s", identity.name, kind.value, text, extra={"bot": identity.name})
        details = {"round_trip_ms": round(connection.round_trip * 1000, 1)}
        self._options.journal.add(Entry(identity.version_id, kind, code, text, details=details))
