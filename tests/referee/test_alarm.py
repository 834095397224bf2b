"""The one timer of a referee, on the loop that it runs on."""

import asyncio
import time

import uvloop

from referee.hall import Hall
from referee.stream import Alarm


class Waiting(Hall):
    """A hall that wants to be called at given times, and notes when it was."""

    def __init__(self, *times: float) -> None:
        super().__init__()
        self.times = list(times)
        self.ticks = 0

    def next_tick(self) -> float | None:
        return min(self.times, default=None)

    def tick(self, now: float) -> None:
        self.ticks += 1
        self.times = [when for when in self.times if when > now]


async def ring() -> int:
    now = time.monotonic()
    hall = Waiting(now + 0.05, now - 1, now, now + 0.0004)
    alarm = Alarm(hall)
    for _ in range(3):
        alarm.set()
    async with asyncio.timeout(20):
        while hall.times:
            await asyncio.sleep(0.005)
            alarm.set()
    return hall.ticks


def test_alarm_when_times_are_past_or_next_to_now_then_it_rings_on_both_loops() -> None:
    assert uvloop.run(ring()) >= 2
    assert asyncio.run(ring()) >= 2
