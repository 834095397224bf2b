"""The service for bots' authors: what the referees noted of a bot, and what it played."""

import asyncio
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

import grpc

from referee.errors import LogClosed, LogQueryError
from referee.matches.journal import Journal
from referee.protocol import logs
from referee.protocol.reasons import Reason, Refused, Unreadable, readable
from referee.service.access import Access
from referee.service.calls import Calls, generic_handler
from referee.service.peers import CallContext, PeerLimit
from referee.v1 import logs_pb2

SERVICE = logs_pb2.DESCRIPTOR.services_by_name["LogService"]

READERS, READERS_FROM_PEER, THREADS = 64, 32, 2
"""The most logs read at the same time, including waiting calls: in all, and from one host; and the number of
threads that do it."""

Query = TypeVar("Query")
Answer = TypeVar("Answer")

log = logging.getLogger("referee")


class LogServicer:
    """What authors call."""

    def __init__(self, access: Access, journal: Journal) -> None:
        self._access = access
        self._journal = journal
        self._threads = ThreadPoolExecutor(THREADS, "logs")
        self._readers = PeerLimit("logs that are being read", READERS, READERS_FROM_PEER)

    def handler(self, calls: Calls) -> "grpc.GenericRpcHandler[Any, Any]":
        """Return the service's calls for a server."""
        listing = calls.unary(self.ListLogEntries, logs_pb2.ListLogEntriesRequest)
        deals = calls.unary(self.ListDeals, logs_pb2.ListDealsRequest)
        return generic_handler(SERVICE, {"ListLogEntries": listing, "ListDeals": deals})

    def close(self) -> None:
        """Let the threads end."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def ListLogEntries(
        self, message: logs_pb2.ListLogEntriesRequest | Unreadable, context: CallContext
    ) -> logs_pb2.ListLogEntriesResponse:
        """List what the referees noted of a bot, for its author."""
        token = await self._access.require_token(context)
        with _refusals():
            query = logs.read_query(readable(message))
            return logs.page_message(
                await self._read_journal(context, self._journal.read, token, query), query
            )

    async def ListDeals(
        self, message: logs_pb2.ListDealsRequest | Unreadable, context: CallContext
    ) -> logs_pb2.ListDealsResponse:
        """List the deals that a bot has played, for its author."""
        token = await self._access.require_token(context)
        with _refusals():
            query = logs.read_deal_query(readable(message))
            return logs.deals_message(await self._read_journal(context, self._journal.deals, token, query))

    async def _read_journal(
        self, context: CallContext, select: Callable[[str, Query], Answer], token: str, query: Query
    ) -> Answer:
        """Return what the journal finds. Raise LogClosed, LogQueryError, or Refused if it cannot be read."""
        with self._readers.one_of(context):
            try:
                loop = asyncio.get_running_loop()
                return await loop.run_in_executor(self._threads, select, token, query)
            except (LogClosed, LogQueryError):
                raise
            except Exception as error:
                log.warning("cannot read the log of bots: %s", error)
                raise Refused(Reason.LOG_UNAVAILABLE) from None


@contextmanager
def _refusals() -> Iterator[None]:
    """Refuse a call whose token or query the journal does not accept."""
    try:
        yield
    except LogClosed as error:
        raise Refused(Reason.TOKEN_SCOPE, str(error)) from None
    except LogQueryError as error:
        field = str(error).partition(":")[0]
        raise Refused(Reason.FIELD_INVALID, str(error), field=field) from None
