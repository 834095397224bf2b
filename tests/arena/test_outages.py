"""Tasks while the database or the broker is away: each logs one line and no traceback, and work continues."""

import logging
import os
import subprocess
from collections.abc import Callable, Generator
from contextlib import ExitStack
from pathlib import Path

import pytest
from kombu.asynchronous.hub import Hub
from kombu.message import Message
from kombu.transport import redis
from redis.exceptions import ConnectionError

from arena.cli.local import arena_command
from arena.errors import BrokerError
from arena.host.settings import Settings, load_settings
from arena.play import redis_broker
from arena.play.broker import ADVANCE_ALL
from arena.play.messages import BeatScheduler, make_app, run_beat, wake
from arena.play.rounds.batches import everyone
from arena.play.tasks import Tasks, make_worker_app, run_worker
from arena.store.models import utc_now
from arena.store.storage import Storage, migrate_storage
from referee.matches.match import MatchSpec, Progress, SessionResult
from tests.arena import servers
from tests.arena.fakes import play_at_once
from tests.arena.ports import LOOPBACK, free_port
from tests.arena.servers import Postgres, Proxy
from tests.arena.test_servers import calm_results, playing, redis_url, settings_of
from tests.arena.world import World
from tests.waiting import DEADLINE, wait_for

Lines = Callable[[], list[tuple[str, str]]]


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture) -> Lines:
    """Return a function that gives level and text of all warnings and errors; none may have a traceback."""

    def lines() -> list[tuple[str, str]]:
        loud = [record for record in caplog.records if record.levelno >= logging.WARNING]
        assert [record for record in loud if record.exc_info] == []
        assert [record for record in loud if "\n" in record.getMessage()] == []
        return [(record.levelname, record.getMessage()) for record in loud]

    return lines


def send_nothing(task: str, number: int) -> None:
    """Send nothing, for tasks whose messages do not matter."""


def no_broker(task: str, number: int) -> None:
    raise BrokerError("setting broker_url: nobody there")


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("advance", [7], "cannot advance tournament 7 now"),
        ("advance_all", [], "cannot advance tournaments now"),
        ("run_match", [7], "match 7 cannot be played now"),
    ],
)
def test_task_when_the_database_is_away_then_it_tells_so_in_one_line(
    settings: Settings, told: Lines, name: str, arguments: list[int], words: str
) -> None:
    url = f"postgresql+psycopg://arena:secret@{LOOPBACK}:{free_port()}/arena"
    with Storage(url) as storage:
        tasks = Tasks(settings, storage, play_at_once, send_nothing, everyone)
        getattr(tasks, name)(*arguments)
    [(level, line)] = told()
    assert level == "WARNING"
    assert line.startswith(f"{words}: database: connection failed")
    assert "secret" not in line


def test_match_when_the_database_goes_for_long_while_it_is_played_then_one_line_each_tells_of_trial_and_end(
    settings: Settings, world: World, told: Lines
) -> None:
    settings = settings.model_copy(update={"lease_seconds": 1})
    world.clock.now = utc_now()
    world.advance(world.tournament(4).id)
    file = settings.data / "arena.db"

    def run(route: int, spec: MatchSpec) -> Generator[SessionResult | Progress]:
        played = play_at_once(route, spec)
        yield next(played)
        yield next(played)
        world.storage.close()
        for part in file.parent.glob("arena.db*"):
            part.unlink()
        file.mkdir()
        yield from played

    tasks = Tasks(settings, world.storage, run, send_nothing, everyone)
    tasks.run_match(world.messages.pop())
    away = "database: unable to open database file"
    assert told() == [
        ("WARNING", f"cup/1/1: tried again while the lease holds: {away}"),
        ("WARNING", f"cup/1/1: StorageError: {away}"),
    ]


def test_task_when_the_broker_is_away_then_it_tells_so_and_the_match_is_handed_out_later(
    settings: Settings, world: World, told: Lines
) -> None:
    world.clock.now = utc_now()
    cup = world.tournament(4)
    Tasks(settings, world.storage, play_at_once, no_broker, everyone).advance(cup.id)
    assert told() == [
        ("WARNING", f"cannot advance tournament {cup.id} now: setting broker_url: nobody there")
    ]
    world.clock.move(settings.lease_seconds + 1)
    world.finish(cup.id)
    assert world.status().state == "finished"


def test_worker_when_redis_is_away_then_its_messages_are_refused_in_one_line(
    settings: Settings, world: World, told: Lines
) -> None:
    world.clock.now = utc_now()
    cup = world.tournament(4)
    away = settings.model_copy(update={"broker_url": redis_url(free_port())})
    with make_worker_app(away, world.storage, play_at_once) as app:
        app.tasks["arena.advance"](cup.id)
    [(level, line)] = told()
    assert level == "WARNING"
    assert line.startswith(f"cannot advance tournament {cup.id} now: setting broker_url: ")


def test_beat_when_the_broker_is_away_then_it_tells_so_once_in_one_line(tmp_path: Path, told: Lines) -> None:
    settings = load_settings({"data": tmp_path, "broker_url": redis_url(free_port())})
    with make_app(settings) as app:
        app.conf.task_publish_retry = False
        scheduler = app.Beat(quiet=True).Service(app=app, scheduler_cls=app.conf.beat_scheduler).scheduler
        assert isinstance(scheduler, BeatScheduler)
        for _ in range(3):
            scheduler.apply_entry(scheduler.schedule["advance"])
    [(level, line)] = told()
    assert level == "WARNING"
    assert line.startswith("the beat finds no broker now: ")


def test_processes_when_rabbitmq_refuses_them_then_they_end_with_one_line(tmp_path: Path) -> None:
    with servers.rabbitmq() as port:
        url = f"amqp://guest:abracadabra@{LOOPBACK}:{port}//"
        settings = load_settings({"data": tmp_path, "broker_url": url})
        migrate_storage(settings)
        with pytest.raises(BrokerError, match=r"setting broker_url: .*ACCESS_REFUSED"):
            wake(settings, 1)
        for name in ("worker", "beat"):
            ran = subprocess.run(
                arena_command(name),
                env=os.environ | settings.environment(),
                capture_output=True,
                text=True,
                timeout=DEADLINE,
            )
            [line] = ran.stderr.splitlines()
            assert (ran.returncode, ran.stdout) == (1, "")
            assert line.startswith("error: setting broker_url: ")
            assert "ACCESS_REFUSED" in line


def test_processes_when_the_brokers_folder_cannot_be_made_then_they_end_with_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    settings = load_settings({"data": tmp_path, "broker_url": f"filesystem://{tmp_path}/file/broker"})
    migrate_storage(settings)
    for run in (run_worker, run_beat):
        with pytest.raises(BrokerError, match=r"^setting broker_url: .*Not a directory"):
            run(settings)


def test_worker_when_postgresql_dies_again_and_again_then_no_log_has_a_traceback_and_the_cup_goes_on(
    tmp_path: Path, postgres: Postgres, make_world: Callable[[], World]
) -> None:
    settings = settings_of(tmp_path / "arena", database_url=postgres.create_migrated("dying"))
    with playing(settings) as cup:
        cup.begin()
        for least in (3, 7):
            cup.reach(least)
            postgres.server.restart(seconds=2)
        cup.reach(11)
        postgres.kill_process()
        assert cup.finish() == calm_results(make_world)
    lines = (settings.logs / "worker.log").read_text().splitlines()
    assert [line for line in lines if "Traceback" in line or "ERROR" in line] == []
    assert any("WARNING" in line and "database: " in line for line in lines)


def test_worker_when_it_cannot_acknowledge_all_that_it_holds_then_it_notices_that_redis_is_lost(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(redis.Channel, "QoS", redis.Channel.QoS)
    redis_broker.install()
    messages: list[Message] = []
    with ExitStack() as stack:
        proxy = stack.enter_context(Proxy(stack.enter_context(servers.redis())))
        settings = settings_of(tmp_path / "arena", broker_url=redis_url(proxy.port))
        app = stack.enter_context(make_app(settings))
        connection = stack.enter_context(app.connection_for_read())
        connection.default_channel.basic_qos(0, 1, False)  # as for a worker with one thread
        stack.enter_context(app.amqp.TaskConsumer(connection, on_message=messages.append))
        hub = Hub()  # type: ignore[no-untyped-call]
        stack.callback(hub.close)
        connection.transport.register_with_event_loop(connection.connection, hub)
        loop = hub.create_loop()  # type: ignore[no-untyped-call]
        app.send_task(ADVANCE_ALL)
        wait_for(lambda: messages, meanwhile=lambda: next(loop))
        for _ in range(3):  # it holds as many messages as it may, so it no longer looks at its connection
            next(loop)
        proxy.cut()
        with pytest.raises(ConnectionError):
            messages[0].ack()  # type: ignore[no-untyped-call]
        with pytest.raises(ConnectionError):
            wait_for(lambda: False, meanwhile=lambda: next(loop))


def test_worker_when_redis_dies_then_its_log_has_a_line_for_each_trouble_and_the_cup_goes_on(
    tmp_path: Path, make_world: Callable[[], World]
) -> None:
    with servers.redis_server() as (port, server):
        settings = settings_of(tmp_path / "arena", broker_url=redis_url(port))
        with playing(settings) as cup:
            cup.begin()
            cup.reach(3)
            server.restart(seconds=2)
            assert cup.finish() == calm_results(make_world)
        log = (settings.logs / "worker.log").read_text()
    lines = log.splitlines()
    assert any("Connection to broker lost" in line for line in lines)
    assert any("Cannot connect to redis://" in line and "Trying again" in line for line in lines)
    assert not any(line.startswith("Trying again") for line in lines)
    assert "Traceback" not in log
    assert "DeprecationWarning" not in log
