"""Why a connection failed, in plain words: of a bot, a worker, the arena's client or a webhook.

``reason`` explains an exception, ``call_failed`` what gRPC says of a call, which only repeats the lowest
layer's words; ``why_failed`` and ``why_unreached`` try an address to find out more.
"""

import asyncio
import socket
import ssl
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import NamedTuple

from referee.errors import AddressError
from referee.net.addresses import Proxy, proxy_to, split
from referee.net.tls import ClientTls
from referee.reading.plain import plain

PROBE_SECONDS = 1.0
"""How long to wait, in seconds, for an answer at an address."""

NO_TLS = "it does not use TLS, and this side does: leave ARENA_TLS_CA out for a connection without TLS"
TLS = "it uses TLS, and this side does not: set ARENA_TLS_CA to a file with its authority, or to system"
UNTRUSTED = "its certificate comes from no authority that ARENA_TLS_CA names"

NO_HOST = "host name not found"
NOTHING_LISTENS = "nothing listens there"
PAGES = "something other than a referee answers there (is that the port of the pages?)"

_GRPC_WORDS = {
    "failed parsing http/2": PAGES,
    "connection refused": NOTHING_LISTENS,
    "no route to host": "no route to host",
    "certificate_verify_failed": UNTRUSTED,
}
"""What parts of gRPC's texts mean."""
_NOT_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST", "UNKNOWN_PROTOCOL")
"""What OpenSSL calls an answer that is not TLS."""
EXPIRED, NOT_YET_VALID, SELF_SIGNED, OTHER_HOST = 10, 9, 18, (62, 64)
"""OpenSSL's codes for problems with a certificate (X509_V_ERR_…); most others are about its authority."""


def reason(error: BaseException) -> str:
    """Return why a connection failed, from its exception or the causes of that; empty if that is not clear.

    The words are ours: those of the other side may be anything.
    """
    return next(filter(None, map(_reason, _causes(error))), "")


def _reason(error: BaseException) -> str:
    match error:
        case ssl.SSLCertVerificationError():
            return _certificate(error.verify_code, "its certificate comes from no trusted authority")
        case ssl.SSLError():
            return "it does not use TLS" if error.reason in _NOT_TLS else "the TLS handshake failed"
        case socket.gaierror():
            return NO_HOST
        case ConnectionRefusedError():
            return NOTHING_LISTENS
        case TimeoutError():
            return "no answer in time"
        case OSError():
            return (error.strerror or "").lower()
    return ""


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and the errors that caused it."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _certificate(code: int, untrusted: str) -> str:
    if code == EXPIRED:
        return "its certificate has expired"
    if code == NOT_YET_VALID:
        now = f"{datetime.now(UTC):%Y-%m-%d %H:%M}"
        return f"its certificate is not valid yet; is the clock right here, where it is {now} UTC?"
    if code in OTHER_HOST:
        return "its certificate is not for this address"
    return f"{untrusted}; it is self-signed" if code == SELF_SIGNED else untrusted


def call_failed(address: str, status: str, text: str) -> str:
    """Return why a gRPC call that a referee did not refuse failed, to follow the referee's name.

    ``status`` is the name of the call's status, ``text`` what gRPC says.
    """
    if status == "DEADLINE_EXCEEDED":
        return f"does not answer{through(address)}"
    why = _grpc_reason(text) or text
    return f"cannot be reached{f': {why}' if why else ''}{through(address)}"


def _grpc_reason(text: str) -> str:
    lower = text.lower()
    return next((why for part, why in _GRPC_WORDS.items() if part in lower), "")


async def why_failed(address: str, tls: ClientTls | None, text: str) -> str:
    """Return why a call to an address failed, about which gRPC said ``text``; empty if that is not clear."""
    if why := await why_unreached(address, tls):
        return why
    return f"{PAGES}{through(address)}" if _grpc_reason(text) == PAGES else ""


def through(address: str) -> str:
    """Return what to add to a sentence about an address that a proxy leads to; empty if there is no proxy."""
    try:
        proxy = proxy_to(split(address)[0])
    except AddressError:
        return ""
    return f" (through {proxy})" if proxy else ""


async def why_unreached(address: str, tls: ClientTls | None) -> str:
    """Return why nobody can be reached at an address; empty if somebody can be, or if that is not clear.

    ``tls`` is this side's, None for none. Nothing is sent to the address. Like gRPC, it goes through the
    proxy that leads there, and names it.
    """
    try:
        way = _Way(*split(address), proxy_to(split(address)[0]))
        why = await _why_unreached(way, tls)
    except AddressError as error:
        return str(error)
    return f"{why}{through(address)}" if why else ""


class _Way(NamedTuple):
    """How connections get to a place."""

    host: str
    port: int
    proxy: Proxy | None


class _ProxyError(Exception):
    """A proxy does not let a connection through."""


async def _why_unreached(way: _Way, tls: ClientTls | None) -> str:
    if why := await _ended(way, None):
        return why
    if tls is None:
        return TLS if await _speaks_tls(way) else ""
    return await _ended(way, _context(tls))


async def _ended(way: _Way, context: ssl.SSLContext | None) -> str:
    """Return what is wrong with a connection, with TLS if there is a context; empty if nothing is."""
    try:
        await _connect(way, context)
    except _ProxyError as error:
        return str(error)
    except ssl.SSLCertVerificationError as error:
        return _certificate(error.verify_code, UNTRUSTED)
    except ssl.SSLError as error:
        return NO_TLS if error.reason in _NOT_TLS else ""
    except TimeoutError:
        return "no answer; does a firewall let the bot out?" if context is None else ""
    except OSError as error:
        return "" if context else reason(error) or str(error).lower()
    return ""


def _context(tls: ClientTls) -> ssl.SSLContext:
    authorities = tls.latest().authorities
    context = ssl.create_default_context(
        cadata=authorities.decode("ascii", "ignore") if authorities else None
    )
    context.set_alpn_protocols(["h2"])
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # gRPC does not require that
    return context


async def _speaks_tls(way: _Way) -> bool:
    """Return whether TLS is spoken there, with whatever certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    try:
        await _connect(way, context)
    except (OSError, TimeoutError, _ProxyError):
        return False
    return True


async def _connect(way: _Way, context: ssl.SSLContext | None) -> None:
    async with asyncio.timeout(PROBE_SECONDS):
        if way.proxy is None:
            _, writer = await asyncio.open_connection(way.host, way.port, ssl=context)
        else:
            writer = await _tunnel(way, way.proxy)
            if context is not None:
                try:
                    await writer.start_tls(context, server_hostname=way.host)
                except BaseException:
                    writer.close()
                    raise
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()


async def _tunnel(way: _Way, proxy: Proxy) -> asyncio.StreamWriter:
    """Open a connection through a proxy. Raise _ProxyError if it cannot be reached or refuses."""
    try:
        reader, writer = await asyncio.open_connection(*proxy.address)
    except OSError as error:
        why = reason(error) or str(error).lower()
        raise _ProxyError(f"the proxy itself cannot be reached: {why}") from None
    place = f"[{way.host}]:{way.port}" if ":" in way.host else f"{way.host}:{way.port}"
    secret = f"Proxy-Authorization: {proxy.credentials}\r\n" if proxy.credentials else ""
    writer.write(f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n{secret}\r\n".encode())
    try:
        answer = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").splitlines()[0]
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
        answer = ""
    except BaseException:  # the time is up, or nobody wants to know any more
        writer.close()
        raise
    _, _, status = answer.partition(" ")
    if not answer.startswith("HTTP/1.") or not status.startswith("2"):
        writer.close()
        said = plain(status) if answer.startswith("HTTP/") else "it does not answer like one"
        raise _ProxyError(f"the proxy does not connect there: {said}")
    return writer
