"""Tests for turns of spectators: fair among hosts, and after the tables."""

import asyncio

import pytest

from referee.service import spectators
from referee.service.spectators import SHARE, SPECTATOR_TURNS, Pacer
from tests.waiting import DEADLINE


class Clock:
    """A clock that stands still until a test moves it."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Clock:
    stopped = Clock()
    monkeypatch.setattr(spectators, "clock", stopped)
    monkeypatch.setattr(spectators, "SPECTATOR_SECONDS", 0.0)
    monkeypatch.setattr(spectators, "TURN_SECONDS", 0.0)
    return stopped


async def some_rounds() -> None:
    """Let everything that is due run, several times over."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_turn_when_many_of_one_host_wait_then_another_host_comes_next(time: Clock) -> None:
    pace, order = Pacer(), list[str]()

    async def one(host: str, name: str) -> None:
        await pace.turn(host)
        order.append(name)

    crowd = [asyncio.create_task(one("10.0.0.1", f"crowd {n}")) for n in range(100 * SPECTATOR_TURNS)]
    await asyncio.sleep(0)
    guest = asyncio.create_task(one("10.0.0.2", "guest"))
    async with asyncio.timeout(DEADLINE):
        await asyncio.gather(*crowd, guest)
    assert order[:3] == ["crowd 0", "guest", "crowd 1"]
    assert order[3:] == [f"crowd {n}" for n in range(2, 100 * SPECTATOR_TURNS)]


async def test_turn_when_a_spectator_has_cost_much_then_the_tables_have_their_part_first(time: Clock) -> None:
    pace = Pacer()
    async with asyncio.timeout(DEADLINE):
        await pace.turn("10.0.0.1")
    with pace.spending():
        time.now += 0.001
    waiting = asyncio.create_task(pace.turn("10.0.0.1"))
    time.now += 0.001 / SHARE - 0.0001
    await some_rounds()
    assert not waiting.done()
    time.now += 0.0002
    async with asyncio.timeout(DEADLINE):
        await waiting


async def test_turn_when_messages_are_large_then_their_bytes_count(time: Clock) -> None:
    pace = Pacer()
    pace.note_sent(1_000_000)
    waiting = asyncio.create_task(pace.turn("10.0.0.1"))
    time.now += 0.19
    await some_rounds()
    assert not waiting.done()
    time.now += 0.02
    async with asyncio.timeout(DEADLINE):
        await waiting


async def test_turn_when_a_spectator_has_gone_then_its_turn_is_nobodys(time: Clock) -> None:
    pace = Pacer()
    gone = [asyncio.create_task(pace.turn("10.0.0.1")) for _ in range(SPECTATOR_TURNS)]
    await asyncio.sleep(0)
    for one in gone:
        one.cancel()
    async with asyncio.timeout(DEADLINE):
        await pace.turn("10.0.0.1")
