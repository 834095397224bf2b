"""Databases and brokers on servers: lost, cut off and restored under processes that keep running."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import event
from sqlmodel import SQLModel, col, select

from arena.cli.local import arena_command
from arena.host.processes import Supervisor
from arena.host.settings import Settings, load_settings
from arena.play.rounds import advance
from arena.running.backups import deal_anew
from arena.store.models import Round, utc_now
from arena.store.storage import Storage, Transaction, open_storage
from tests.arena import servers
from tests.arena.databases import open_new
from tests.arena.exported import check, lines_of
from tests.arena.fakes import ROOT, Clock
from tests.arena.ports import LOOPBACK
from tests.arena.servers import Postgres
from tests.arena.test_attempts import play_whole
from tests.arena.test_restoring import Dealt, watched
from tests.arena.world import World, results
from tests.tied import tied
from tests.waiting import DEADLINE, wait_for

Results = dict[str, list[tuple[object, ...]]]


class Playing:
    """A worker with a slow referee and the beat, and a cup that they play."""

    def __init__(self, settings: Settings, world: World, supervisor: Supervisor) -> None:
        self.settings = settings
        self.world = world
        self._supervisor = supervisor
        for name, kind in (("worker", "slow-worker"), ("beat", "beat")):
            supervisor.start(name, [sys.executable, "-m", "tests.arena.fake_worker", kind])

    def begin(self) -> None:
        """Start the cup."""
        self.world.tournament(8, rounds=3)

    def wait(self, condition: Callable[[], bool]) -> None:
        wait_for(condition, meanwhile=self._supervisor.check, seen=self.world.status)

    def reach(self, sessions: int) -> None:
        """Wait until this many sessions are stored."""
        self.wait(lambda: self.world.status().sessions_done >= sessions)

    def finish(self) -> Results:
        self.wait(lambda: self.world.status().ended)
        return results(self.world.storage)


@contextmanager
def playing(settings: Settings, database: str = "") -> Iterator[Playing]:
    """Run an arena with these settings; ``database`` is the URL that the test itself uses, if different."""
    own = settings.model_copy(update={"database_url": database or settings.database_url})
    with open_new(own) as storage, Supervisor(settings.logs, settings.environment()) as supervisor:
        yield Playing(settings, World(storage, Clock()), supervisor)


def settings_of(folder: Path, **others: object) -> Settings:
    """Return settings of an arena in this folder, with short intervals."""
    quick = {"data": folder, "beat_seconds": 0.3, "lease_seconds": 2, "worker_threads": 4}
    return load_settings(quick | others)


def calm_results(make_world: Callable[[], World]) -> Results:
    world = make_world()
    world.finish(world.tournament(8, rounds=3).id)
    return results(world.storage)


def redis_url(port: int) -> str:
    return f"redis://{LOOPBACK}:{port}/0"


def test_standby_when_it_takes_over_without_the_last_commits_then_no_cards_are_dealt_twice(
    tmp_path: Path,
) -> None:
    dealt: Dealt = {}
    run = watched(play_whole, dealt)
    with ExitStack() as both, ExitStack() as first:
        place, other = (both.enter_context(servers.folder_for("postgres")) for _ in range(2))
        primary = first.enter_context(servers.postgres(folder=place))
        with open_new(settings_of(tmp_path, database_url=primary.url())) as storage:
            world = World(storage, Clock())
            cup = world.tournament(8, format="swiss", rounds=2, sessions=2, deals=2).id
            world.advance(cup)
            kept, lost = world.messages
            world.play(kept, run)
        standby = both.enter_context(servers.standby_of(primary, other))
        hosts = "&".join(f"host={LOOPBACK}:{one.port}" for one in (primary, standby))
        url = f"postgresql+psycopg://arena@/arena?{hosts}&target_session_attrs=read-write"
        world = World(both.enter_context(open_storage(settings_of(tmp_path, database_url=url))), Clock())
        world.play(lost, run)  # of which the standby knows nothing, as nothing is copied to it any more
        assert len(dealt) == 8
        first.close()
        standby.sql("SELECT pg_promote()")
        world.clock.move(60)
        assert world.play(lost, run)
        world.finish(cup, run)
        lines = lines_of(world)
    assert len({*dealt.values()}) == len(dealt) == 8 + 4 + 8
    events = [one["event"] for one in map(json.loads, lines) if one.get("part") == "event"]
    assert events == ["started", "restored", "finished"]
    assert check(lines).problem is None


def test_backup_when_made_of_postgresql_in_mid_cup_then_the_cup_is_finished_elsewhere(
    tmp_path: Path, postgres: Postgres, make_world: Callable[[], World]
) -> None:
    dump = tmp_path / "arena.dump"
    with playing(settings_of(tmp_path / "here", database_url=postgres.create_migrated("here"))) as cup:
        cup.begin()
        cup.reach(4)
        postgres.run("pg_dump", "--format=custom", f"--file={dump}", "here")
        cup.reach(8)  # lost, and played again from the backup
    restored = postgres.create("restored")
    postgres.run("pg_restore", "--dbname=restored", str(dump))
    with open_storage(settings_of(tmp_path / "there", database_url=restored)) as storage:
        assert deal_anew(storage, ROOT, utc_now()) == ["cup"]
    with playing(settings_of(tmp_path / "there", database_url=restored)) as cup:
        assert cup.finish() == calm_results(make_world)


class Interrupted(Storage):
    """A database in which something happens before the given statement of a reading transaction."""

    def __init__(self, storage: Storage, statement: int, happen: Callable[[], object]) -> None:
        vars(self).update(vars(storage))  # the same database
        self._statement = statement
        self._happen = happen

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        statements = count(1)

        def before(*_: object) -> None:
            if next(statements) == self._statement:
                self._happen()

        with super().read() as tx:
            event.listen(tx.connection(), "before_cursor_execute", before)
            yield tx


def test_pairing_when_its_round_is_opened_while_postgresql_is_read_then_no_other_is_paired(
    tmp_path: Path, postgres: Postgres
) -> None:
    for statement in (1, 2, 3, 4):
        settings = settings_of(tmp_path, database_url=postgres.create_migrated(f"arena{statement}"))
        with open_new(settings) as storage:
            world = World(storage, Clock())
            cup = world.tournament(8, format="swiss", rounds=3).id
            world.advance(cup)
            for match_id in world.messages:
                world.play(match_id)
            now = world.clock()
            assert advance.close_round(storage, cup, now)
            assert advance.pair_rounds(storage, cup, now)

            opening = partial(advance.open_next_round, storage, cup, now)
            assert not advance.pair_rounds(Interrupted(storage, statement, opening), cup, now)
            with storage.read() as tx:
                assert tx.exec(select(Round.number).order_by(col(Round.number))).all() == [1, 2]


def test_schema_when_many_processes_make_it_at_once_then_postgresql_gets_it_once(
    tmp_path: Path, postgres: Postgres
) -> None:
    settings = settings_of(tmp_path, database_url=postgres.url())
    command = tied(*arena_command("migrate"))
    processes = [
        subprocess.Popen(
            command,
            env=os.environ | settings.environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    outcomes = [(process.communicate(timeout=DEADLINE)[1], process.returncode) for process in processes]
    assert outcomes == [("", 0)] * 4
    with open_storage(settings) as storage, storage.read() as tx:
        assert compare_metadata(MigrationContext.configure(tx.connection()), SQLModel.metadata) == []


def test_connection_when_to_postgresql_then_a_host_that_is_gone_is_given_up_soon(postgres: Postgres) -> None:
    for query, idle in (("", "30"), ("?keepalives_idle=7", "7")):
        with Storage(postgres.url() + query) as storage, storage.read() as tx:
            driver: Any = tx.connection().connection.driver_connection
            assert driver.info.get_parameters()["keepalives_idle"] == idle
