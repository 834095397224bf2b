"""Tests for limits on what hosts and connections may make a referee read, with the time passed in."""

import contextlib
import itertools
from contextlib import ExitStack

import pytest

from referee.service.peers import Peer, peer_at
from referee.service.sockets import Connection
from referee.service.traffic import (
    AUTHOR,
    BOMB,
    CALL,
    CONNECTION,
    HURRY,
    KNOWN,
    LET_IN,
    MOST_CONNECTIONS,
    MOST_DEBT,
    OPENING_SECONDS,
    SHORT,
    STRANGERS,
    UNHURRIED,
    Traffic,
)

MIB = 1 << 20
NOW = 1000.0


def peer(number: int, address: str = "10.0.0.1") -> Peer:
    return peer_at(address, number)


def at(one: Peer, received: int = 0) -> Connection:
    return Connection(one.port, one, received)


@pytest.fixture
def traffic() -> Traffic:
    return Traffic()


def test_bytes_when_a_host_sends_too_many_on_several_connections_then_all_are_broken_off(
    traffic: Traffic,
) -> None:
    ours = [at(peer(1), STRANGERS.burst // 2), at(peer(2), STRANGERS.burst // 2)]
    others = [at(peer(1, "10.0.0.2"), 1000)]
    assert traffic.look([*ours, *others], NOW) == ours
    assert traffic.barred == {"10.0.0.1"}


def test_headers_when_they_come_to_more_than_a_bot_may_send_then_the_next_look_finds_its_connection(
    traffic: Traffic,
) -> None:
    with traffic.playing(peer(1), 7, NOW):
        assert traffic.look([at(peer(1))], NOW) == []
        assert traffic.called(peer(1), NOW, 2 * KNOWN.burst)
        assert traffic.look([at(peer(1))], NOW + 0.5) == [at(peer(1))]


def test_bytes_when_a_host_connects_again_then_they_stay_spent_until_time_earns_them_back(
    traffic: Traffic,
) -> None:
    assert traffic.look([at(peer(1), 100 * MIB)], NOW)
    assert traffic.look([], NOW + 0.1) == []
    assert traffic.look([at(peer(2))], NOW + 0.2)
    in_time = NOW + 0.2 + (STRANGERS.debt + LET_IN) / STRANGERS.rate
    assert traffic.look([], in_time - 0.1) == []
    assert traffic.barred == {"10.0.0.1"}
    assert traffic.look([], in_time + 0.1) == []
    assert not traffic.barred
    assert traffic.look([at(peer(3)), at(peer(4))], in_time + 0.2) == []


def test_bytes_when_a_port_is_used_again_then_the_earlier_connections_do_not_count(traffic: Traffic) -> None:
    for number, now in enumerate(range(0, 1000, 10)):
        assert traffic.look([at(peer(1), UNHURRIED - number)], NOW + now) == []


def test_connections_when_they_are_short_then_each_one_seen_counts(traffic: Traffic) -> None:
    numbers = itertools.count(1)
    for _ in range(STRANGERS.burst // CONNECTION):
        assert traffic.look([at(peer(next(numbers)))], NOW) == []
    assert traffic.look([at(peer(next(numbers)))], NOW)


def test_connections_when_they_end_between_two_looks_then_each_one_counts(traffic: Traffic) -> None:
    numbers = itertools.count(1)
    for _ in range(STRANGERS.burst // SHORT - 1):
        traffic.ended([at(peer(next(numbers)))], NOW)
    assert traffic.look([], NOW) == []
    assert not traffic.barred
    traffic.ended([at(peer(next(numbers)))], NOW)
    assert traffic.look([], NOW) == []
    assert traffic.barred == {"10.0.0.1"}


@pytest.mark.parametrize(("more", "barred"), [(0, False), (1, True)])
def test_connection_when_it_ends_then_what_it_sent_since_the_last_look_counts(
    traffic: Traffic, more: int, barred: bool
) -> None:
    left = STRANGERS.burst - CONNECTION - 1000
    assert traffic.look([at(peer(1), 1000)], NOW) == []
    since = UNHURRIED + (left - UNHURRIED) // HURRY - 1 + 2 * more
    traffic.ended([at(peer(1), 1000 + since)], NOW)
    traffic.look([], NOW)
    assert bool(traffic.barred) == barred


@pytest.mark.parametrize("looks", [0, 1, 9])
def test_connection_when_its_end_is_told_late_then_it_does_not_count_again(
    traffic: Traffic, looks: int
) -> None:
    with traffic.playing(peer(1), 7, NOW):
        assert traffic.look([at(peer(1), 1000), at(peer(2), 1000)], NOW) == []
    for _ in range(looks):
        traffic.look([at(peer(2), 1000)], NOW)
    traffic.look([], NOW)
    traffic.ended([at(peer(1), 100 * MIB), at(peer(2), 100 * MIB)], NOW)
    traffic.look([], NOW)
    assert not traffic.barred


def test_connection_when_its_bot_was_there_between_two_looks_then_it_costs_its_host_nothing(
    traffic: Traffic,
) -> None:
    with traffic.playing(peer(1), 7, NOW):
        traffic.ended([at(peer(1), 100 * MIB)], NOW)
    traffic.ended([at(peer(1), 100 * MIB)], NOW)
    traffic.look([], NOW)
    assert not traffic.barred


def test_connections_when_a_host_keeps_too_many_then_the_latest_are_broken_off(traffic: Traffic) -> None:
    opened: list[Connection] = []
    for number in range(MOST_CONNECTIONS):
        opened.append(at(peer(number)))
        assert traffic.look(opened, NOW + 10.0 * number) == []
    known, latest = peer(7000), at(peer(8000))
    traffic.know(known, NOW + 10_000)
    assert traffic.look([latest, at(known), *opened], NOW + 10_000) == [latest]


def test_calls_when_a_host_makes_too_many_then_one_is_too_many(traffic: Traffic) -> None:
    calls = [traffic.called(peer(1 + number % 3), NOW) for number in range(3 + STRANGERS.burst // CALL)]
    assert calls == [False] * (len(calls) - 1) + [True]
    assert not traffic.called(peer(1, "10.0.0.2"), NOW)


CLUB = 300


def test_bots_when_a_club_comes_at_once_then_its_connections_stay_open(traffic: Traffic) -> None:
    club = [peer(1 + number) for number in range(CLUB)]
    for one in club:
        assert not traffic.called(one, NOW)
    assert traffic.look([at(one, 3000) for one in club], NOW) == []
    for number, one in enumerate(club):
        traffic.know(one, NOW + OPENING_SECONDS - 1, number)
        assert traffic.look([at(one, 3000) for one in club], NOW + OPENING_SECONDS - 1) == []
    assert traffic.look([at(one, 3000) for one in club], NOW + 2 * OPENING_SECONDS) == []


def test_connections_when_so_many_show_no_token_in_time_then_they_are_broken_off(traffic: Traffic) -> None:
    strangers = [at(peer(1 + number)) for number in range(CLUB)]
    for one in strangers:
        traffic.called(one.peer, NOW)
    assert traffic.look(strangers, NOW) == []
    assert traffic.look(strangers, NOW + OPENING_SECONDS - 0.1) == []
    assert traffic.look(strangers, NOW + OPENING_SECONDS) == strangers


def test_connections_when_their_host_was_kept_out_before_then_they_cost_at_once(
    traffic: Traffic,
) -> None:
    traffic.look([at(peer(1), 100 * MIB)], NOW)
    traffic.look([], NOW)
    now = NOW + (STRANGERS.debt + LET_IN) / STRANGERS.rate + 0.1
    assert traffic.look([], now) == []
    assert not traffic.barred
    few = [at(peer(1 + number)) for number in range(1 + LET_IN // CONNECTION)]
    assert traffic.look(few, now) == few


def test_bytes_when_a_connection_without_a_bot_sends_them_fast_then_they_count_many_times(
    traffic: Traffic,
) -> None:
    slow, fast, much = peer(1), peer(1, "10.0.0.2"), STRANGERS.burst // HURRY
    for number in range(1, 33):
        assert traffic.look([at(slow, number * UNHURRIED)], NOW + number) == []
    assert traffic.look([at(fast, much)], NOW) == []
    assert traffic.look([at(fast, 2 * much)], NOW)


def test_connection_when_it_becomes_known_then_bytes_that_came_fast_are_refunded(traffic: Traffic) -> None:
    for number in range(100):
        worker = peer(1 + number)
        assert traffic.look([at(worker, STRANGERS.burst // HURRY)], NOW) == []
        traffic.called(worker, NOW)
        traffic.know(worker, NOW)


def test_bytes_when_the_bot_that_sent_them_has_just_left_then_they_count_once(traffic: Traffic) -> None:
    bot = peer(1)
    with traffic.playing(bot, 1, NOW):
        assert traffic.look([at(bot)], NOW) == []
    assert traffic.look([at(bot, STRANGERS.burst // 2)], NOW) == []


def test_headers_when_no_client_that_means_well_sends_them_then_its_host_is_kept_out_for_long(
    traffic: Traffic,
) -> None:
    assert traffic.called(peer(1), NOW, BOMB + 1)
    assert traffic.look([at(peer(1))], NOW) == [at(peer(1))]
    until = NOW + (MOST_DEBT + LET_IN) / STRANGERS.rate
    assert traffic.look([], until - 1) == []
    assert traffic.barred
    traffic.look([], until + 1)
    assert not traffic.barred


def test_headers_when_they_are_only_too_long_then_one_call_does_not_keep_its_host_out(
    traffic: Traffic,
) -> None:
    assert not traffic.called(peer(1), NOW, BOMB)
    assert traffic.look([at(peer(1))], NOW) == []


def test_calls_when_they_come_from_the_referee_itself_then_they_cost_nothing(traffic: Traffic) -> None:
    for _ in range(STRANGERS.burst // CALL + 1):
        assert not traffic.called(None, NOW)


def test_call_when_it_makes_its_connection_known_then_its_host_has_spent_nothing(traffic: Traffic) -> None:
    for number in range(10 * STRANGERS.burst // CONNECTION):
        one = peer(number)
        assert traffic.look([at(one)], NOW) == []
        assert not traffic.called(one, NOW)
        traffic.know(one, NOW)
        assert traffic.look([at(one)], NOW) == []


def test_connection_when_it_is_known_then_it_has_an_allowance_of_its_own(traffic: Traffic) -> None:
    bot, stranger = peer(1), peer(2)
    traffic.look([at(bot), at(stranger)], NOW)
    with traffic.playing(bot, 1, NOW):
        assert traffic.look([at(bot), at(stranger, 100 * MIB)], NOW) == [at(stranger, 100 * MIB)]
        assert traffic.look([at(bot, KNOWN.burst - 1)], NOW) == []
        assert traffic.bots(bot) == [1]
        assert traffic.look([at(bot, KNOWN.burst)], NOW) == [at(bot, KNOWN.burst)]
    assert not traffic.knows(bot)


def test_connection_when_several_bots_play_on_it_then_it_has_an_allowance_for_each(traffic: Traffic) -> None:
    bots = peer(1)
    with traffic.playing(bots, 1, NOW), traffic.playing(bots, 2, NOW):
        assert traffic.look([at(bots, 2 * KNOWN.burst - CONNECTION - 1)], NOW) == []
        assert traffic.look([at(bots, 2 * KNOWN.burst)], NOW)


def test_connection_when_its_last_bot_leaves_then_it_counts_for_its_host_again(traffic: Traffic) -> None:
    bot = peer(1)
    with traffic.playing(bot, 1, NOW):
        with traffic.playing(bot, 2, NOW):
            traffic.look([at(bot)], NOW)
            assert traffic.bots(bot) == [1, 2]
        assert traffic.bots(bot) == [1]
    assert traffic.look([at(bot, STRANGERS.burst)], NOW) == [at(bot, STRANGERS.burst)]


def test_connection_when_it_ends_then_it_is_known_no_longer(traffic: Traffic) -> None:
    traffic.know(peer(1), NOW)
    traffic.look([at(peer(1))], NOW)
    assert traffic.knows(peer(1))
    traffic.look([], NOW)
    assert not traffic.knows(peer(1))


def test_lasting_call_when_its_client_breaks_it_off_then_it_counts(traffic: Traffic) -> None:
    for number in range(2 * STRANGERS.burst // CALL):
        assert not traffic.called(peer(number), NOW)
        with traffic.lasting(peer(number), lambda: NOW):
            pass
    for number in range(STRANGERS.burst // CALL - 1):
        assert not traffic.called(peer(number), NOW)
        with contextlib.suppress(ConnectionError), traffic.lasting(peer(number), lambda: NOW):
            raise ConnectionError
    assert traffic.called(peer(1), NOW)


def test_lasting_call_when_its_host_was_kept_out_before_then_it_counts_until_it_ends(
    traffic: Traffic,
) -> None:
    traffic.look([at(peer(1), 100 * MIB)], NOW)
    traffic.look([], NOW)
    now = NOW + (STRANGERS.debt + LET_IN) / STRANGERS.rate + 1
    traffic.look([], now)
    assert not traffic.barred
    calls = (LET_IN + STRANGERS.rate - CONNECTION) // CALL
    with contextlib.ExitStack() as lasting:
        for _ in range(calls - 1):
            assert not traffic.called(peer(2), now)
            lasting.enter_context(traffic.lasting(peer(2), lambda: now))
        assert traffic.called(peer(2), now)
    assert not traffic.called(peer(2), now)


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("10.1.2.3", "10.1.2.3"),
        ("::ffff:10.1.2.3", "10.1.2.3"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::1", "::/64"),
    ],
)
def test_peer_when_its_address_is_known_then_so_is_its_host(address: str, host: str) -> None:
    assert peer_at(address, 1).host == host


def bars(traffic: Traffic, times: int, now: float = NOW) -> list[float]:
    """Return for how long a host is kept out each time if it spends everything as soon as it is let in."""
    seconds = []
    for number in range(times):
        assert traffic.look([at(peer(number), 100 * MIB)], now)
        since = now
        while traffic.barred:
            now += 0.1
            traffic.look([], now)
        seconds.append(round(now - since, 0))
    return seconds


def test_host_when_it_spends_all_again_and_again_then_it_is_kept_out_for_longer_each_time(
    traffic: Traffic,
) -> None:
    assert bars(traffic, 9) == [3, 4, 6, 10, 18, 34, 66, 66, 66]


def test_host_when_it_was_quiet_for_long_then_it_is_kept_out_as_at_first(traffic: Traffic) -> None:
    assert bars(traffic, 3) == [3, 4, 6]
    later = NOW + 20 + STRANGERS.burst / STRANGERS.rate
    traffic.look([], later)
    assert bars(traffic, 1, later) == [3]


def test_host_when_a_bot_of_it_was_let_in_then_it_is_kept_out_as_at_first(traffic: Traffic) -> None:
    assert bars(traffic, 3) == [3, 4, 6]
    traffic.know(peer(77), NOW + 20)
    assert bars(traffic, 1, NOW + 20) == [3]


def test_bots_when_one_owner_has_many_then_their_connections_share_an_allowance(traffic: Traffic) -> None:
    each, many = KNOWN.burst // 2, 2 * AUTHOR.burst // KNOWN.burst
    owners = ["ann"] * many + ["bob"] * (many - 1)
    peers = [peer(1 + number) for number in range(len(owners))]
    with ExitStack() as playing:
        for number, owner in enumerate(owners):
            playing.enter_context(traffic.playing(peers[number], number, NOW, owner))
        assert traffic.look([at(one) for one in peers], NOW) == []
        wrong = traffic.look([at(one, each) for one in peers], NOW)
        assert wrong == [at(one, each) for one in peers[:many]]
        assert traffic.look([at(one, each) for one in peers], NOW + 1) == []


def test_bots_when_a_connection_carries_those_of_several_owners_then_each_bot_counts_alone(
    traffic: Traffic,
) -> None:
    with ExitStack() as playing:
        for number in range(10):
            playing.enter_context(traffic.playing(peer(1), number, NOW, f"owner-{number}"))
        assert traffic.look([at(peer(1))], NOW) == []
        assert traffic.look([at(peer(1), 2 * AUTHOR.burst)], NOW) == []
