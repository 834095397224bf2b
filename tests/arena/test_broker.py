"""The broker that is a folder: no message is lost, doubled or seen half-written."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty

import pytest
from kombu.connection import Connection

from arena import broker

WRITERS = 4
MESSAGES = 300


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "broker"


def channels(folder: Path, count: int) -> Iterator[broker.Channel]:
    """Channels of connections of their own, as processes have them."""
    for _ in range(count):
        connection = Connection(  # type: ignore[no-untyped-call]
            transport="arena.broker:Transport", transport_options=broker.options(folder)
        )
        yield connection.channel()  # type: ignore[no-untyped-call]


def test_messages_when_many_write_and_read_at_once_then_each_comes_whole_and_once(folder: Path) -> None:
    def write(writer: int, channel: broker.Channel) -> None:
        for number in range(MESSAGES):
            channel._put("arena", {"writer": writer, "number": number, "filling": "x" * 2000})

    def read(channel: broker.Channel) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        while len(found) < MESSAGES * WRITERS and not all(done.done() for done in written):
            found += take(channel)
        return found + take(channel)

    def take(channel: broker.Channel) -> list[tuple[int, int]]:
        try:
            message = channel._get("arena")
        except Empty:
            return []
        return [(message["writer"], message["number"]), *take(channel)]

    with ThreadPoolExecutor(WRITERS + 2) as pool:
        written = [pool.submit(write, *one) for one in enumerate(channels(folder, WRITERS))]
        read_ = [pool.submit(read, channel) for channel in channels(folder, 2)]
        found = [message for one in read_ for message in one.result()]
    assert sorted(found) == [(writer, number) for writer in range(WRITERS) for number in range(MESSAGES)]
    assert [*(folder / "queue").iterdir(), *(folder / "drafts").iterdir()] == []


def test_messages_when_read_by_one_then_they_come_in_order(folder: Path) -> None:
    [channel] = channels(folder, 1)
    for number in range(5):
        channel._put("arena", {"number": number})
    assert [channel._get("arena")["number"] for _ in range(5)] == [0, 1, 2, 3, 4]


def test_queue_when_bound_by_several_then_its_table_has_it_once(folder: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(
            pool.map(lambda channel: channel._queue_bind("arena", "arena", "", "arena"), channels(folder, 4))
        )
    [channel] = channels(folder, 1)
    table = channel.get_table("arena")  # type: ignore[no-untyped-call]
    assert [tuple(bound) for bound in table] == [("arena", "", "arena")]
