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
from ipaddress import ip_address
from urllib.parse import urlsplit

from arena.webhooks.addresses import is_public

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
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise NotSent("the host has no address") from None
    addresses = [str(one[4][0]).partition("%")[0] for one in found]
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
    """Return why there was no answer, in our own words: those of the other side may be anything."""
    if isinstance(error, TimeoutError):
        return "it took too long"
    if isinstance(error, ssl.SSLCertVerificationError):
        return "its certificate is not valid"
    if isinstance(error, ssl.SSLError):
        return "there is no TLS"
    if isinstance(error, ConnectionRefusedError):
        return "nobody listens there"
    return "the connection broke" if isinstance(error, OSError) else "the answer is not HTTP"
