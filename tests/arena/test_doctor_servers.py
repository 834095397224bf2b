"""``arena doctor`` with real servers and processes: all is well, then one thing after another is not."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from unittest.mock import patch

import pytest
from redis import Redis

from arena.errors import SettingsError
from arena.host.settings import Settings, load_settings
from arena.play.messages import wake
from arena.store.migrations import HEAD
from arena.store.storage import Storage, migrate_storage, open_storage
from referee.cli.app import run
from tests.arena import servers
from tests.arena.ports import LOOPBACK, free_address
from tests.arena.servers import Postgres, Server
from tests.arena.storm import Cluster, cluster
from tests.arena.test_migrations import OLDER, stamp

PASSWORD, WRONG = "open-sesame", "abracadabra-abracadabra"


def doctor(settings: Settings, **changed: str) -> tuple[int, list[str]]:
    """Run the command with these settings, some of them changed; return its status and its lines.

    Assert that it prints no traceback and no password.
    """
    variables = {f"ARENA_{name.upper()}": text for name, text in changed.items()}
    out, err = StringIO(), StringIO()
    with (
        patch.dict(os.environ, settings.environment() | variables),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        status = run(["doctor"])
    assert err.getvalue() == ""
    assert PASSWORD not in out.getvalue()
    assert WRONG not in out.getvalue()
    assert "Traceback" not in out.getvalue()
    return status, out.getvalue().splitlines()


def is_well(settings: Settings) -> bool:
    """Return whether the command finds nothing wrong."""
    status, lines = doctor(settings)
    return status == 0 and all(line.startswith("ok ") for line in lines)


def trouble(settings: Settings, **changed: str) -> str:
    """Return the only line that is not ok, asserting that it is a failure."""
    status, lines = doctor(settings, **changed)
    found = [line for line in lines if not line.startswith("ok ")]
    assert len(found) == 1, found
    assert (status, found[0][:5]) == (1, "fail ")
    return found[0]


@pytest.fixture(scope="module")
def locked(postgres_once: Postgres) -> str:
    """Return the URL of a database ``well``, with a user who needs a password."""
    return postgres_once.lock("clerk", PASSWORD).replace("/arena", "/well")


@contextmanager
def arena_on(folder: Path, database: str, broker: str) -> Iterator[Cluster]:
    """Run an arena with this database and this broker."""
    with cluster(folder, workers=1, database_url=database, broker_url=broker) as running:
        wake(running.settings, 1)
        running.wait(lambda: is_well(running.settings))
        yield running


def check_all(running: Cluster, broker: Server, wrong_broker: str) -> None:
    """Check that all is well; then break one thing after another, check that it is named, and mend it."""
    settings = running.settings
    status, lines = doctor(settings)
    assert status == 0
    assert [line for line in lines if not line.startswith("ok ")] == []
    for words in ("database ", "migrations ", "broker ", "clocks ", "leases ", "referee "):
        assert any(line.startswith(f"ok    {words}") for line in lines), words

    line = trouble(settings, broker_url=wrong_broker)
    assert line.startswith("fail  broker ")
    assert line.endswith("→ correct the user or the password in ARENA_BROKER_URL")

    line = trouble(settings, referees=f"{settings.referees[0]},{free_address()}")
    assert line.startswith("fail  referee ")
    assert line.endswith(
        "is `arena up` or `arena referee` running there? if it is elsewhere, correct ARENA_REFEREES"
    )

    status, lines = doctor(settings, worker_token=WRONG)
    failed = [line for line in lines if not line.startswith("ok ")]
    assert (status, len(failed)) == (1, len(settings.referees))
    for line in failed:
        assert line.startswith("fail  referee ")
        assert line.endswith("ARENA_WORKER_TOKEN must be the same here and there")

    broker.end()
    line = trouble(settings)
    broker.wait()
    assert line.startswith("fail  broker ")
    assert "refused" in line
    assert line.endswith(
        "is it running, and can it be reached from here? if it is elsewhere, correct ARENA_BROKER_URL"
    )


def check_rabbitmq(running: Cluster, url: str) -> None:
    """Check what is said of this other broker."""
    status, lines = doctor(running.settings, broker_url=url)
    assert (status, [line for line in lines if not line.startswith("ok ")]) == (0, [])
    line = trouble(running.settings, broker_url=f"{url}nowhere")
    assert line.endswith("→ create it, or correct ARENA_BROKER_URL")
    line = trouble(running.settings, broker_url=url.replace("guest:guest", f"guest:{WRONG}"))
    assert line.endswith("→ correct the user or the password in ARENA_BROKER_URL")


def check_database(running: Cluster, postgres: Postgres) -> None:
    """Break the database in one way after another, check that it is named with the setting, and mend it."""
    settings = running.settings
    url = settings.database_url

    line = trouble(settings, database_url=url.replace(PASSWORD, WRONG))
    assert line.startswith("fail  database ")
    assert 'password authentication failed for user "clerk"' in line
    assert line.endswith("→ correct the user or the password in ARENA_DATABASE_URL")

    line = trouble(settings, database_url=f"{url}-nowhere")
    assert 'database "well-nowhere" does not exist' in line
    assert line.endswith("→ create it, or correct ARENA_DATABASE_URL")

    postgres.server.end()
    line = trouble(settings)
    postgres.server.wait()
    assert line.startswith("fail  database ")
    assert "Connection refused" in line
    assert line.endswith(
        "is it running, and can it be reached from here? if it is elsewhere, correct ARENA_DATABASE_URL"
    )
    running.wait(lambda: is_well(settings))


def test_doctor_when_something_is_broken_then_it_names_it(
    postgres: Postgres, locked: str, tmp_path: Path
) -> None:
    with (
        servers.redis_server() as (port, server),
        Redis(LOOPBACK, port) as client,
        servers.rabbitmq() as rabbit,
    ):
        client.config_set("requirepass", PASSWORD)
        postgres.create_migrated("well")
        url = f"redis://:{PASSWORD}@{LOOPBACK}:{port}/0"
        with arena_on(tmp_path, locked, url) as running:
            line = trouble(running.settings, broker_url=url.replace(f":{PASSWORD}@", ""))
            assert line.endswith("→ correct the user or the password in ARENA_BROKER_URL")
            check_all(running, server, url.replace(PASSWORD, WRONG))
            check_database(running, postgres)
            check_rabbitmq(running, f"amqp://guest:guest@{LOOPBACK}:{rabbit}//")


def test_doctor_when_migrations_are_behind_then_it_says_so_and_migrates_nothing(
    postgres: Postgres, tmp_path: Path
) -> None:
    url = postgres.create_migrated("behind")
    with Storage(url) as storage:
        stamp(storage, OLDER)
    with servers.redis() as port:
        settings = Settings(data=tmp_path, database_url=url, broker_url=f"redis://{LOOPBACK}:{port}/0")
        settings.prepare()
        for _ in range(2):
            lines = doctor(settings)[1]
            assert ["warn", "migrations"] in [line.split()[:2] for line in lines]
            assert any(
                f"its schema is {OLDER}, and {HEAD} is needed → run: arena migrate" in line for line in lines
            )
            assert len({line.find(line.split(maxsplit=1)[1]) for line in lines}) == 1


def test_database_when_a_pooler_shares_connections_between_transactions_then_it_is_refused_at_the_start(
    tmp_path: Path, postgres: Postgres
) -> None:
    postgres.create_migrated("pooled")
    settings = load_settings({"data": tmp_path / "arena", "database_url": postgres.url("pooled")})
    with servers.pgbouncer(postgres, "session") as port:
        url = postgres.url("pooled", port)
        open_storage(settings.model_copy(update={"database_url": url})).close()
        assert "ok    database " in "\n".join(doctor(settings, database_url=url)[1])
    with servers.pgbouncer(postgres, "transaction") as port:
        url = postgres.url("pooled", port)
        for start in (open_storage, migrate_storage):
            with pytest.raises(SettingsError, match="pool_mode = session"):
                start(settings.model_copy(update={"database_url": url}))
        [line] = [line for line in doctor(settings, database_url=url)[1] if " database " in line]
        assert line.startswith("fail  database ")
        assert "pool_mode = session" in line
