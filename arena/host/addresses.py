"""Addresses ``host:port``, and URLs of databases and brokers, shown without their passwords."""

import re
from urllib.parse import urlsplit

from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

from referee.reading.names import is_number

HIDDEN = "***"

NO_BROKER = "not a broker URL (filesystem:///folder, redis://host/0, amqp://host)"

SERVERS = ("amqp", "amqps", "pyamqp", "redis", "rediss", "sentinel")
"""Schemes of brokers whose URLs contain a server's address, or several separated by ``;``."""

OPEN = ("host", "port", "user", "dbname", "sslmode", "ssl_cert_reqs", "connect_timeout", "application_name")
"""Query parameters of URLs whose values are not secret; the values of all others are hidden."""


def without_secrets(url: str) -> str:
    """Return a URL, or several separated by ``;``, without the passwords in its authority and query.

    Text that is not a URL is returned unchanged.
    """
    return ";".join(_hide(part) for part in re.split(r";(?=[\w.+-]+://)", url))


def _hide(url: str) -> str:
    # Up to the last @, as a password may contain any character; hiding too much does no harm.
    place, mark, query = re.sub(r"://([^:/@?]*):.*@", rf"://\1:{HIDDEN}@", url, flags=re.DOTALL).partition(
        "?"
    )
    return place + mark + "&".join(_hide_value(pair) for pair in query.split("&"))


def _hide_value(pair: str) -> str:
    name, equals, value = pair.partition("=")
    return pair if name in OPEN or not value else f"{name}{equals}{HIDDEN}"


def _is_folder(url: str) -> bool:
    parts = urlsplit(url)
    return bool(parts.path) and not (parts.netloc or parts.query or parts.fragment)


def check_database(url: str) -> str:
    """Return a database URL, of PostgreSQL with the driver that the arena needs.

    Raise ValueError unless several processes can share the database.
    """
    url = re.sub(r"^postgres(ql)?://", "postgresql+psycopg://", url)
    try:
        parts = make_url(url)
    except (ArgumentError, ValueError):
        raise ValueError("not a database URL (sqlite:///file, postgresql://user@host/name)") from None
    if parts.get_backend_name() == "sqlite" and parts.database in (None, "", ":memory:"):
        raise ValueError("SQLite needs a file (sqlite:///file): several processes share the database")
    return url


def check_broker(url: str) -> str:
    """Return a broker URL unchanged; raise ValueError if it is not valid."""
    if url.startswith("filesystem://"):
        if not _is_folder(url):
            raise ValueError(
                f"{without_secrets(url)} is not filesystem:///folder (with %23 for #, %3F for ?)"
            )
        return url
    from kombu.transport import TRANSPORT_ALIASES  # not needed where the broker is a folder
    from kombu.utils.url import parse_url

    scheme, mark, _ = url.partition("://")
    if url and (not mark or scheme not in TRANSPORT_ALIASES):
        raise ValueError(NO_BROKER)
    if scheme in SERVERS:
        try:
            for address in url.split(";"):  # they stand in for each other
                parse_url(address)
        except (ValueError, TypeError, KeyError):  # whose texts may hold a password
            raise ValueError(f"{NO_BROKER}; a password has %2F for /, %3F for ? and %23 for #") from None
    return url


NO_PLACE = ("0.0.0.0", "[::]", "::", "")  # noqa: S104 compared with, not listened on
"""Hosts that one can listen on, but not connect to."""


def check_address(address: str) -> str:
    """Return an address unchanged; raise ValueError if it is not valid."""
    host, _, port = address.rpartition(":")
    if not host or re.search(r"[\s'\"]", host) or not _is_port(port):
        number = address.strip(":")
        example = f", such as 127.0.0.1:{number}" if _is_port(number) else ""
        raise ValueError(f"{address!r} is not host:port{example}")
    return address


def _is_port(text: str) -> bool:
    return is_number(text, 5) and int(text) <= 65535


def split_address(address: str) -> tuple[str, int]:
    """Split ``host:port`` into host, without brackets, and port."""
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)


def local_addresses(listen: str, count: int) -> list[str]:
    """Return the addresses that ``count`` referees listen on: ``listen`` and the following ports."""
    host, _, port = listen.rpartition(":")
    return [f"{host}:{int(port) + place}" for place in range(count)]
