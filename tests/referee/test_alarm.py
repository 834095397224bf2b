"""Tests for a referee's only timer, on the event loop that it uses."""

import asyncio
import socket
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import uvloop

from referee.matches.journal import NoJournal
from referee.matches.lobby import Lobby
from referee.service.stream import Alarm
from tests.referee.key import KEY
from tests.waiting import DEADLINE

LOOPS: list[Callable[[Coroutine[Any, Any, None]], None]] = [asyncio.run, uvloop.run]


class Waiting(Lobby):
    """A lobby that wants to be called at given times, and notes for which of these it was."""

    def __init__(self, *times: float) -> None:
        super().__init__(NoJournal(), lambda sight: b"", KEY.sign)
        self.times = list(times)
        self.called_for: list[float] = []
        self.told: Callable[[], None] = lambda: None
        self.done = asyncio.Event()

    def next_tick(self) -> float | None:
        return min(self.times, default=None)

    def tick(self, now: float) -> None:
        self.called_for += sorted(when for when in self.times if when <= now)
        self.times = [when for when in self.times if when > now]
        self.told()
        if not self.times:
            self.done.set()


async def rings_for(lobby: Waiting) -> list[float]:
    """Return the times for which the lobby was called, once it has been called for all of them."""
    async with asyncio.timeout(DEADLINE):
        await lobby.done.wait()
    return lobby.called_for


@pytest.mark.parametrize("run", LOOPS)
def test_alarm_when_set_once_then_it_rings_for_times_past_and_times_to_come(
    run: Callable[[Coroutine[Any, Any, None]], None],
) -> None:
    async def check() -> None:
        now = time.monotonic()
        lobby = Waiting(now + 0.05, now - 1, now, now + 0.0004)
        Alarm(lobby).set()
        assert await rings_for(lobby) == [now - 1, now, now + 0.0004, now + 0.05]

    run(check())


@pytest.mark.parametrize("run", LOOPS)
def test_alarm_when_something_earlier_is_due_then_it_rings_for_that_first(
    run: Callable[[Coroutine[Any, Any, None]], None],
) -> None:
    async def check() -> None:
        lobby = Waiting(time.monotonic() + 10 * DEADLINE)
        alarm = Alarm(lobby)
        alarm.set()
        lobby.times = [sooner := time.monotonic() + 0.05]
        alarm.set()
        assert await rings_for(lobby) == [sooner]

    run(check())


@pytest.mark.parametrize("run", LOOPS)
def test_alarm_when_the_loop_stood_still_then_what_had_arrived_is_read_first(
    run: Callable[[Coroutine[Any, Any, None]], None],
) -> None:
    async def check() -> None:
        lobby = Waiting(time.monotonic() + 0.5)
        ours, theirs = socket.socketpair()
        seen: list[str] = []

        async def read() -> None:
            if await asyncio.get_running_loop().sock_recv(ours, 1):
                seen.append("an answer")

        ours.setblocking(False)
        reading = asyncio.create_task(read())
        lobby.told = lambda: seen.append("time ran out")
        Alarm(lobby).set()
        await asyncio.sleep(0)
        theirs.send(b"!")
        time.sleep(lobby.times[0] - time.monotonic() + 0.01)  # the loop stands still until after the time
        await rings_for(lobby)
        await reading
        ours.close()
        theirs.close()
        assert seen == ["an answer", "time ran out"]

    run(check())


@pytest.mark.parametrize("run", LOOPS)
def test_alarm_when_the_lobby_fails_then_it_is_set_again(
    run: Callable[[Coroutine[Any, Any, None]], None],
) -> None:
    async def check() -> None:
        loop = asyncio.get_running_loop()
        errors: list[object] = []
        loop.set_exception_handler(lambda _, context: errors.append(context["exception"]))
        lobby = Waiting(time.monotonic())
        error = RuntimeError("no good")

        def fail() -> None:
            lobby.told = lambda: None
            lobby.times.append(time.monotonic())
            raise error

        lobby.told = fail
        Alarm(lobby).set()
        await rings_for(lobby)
        assert errors == [error]

    run(check())
