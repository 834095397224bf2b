"""A real Celery worker and beat, with the folder as their broker; only the referee is a function."""

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from sqlmodel import col, select

from arena.errors import BrokerError
from arena.host.processes import Supervisor
from arena.host.settings import Settings, load_settings
from arena.play.messages import make_app, wake
from arena.play.rounds import planning
from arena.store.models import Match, MatchState, utc_now
from arena.webhooks import hooks
from tests.arena.databases import open_new
from tests.arena.fakes import ROOT, Clock
from tests.arena.world import World, results
from tests.waiting import wait_for


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    quick = {"data": tmp_path / "arena", "beat_seconds": 0.3, "lease_seconds": 2, "worker_threads": 4}
    return load_settings(quick)


@pytest.fixture
def supervisor(settings: Settings, world: World) -> Iterator[Supervisor]:
    with Supervisor(settings.logs, settings.environment()) as supervisor:
        yield supervisor


def run(supervisor: Supervisor, *kinds: str) -> None:
    """Start a process of each kind, named after the last word of the kind."""
    for kind in kinds:
        name = kind.rpartition("-")[2]
        supervisor.start(name, [sys.executable, "-m", "tests.arena.fake_worker", kind])


def wait(supervisor: Supervisor, condition: Callable[[], bool]) -> None:
    wait_for(condition, meanwhile=supervisor.check)


def kill(supervisor: Supervisor, name: str, number: signal.Signals) -> None:
    pid = supervisor.pid(name)
    assert pid is not None
    os.kill(pid, number)


def calm_results(make_world: Callable[[], World]) -> dict[str, list[tuple[object, ...]]]:
    """Return the results of an undisturbed tournament of eight."""
    world = make_world()
    world.finish(world.tournament(8).id)
    return results(world.storage)


def test_worker_when_woken_then_it_plays_the_tournament_without_a_beat(
    settings: Settings, world: World, supervisor: Supervisor, make_world: Callable[[], World]
) -> None:
    cup = world.tournament(8)
    run(supervisor, "worker")
    wake(settings, cup.id)
    wait(supervisor, lambda: world.status().ended)
    assert results(world.storage) == calm_results(make_world)


def test_worker_when_told_to_stop_then_it_gives_its_matches_back_after_their_open_sessions(
    settings: Settings, world: World, supervisor: Supervisor
) -> None:
    cup = world.tournament(8)
    run(supervisor, "slow-worker")
    wake(settings, cup.id)
    wait(supervisor, lambda: len(world.match_ids(MatchState.RUNNING)) == 2)
    supervisor.stop("worker")
    with world.storage.read() as tx:
        opened = tx.exec(select(Match).where(col(Match.started_at).is_not(None))).all()
    assert len(opened) == 2
    assert {(match.state, match.lease_owner, match.problem) for match in opened} == {("waiting", None, None)}
    assert [match.sessions_done for match in opened] == [1, 1]
    assert [match.attempts for match in opened] == [[1, 0, 0]] * 2


def test_cancel_when_matches_are_running_then_the_worker_lets_go(
    settings: Settings, world: World, supervisor: Supervisor
) -> None:
    world.tournament(8)
    run(supervisor, "slow-worker", "beat")
    wait(supervisor, lambda: world.status().sessions_done >= 1)
    cancelled = planning.cancel(world.storage, ROOT, "cup", world.clock())
    assert cancelled.state == "cancelled"
    world.tournament(8, name="next")
    wait(supervisor, lambda: world.status("next").sessions_done >= 1)
    assert world.status().sessions_done == cancelled.sessions_done


def test_wake_when_the_broker_is_not_there_then_one_line_names_the_setting(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for url in (f"filesystem://{tmp_path}/file/broker", "amqp://127.0.0.1:1"):
        settings = load_settings({"data": tmp_path, "broker_url": url})
        with pytest.raises(BrokerError, match=r"^setting broker_url: .+") as caught:
            wake(settings, 1)
        assert "\n" not in str(caught.value)


def test_app_when_the_broker_is_a_server_then_only_the_setting_differs(tmp_path: Path) -> None:
    with make_app(load_settings({"data": tmp_path, "broker_url": "amqp://ann@host//"})) as app:
        assert app.conf.broker_url == "amqp://ann@host//"
        assert not (tmp_path / "broker").exists()


def test_beat_when_no_message_came_then_it_wakes_the_worker_though_the_database_was_made_meanwhile(
    settings: Settings,
) -> None:
    with Supervisor(settings.logs, settings.environment()) as supervisor:
        run(supervisor, "worker", "beat")
        with open_new(settings) as storage:
            world = World(storage, Clock())
            world.tournament(4)
            wait(supervisor, lambda: world.status().ended)


class Receiver(ThreadingHTTPServer):
    """Refuses the first two messages, and takes all later ones."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str]] = []
        super().__init__(("127.0.0.1", 0), Receiving)


class Receiving(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server = self.server
        assert isinstance(server, Receiver)
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        server.seen.append((self.headers["webhook-id"], body["type"]))
        self.send_response(500 if len(server.seen) <= 2 else 204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_message_when_it_is_written_before_any_worker_runs_then_it_is_sent_until_it_arrives(
    settings: Settings, world: World, receiver: Receiver
) -> None:
    quick = settings.model_copy(update={"webhook_addresses": "any", "webhook_seconds": 0.1})
    url = f"http://127.0.0.1:{receiver.server_port}/"
    hooks.add_webhook(world.storage, ROOT, quick, "club", url, ["tournament.finished"], utc_now())
    world.clock.now = utc_now()
    world.finish(world.tournament(4, rounds=1).id)  # played by a worker that has died since

    def states() -> list[tuple[str, int]]:
        found = hooks.list_deliveries(world.storage, ROOT, "club").deliveries
        return [(one.state.value, one.attempts) for one in found]

    assert states() == [("pending", 0)]
    with Supervisor(quick.logs, quick.environment()) as supervisor:
        run(supervisor, "worker", "beat")
        wait(supervisor, lambda: states()[0][0] != "pending")
    assert states() == [("delivered", 3)]
    assert len(set(receiver.seen)) == 1
    assert [event for _, event in receiver.seen] == ["tournament.finished"] * 3
