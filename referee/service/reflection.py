"""gRPC's reflection service: the names of the referee's services, and their messages."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
from grpc.aio import EOF  # type: ignore[attr-defined]
from grpc_reflection.v1alpha import reflection, reflection_pb2

from referee.protocol.messages import readable
from referee.protocol.reasons import Reason, Refused
from referee.service.calls import Calls, generic_handler
from referee.service.peers import CallContext, PeerLimit

SERVICE = reflection_pb2.DESCRIPTOR.services_by_name["ServerReflection"]

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
        asked = calls.both_ways(self.ServerReflectionInfo, reflection_pb2.ServerReflectionRequest)
        return generic_handler(SERVICE, {"ServerReflectionInfo": asked})

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
