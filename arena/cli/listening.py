"""Checking that the addresses are free on which an arena here is about to listen."""

import errno
import socket
from collections.abc import Mapping, Sequence

from arena.host.addresses import local_addresses, split_address
from referee.errors import ListenError

LAST_PORT = 65_535
FIRST_PORT = 1024
"""Ports below this need privileges."""

NEARBY = 100
"""How many ports are tried to find one to propose."""

EVERYWHERE = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 compared with, not listened on
"""Hosts that stand for all addresses of this machine."""


def require_free(wanted: Mapping[str, Sequence[str]]) -> None:
    """Raise ListenError, with a line for each address that is taken, unless all are free.

    ``wanted`` has, for each variable, the address that it names and those on the following ports.
    """
    lines: list[str] = []
    spoken_for = {address for addresses in wanted.values() for address in addresses}
    earlier: dict[str, str] = {}
    for variable, addresses in wanted.items():
        problems = {
            address: error
            for address in addresses
            if (error := _clash(address, earlier) or _problem(address))
        }
        earlier.update(dict.fromkeys(addresses, variable))
        advice = ""
        if any(error.errno in (errno.EADDRINUSE, errno.EACCES) for error in problems.values()):
            instead = _free_near(addresses, spoken_for)
            spoken_for.update(instead)
            advice = f", such as {variable}={instead[0]}" if instead else ""
        lines += [
            f"cannot listen on {address}: {str(error.strerror).partition(' (')[0]}; "
            f"set {variable} to another address{advice}"
            for address, error in problems.items()
        ]
    if lines:
        raise ListenError(*lines)


def _free_near(addresses: Sequence[str], taken: set[str]) -> list[str]:
    """Return as many consecutive free addresses, on higher ports; empty if there are none nearby."""
    host, _, port = addresses[0].rpartition(":")
    first = max(int(port) + 1, FIRST_PORT)
    for start in range(first, min(first + NEARBY, LAST_PORT + 1 - len(addresses))):
        instead = local_addresses(f"{host}:{start}", len(addresses))
        if taken.isdisjoint(instead) and not any(map(_problem, instead)):
            return instead
    return []


def _clash(address: str, earlier: Mapping[str, str]) -> OSError | None:
    """Return why an address conflicts with one of these, given with their variables; None if it does not."""
    host, port = split_address(address)
    for other, variable in earlier.items():
        its_host, its_port = split_address(other)
        if port == its_port and (host == its_host or not EVERYWHERE.isdisjoint((host, its_host))):
            return OSError(errno.EADDRINUSE, f"{variable} has {other} taken already")
    return None


def _problem(address: str) -> OSError | None:
    """Return why it is impossible to listen on an address; None if it is possible."""
    host, port = split_address(address)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        return error
    return None
