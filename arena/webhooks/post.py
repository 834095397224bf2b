"""Sending one signed message over HTTP, to an address that is checked before the connection."""

import base64
import binascii
import hashlib
import hmac
import http.client
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from urllib.parse import urlsplit

from referee.net import failures

NOT_PUBLIC = (
    *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
    *("192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24"),
    *("192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"),
    *("224.0.0.0/4", "240.0.0.0/4"),
)
"""IPv4 addresses for special purposes, and multicast: the whole of IANA's registry, without exceptions."""

GLOBAL = IPv6Network("2000::/3")
"""All of IPv6 that IANA has given out for use between networks; whatever else there is, is not public."""

WITHIN_GLOBAL = (*("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3ffe::/16", "3fff::/20"),)
"""Addresses for special purposes among these: IANA's registry, and the former 6bone."""

_NOT_V4 = tuple(map(IPv4Network, NOT_PUBLIC))
_NOT_V6 = tuple(map(IPv6Network, WITHIN_GLOBAL))


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Return whether an address is public: neither of this machine, nor of a private network, nor special.

    An IPv6 address that stands for an IPv4 address (NAT64, 6to4, Teredo) is not, whichever that is; one that
    only writes it (``::ffff:…``) is what that is. The standard library's own answer depends on its version.
    """
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_V4)
    if address.ipv4_mapped is not None:
        return is_public(address.ipv4_mapped)
    return address in GLOBAL and not any(address in network for network in _NOT_V6)


SECONDS = 10.0
"""How long a message may take from the connection to the end of the answer."""

MOST_ANSWER = 65_536
"""The most bytes of an answer that are read; they are discarded."""


class NotSent(Exception):
    """A message could not be sent, or there was no answer; the text says why, without secrets."""


def sign(secret: str, message: str, timestamp: int, body: bytes) -> str:
    """Return the signature of a message as in Standard Webhooks. Raise NotSent if the secret is malformed."""
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error:
        raise NotSent("its secret is damaged") from None
    digest = hmac.new(key, f"{message}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


def post(
    url: str, body: bytes, headers: Mapping[str, str], *, private: bool, seconds: float = SECONDS
) -> int:
    """Send a message, and return the status of the answer; a redirect is an answer like others.

    Raise NotSent; without ``private``, also for an address that is not public.
    """
    parts = urlsplit(url)
    host, secure = parts.hostname or "", parts.scheme == "https"
    port = parts.port or (443 if secure else 80)
    address = _resolve(host, port, private=private)
    path = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
    try:
        with _ended_after(seconds) as open_, _connection(address, host, secure, seconds, open_) as sock:
            connection = http.client.HTTPConnection(host, port)
            connection.sock = sock
            named = {"Host": parts.netloc, "Connection": "close", "User-Agent": "bigtwo-arena", **headers}
            connection.request("POST", path, body, named)
            answer = connection.getresponse()
            answer.read(MOST_ANSWER)
            return answer.status
    except (OSError, http.client.HTTPException) as error:
        raise NotSent(_reason(error)) from None


def _resolve(host: str, port: int, *, private: bool) -> tuple[str, int]:
    """Return the first address of a host to which a message may go. Raise NotSent."""
    try:
        answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise NotSent(failures.NO_HOST) from None
    addresses = [str(answer[4][0]).partition("%")[0] for answer in answers]
    for address in addresses:
        if private or is_public(ip_address(address)):
            return address, port
    raise NotSent("the host has no public address (setting webhook_addresses)")


class _Open:
    """The socket that is in use, if any."""

    sock: socket.socket | None = None


@contextmanager
def _ended_after(seconds: float) -> Iterator[_Open]:
    """Break off the open connection after ``seconds``, even if it still makes progress."""
    held, late = _Open(), threading.Event()

    def end() -> None:
        late.set()
        if held.sock is not None:
            with suppress(OSError):
                # Not the TLS socket's own shutdown, which would disturb the thread that waits on it.
                socket.socket.shutdown(held.sock, socket.SHUT_RDWR)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield held
    except (OSError, http.client.HTTPException):
        if late.is_set():
            raise TimeoutError from None
        raise
    finally:
        timer.cancel()
    if late.is_set():
        raise TimeoutError


@contextmanager
def _connection(
    address: tuple[str, int], host: str, secure: bool, seconds: float, held: _Open
) -> Iterator[socket.socket]:
    with socket.create_connection(address, seconds) as sock:
        held.sock = sock
        if not secure:
            yield sock
            return
        context = ssl.create_default_context()
        with context.wrap_socket(sock, server_hostname=host, do_handshake_on_connect=False) as wrapped:
            held.sock = wrapped
            wrapped.do_handshake()
            yield wrapped


def _reason(error: Exception) -> str:
    """Return why there was no answer, in our own words."""
    broke = "the connection broke" if isinstance(error, OSError) else "the answer is not HTTP"
    return failures.reason(error) or broke
