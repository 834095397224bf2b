"""Real processes killed at random, connections cut, messages lost and duplicated.

The results are those of an undisturbed run with the same attempts, and no bot is charged with a fault.
"""

import secrets
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from redis import Redis
from sqlmodel import select

from arena.play.rounds import advance
from arena.store.models import Round
from tests.arena import servers
from tests.arena.ports import LOOPBACK
from tests.arena.servers import Postgres, Proxy
from tests.arena.storm import (
    ARENA,
    BOT_NAMES,
    ROUND,
    Event,
    at_random,
    cluster,
    cuts,
    survive,
)
from tests.arena.world import World

CUT_ALL = """SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"""


@pytest.fixture
def random() -> Random:
    seed = secrets.randbits(32)
    print(f"seed {seed}")
    return Random(seed)


def victims(random: Random) -> list[str]:
    """Return the processes to kill where there are servers: all of the arena's, and two bots."""
    return [*ARENA, *random.sample(BOT_NAMES, 2)]


def deaths(random: Random, postgres: Postgres) -> list[Event]:
    """Return events in which the database server dies, whole or in part, and comes back."""
    ends: dict[str, Callable[[], object]] = {
        "PostgreSQL is killed": postgres.server.restart,
        "PostgreSQL is shut down at once": partial(postgres.server.restart, signal.SIGQUIT),
        "a process of PostgreSQL is killed": postgres.kill_process,
    }
    return [at_random(random, name, happen, first=ROUND) for name, happen in ends.items()]


def test_pairing_when_another_was_faster_and_its_round_is_open_then_nothing_is_paired(world: World) -> None:
    cup = world.tournament(8, format="swiss", rounds=3)
    world.advance(cup.id)
    assert not advance.pair_rounds(world.storage, cup.id, world.clock())
    with world.storage.read() as tx:
        assert tx.exec(select(Round.number)).all() == [1]


def test_storm_when_everything_is_embedded_then_the_results_are_those_of_a_calm_run(
    random: Random, tmp_path: Path
) -> None:
    with cluster(tmp_path / "storm") as running:
        emptied = at_random(random, "the broker is emptied", running.empty_broker)
        survive(running, random, tmp_path, [*ARENA, *ARENA, *BOT_NAMES], [emptied])


def test_storm_when_on_postgresql_and_redis_then_the_results_are_those_of_a_calm_run(
    random: Random, postgres: Postgres, tmp_path: Path
) -> None:
    own = postgres.create_migrated("storm")
    with (
        servers.redis_server() as (redis, server),
        Proxy(postgres.port) as database,
        Proxy(redis) as broker,
    ):
        settings: dict[str, Any] = {
            "database_url": postgres.url("storm", database.port),
            "broker_url": f"redis://{LOOPBACK}:{broker.port}/0",
        }
        with (
            cluster(tmp_path / "storm", database=own, **settings) as running,
            Redis(LOOPBACK, redis) as client,
        ):
            end_all = partial(postgres.sql, CUT_ALL)
            others = [
                at_random(random, "the broker is emptied", client.flushall),
                cuts(random, "the broker", broker),
                cuts(random, "the database", database),
                at_random(random, "all use of the database is ended", end_all, first=ROUND),
                *deaths(random, postgres),
                at_random(random, "Redis is killed, with all that it had", server.restart, first=ROUND),
            ]
            survive(running, random, tmp_path, victims(random), others)


def test_storm_when_on_postgresql_and_rabbitmq_then_the_results_are_those_of_a_calm_run(
    random: Random, postgres: Postgres, tmp_path: Path
) -> None:
    own = postgres.create_migrated("storm")
    with (
        servers.rabbitmq_server() as (rabbitmq, server),
        Proxy(postgres.port) as database,
        Proxy(rabbitmq) as broker,
    ):
        settings: dict[str, Any] = {
            "database_url": postgres.url("storm", database.port),
            "broker_url": f"amqp://guest:guest@{LOOPBACK}:{broker.port}//",
        }
        with cluster(tmp_path / "storm", database=own, **settings) as running:
            others = [
                at_random(random, "the broker is emptied", running.empty_broker),
                cuts(random, "the broker", broker),
                cuts(random, "the database", database),
                *deaths(random, postgres),
                at_random(random, "RabbitMQ is killed", server.restart, first=ROUND),
            ]
            survive(running, random, tmp_path, victims(random), others)
