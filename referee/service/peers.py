"""Who is at the other end of a connection, and limits shared fairly among hosts."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import unquote

import grpc

from referee.net.addresses import host_and_address
from referee.protocol.reasons import Reason, Refused

CallContext: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"


class Peer(NamedTuple):
    """The other end of a TCP connection."""

    host: str
    """An IPv4 address, or the first 64 bits of an IPv6 address."""
    address: str
    port: int


def peer_at(address: str, port: int) -> Peer:
    """Return the peer at an IP address; an IPv6 address may have a scope, or map to an IPv4 address."""
    return Peer(*host_and_address(address), port)


def peer_of(context: CallContext) -> Peer | None:
    """Return the peer that a call comes from; None if it is this process itself."""
    kind, _, rest = str(context.peer()).partition(":")
    if kind not in ("ipv4", "ipv6"):
        return None
    address, _, port = unquote(rest).rpartition(":")
    return peer_at(address.strip("[]"), int(port))


def host_of(context: CallContext) -> str:
    """Return the host that a call comes from; empty if it is this process itself."""
    peer = peer_of(context)
    return "" if peer is None else peer.host


def elsewhere(context: CallContext) -> str:
    """Return the host that a call comes from; empty if it is this one."""
    peer = peer_of(context)
    return "" if peer is None or ip_address(peer.address).is_loopback else peer.host


class PeerLimit:
    """How many calls of a kind may be open at once: in all, and from one host."""

    def __init__(self, what: str, total: int, from_peer: int) -> None:
        """Create a limit; ``what`` names these calls in the refusal."""
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
