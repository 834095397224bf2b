"""Tests for TLS over real sockets: server and client certificates, and who is turned away."""

import asyncio
import logging
import subprocess
from pathlib import Path
from typing import NamedTuple

import grpc
import pytest

from referee.bot.client import BotClient
from referee.errors import ListenError, RefereeUnavailable
from referee.matches.journal import LogQuery
from referee.matches.match import Limits
from referee.net.channel import async_channel
from referee.net.client import read_log, referee_status
from referee.net.tls import ClientTls, ServerTls
from referee.service.server import ServerOptions
from referee.v1 import bots_pb2, bots_pb2_grpc
from tests.referee.support import (
    WORKER_TOKEN,
    WireBot,
    bearer,
    lowest,
    match_spec,
    play_match,
    referee,
    sdk_bots,
)
from tests.waiting import DEADLINE, until

SET_IT = "set ARENA_TLS_CA to a file with its authority, or to system"
LEAVE_IT = "leave ARENA_TLS_CA out for a connection without TLS"
LIMITS = Limits(decision_ms=60_000, join_seconds=20)


class Pair(NamedTuple):
    """A certificate and its key, as PEM."""

    certificate: bytes
    key: bytes


class Authority:
    """Signs certificates for 127.0.0.1."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder
        _openssl(
            folder,
            *("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"),
            *("-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.pem"),
        )
        self.certificate = (folder / "ca.pem").read_bytes()

    def sign(self, name: str) -> Pair:
        folder = self._folder
        _openssl(
            folder,
            *(
                "req",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:P-256",
                "-nodes",
                "-subj",
                f"/CN={name}",
            ),
            *("-keyout", f"{name}.key", "-out", f"{name}.csr"),
        )
        (folder / "names").write_text("subjectAltName=IP:127.0.0.1\n")
        _openssl(
            folder,
            *("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"),
            *("-days", "2", "-extfile", "names", "-out", f"{name}.pem"),
        )
        return Pair((folder / f"{name}.pem").read_bytes(), (folder / f"{name}.key").read_bytes())


def _openssl(folder: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)


class World(NamedTuple):
    ours: Authority
    others: Authority
    server: Pair
    client: Pair
    stranger: Pair


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Make an authority with a server's and a client's certificate, and another authority with a client's."""
    folder = tmp_path_factory.mktemp("tls")
    ours, others = Authority(folder / "ours"), Authority(folder / "others")
    return World(ours, others, ours.sign("referee"), ours.sign("client"), others.sign("stranger"))


def options(world: World, *, ask: bool = False) -> ServerOptions:
    authorities = world.ours.certificate if ask else None
    return ServerOptions(drain_seconds=0, tls=ServerTls(*world.server, client_authorities=authorities))


async def refused(address: str, tls: ClientTls | None) -> None:
    """Assert that neither a worker nor a bot gets through."""
    with pytest.raises(RefereeUnavailable, match=r"cannot be reached|does not answer"):
        await asyncio.to_thread(referee_status, address, WORKER_TOKEN, tls=tls)
    async with async_channel(address, tls, ()) as channel, asyncio.timeout(DEADLINE):
        call = bots_pb2_grpc.BotServiceStub(channel).Play(None, metadata=bearer("bot-1"))
        hello = bots_pb2.Hello(protocol_version=1)

        async def greet() -> None:
            await call.write(bots_pb2.PlayRequest(hello=hello))
            await call.read()

        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await greet()
    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE


@pytest.mark.parametrize("ask", [False, True], ids=["server-only", "mutual"])
async def test_tls_when_certificates_are_right_then_bots_and_workers_get_through(
    world: World, ask: bool
) -> None:
    tls = ClientTls(world.ours.certificate, *(world.client if ask else ()))
    async with (
        referee(options=options(world, ask=ask)) as address,
        sdk_bots(address, dict.fromkeys((1, 2, 3, 4), lowest), tls=tls),
        WireBot(address, 5, tls=tls) as bot,
    ):
        results = await play_match(address, match_spec(sessions=2, limits=LIMITS), tls=tls)
        status = await asyncio.to_thread(referee_status, address, WORKER_TOKEN, (5,), tls=tls)
        assert status.bots[0].connected
        assert bot.welcome.bot == "owner/bot5@1"
    assert [result.faults for result in results] == [(0, 0, 0, 0)] * 2


async def test_tls_when_the_client_trusts_another_authority_or_speaks_plainly_then_nothing_gets_through(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    tls = ClientTls(world.ours.certificate)
    async with referee(options=options(world)) as address:
        await refused(address, ClientTls(world.others.certificate))
        await refused(address, None)
        async with WireBot(address, 1, tls=tls) as bot:
            assert bot.welcome.bot
    assert not [record for record in caplog.records if record.exc_info]


async def _told(address: str, tls: ClientTls | None, caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return what authors are told when their bot, or a request for its log, cannot connect."""
    with pytest.raises(RefereeUnavailable) as caught:
        await asyncio.to_thread(read_log, address, "bot-1", LogQuery("owner/bot1"), tls=tls)
    with caplog.at_level(logging.WARNING, logger="bot"):
        playing = asyncio.create_task(BotClient(lowest, "bot-1", tls=tls).run([address]))
        await until(lambda: "TLS" in caplog.text, lambda: caplog.text)
        playing.cancel()
        await asyncio.gather(playing, return_exceptions=True)
    told = next(line for line in caplog.messages if "TLS" in line)
    return [told.removesuffix("; trying again"), str(caught.value)]


async def test_tls_when_only_one_side_uses_it_then_the_author_is_told_which(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    tls = ClientTls(world.ours.certificate)
    async with referee(options=options(world, ask=True)) as address:
        told = await _told(address, None, caplog)
    assert told == [f"referee {address} cannot be reached: it uses TLS, and this side does not: {SET_IT}"] * 2
    caplog.clear()
    async with referee() as address:
        told = await _told(address, tls, caplog)
    assert (
        told
        == [f"referee {address} cannot be reached: it does not use TLS, and this side does: {LEAVE_IT}"] * 2
    )


async def test_tls_when_clients_must_show_a_certificate_then_others_are_turned_away(world: World) -> None:
    async with referee(options=options(world, ask=True)) as address:
        await refused(address, ClientTls(world.ours.certificate))
        await refused(address, ClientTls(world.ours.certificate, *world.stranger))
        tls = ClientTls(world.ours.certificate, *world.client)
        async with WireBot(address, 1, tls=tls) as bot:
            assert bot.welcome.bot


async def test_tls_when_the_referee_speaks_plainly_then_a_client_with_tls_gets_nothing(world: World) -> None:
    async with referee() as address:
        await refused(address, ClientTls(world.ours.certificate))
        async with WireBot(address, 1) as bot:
            assert bot.welcome.bot


async def test_tls_when_the_certificate_is_none_then_the_referee_does_not_start(world: World) -> None:
    bad = ServerOptions(tls=ServerTls(b"no certificate", world.server.key))
    with pytest.raises(ListenError, match="certificate"):
        async with referee(options=bad):
            pass
