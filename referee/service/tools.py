"""The services for operators' tools: gRPC's own health and reflection."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

import grpc
from grpc.aio import EOF  # type: ignore[attr-defined]
from grpc_health.v1 import health_pb2
from grpc_health.v1.health_pb2 import HealthCheckRequest as Request
from grpc_health.v1.health_pb2 import HealthCheckResponse as Response
from grpc_reflection.v1alpha import reflection, reflection_pb2

from referee.protocol.reasons import Reason, Refused, Unreadable, readable
from referee.service.calls import Calls, generic_handler
from referee.service.peers import CallContext, PeerLimit

REFLECTION = reflection_pb2.DESCRIPTOR.services_by_name["ServerReflection"]

ASKING, ASKING_FROM_PEER = 64, 16
"""The most calls that ask at the same time: in all, and from one host."""
QUESTION_SECONDS = 10.0
"""How long a call may take to send its next question."""


class ReflectionServicer:
    """What tools such as grpcurl call."""

    def __init__(self, names: tuple[str, ...]) -> None:
        """Create the service; ``names`` are the services to list."""
        self._answers = reflection.aio.ReflectionServicer(names)  # type: ignore[attr-defined]
        self._asking = PeerLimit("calls that ask for the services", ASKING, ASKING_FROM_PEER)

    def handler(self, calls: Calls) -> "grpc.GenericRpcHandler[Any, Any]":
        """Return the service's calls for a server."""
        reflection = calls.both_ways(self.ServerReflectionInfo, reflection_pb2.ServerReflectionRequest)
        return generic_handler(REFLECTION, {"ServerReflectionInfo": reflection})

    async def ServerReflectionInfo(self, _requests: AsyncIterator[Any], context: CallContext) -> None:
        """Answer questions, one after the other."""
        with self._asking.one_of(context):
            while (question := await _question(context)) is not EOF:
                answers = self._answers.ServerReflectionInfo(_only(readable(question)), context)
                async for answer in answers:
                    await context.write(answer.SerializeToString())


async def _question(context: CallContext) -> Any:
    try:
        async with asyncio.timeout(QUESTION_SECONDS):
            return await context.read()
    except TimeoutError:
        raise Refused(Reason.MESSAGE_UNREADABLE, "no question came in time") from None


async def _only(question: Any) -> AsyncIterator[Any]:
    yield question


HEALTH = health_pb2.DESCRIPTOR.services_by_name["Health"]

WATCHES, WATCHES_FROM_PEER = 256, 64
"""The most calls that watch the health at the same time: in all, and from one host."""
CLOSING = "the referee is shutting down"


class HealthServicer:
    """What load balancers and supervisors call."""

    def __init__(self, names: tuple[str, ...]) -> None:
        """Create the service; ``names`` are the known services; the empty name stands for all of them."""
        self._names = {"", *names}
        self._watches = PeerLimit("calls that watch the health", WATCHES, WATCHES_FROM_PEER)
        self._draining = asyncio.Event()
        self._ending = asyncio.Event()

    def handler(self, calls: Calls) -> "grpc.GenericRpcHandler[Any, Any]":
        """Return the service's calls for a server."""
        handlers = {
            "Check": calls.unary(self.Check, Request),
            "Watch": calls.streaming(self.Watch, Request),
        }
        return generic_handler(HEALTH, handlers)

    def drain(self) -> None:
        """Tell all watchers that the referee no longer serves."""
        self._draining.set()

    def end(self) -> None:
        """End the calls."""
        self._ending.set()

    async def Check(self, message: Request | Unreadable, context: CallContext) -> Response:
        """Return whether a service is served."""
        service = readable(message).service
        if service not in self._names:
            await context.abort(grpc.StatusCode.NOT_FOUND, f"service: {service[:100]!r} is not known here")
        return self._status(service)

    async def Watch(self, message: Request | Unreadable, context: CallContext) -> None:
        """Report whether a service is served, now and when that changes."""
        service = readable(message).service
        with self._watches.one_of(context):
            await context.write(self._status(service).SerializeToString())
            if service in self._names and not self._draining.is_set():
                await self._draining.wait()
                await context.write(self._status(service).SerializeToString())
            await self._ending.wait()
        raise Refused(Reason.CLOSING, CLOSING)

    def _status(self, service: str) -> Response:
        if service not in self._names:
            return Response(status=Response.SERVICE_UNKNOWN)
        return Response(status=Response.NOT_SERVING if self._draining.is_set() else Response.SERVING)


class Tools(NamedTuple):
    """What load balancers, supervisors and grpcurl call."""

    health: HealthServicer
    reflection: ReflectionServicer


def tools(names: tuple[str, ...]) -> Tools:
    """Return the services; ``names`` are the services that they report, besides themselves."""
    services = (*names, HEALTH.full_name, REFLECTION.full_name)
    return Tools(HealthServicer(services), ReflectionServicer(services))
