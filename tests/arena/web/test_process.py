"""``arena up`` and ``arena web`` as processes, called over real sockets."""

import gc
import socket
import ssl
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI

from arena.actors import Role
from arena.cli.local import free_address
from arena.host.settings import Settings
from arena.people.accounts import create_account
from arena.store.models import utc_now
from arena.web.serving import serve
from referee.errors import ListenError
from tests.arena.cli import assert_one_line, make_arena
from tests.arena.fakes import ROOT
from tests.arena.running import running_arena
from tests.arena.web.conftest import PASSWORD

TLS = Path(__file__).parents[1] / "tls"


def test_arena_when_it_is_up_then_its_api_answers_and_signs_in(tmp_path: Path) -> None:
    address = free_address()
    with running_arena(tmp_path / "arena", {}, web_listen=address) as arena:
        create_account(arena.storage, ROOT, "ann", Role.AUTHOR, utc_now(), PASSWORD)
        with httpx2.Client(base_url=f"http://{address}/api/v1") as client:
            assert client.get("/leaderboard").json() == {"leaderboard": [], "next": None, "cut": []}
            assert client.post("/session", json={"account": "ann", "password": PASSWORD}).status_code == 200
            assert client.get("/me").json()["account"] == "ann"


def test_arena_when_it_has_a_certificate_and_a_proxy_then_it_speaks_https_and_tells_callers_apart(
    tmp_path: Path,
) -> None:
    address = free_address()
    files = {"web_certificate": TLS / "referee.pem", "web_key": TLS / "referee.key"}
    with (
        running_arena(tmp_path / "arena", {}, web_listen=address, web_proxies="127.0.0.1", **files),
        httpx2.Client(
            base_url=f"https://{address}/api/v1",
            verify=ssl.create_default_context(cafile=TLS / "ca.pem"),
        ) as client,
    ):
        left = [
            client.get("/leaderboard", headers={"X-Forwarded-For": caller}).headers["ratelimit-remaining"]
            for caller in ("192.0.2.1", "192.0.2.1", "192.0.2.2")
        ]
        assert (int(left[0]) - int(left[1]), left[2]) == (1, left[0])
        with pytest.raises(httpx2.TransportError), httpx2.Client() as plain:
            plain.get(f"http://{address}/api/v1/leaderboard")


@pytest.mark.parametrize(
    ("listen", "text"),
    [("", "setting web_listen: it is empty"), ("nowhere", "ARENA_WEB_LISTEN: 'nowhere' is not host:port")],
)
def test_web_when_it_has_nowhere_to_listen_then_a_line_says_so(
    migrated: Settings,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    listen: str,
    text: str,
) -> None:
    monkeypatch.setenv("ARENA_WEB_LISTEN", listen)
    assert_one_line(make_arena(migrated.data, capsys)("web"), 1, text)


def test_web_when_it_serves_then_the_garbage_collector_looks_at_nothing_that_was_loaded(
    app: FastAPI, migrated: Settings
) -> None:
    gc.unfreeze()
    try:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            settings = migrated.model_copy(update={"web_listen": f"127.0.0.1:{taken.getsockname()[1]}"})
            with pytest.raises(ListenError):
                serve(app, settings, ready=lambda: None)
        assert gc.get_freeze_count() > len(gc.get_objects())
    finally:
        gc.unfreeze()


def test_web_when_the_port_is_taken_then_a_line_says_so(
    migrated: Settings, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        monkeypatch.setenv("ARENA_WEB_LISTEN", address)
        failed = make_arena(migrated.data, capsys)("web")
    assert (failed.status, failed.out) == (1, "")
    assert failed.err == (
        f"error: cannot listen on {address}: Address already in use; "
        "set ARENA_WEB_LISTEN to another address\n"
    )
