"""Tests for HTTP proxies in the environment: who is reached through them, who is not, and what is said."""

import asyncio

import pytest

from referee.bot.client import BotClient
from referee.bot.diagnosis import examine
from referee.errors import RefereeUnavailable
from referee.net.addresses import is_near, proxy_to
from referee.net.client import referee_status
from referee.net.failures import UNTRUSTED, why_unreached
from referee.net.tls import ClientTls
from referee.processes.environment import environment_for_bots
from tests.referee.proxy import connect_proxy
from tests.referee.support import OPTIONS, WORKER_TOKEN, lowest, referee
from tests.referee.test_server_tls import World, options, world
from tests.waiting import DEADLINE, until

__all__ = ["world"]

DEAD = "http://127.0.0.1:1"
"""A proxy that does not run."""


@pytest.fixture(autouse=True)
def unset(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("grpc_proxy", "https_proxy", "http_proxy", "no_grpc_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("host", "near"),
    [
        *[
            (host, True)
            for host in ("localhost", "0.0.0.0", "127.1.2.3", "::1", "[::1]", "::ffff:10.0.0.1", "referee")
        ],
        *[(host, True) for host in ("10.9.8.7", "172.31.0.1", "192.168.1.1", "169.254.1.1", "fd00::1")],
        *[
            (host, True)
            for host in ("fe80::1%eth0", "100.64.0.1", "db.internal", "HOST.local.", "a.localhost")
        ],
        *[
            (host, False)
            for host in ("arena.example", "8.8.8.8", "172.32.0.1", "2001:db8::1", "local.example")
        ],
    ],
)
def test_host_when_it_is_here_or_on_a_private_network_then_it_is_near(host: str, near: bool) -> None:
    assert is_near(host) is near


@pytest.mark.parametrize(
    ("variables", "host", "used"),
    [
        ({}, "arena.example", None),
        ({"http_proxy": DEAD}, "arena.example", "the proxy 127.0.0.1:1 of http_proxy"),
        (
            {"http_proxy": DEAD, "https_proxy": "http://a:b@p:3"},
            "arena.example",
            "the proxy p:3 of https_proxy",
        ),
        ({"https_proxy": "p:3128"}, "8.8.8.8", "the proxy p:3128 of https_proxy"),
        ({"https_proxy": DEAD}, "10.0.0.1", None),
        ({"grpc_proxy": DEAD}, "10.0.0.1", "the proxy 127.0.0.1:1 of grpc_proxy"),
        ({"grpc_proxy": DEAD, "no_proxy": "a, .example"}, "arena.example", None),
        ({"https_proxy": DEAD, "no_proxy": "8.8.0.0/16"}, "8.8.8.8", None),
        ({"https_proxy": DEAD, "no_proxy": "*"}, "arena.example", None),
        (
            {"https_proxy": DEAD, "no_proxy": "xample"},
            "arena.example",
            "the proxy 127.0.0.1:1 of https_proxy",
        ),
        (
            {"https_proxy": DEAD, "no_proxy": "*", "no_grpc_proxy": "a"},
            "arena.example",
            "the proxy 127.0.0.1:1",
        ),
        ({"https_proxy": "socks5://p:1080"}, "arena.example", None),
        ({"https_proxy": "http://p:none"}, "arena.example", None),
    ],
)
def test_proxy_when_variables_are_set_then_it_is_used_for_hosts_that_are_far(
    variables: dict[str, str], host: str, used: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in variables.items():
        monkeypatch.setenv(name, text)
    found = proxy_to(host)
    assert str(found).startswith(used) if used else found is None


def test_bots_when_they_are_started_here_then_no_proxy_leads_them_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("no_proxy", "a.example")
    assert environment_for_bots()["no_proxy"] == "a.example,localhost,127.0.0.1,::1"
    assert "no_grpc_proxy" not in environment_for_bots()


async def test_referee_when_it_is_here_then_a_proxy_that_does_not_run_is_no_matter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("http_proxy", DEAD)
    async with referee() as address:
        assert await why_unreached(address, None) == ""
        assert not (await asyncio.to_thread(referee_status, address, WORKER_TOKEN)).draining


@pytest.mark.parametrize("encrypted", [False, True])
async def test_bot_when_a_proxy_leads_to_its_referee_then_it_and_its_doctor_go_through_it(
    encrypted: bool, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    tls = ClientTls(world.ours.certificate) if encrypted else None
    asks = options(world) if encrypted else OPTIONS
    async with connect_proxy() as (proxy, asked), referee(options=asks) as address:
        # The certificate is for 127.0.0.1, so that with TLS the proxy has to be asked for.
        port = address.rpartition(":")[2]
        place = address if encrypted else f"referee.example:{port}"
        monkeypatch.setenv("grpc_proxy" if encrypted else "http_proxy", f"http://{proxy}")
        found = await examine([place], "bot-1", tls)
        assert all(one.right for one in found), found
        assert f"(through the proxy {proxy} of " in found[0].text
        assert {*asked} == {f"CONNECT {place}"}
        asked.clear()
        client = BotClient(lowest, "bot-1", tls=tls)
        playing = asyncio.create_task(client.run([place]))
        await until(lambda: client._reached, lambda: asked)
        client.leave()
        async with asyncio.timeout(DEADLINE):
            await playing
        assert {*asked} == {f"CONNECT {place}"}


async def test_bot_when_a_proxy_is_in_the_way_then_what_is_wrong_is_said_with_its_name(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("https_proxy", f"http://ann:secret@{DEAD.removeprefix('http://')}")
    told = await why_unreached("arena.example:8710", None)
    way = " (through the proxy 127.0.0.1:1 of https_proxy)"
    assert told == f"the proxy itself cannot be reached: nothing listens there{way}"
    with pytest.raises(RefereeUnavailable, match=r"\(through the proxy 127\.0\.0\.1:1 of https_proxy\)$"):
        await asyncio.to_thread(referee_status, "arena.example:8710", WORKER_TOKEN)
    async with connect_proxy("403 Forbidden") as (proxy, _):
        monkeypatch.setenv("https_proxy", f"http://{proxy}")
        told = await why_unreached("arena.example:8710", None)
        assert (
            told
            == f"the proxy does not connect there: 403 Forbidden (through the proxy {proxy} of https_proxy)"
        )
    async with connect_proxy() as (proxy, _), referee(options=options(world)) as address:
        monkeypatch.setenv("https_proxy", f"http://{proxy}")
        place = f"arena.example:{address.rpartition(':')[2]}"
        assert (await why_unreached(place, ClientTls())).startswith(UNTRUSTED)
