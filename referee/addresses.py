"""Addresses of referees: reading them, and finding out whether TLS is spoken there."""

import asyncio
import re
import ssl
from contextlib import suppress

from referee.errors import AddressError

PROBE_SECONDS = 1.0
"""How long somebody at an address may take to show whether TLS is spoken there."""

USUAL_PORT = 8710
"""On which a referee listens unless it is told otherwise."""

_ADDRESS = re.compile(r"(?P<host>\[[^][\s/]+]|[^][\s/:]+)(:(?P<port>[0-9]{1,9}))?")
_NO_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST", "UNKNOWN_PROTOCOL")
"""How OpenSSL names an answer that is not TLS."""


def read_addresses(text: str) -> list[str]:
    """Return the addresses in a list with commas, each ``host:port``. Raise AddressError."""
    addresses = [address.strip() for address in text.split(",") if address.strip()]
    if not addresses:
        raise AddressError("names no address")
    for address in addresses:
        split(address)
    return addresses


def split(address: str) -> tuple[str, int]:
    """Return host and port of ``host:port``, the host without brackets. Raise AddressError."""
    found = _ADDRESS.fullmatch(address)
    if found is None or found["port"] is None:
        name = address if found else "127.0.0.1"
        problem = "has no port" if found else "is not an address"
        raise AddressError(f"{address!r} {problem}: an address is HOST:PORT, such as {name}:{USUAL_PORT}")
    if not 0 < int(found["port"]) < 65536:
        raise AddressError(f"{address!r}: a port is a number from 1 to 65535")
    return found["host"].strip("[]"), int(found["port"])


async def tls_mismatch(address: str, *, encrypted: bool) -> str:
    """Return why no connection is possible if exactly one of the two sides uses TLS; else an empty text.

    ``encrypted``: whether this side does.
    """
    spoken = await _speaks_tls(address)
    if encrypted and spoken is False:
        return "it does not use TLS, and this side does: leave ARENA_TLS_CA out for a connection without TLS"
    if spoken and not encrypted:
        return (
            "it uses TLS, and this side does not: set ARENA_TLS_CA to a file with its authority, or to system"
        )
    return ""


async def _speaks_tls(address: str) -> bool | None:
    """Return whether TLS is spoken at an address; None if that does not show."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # nothing is sent there
    context.set_alpn_protocols(["h2"])
    try:
        async with asyncio.timeout(PROBE_SECONDS):
            _, writer = await asyncio.open_connection(*split(address), ssl=context)
    except ssl.SSLError as error:
        return False if error.reason in _NO_TLS else None
    except (OSError, TimeoutError, AddressError):
        return None
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return True
