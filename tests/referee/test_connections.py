"""Tests for the live streams of bots, their seats and their penalties."""

from typing import cast

import pytest

from referee.errors import ConnectionRefused
from referee.matches.auth import BotIdentity
from referee.matches.clock import TimeControl
from referee.matches.connection import LOST_SECONDS, PING_SECONDS, Connection
from referee.matches.connections import MAX_SESSIONS, PENALTY_SECONDS, Connections
from referee.matches.match import Presence
from referee.matches.seat import Seat
from referee.matches.table import Table
from referee.ruleset import load_ruleset

CONTROL = TimeControl(limit=1.0, bank=0.0, increment=0.0, credit=0.0)


def stream(version: int = 1, max_sessions: int = 4) -> Connection:
    return Connection(BotIdentity(version, f"owner/bot{version}@1"), max_sessions, lambda: None)


def seat() -> Seat:
    return Seat(cast(Table, object()), 0, CONTROL)


def test_add_when_the_bot_has_a_live_stream_then_it_is_refused() -> None:
    connections = Connections()
    first = stream()
    connections.add(first, 0.0)
    with pytest.raises(ConnectionRefused, match="owner/bot1@1 has a live connection already"):
        connections.add(stream(), 0.0)
    assert connections.get(1) is first
    assert connections.versions() == [1]


def test_remove_when_the_stream_is_not_the_live_one_then_nothing_changes() -> None:
    connections = Connections()
    first, second = stream(), stream()
    connections.add(first, 0.0)
    assert connections.remove(first, 0.0, broken=True)
    connections.add(second, 0.0)
    assert not connections.remove(first, 0.0, broken=True)
    assert list(connections) == [second]


def test_seats_when_the_stream_is_closed_then_it_holds_none_and_the_next_one_has_them() -> None:
    connections = Connections()
    first, second, place = stream(), stream(), seat()
    connections.add(first, 0.0)
    connections.sit(1, 7, place)
    assert first.seats == {7: place}
    connections.remove(first, 0.0, broken=True)
    assert first.seats == {}
    connections.sit(1, 8, seat())
    assert first.seats == {}
    connections.add(second, 0.0)
    assert set(second.seats) == {7, 8}


def test_leave_when_the_session_is_over_then_the_seat_lets_go_of_its_table() -> None:
    connections = Connections()
    place = seat()
    connections.sit(1, 7, place)
    connections.leave(1, 7)
    assert not connections.seats(1)
    assert not hasattr(place, "table")
    assert not connections._seats, "a bot that is not here is remembered"


@pytest.mark.parametrize(
    ("max_sessions", "seated", "takes", "room"),
    [
        (2, 1, True, True),
        (2, 2, True, False),
        (0, 1, False, True),
        (None, 1, False, True),
        (None, MAX_SESSIONS, False, False),
    ],
    ids=["some left", "none left", "takes none", "absent", "absent, and too many"],
)
def test_room_when_a_bot_has_seats_then_it_is_what_it_takes_and_who_takes_none_counts_as_absent(
    max_sessions: int | None, seated: int, takes: bool, room: bool
) -> None:
    connections = Connections()
    if max_sessions is not None:
        connections.add(stream(max_sessions=max_sessions), 0.0)
    for handle in range(seated):
        connections.sit(1, handle, seat())
    assert (not connections.why_absent(1, load_ruleset("chinese"))) is takes
    assert connections.has_room(1) is room
    assert connections.presence(1) == Presence(max_sessions is not None, max_sessions or 0, seated)


def test_penalty_when_time_goes_by_then_it_ends() -> None:
    connections = Connections()
    assert connections.penalty(1, 0.0) == 0
    connections.penalise(1, 5.0)
    assert connections.penalty(1, 6.0) == PENALTY_SECONDS - 1
    assert connections.penalty(1, 5.0 + PENALTY_SECONDS) == 0


def test_ping_when_it_is_time_then_streams_are_pinged_and_lost_ones_told() -> None:
    connections = Connections()
    silent, gone, fine = stream(1), stream(2), stream(3)
    for connection in (silent, gone, fine):
        connection.written(0.0)
        connections.add(connection, 0.0)
        connection.take_ping(0.0)
    connections.remove(gone, 0.0, broken=True)
    now = 0.0
    lost: list[Connection] = []
    while now < LOST_SECONDS + PING_SECONDS:
        now += 1.0
        fine.heard_at = now
        lost += connections.ping(now)
    assert lost == [silent]
