"""What all calls of the referee's services have in common: how they are read, counted and refused."""

import asyncio
import gc
import logging
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any, TypeAlias

import grpc
from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.message import Message
from grpc.aio import EOF  # type: ignore[attr-defined]

from referee.matches.lobby import TAKEN_OVER, Lobby
from referee.matches.running import Match
from referee.protocol.reasons import Reason, Refused, reader
from referee.service.gate import Gate
from referee.service.meter import Meter
from referee.service.peers import CallContext, PeerLimit
from referee.service.traffic import MOST_HEADERS


def running_match(lobby: Lobby, match_id: str) -> Match:
    """Return the running match of this name. Raise Refused if there is none."""
    match = lobby.match(match_id)
    if match is None:
        raise Refused(Reason.MATCH_NOT_RUNNING, f"match_id: {match_id[:100]!r} is not running here")
    return match


def why_ended(lobby: Lobby, match: Match) -> Refused:
    """Return the refusal that says why a match was stopped."""
    if match.ended == TAKEN_OVER:
        return Refused(Reason.MATCH_TAKEN_OVER, match.ended)
    return Refused(Reason.CLOSING if lobby.draining else Reason.MATCH_STOPPED, match.ended)


REQUEST_SECONDS = 10.0
"""How long a call may take to send its request."""
SILENT, SILENT_FROM_PEER = 8_000, 4_000
"""The most open calls that have not sent their request: in all, and from one host."""
MOST_UNPACKED = 8 << 20
"""How many bytes of refused headers may wait for the collector, which counts objects and not their size."""
HEADER = 32
"""What a header comes to beyond its name and its value, in bytes, as HTTP/2 counts."""
LOOK_SECONDS = 0.2
"""Seconds between two checks whether the client of a broken call has ended it."""

LARGE = 4 << 10
"""Messages of fewer bytes cost nothing in addition to what they came to on the wire."""

_CONTEXT: ContextVar[CallContext] = ContextVar("context")
"""The call in whose task a message is read."""
_Call: TypeAlias = Callable[[Any, Any], Awaitable[Any]]
_Handlers: TypeAlias = "dict[str, grpc.RpcMethodHandler[Any, Any]]"

log = logging.getLogger("referee")


class Calls:
    """The open calls of a referee.

    A servicer's method raises Refused to end its call. Messages that cannot be read reach it as Unreadable,
    so that they do not end the call with a traceback.
    """

    def __init__(self, meter: Meter, gate: Gate) -> None:
        self._meter = meter
        self._gate = gate
        self.open = 0
        """How many calls have not ended."""
        self._silent = PeerLimit("calls that have sent no request", SILENT, SILENT_FROM_PEER)
        self._unpacked = 0
        """What the headers of refused calls have come to since they were freed, in bytes."""
        self.stopping = False
        """Set when the referee is about to stop: new calls are refused, broken ones are not waited for."""
        logging.getLogger("grpc._cython.cygrpc").addFilter(_is_trouble)

    def sieve(self) -> "grpc.GenericRpcHandler[Any, Any]":
        """Return the handler to be asked first, which refuses calls of any method with too many headers.

        gRPC's own limits hold only for clients that have acknowledged them, and only once all is unpacked.
        """
        return _Sieve(self._overstuffed)

    def _overstuffed(self, size: int) -> "grpc.RpcMethodHandler[Any, Any]":
        async def refuse(_request: Any, _context: CallContext) -> None:
            self._drop(size)
            raise Refused(Reason.FLOOD, f"the headers come to {size} bytes, more than {MOST_HEADERS}")

        return grpc.stream_stream_rpc_method_handler(self._served(refuse, size))

    def _drop(self, size: int) -> None:
        """Free the headers of refused calls once they come to much; gRPC leaves them in cycles."""
        self._unpacked += size
        if self._unpacked >= MOST_UNPACKED:
            self._unpacked = 0
            gc.collect(1)

    def unary(self, call: _Call, request: type[Message]) -> Any:
        """Return the handler of a call with one request and one answer."""

        async def answered(message: Any, context: CallContext) -> None:
            answer = await call(message, context)
            await context.write(answer.SerializeToString())

        # To gRPC's server it is a stream: otherwise it would wait for the request itself, without a limit.
        return grpc.stream_stream_rpc_method_handler(
            self._served(self._on_request(answered)), self._charged(reader(request))
        )

    def streaming(self, call: _Call, request: type[Message]) -> Any:
        """Return the handler of a call with one request and a stream of answers, which it writes encoded."""
        return grpc.stream_stream_rpc_method_handler(
            self._served(self._on_request(call)),
            self._charged(reader(request)),
            self._sized(call.__name__, "out"),
        )

    def both_ways(self, call: _Call, request: type[Message]) -> Any:
        """Return the handler of a call with streams of requests and of answers, which it writes encoded."""
        name = call.__name__
        return grpc.stream_stream_rpc_method_handler(
            self._served(call),
            self._charged(self._sized(name, "in", reader(request))),
            self._sized(name, "out"),
        )

    def _charged(self, convert: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
        """Return ``convert``, which reads messages of a call, with large ones charged as unpacked."""

        def convert_charged(data: bytes) -> Any:
            if len(data) >= LARGE:
                self._gate.unpacked(_CONTEXT.get(), len(data))
            return convert(data)

        return convert_charged

    def _on_request(self, call: _Call) -> _Call:
        """Return the call on a stream whose first message is its request."""

        async def requested(_requests: Any, context: CallContext) -> None:
            await call(await self._request(context), context)

        return requested

    async def _request(self, context: CallContext) -> Any:
        """Return the request of a call. Raise Refused if none comes, or too many calls have sent none."""
        with self._silent.one_of(context):
            try:
                async with asyncio.timeout(REQUEST_SECONDS):
                    message = await context.read()
            except TimeoutError:
                raise Refused(Reason.MESSAGE_UNREADABLE, "no request came in time") from None
        if message is EOF:
            raise Refused(Reason.MESSAGE_UNREADABLE, "the call ended without a request")
        return message

    def _sized(self, call: str, direction: str, convert: Callable[[Any], Any] | None = None) -> Any:
        """Return ``convert``, with messages counted if the meter does that; None if they stay bytes."""
        return self._meter.sized(call, direction, convert)

    def _served(self, call: _Call, headers: int = 0) -> _Call:
        async def served(request: Any, context: CallContext) -> Any:
            self.open += 1
            _CONTEXT.set(context)
            self._gate.called(context, headers)
            try:
                return await _answer(self._refused if self.stopping else call, request, context)
            except grpc.aio.InternalError as error:
                # The client left, or takes nothing, while something was sent: no status reaches it any more.
                log.debug("a call broke: %s", error)
                await self._end_of(context)
            finally:
                self.open -= 1
            return None

        return served

    async def _refused(self, _request: Any, _context: CallContext) -> Any:
        raise Refused(Reason.CLOSING)

    async def _end_of(self, context: CallContext) -> None:
        """Wait until the client has ended the call, or the referee stops."""
        while not (context.done() or context.cancelled() or self.stopping):
            await asyncio.sleep(LOOK_SECONDS)


class _Sieve(grpc.GenericRpcHandler):  # type: ignore[type-arg]
    """Takes the calls whose headers are too large, and gives their size to what makes their handler."""

    def __init__(self, handler: "Callable[[int], grpc.RpcMethodHandler[Any, Any]]") -> None:
        self._handler = handler

    def service(self, handler_call_details: Any) -> "grpc.RpcMethodHandler[Any, Any] | None":
        headers = handler_call_details.invocation_metadata
        size = sum([len(name) + len(value) for name, value in headers]) + HEADER * len(headers)
        return self._handler(size) if size > MOST_HEADERS else None


def _is_trouble(record: logging.LogRecord) -> bool:
    """Return whether a record of gRPC's log is about more than a call that was cancelled before it began."""
    return record.exc_info is None or record.exc_info[0] is not asyncio.CancelledError


async def _answer(call: _Call, request: Any, context: CallContext) -> Any:
    """Return the answer of a call; if it is refused, end it with the status of the refusal."""
    try:
        return await call(request, context)
    except Refused as refusal:
        await context.abort(refusal.status, str(refusal), refusal.trailing_metadata())


def generic_handler(service: ServiceDescriptor, handlers: _Handlers) -> "grpc.GenericRpcHandler[Any, Any]":
    """Return the calls of a service for a server."""
    return grpc.method_handlers_generic_handler(service.full_name, handlers)
