"""gRPC's health service: whether the referee is serving; a referee that drains is not."""

import asyncio
from typing import Any

import grpc
from grpc_health.v1 import health_pb2
from grpc_health.v1.health_pb2 import HealthCheckRequest as Request
from grpc_health.v1.health_pb2 import HealthCheckResponse as Response

from referee.protocol.messages import Unreadable, readable
from referee.protocol.reasons import Reason, Refused
from referee.service.calls import Calls, generic_handler
from referee.service.peers import CallContext, PeerLimit

SERVICE = health_pb2.DESCRIPTOR.services_by_name["Health"]

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
        return generic_handler(SERVICE, handlers)

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
