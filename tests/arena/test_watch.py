"""Processes that watch their database: they stop when its schema changes, and go by its clock."""

import os
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from sqlmodel import select

from arena.errors import SchemaError
from arena.host.settings import Settings
from arena.play.messages import wake
from arena.running.doctor import examine
from arena.running.findings import Finding
from arena.store import database
from arena.store.models import Match, MatchState, Process, utc_now
from arena.store.schema import fingerprint
from arena.store.storage import Storage, open_storage
from arena.store.watch import Watch, own_version
from tests.arena.servers import Postgres
from tests.arena.test_migrations import stamp
from tests.arena.world import World
from tests.waiting import DEADLINE, wait_for

NEWER = "9999"


def processes(storage: Storage) -> list[Process]:
    with storage.read() as tx:
        return list(tx.exec(select(Process)))


def looked(settings: Settings, check: str) -> list[Finding]:
    return [finding for finding in examine({"data": settings.data}, utc_now) if finding.check == check]


def test_process_when_it_runs_then_its_row_says_what_it_is(storage: Storage) -> None:
    with Watch(storage, "worker") as watch:
        assert watch.fits()
        [row] = processes(storage)
        assert (row.name, row.version, row.schema_name) == (watch.name, own_version(), fingerprint())
        assert row.name.startswith("worker ")
    assert processes(storage) == []


def test_process_when_the_schema_changes_then_it_takes_nothing_more_and_stops(storage: Storage) -> None:
    stopped: list[int] = []
    watch = Watch(storage, "worker", stop_with=signal.SIGUSR1)

    def run() -> None:
        with watch:
            stamp(storage, NEWER)
            assert [watch.fits(), watch.fits()] == [False, False]

    before = signal.signal(signal.SIGUSR1, lambda number, _: stopped.append(number))
    try:
        with pytest.raises(
            SchemaError, match=f"its schema {NEWER} is newer than .*; update the arena on this"
        ):
            run()
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert stopped == [signal.SIGUSR1]


def test_worker_when_its_database_is_brought_to_a_newer_schema_then_it_plays_nothing_and_says_why(
    migrated: Settings, world: World
) -> None:
    command = [sys.executable, "-m", "tests.arena.fake_worker", "worker"]
    variables = os.environ | migrated.environment()
    with subprocess.Popen(command, env=variables, stderr=subprocess.PIPE, text=True) as worker:
        wait_for(lambda: bool(processes(world.storage)))
        cup = world.tournament(4)
        stamp(world.storage, NEWER)
        wake(migrated, cup.id)
        _, said = worker.communicate(timeout=DEADLINE)
    assert f"its schema {NEWER} is newer than" in said
    assert worker.returncode != 0
    with world.storage.read() as tx:
        assert tx.exec(select(Match).where(Match.state != MatchState.WAITING)).all() == []


def test_times_when_a_hosts_clock_is_ahead_then_they_are_those_of_the_database(
    migrated: Settings, postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Ahead(datetime):
        @classmethod
        def now(cls, tz: object = None) -> "datetime":  # type: ignore[override]
            return datetime.now(UTC) + timedelta(days=400)

    monkeypatch.setattr(database, "datetime", Ahead)
    settings = migrated.model_copy(update={"database_url": postgres.create_migrated("clock")})
    with open_storage(settings) as storage, Watch(storage, "worker"):
        assert abs(storage.now() - utc_now()) < timedelta(minutes=1)
        [row] = processes(storage)
        assert row.ahead_seconds == pytest.approx(400 * 86_400, abs=60)
        assert abs(row.seen_at - utc_now()) < timedelta(minutes=1)


def test_doctor_when_a_process_has_another_clock_or_version_then_it_names_it(
    migrated: Settings, storage: Storage
) -> None:
    assert [finding.level for finding in looked(migrated, "processes")] == ["ok"]
    with storage.write() as tx:
        for name, version, ahead in (("worker a:1", own_version(), -300.0), ("web b:2", "0.0.1", 0.0)):
            row = Process(
                name=name, version=version, schema_name=fingerprint(), ahead_seconds=ahead, seen_at=utc_now()
            )
            tx.add(row)
        gone = utc_now() - timedelta(hours=1)
        tx.add(Process(name="web c:3", version="0.0.1", schema_name="", ahead_seconds=900.0, seen_at=gone))
    [clocks] = looked(migrated, "clocks")
    assert (clocks.level, clocks.found) == ("fail", "that of worker a:1 is 300 s behind the database's")
    [other] = looked(migrated, "processes")
    assert (other.level, other.found.partition(",")[0]) == ("warn", "web b:2 runs 0.0.1")
