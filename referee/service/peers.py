"""Limits on what is going on at a time, shared fairly among the hosts that it comes from."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import grpc

from referee.protocol.reasons import Reason, Refused

CallContext: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"


def host_of(context: CallContext) -> str:
    """Return the host that a call comes from."""
    return str(context.peer()).rpartition(":")[0]


class PeerLimit:
    """How many calls may be at some point at once: from everywhere, and from one host."""

    def __init__(self, what: str, total: int, from_peer: int) -> None:
        """``what`` names these calls, for who is turned away."""
        self._what = what
        self._total = total
        self._from_peer = from_peer
        self._counts: Counter[str] = Counter()

    @contextmanager
    def one_of(self, context: CallContext) -> Iterator[None]:
        """Count a call while the block runs. Raise Refused if there are too many."""
        host = host_of(context)
        if self._counts[host] >= self._from_peer or self._counts.total() >= self._total:
            raise Refused(Reason.BUSY, f"too many {self._what}")
        self._counts[host] += 1
        try:
            yield
        finally:
            self._counts[host] -= 1
            if not self._counts[host]:
                del self._counts[host]
