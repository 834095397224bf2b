"""The broker in a folder: no message is lost, delivered twice or seen half-written."""

import inspect
import json
import os
from base64 import b64encode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from queue import Empty
from typing import Any

import pytest
from kombu.connection import Connection
from kombu.transport import filesystem

from arena.host.settings import Settings
from arena.play import broker, metrics
from arena.play.messages import BeatScheduler, make_app, wake
from arena.play.tasks import make_worker_app
from arena.store.storage import Storage

BODY: list[Any] = [[1], {}, {"callbacks": None, "errbacks": None, "chain": None, "chord": None}]
HEADERS: dict[str, object] = {
    "lang": "py",
    "task": "arena.advance",
    "id": "1",
    "retries": 0,
    "timelimit": [None, None],
}
PROPERTIES: dict[str, object] = {"delivery_tag": "1", "delivery_info": {}, "body_encoding": "base64"}
PROPERTIES |= {"correlation_id": "1", "reply_to": "1"}


def encoded(body: object) -> str:
    return b64encode(json.dumps(body).encode()).decode()


WHOLE: dict[str, object] = {
    "body": encoded(BODY),
    "content-type": "application/json",
    "content-encoding": "utf-8",
    "headers": HEADERS,
    "properties": PROPERTIES,
}
"""The parts that every message has."""

BODIES: list[object] = [5, [1], [[{"a": 1}], {}, {}], [["x"], {}, {}], [[1 << 70], {}, {}]]
BODIES += [[[], {}, {}], [[1, 2], {}, {}]]
BODIES += [[[1], [1], {}], [[1], {}, 5], [[1], {}, {"chain": 1}]]

OTHERS = ("celery.chain", "celery.group", "celery.starmap", "arena.advanced", "arena.deliver", "")
"""Tasks that an arena sends with no number, or has not."""

NEXT = ("callbacks", "errbacks", "chain", "chord", "kwargs", "args")
"""What Celery would take from headers, too, and run next."""

JUNK: dict[str, list[object]] = {
    "headers": [None, [], 1, {}]
    + [HEADERS | {name: {"a": 1}} for name in ("task", "id", "eta", "expires", "retries")]
    + [HEADERS | {name: "x"} for name in ("timelimit", "group", "stamps")]
    + [HEADERS | {"task": task} for task in OTHERS]
    + [HEADERS | {name: [{"task": "arena.advance", "args": [2]}]} for name in NEXT]
    + [HEADERS | {"stamps": {"a": ["b"]}}],
    "body": ["", "%%%", b64encode(b"x").decode(), b64encode(b"[" * 100_000).decode(), *map(encoded, BODIES)],
    "properties": [None, 5, {}]
    + [PROPERTIES | {name: 1} for name in ("body_encoding", "delivery_info", "reply_to")],
    "content-type": ["application/x-python-serialize", {}],
    "content-encoding": ["binary"],
}
"""Invalid parts, which once ended a worker or could have run something that an arena never sends."""

WRITERS = 4
MESSAGES = 300


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "broker"


def channels(folder: Path, count: int) -> Iterator[broker.Channel]:
    """Make channels with connections of their own, as processes have them."""
    for _ in range(count):
        connection = Connection(  # type: ignore[no-untyped-call]
            transport="arena.play.broker:Transport", transport_options=broker.options(folder)
        )
        yield connection.channel()  # type: ignore[no-untyped-call]


def test_messages_when_many_write_and_read_at_once_then_each_comes_whole_and_once(folder: Path) -> None:
    def write(writer: int, channel: broker.Channel) -> None:
        for number in range(MESSAGES):
            channel._put("arena", WHOLE | {"writer": writer, "number": number, "filling": "x" * 2000})

    def read(channel: broker.Channel) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        while not all(done.done() for done in written):
            found += take(channel)
        return [*found, *take(channel)]

    def take(channel: broker.Channel) -> Iterator[tuple[int, int]]:
        with suppress(Empty):
            while True:
                message = channel._get("arena")
                yield message["writer"], message["number"]

    with ThreadPoolExecutor(WRITERS + 2) as pool:
        written = [pool.submit(write, *one) for one in enumerate(channels(folder, WRITERS))]
        read_ = [pool.submit(read, channel) for channel in channels(folder, 2)]
        found = [message for one in read_ for message in one.result()]
    assert sorted(found) == [(writer, number) for writer in range(WRITERS) for number in range(MESSAGES)]
    assert [*(folder / "queue").iterdir(), *(folder / "drafts").iterdir()] == []


def test_messages_when_read_by_one_then_they_come_in_order(folder: Path) -> None:
    [channel] = channels(folder, 1)
    for number in range(5):
        channel._put("arena", WHOLE | {"number": number})
    assert [channel._get("arena")["number"] for _ in range(5)] == [0, 1, 2, 3, 4]


def test_queue_when_bound_by_several_then_its_table_has_it_once(folder: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(
            pool.map(lambda channel: channel._queue_bind("arena", "arena", "", "arena"), channels(folder, 4))
        )
    [channel] = channels(folder, 1)
    table = channel.get_table("arena")  # type: ignore[no-untyped-call]
    assert [tuple(bound) for bound in table] == [("arena", "", "arena")]


def test_reader_when_nothing_comes_then_it_looks_less_often_until_something_does(folder: Path) -> None:
    [channel] = channels(folder, 1)
    came: list[object] = []
    transport = channel.connection
    channel._queue_bind("arena", "arena", "", "arena")
    channel.basic_consume("arena", no_ack=True, callback=came.append, consumer_tag="1")  # type: ignore[no-untyped-call]
    with pytest.raises(TimeoutError):
        transport.drain_events(channel, timeout=0)
    assert transport.polling_interval == broker.QUIET_POLL_SECONDS
    channel._put("arena", WHOLE)
    transport.drain_events(channel, timeout=0)
    assert (len(came), transport.polling_interval) == (1, broker.POLL_SECONDS)


UNREADABLE = f"{0:020}_x.arena.msg"

DAY = 17_280
"""Number of beats in a day, one every five seconds."""


def test_messages_when_a_day_of_beats_waits_then_the_folder_is_not_read_for_each(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [channel] = channels(folder, 1)
    for number in range(DAY):
        (folder / "queue" / f"{number:020}_x.arena.msg").write_text(json.dumps(WHOLE | {"number": number}))
    reads: list[str] = []
    listdir = os.listdir

    def count(path: str) -> list[str]:
        reads.append(path)
        return listdir(path)

    monkeypatch.setattr(os, "listdir", count)
    assert [channel._get("arena")["number"] for _ in range(DAY)] == list(range(DAY))
    assert len(reads) <= DAY / broker.AT_ONCE + 1


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "{",
            "[]",
            "null",
            "\xff",
            "{}",
            '{"body": 1}',
            '{"body": "", "properties": {}}',
            "[" * 100_000,
        ),
        *(json.dumps(WHOLE | {name: value}) for name, values in JUNK.items() for value in values),
    ],
)
def test_message_when_it_cannot_be_read_then_it_is_set_aside_and_the_next_one_comes(
    folder: Path, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    [channel] = channels(folder, 1)
    (folder / "queue" / UNREADABLE).write_bytes(text.encode("latin-1"))
    channel._put("arena", WHOLE | {"number": 1})
    counted = metrics.messages_set_aside._value.get()
    assert channel._get("arena")["number"] == 1
    assert [file.name for file in (folder / "unreadable").iterdir()] == [UNREADABLE]
    assert "cannot be read; it was set aside" in caplog.text
    assert metrics.messages_set_aside._value.get() == counted + 1
    assert list((folder / "drafts").iterdir()) == []


def test_drafts_when_their_process_crashed_then_they_are_cleared_and_newer_ones_stay(folder: Path) -> None:
    broker.options(folder)
    draft = folder / "drafts" / "0_x.arena.msg"
    draft.write_text("half")
    written = draft.stat().st_ctime
    assert broker.clear_drafts(folder, written + broker.DRAFT_SECONDS) == 0
    assert broker.clear_drafts(folder, written + broker.DRAFT_SECONDS + 1) == 1
    assert list((folder / "drafts").iterdir()) == []


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("_queue_bind", ["self", "exchange", "routing_key", "pattern", "queue"]),
        ("_put", ["self", "queue", "payload", "kwargs"]),
        ("_get", ["self", "queue"]),
        ("get_table", ["self", "exchange"]),
        ("_exchange_file", ["self", "exchange"]),
    ],
)
def test_kombu_has_what_the_broker_relies_on(name: str, parameters: list[str]) -> None:
    assert list(inspect.signature(getattr(filesystem.Channel, name)).parameters) == parameters


def test_kombu_asks_its_options_for_the_folders_and_keeps_bindings_as_before(folder: Path) -> None:
    [channel] = channels(folder, 1)
    assert (channel.data_folder_in, channel.data_folder_out) == (str(folder / "queue"),) * 2
    assert channel.processed_folder == str(folder / "drafts")
    assert channel._exchange_file("arena") == folder / "control" / "arena.exchange"  # type: ignore[no-untyped-call]
    assert filesystem.exchange_queue_t._fields == ("routing_key", "pattern", "queue")


def test_worker_when_it_is_made_then_it_has_the_tasks_that_messages_may_name_and_no_others(
    migrated: Settings, storage: Storage
) -> None:
    app = make_worker_app(migrated, storage, lambda *_: None)  # type: ignore[arg-type]
    assert app.tasks.keys() == broker.TASKS.keys()


def test_message_when_an_arena_sends_it_then_it_is_taken(migrated: Settings) -> None:
    app = make_app(migrated)
    scheduler = BeatScheduler(app, lazy=True)
    scheduler.setup_schedule()
    for entry in scheduler.schedule.values():
        scheduler.apply_entry(entry)
    wake(migrated, 1)
    assert migrated.broker_folder is not None
    [channel] = channels(migrated.broker_folder, 1)
    taken = [channel._get("arena")["headers"]["task"] for _ in range(5)]
    often = [broker.ADVANCE_ALL, broker.DELIVER, broker.ESTIMATE, broker.WEIGH]
    assert sorted(taken) == [broker.ADVANCE, *often]
