"""A worker's tasks: a problem with one tournament or league harms no other."""

import logging
import threading
from datetime import timedelta
from functools import partial

import pytest
from celery import Celery
from celery.worker.request import Request
from kombu.message import Message
from sqlalchemy import text, update
from sqlmodel import col, select

from arena.host.settings import Settings
from arena.leagues import applying
from arena.play.broker import RUN_MATCH
from arena.play.metrics import DatabaseCollector
from arena.play.rounds.batches import everyone
from arena.play.tasks import BROKER_LOGGERS, Tasks, tell_lost_brokers_in_one_line
from arena.queries.operator import work
from arena.results.strength.pools import are_fitted
from arena.running.doctor import examine
from arena.store.models import League, Tournament, utc_now
from arena.store.storage import changed
from arena.tournaments import creation
from tests.arena.fakes import ROOT, play_at_once
from tests.arena.leagues import winter
from tests.arena.world import World


def test_advance_all_when_a_tournament_is_broken_then_the_others_and_the_leagues_go_on(
    settings: Settings, world: World, caplog: pytest.LogCaptureFixture
) -> None:
    names = world.register(8)
    cups = [world.tournament_of(names[:4], name=name) for name in ("first", "broken", "last")]
    applying.apply(world.storage, ROOT, winter(), utc_now() - timedelta(weeks=2))
    with world.storage.write() as tx:
        assert changed(
            tx, update(Tournament).where(col(Tournament.name) == "broken").values(format="nonsense")
        )
    sent: list[tuple[str, int]] = []
    tasks = Tasks(settings, world.storage, play_at_once, lambda *message: sent.append(message), everyone)
    tasks.advance_all()
    assert [task for task, _ in sent] == [RUN_MATCH, RUN_MATCH]
    assert [world.status(cup.tournament).matches_total for cup in cups] == [1, 0, 1]
    with world.storage.read() as tx:
        assert tx.exec(select(League.problem)).one() is not None  # its season was due, and had no bots
    [told] = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert told.getMessage() == "broken: the tournament cannot be advanced"
    assert vars(told)["tournament"] == "broken"
    assert told.exc_info


def test_tournament_when_it_cannot_be_advanced_then_operators_are_told_with_the_error_until_it_can(
    settings: Settings, world: World
) -> None:
    cup = world.tournament(4)
    tasks = Tasks(settings, world.storage, play_at_once, lambda *_: None, everyone)

    def give_format(name: str) -> None:
        with world.storage.write() as tx:
            changed(tx, update(Tournament).where(col(Tournament.name) == "cup").values(format=name))

    def told() -> tuple[list[str], int, str | None]:
        checks = examine({"data": settings.data}, utc_now)
        found = [one.found for one in checks if one.check == "tournaments"]
        metrics = {metric.name: metric for metric in DatabaseCollector(world.storage).collect()}
        [count] = metrics["arena_tournaments_stuck"].samples
        assert len(work(world.storage, ROOT).stuck) == count.value
        return found, int(count.value), world.status("cup").problem if count.value == 0 else None

    give_format("nonsense")
    for task in (tasks.advance_all, partial(tasks.advance, cup.id)):
        task()
        assert told() == (["cup cannot be advanced: KeyError: 'nonsense'"], 1, None)
    give_format("round-robin")
    tasks.advance_all()
    assert told() == ([], 0, None)


def test_advance_all_when_a_tournament_that_is_to_start_is_broken_then_the_others_go_on(
    settings: Settings, world: World
) -> None:
    names = world.register(4)
    for name in ("broken", "sound"):
        spec = world.spec(names, name=name, start_at=utc_now() - timedelta(minutes=1))
        creation.create(world.storage, ROOT, spec, utc_now() - timedelta(hours=1))
    with world.storage.write() as tx:
        changed(tx, text("UPDATE tournaments SET options = 'nonsense' WHERE name = 'broken'"))
    Tasks(settings, world.storage, play_at_once, lambda *_: None, everyone).advance_all()
    assert world.status("sound").state == "running"
    with world.storage.read() as tx:
        problem = tx.exec(select(Tournament.problem).where(Tournament.name == "broken")).one()
    assert problem is not None
    assert problem.startswith("JSONDecodeError: ")


def test_advance_all_when_a_league_is_broken_then_the_others_go_on(
    settings: Settings, world: World, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("broken", "sound"):
        applying.apply(world.storage, ROOT, winter(name=name), utc_now() - timedelta(weeks=2))
    with world.storage.write() as tx:
        assert changed(tx, text("UPDATE leagues SET spec = 'nonsense' WHERE name = 'broken'"))
    Tasks(settings, world.storage, play_at_once, lambda *_: None, everyone).advance_all()
    with world.storage.read() as tx:
        assert tx.exec(select(League.problem).where(League.name == "sound")).one() is not None
    [told] = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert told.getMessage() == "league 1 cannot go on"
    assert told.exc_info


def test_advance_all_when_strengths_cannot_be_fitted_then_tournaments_go_on(
    settings: Settings, world: World, caplog: pytest.LogCaptureFixture
) -> None:
    names = world.register(4)
    world.finish(world.tournament_of(names, name="first").id)
    with world.storage.write() as tx:
        assert changed(tx, text("UPDATE strength_scores SET score = 'nonsense'"))
    cup = world.tournament_of(names, name="second")
    Tasks(settings, world.storage, play_at_once, lambda *_: None, everyone).advance_all()
    assert world.status(cup.tournament).matches_total == 1
    [told] = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert told.getMessage() == "cannot fit strengths"


def test_advance_all_when_rounds_have_closed_then_strengths_are_fitted(
    settings: Settings, world: World
) -> None:
    world.finish(world.tournament(4).id)
    assert not are_fitted(world.storage)
    Tasks(settings, world.storage, play_at_once, lambda *_: None, everyone).advance_all()
    assert are_fitted(world.storage)


class Gone:
    """A channel to a broker that is no longer there."""

    no_ack_consumers = None

    def basic_ack(self, *_: object, **__: object) -> None:
        raise ConnectionRefusedError("nothing listens there")


def test_worker_when_it_cannot_acknowledge_to_a_lost_broker_then_its_log_has_one_line(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in BROKER_LOGGERS:
        monkeypatch.setattr(logging.getLogger(name), "filters", [])
    app = Celery(broker="redis://127.0.0.1:1/0")
    tell_lost_brokers_in_one_line(app)
    message = Message(  # type: ignore[no-untyped-call]
        channel=Gone(),
        body="[[], {}, {}]",
        content_type="application/json",
        content_encoding="utf-8",
        delivery_tag="7",
        headers={"id": "1", "task": "celery.map"},
    )
    errors = app.connection_for_write().connection_errors
    Request(message, app=app, on_ack=message.ack_log_error, connection_errors=errors).acknowledge()
    [told] = caplog.records
    assert told.getMessage() == "Couldn't ack '7', reason:ConnectionRefusedError('nothing listens there')"
    assert told.exc_info is None


@pytest.mark.parametrize("work", ["estimate", "weigh"])
def test_work_apart_when_it_takes_long_then_no_thread_of_the_pool_waits_for_it(
    work: str, settings: Settings, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, done = threading.Event(), threading.Event()
    threads: list[threading.Thread] = []

    def compute(*_: object, **__: object) -> None:
        threads.append(threading.current_thread())
        begun.set()
        assert done.wait(30)

    monkeypatch.setattr(f"arena.play.tasks.{work}_due", compute)
    tasks = Tasks(settings, world.storage, play_at_once, lambda *_: None, everyone)
    begin = getattr(tasks, work)
    begin()
    assert begun.wait(30)
    begin()  # what waits is left to the thread that is there
    done.set()
    [thread] = threads
    assert thread is not threading.current_thread()
    thread.join(30)
    begin()
    threads[-1].join(30)
    assert len({*threads}) == 2
