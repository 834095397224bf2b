"""Certificates that are renewed while referees, web servers, workers and bots run."""

import asyncio
import ssl
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from arena.host.settings import Settings, load_settings
from arena.running.certificates import SOON
from arena.running.doctor import examine
from arena.running.findings import Finding, Level
from arena.store.models import utc_now
from referee.bot.program import tls_of_environment
from referee.net import tls
from referee.net.client import KeptChannels, referee_status
from referee.net.tls import ClientTls, FromFiles
from referee.service.server import ServerOptions
from tests.arena.ports import free_address
from tests.arena.running import running_arena
from tests.arena.test_settings import Made, made
from tests.referee.support import WORKER_TOKEN, WireBot, lowest, match_spec, play_match, referee, sdk_bots
from tests.waiting import wait_for

LAST_YEAR = (-400, -35)


def served_at(address: str) -> str:
    """Return the certificate that is served at an address."""
    host, _, port = address.rpartition(":")
    return ssl.get_server_certificate((host, int(port)))


def is_served(pair: Made, address: str) -> bool:
    return served_at(address).strip() == pair.pem.read_text().strip()


def renew(old: Made, folder: Path, days: tuple[int, int] = (-1, 1)) -> None:
    """Put another certificate and key into the files of an old one."""
    folder.mkdir(exist_ok=True)
    new = made(folder, "leaf", days=days)
    new.pem.replace(old.pem)
    new.key_file.replace(old.key_file)


def settings_of(leaf: Made, **others: object) -> Settings:
    return load_settings({"tls_certificate": leaf.pem, "tls_key": leaf.key_file, **others})


async def test_referee_when_its_certificate_is_renewed_then_new_connections_get_it_and_matches_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leaf = made(tmp_path, "leaf")
    settings = settings_of(leaf)
    client, before = settings.client_tls(), ClientTls(leaf.pem.read_bytes())
    monkeypatch.setenv("ARENA_TLS_CA", str(leaf.pem))
    bots = tls_of_environment()
    options = ServerOptions(drain_seconds=0, tls=settings.server_tls())
    async with (
        referee(options=options) as address,
        sdk_bots(address, dict.fromkeys((1, 2, 3), lowest), tls=bots),
    ):
        assert await asyncio.to_thread(is_served, leaf, address)
        kept = KeptChannels(client)
        kept.take(address)
        await asyncio.to_thread(renew, leaf, tmp_path / "new")
        assert await asyncio.to_thread(is_served, leaf, address)  # its file has another one now
        with pytest.raises(Exception, match="comes from no authority"):
            await asyncio.to_thread(referee_status, address, WORKER_TOKEN, tls=before)
        async with sdk_bots(address, {4: lowest}, tls=bots), WireBot(address, 5, tls=client):
            assert len(await play_match(address, match_spec(), tls=client)) == 1


async def test_referee_when_a_renewed_certificate_cannot_be_used_then_the_one_before_is_served(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    leaf = made(tmp_path, "leaf")
    settings = settings_of(leaf)
    old = leaf.pem.read_text().strip()
    async with referee(options=ServerOptions(drain_seconds=0, tls=settings.server_tls())) as address:

        async def served() -> str:
            return (await asyncio.to_thread(served_at, address)).strip()

        await asyncio.to_thread(renew, leaf, tmp_path / "expired", days=LAST_YEAR)
        assert await served() == old
        assert "leaf.pem has expired" in caplog.text
        (tmp_path / "other").mkdir()
        other = made(tmp_path / "other", "leaf")
        other.pem.replace(leaf.pem)
        assert await served() == old
        assert "leaf.key is not the key of" in caplog.text
        assert await served() == old
        assert caplog.text.count("what was read before stays in use") == 2  # once for each change
        other.key_file.replace(leaf.key_file)
        assert await served() == leaf.pem.read_text().strip() != old


def test_files_when_they_could_not_be_used_then_they_are_read_again_after_a_while(tmp_path: Path) -> None:
    now = 0.0
    contents: Iterator[int | ValueError] = iter([1, ValueError("not yet"), ValueError("not yet"), 2])
    file = tmp_path / "file"

    def read() -> int:
        content = next(contents)
        if isinstance(content, ValueError):
            raise content
        return content

    source = FromFiles([file], read, lambda: now)
    assert source.latest() == 1
    file.write_text("new")
    assert [source.latest(), source.latest()] == [1, 1]
    now += tls.RETRY_SECONDS
    assert [source.latest(), source.latest()] == [1, 1]
    now += tls.RETRY_SECONDS
    assert [source.latest(), source.latest()] == [2, 2]
    now += tls.RETRY_SECONDS
    assert source.latest() == 2


def test_web_when_its_certificate_is_renewed_then_it_is_served_without_a_stop(tmp_path: Path) -> None:
    leaf, address = made(tmp_path, "leaf"), free_address()
    files = {"web_certificate": leaf.pem, "web_key": leaf.key_file}
    with running_arena(tmp_path / "arena", {}, web_listen=address, **files) as arena:
        assert is_served(leaf, address)
        renew(leaf, tmp_path / "expired", days=LAST_YEAR)
        log = arena.settings.logs / "web.log"
        wait_for(lambda: "leaf.pem has expired" in log.read_text())
        assert not is_served(leaf, address)
        renew(leaf, tmp_path / "new")
        wait_for(lambda: is_served(leaf, address))


def findings_of(settings: Settings, later: timedelta) -> dict[str, Finding]:
    """Return what the doctor says about certificates at a later time."""
    values = {name: getattr(settings, name) for name in ("tls_certificate", "tls_key", "referees", "data")}
    return {
        each.check: each
        for each in examine(values, lambda: utc_now() + later)
        if each.check.startswith("certificate")
    }


@pytest.mark.parametrize(
    ("days", "level"), [(1, Level.WARN), (SOON.days - 1, Level.WARN), (SOON.days + 1, Level.OK)]
)
async def test_doctor_when_a_certificate_ends_soon_then_it_warns_of_what_is_served_and_of_the_file(
    tmp_path: Path, days: int, level: Level
) -> None:
    leaf = made(tmp_path, "leaf", days=(-1, days))
    async with referee(options=ServerOptions(drain_seconds=0, tls=settings_of(leaf).server_tls())) as address:
        settings = settings_of(leaf, data=tmp_path, referees=address)

        async def look(later: int) -> dict[str, Finding]:
            return await asyncio.to_thread(findings_of, settings, timedelta(days=later))

        found = await look(0)
        assert {name: each.level for name, each in found.items()} == {
            f"certificate {leaf.pem}": level,
            f"certificate of {address}": level,
        }
        assert {each.level for each in (await look(days)).values()} == {Level.FAIL}
        leaf.pem.unlink()  # what is served can still be looked at
        assert [*await look(0)] == [f"certificate of {address}"]
