"""Tests for how many sessions at once a bot is given if it does not say how many it takes."""

import time
from collections.abc import Callable

import pytest

from referee.bot import Play, Turn
from referee.matches.connection import CAUTION, Pace
from referee.matches.match import Limits
from tests.referee.support import lowest, match_spec, play_match, referee, sdk_bots


def play(pace: Pace, seconds: float, answers: int, limit: float = 1.0, most: int = 256) -> list[int]:
    """Return the room after each answer of a bot that takes ``seconds`` for each turn, one at a time."""
    rooms, sessions = [], 0
    for _ in range(answers):
        sessions = max(sessions, pace.room)  # open sessions continue
        pace.answered(seconds * sessions / limit, sessions, most)
        rooms.append(pace.room)
        sessions = min(sessions, pace.room)
    return rooms


@pytest.mark.parametrize(
    ("seconds", "rooms"),
    [(0.0001, 256), (0.001, 128), (0.01, 16), (0.1, 2), (0.3, 1), (0.9, 1)],
)
def test_pace_when_a_bot_thinks_for_so_long_then_it_has_as_many_sessions_as_it_has_time_for(
    seconds: float, rooms: int
) -> None:
    seen = play(Pace(), seconds, 1000)
    assert seen[-1] == rooms
    assert max(seen) * seconds <= max(0.5, seconds)


def test_pace_when_it_grows_then_it_doubles_with_each_answer_up_to_the_most() -> None:
    rooms = play(Pace(), 0.0, 12, most=100)
    assert rooms == [2, 4, 8, 16, 32, 64, 100, 100, 100, 100, 100, 100]


def test_pace_when_not_all_that_may_be_are_open_then_it_does_not_grow() -> None:
    pace = Pace()
    assert not any(pace.answered(0.0, 0, 256) for _ in range(10))


def test_pace_when_a_bot_becomes_slow_then_it_has_half_and_waits_before_it_has_more() -> None:
    pace = Pace()
    play(pace, 0.0, 20)
    assert not pace.answered(0.6, 256, 256)
    assert pace.room == 128
    assert [pace.answered(0.0, 128, 256) for _ in range(CAUTION)] == [False] * CAUTION
    assert pace.answered(0.0, 128, 256)


def test_pace_when_a_bot_has_become_slow_then_it_never_has_less_than_one() -> None:
    pace = Pace()
    play(pace, 0.0, 20)
    rooms = []
    for _ in range(20):
        pace.answered(2.0, pace.room, 256)
        rooms.append(pace.room)
    assert rooms == sorted(rooms, reverse=True)
    assert rooms[-1] == 1


def thinking(seconds: float) -> Callable[[Turn], Play | None]:
    def choose(turn: Turn) -> Play | None:
        time.sleep(seconds)
        return lowest(turn)

    return choose


async def test_match_when_bots_think_and_do_not_say_how_many_sessions_they_take_then_none_is_late() -> None:
    limits = Limits(decision_ms=2000, join_seconds=20)
    spec = match_spec(sessions=12, deals=1, limits=limits)
    bots = {number: thinking(0.02 * number) for number in (1, 2, 3, 4)}
    async with referee() as address, sdk_bots(address, bots, max_sessions=0):
        results = await play_match(address, spec)
    assert [result.faults for result in results] == [(0, 0, 0, 0)] * 12
