"""Tests for why nobody can be reached: what is wrong with an address, its host, its port, or TLS."""

import pytest

from referee.net.tls import ClientTls
from referee.net.unreached import NO_TLS, TLS, UNTRUSTED, why_unreached
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
