"""``arena doctor``: every problem has its line, and nothing that it meets makes it crash or hang."""

import errno
import sys
import time
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from arena.cli.local import only_arena
from arena.host.processes import Supervisor
from arena.host.settings import Settings
from arena.leagues import applying
from arena.play.matches import leases
from arena.play.messages import wake
from arena.running import doctor
from arena.running.doctor import damage_of, descriptors_for, disk, examine
from arena.running.findings import UNWRITABLE, Finding
from arena.store import migrations
from arena.store.models import utc_now
from referee.net.client import RefereeStatus
from tests.arena.cli import Arena, Result, make_arena
from tests.arena.fakes import ROOT
from tests.arena.leagues import winter
from tests.arena.ports import free_address, taken_address
from tests.arena.world import LEASE, World
from tests.waiting import wait_for

LEVELS = ["ok", "warn", "fail"]


@pytest.fixture
def arena(settings: Settings, capsys: pytest.CaptureFixture[str]) -> Arena:
    return make_arena(settings.data, capsys)


def looked(settings: Settings, **overrides: object) -> dict[str, Finding]:
    """Return the worst finding of each check; all referees share the key ``referee``."""
    found: dict[str, Finding] = {}
    given = {"data": settings.data, "listen": free_address(), **overrides}
    for one in examine(given, utc_now):
        name = one.check.partition(" 127")[0]
        if name not in found or LEVELS.index(one.level) > LEVELS.index(found[name].level):
            found[name] = one
    return found


def test_findings_when_nothing_has_been_made_yet_then_nothing_is_made(settings: Settings) -> None:
    found = looked(settings)
    assert {name: one.level for name, one in found.items()} == {
        "settings": "ok",
        "TLS": "ok",
        "python": "ok",
        "packages": "ok",
        "descriptors": "ok",
        "protocol": "ok",
        "data folder": "warn",
        "database": "warn",
        "broker": "warn",
        "referee": "warn",
    }
    assert not settings.data.exists()


def test_findings_when_the_arena_is_well_then_only_the_missing_referee_fails(
    settings: Settings, world: World
) -> None:
    settings.worker_secret()
    wake(settings, 1)
    with only_arena(settings.data):
        found = looked(settings)
    assert [name for name, one in found.items() if one.level != "ok"] == ["referee"]
    assert found["referee"].level == "fail"
    assert "is `arena up` or `arena referee` running there?" in found["referee"].advice
    assert found["lock"].found == "`arena up` runs in this folder"
    assert found["queue"].found.startswith("1 messages wait")
    assert migrations.HEAD in found["migrations"].found


def test_findings_when_a_referee_runs_then_it_says_how_busy_it_is(settings: Settings, world: World) -> None:
    address = free_address()
    settings.worker_secret()
    environment = settings.environment() | {"ARENA_LISTEN": address, "ARENA_REFEREES": address}
    with Supervisor(settings.logs, environment) as supervisor:
        supervisor.start("referee", [sys.executable, "-m", "arena", "referee"])

        def found() -> Finding:
            return looked(settings, listen=address)["referee"]

        wait_for(lambda: found().level == "ok", meanwhile=supervisor.check, seen=found)
        assert found().found == "0 bots connected, 0 matches, 0 sessions"


def test_findings_when_a_referee_is_not_ready_then_they_say_why_and_what_to_do(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.worker_secret()
    status = RefereeStatus(False, 0, 0, 2, 0, (), not_ready="database or disk is full")
    monkeypatch.setattr(doctor, "referee_status", lambda *_, **__: status)
    found = looked(settings)["referee"]
    why = "takes no match: database or disk is full; 2 bots connected, 0 matches, 0 sessions"
    assert (found.level, found.found, found.advice) == ("fail", why, UNWRITABLE[errno.ENOSPC])


@pytest.mark.parametrize(
    ("overrides", "check", "level", "part"),
    [
        ({"lease_seconds": -1}, "settings", "fail", "lease_seconds"),
        ({"database_url": "sqlite:////proc/none/arena.db"}, "database", "warn", "does not exist yet"),
        ({"database_url": "nonsense://host/name"}, "database", "fail", "database_url"),
        ({"broker_url": "redis://127.0.0.1:1/0"}, "broker", "fail", ""),
        ({"tls_certificate": "/none.pem", "tls_key": "/none.key"}, "settings", "fail", "tls_certificate"),
    ],
)
def test_findings_when_a_setting_is_wrong_then_it_is_named(
    settings: Settings, world: World, overrides: dict[str, object], check: str, level: str, part: str
) -> None:
    found = looked(settings, **overrides)[check]
    assert found.level == level
    assert part in found.found
    assert "\n" not in found.found


def test_findings_when_the_database_is_no_database_then_that_fails(settings: Settings) -> None:
    settings.prepare()
    (settings.data / "arena.db").write_text("minutes of the meeting " * 100)
    found = looked(settings)["database"]
    assert (found.level, found.found) == ("fail", "database: file is not a database")


@pytest.mark.parametrize(("revision", "level"), [("0001", "warn"), ("9999", "fail")])
def test_findings_when_the_schema_is_another_then_that_is_said(
    settings: Settings, world: World, revision: str, level: str
) -> None:
    with world.storage.write() as tx:
        tx.connection().execute(text(f"UPDATE alembic_version SET version_num = '{revision}'"))
    found = looked(settings)["migrations"]
    assert found.level == level
    assert revision in found.found
    with world.storage.read() as tx:
        assert tx.connection().execute(text("SELECT version_num FROM alembic_version")).scalar() == revision


def test_findings_when_a_lease_ran_out_long_ago_then_the_beat_is_asked_for(
    settings: Settings, world: World
) -> None:
    world.clock.now = utc_now() - timedelta(hours=1)
    cup = world.tournament(8)
    world.advance(cup.id)
    assert leases.claim(world.storage, world.messages[0], world.clock(), LEASE)
    found = looked(settings)
    assert (found["leases"].level, found["leases"].found) == ("warn", "1 matches have an expired lease")
    assert (found["matches"].level, found["matches"].advice) == ("warn", "is `arena worker` running?")


def test_findings_when_a_lease_lies_in_the_future_then_a_clock_is_wrong(
    settings: Settings, world: World
) -> None:
    world.clock.now = utc_now() + timedelta(minutes=10)
    cup = world.tournament(4)
    world.advance(cup.id)
    assert leases.claim(world.storage, world.messages[0], world.clock(), LEASE)
    found = looked(settings)["clocks"]
    assert found.level == "fail"
    assert "a worker's is " in found.found


def test_findings_when_a_message_waits_for_long_then_the_worker_is_asked_for(
    settings: Settings, world: World
) -> None:
    wake(settings, 1)
    [message] = (settings.data / "broker" / "queue").glob("*.msg")
    name = message.name.partition("_")[2]
    message.rename(message.with_name(f"{time.time_ns() - 3600 * 10**9:020}_{name}"))
    found = looked(settings)["queue"]
    assert (found.level, found.advice) == ("warn", "is `arena worker` running?")
    assert "the oldest for 36" in found.found


def test_findings_when_a_season_is_overdue_then_the_beat_is_asked_for(
    settings: Settings, world: World
) -> None:
    applying.apply(world.storage, ROOT, winter(), utc_now() - timedelta(weeks=2))
    found = looked(settings)["leagues"]
    assert (found.level, found.found) == ("warn", "winter: a season is overdue")


@pytest.mark.parametrize(("free", "level"), [(1 << 40, "ok"), (1 << 30, "warn"), (1 << 20, "fail")])
def test_disk_when_it_fills_then_that_is_said(free: int, level: str) -> None:
    assert disk(Path("/data"), free).level == level


@pytest.mark.parametrize(("permitted", "level"), [(1024, "warn"), (65_536, "ok")])
def test_descriptors_when_a_process_may_use_few_then_that_is_said(permitted: int, level: str) -> None:
    found = descriptors_for(permitted)
    assert found.level == level
    assert level == "ok" or "room for 768 connections" in found.found


def test_findings_when_something_never_answers_then_the_others_are_told_in_time(
    settings: Settings, world: World
) -> None:
    settings.worker_secret()
    with taken_address() as address:
        given = {"data": settings.data, "listen": address, "broker_url": f"redis://{address}/0"}
        found = {one.check: one for one in examine(given, utc_now, seconds=1.0)}
    assert (found[f"referee {address}"].level, found["broker"].level) == ("fail", "fail")
    assert found["database"].level == "ok"


def lines(result: Result) -> list[str]:
    return result.out.splitlines()


def test_doctor_prints_a_line_for_each_check_and_fails_if_one_does(
    arena: Arena, settings: Settings, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_LISTEN", free_address())
    settings.worker_secret()
    wake(settings, 1)
    found = arena("doctor")
    assert (found.status, found.err) == (1, "")
    assert {line.split()[0] for line in lines(found)} == {"ok", "fail"}
    [failed] = [line for line in lines(found) if line.startswith("fail")]
    assert "→ is `arena up`" in failed


def test_doctor_with_warnings_only_ends_well_and_speaks_json(
    arena: Arena, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_LISTEN", free_address())
    found = arena("doctor", "--json")
    assert found.status == 0
    assert {one["level"] for one in found.json["findings"]} == {"ok", "warn"}
    assert set(found.json["findings"][0]) == {"check", "level", "found", "advice"}


def test_doctor_with_a_wrong_settings_file_is_no_traceback(
    arena: Arena, settings: Settings, tmp_path: Path
) -> None:
    settings.prepare()
    (settings.data / "arena.toml").write_text("lease_second = 3")
    found = arena("doctor")
    assert found.status == 1
    assert "lease_second" in lines(found)[0]
    assert found.err == ""


def test_doctor_when_a_public_address_has_no_tls_then_it_warns(settings: Settings) -> None:
    found = looked(settings, listen="0.0.0.0:8710", referees="a.example.org:8710")["TLS"]
    assert (found.level, "without TLS, tokens can be" in found.found) == ("warn", True)


def test_doctor_when_a_database_takes_long_to_read_then_it_is_told_how_far_no_damage_was_found(
    settings: Settings, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert damage_of(world.storage) == ""
    with world.storage.write() as tx:
        tx.connection().execute(text("CREATE TABLE large AS SELECT zeroblob(256 << 20) AS content"))
    assert damage_of(world.storage, 0.001) is None
    assert world.statuses() == []  # nothing else was interrupted
    monkeypatch.setattr(doctor, "damage_of", lambda _: None)
    told = {one.check: one for one in examine({"data": settings.data}, utc_now)}["database"]
    assert (told.level, told.found.partition("; ")[2]) == ("ok", "no damage in what was read of it in 2 s")
