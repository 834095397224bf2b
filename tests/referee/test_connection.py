"""Tests for a stream's pings, round trips and allowance, with the time passed in."""

import pytest

from referee.matches.auth import BotIdentity
from referee.matches.connection import (
    ALLOWANCE,
    ALLOWANCE_PER_SECOND,
    BACKLOG,
    FIRST_PINGS,
    LOST_SECONDS,
    ROUND_TRIPS,
    STUCK_SECONDS,
    CloseCode,
    Connection,
)
from referee.matches.events import Notice
from referee.matches.kinds import NoticeCode


def connection(now: float = 0.0) -> Connection:
    stream = Connection(BotIdentity(1, "owner/bot1@1"), 4, lambda: None, now)
    stream.written(now)
    return stream


def round_trip(stream: Connection, now: float, seconds: float) -> None:
    stream.probe()
    assert stream.pong(stream.take_ping(now), now + seconds)


def test_round_trip_when_nothing_was_measured_then_it_is_zero() -> None:
    assert connection().round_trip == 0


def test_round_trip_when_pings_differ_then_it_is_the_shortest_of_the_last() -> None:
    stream = connection()
    round_trip(stream, 10, 0.02)
    for number in range(ROUND_TRIPS - 1):
        round_trip(stream, 20 + number, 0.3)
    assert stream.round_trip == pytest.approx(0.02)
    round_trip(stream, 90, 0.3)
    assert stream.round_trip == pytest.approx(0.3)


def test_round_trip_when_its_ping_was_sent_while_the_referee_lagged_then_it_is_not_negative() -> None:
    stream = connection()
    stream.probe()
    number = stream.take_ping(5)
    stream.delay(0.4)
    assert stream.pong(number, 5.1)
    assert stream.round_trip == 0


@pytest.mark.parametrize("number", [0, 2, 99])
def test_pong_when_its_number_is_wrong_then_it_counts_for_nothing(number: int) -> None:
    stream = connection()
    stream.probe()
    assert stream.take_ping(5) == 1
    assert not stream.pong(number, 6)
    assert stream.round_trip == 0
    assert stream.heard_at == 0
    assert stream.is_stuck(5 + STUCK_SECONDS)


def test_pong_when_it_comes_twice_or_unasked_then_it_counts_for_nothing() -> None:
    stream = connection()
    assert not stream.pong(0, 1)
    round_trip(stream, 5, 0.5)
    assert not stream.pong(1, 5.0)
    assert stream.round_trip == pytest.approx(0.5)


def test_pings_when_the_stream_opens_then_some_come_in_a_row() -> None:
    stream = connection()
    stream.probe()
    sent = 0
    while stream.ping_due:
        sent += 1
        stream.pong(stream.take_ping(sent), sent + 0.1)
    assert sent == FIRST_PINGS


def test_probe_when_a_ping_is_open_then_no_other_is_due() -> None:
    stream = connection()
    stream.probe()
    stream.take_ping(1)
    stream.probe()
    assert not stream.ping_due


def test_stuck_when_a_ping_is_open_too_long_and_nothing_was_heard_meanwhile() -> None:
    stream = connection()
    stream.probe()
    stream.take_ping(2)
    assert not stream.is_stuck(2 + STUCK_SECONDS / 2)
    assert stream.is_stuck(2 + STUCK_SECONDS)
    stream.heard_at = 1.5
    assert stream.is_stuck(2 + STUCK_SECONDS)
    stream.heard_at = 2.5
    assert not stream.is_stuck(2 + STUCK_SECONDS)


def test_lost_when_nothing_is_heard_for_long() -> None:
    stream = connection()
    stream.probe()
    stream.take_ping(2)
    assert not stream.is_lost(1 + LOST_SECONDS)
    assert stream.is_lost(2 + LOST_SECONDS)
    stream.heard_at = 30
    assert not stream.is_lost(2 + LOST_SECONDS)
    assert stream.is_lost(30 + LOST_SECONDS)


def test_lost_when_too_much_waits_for_it() -> None:
    stream = connection()
    for _ in range(BACKLOG):
        stream.outbox.put(Notice(NoticeCode.UNEXPECTED, ""))
    assert not stream.is_lost(0)
    stream.outbox.put(Notice(NoticeCode.UNEXPECTED, ""))
    assert stream.is_lost(0)


def test_useless_when_the_allowance_is_used_up_then_it_is_one_too_many_and_time_gives_more() -> None:
    stream = connection()
    assert not any(stream.useless(0) for _ in range(int(ALLOWANCE)))
    assert stream.useless(0)
    earned = int(10 * ALLOWANCE_PER_SECOND)
    assert not any(stream.useless(10) for _ in range(earned - 1))
    assert any(stream.useless(10) for _ in range(2))


def test_close_when_called_twice_then_the_first_reason_stands() -> None:
    stream = connection()
    stream.close(CloseCode.FLOOD, "one")
    stream.close(CloseCode.LOST, "two")
    assert stream.closing == (CloseCode.FLOOD, "one")
