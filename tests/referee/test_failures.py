"""Tests for why nobody can be reached: what is wrong with an address, its host, its port, or TLS."""

import errno
import socket

import pytest

from referee.net.failures import NO_TLS, TLS, UNTRUSTED, call_failed, reason, why_unreached
from referee.net.tls import ClientTls
from tests.referee.support import referee
from tests.referee.test_server_tls import World, options, world

__all__ = ["world"]


async def test_why_unreached_when_all_is_well_then_nothing_is_said(world: World) -> None:
    async with referee() as address:
        assert await why_unreached(address, None) == ""
    async with referee(options=options(world)) as address:
        assert await why_unreached(address, ClientTls(world.ours.certificate)) == ""


async def test_why_unreached_when_one_side_alone_uses_tls_then_it_is_told_which(world: World) -> None:
    async with referee() as address:
        assert await why_unreached(address, ClientTls(world.ours.certificate)) == NO_TLS
    async with referee(options=options(world)) as address:
        assert await why_unreached(address, None) == TLS


async def test_why_unreached_when_the_certificate_is_not_trusted_then_that_is_said(world: World) -> None:
    async with referee(options=options(world)) as address:
        assert await why_unreached(address, ClientTls(world.others.certificate)) == UNTRUSTED
        assert await why_unreached(address, ClientTls()) == UNTRUSTED
        other = address.replace("127.0.0.1", "localhost")
        told = await why_unreached(other, ClientTls(world.ours.certificate))
        assert told == "its certificate is not for this address"


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("127.0.0.1:1", "nothing listens there"),
        ("no-such-host.invalid:8710", "host name not found"),
        ("127.0.0.1", "'127.0.0.1' has no port: an address is HOST:PORT, such as 127.0.0.1:8710"),
    ],
)
async def test_why_unreached_when_nobody_is_there_then_that_is_said(address: str, said: str) -> None:
    assert await why_unreached(address, None) == said


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"), "nothing listens there"),
        (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), "host name not found"),
        (TimeoutError(), "no answer in time"),
        (OSError(errno.EHOSTUNREACH, "No route to host"), "no route to host"),
        (ValueError("private"), ""),
    ],
)
def test_reason_when_an_error_or_its_cause_is_clear_then_it_is_said_in_our_words(
    error: Exception, said: str
) -> None:
    outer = RuntimeError("a library's own")
    outer.__cause__ = error
    assert reason(error) == reason(outer) == said


@pytest.mark.parametrize(
    ("status", "text", "said"),
    [
        ("UNAVAILABLE", "… connect: Connection refused (111)", "cannot be reached: nothing listens there"),
        ("UNAVAILABLE", "Socket closed", "cannot be reached: Socket closed"),
        ("DEADLINE_EXCEEDED", "Deadline Exceeded", "does not answer"),
    ],
)
def test_call_failed_when_grpc_says_why_then_it_follows_the_referees_name(
    status: str, text: str, said: str
) -> None:
    assert call_failed("127.0.0.1:1", status, text) == said
