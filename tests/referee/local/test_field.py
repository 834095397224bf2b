"""Tests for seatings: what is balanced within a block and over blocks, and what repeats."""

from collections import Counter
from itertools import combinations, islice

import pytest

from referee.local.field import MOST_TURNS, Block, field_blocks, versus_blocks


def first(number: int, slots: list[int], players: int) -> list[Block]:
    return [*islice(field_blocks("a", slots, players), number)]


@pytest.mark.parametrize("players", [2, 3, 4, 8])
def test_block_when_all_bots_sit_at_one_table_then_each_has_each_seat_with_the_same_deal(
    players: int,
) -> None:
    for block in first(5, [*range(players)], players):
        assert len({session.seed for session in block.sessions}) == 1
        for bot in range(players):
            assert sorted(session.seating.index(bot) for session in block.sessions) == [*range(players)]


def test_blocks_when_they_follow_each_other_then_deals_neighbours_and_numbers_differ() -> None:
    blocks = first(40, [0, 1, 2, 3], 4)
    assert len({block.sessions[0].seed for block in blocks}) == 40
    numbers = [session.number for block in blocks for session in block.sessions]
    assert len(set(numbers)) == len(numbers)
    assert all(
        (session.number - 1) // MOST_TURNS == block.number for block in blocks for session in block.sessions
    )
    seatings = [session.seating for block in blocks for session in block.sessions]
    after = {seating[(seating.index(0) + 1) % 4] for seating in seatings}
    assert after == {1, 2, 3}


def test_block_when_turning_gives_the_same_seating_again_then_it_is_played_once() -> None:
    for block in first(20, [0, 1], 4):
        seatings = [session.seating for session in block.sessions]
        assert len(set(seatings)) == len(seatings) in (2, 4)
        for bot in (0, 1):
            seats = Counter(seat for seating in seatings for seat, who in enumerate(seating) if who == bot)
            assert len(set(seats.values())) == 1
            assert len(seats) == 4


def test_blocks_when_bots_are_fewer_than_seats_then_all_sit_equally_often() -> None:
    sat = Counter(bot for block in first(30, [0, 1, 2], 4) for bot in block.sessions[0].seating)
    assert sat == {0: 40, 1: 40, 2: 40}


def test_blocks_when_a_bot_is_named_several_times_then_it_sits_as_often() -> None:
    for block in first(5, [0, 1, 1, 1], 4):
        assert Counter(block.sessions[0].seating) == {0: 1, 1: 3}


@pytest.mark.parametrize(("bots", "players"), [(5, 4), (6, 4), (9, 2), (7, 3)])
def test_blocks_when_bots_are_more_than_seats_then_all_sit_and_meet_about_equally_often(
    bots: int, players: int
) -> None:
    blocks = first(200, [*range(bots)], players)
    sat = Counter(bot for block in blocks for bot in block.sessions[0].seating)
    assert max(sat.values()) - min(sat.values()) <= 1
    met = Counter(pair for block in blocks for pair in combinations(sorted(block.sessions[0].seating), 2))
    assert len(met) == bots * (bots - 1) // 2
    assert max(met.values()) - min(met.values()) <= 3


def test_blocks_when_two_versions_are_compared_then_both_play_each_seating_against_one_panel() -> None:
    for block in islice(versus_blocks("a", [2, 3, 2]), 10):
        old = [session.seating for session in block.sessions if 1 in session.seating]
        new = [session.seating for session in block.sessions if 0 in session.seating]
        assert [tuple(0 if bot == 1 else bot for bot in seating) for seating in old] == new
        assert len(new) == len(set(new)) == 4
        assert sorted(seating.index(0) for seating in new) == [0, 1, 2, 3]


def test_blocks_when_the_seed_is_the_same_then_they_are_too() -> None:
    assert first(20, [0, 1, 2, 3, 4], 4) == first(20, [0, 1, 2, 3, 4], 4)
    assert first(2, [0, 1], 2) != [*islice(field_blocks("b", [0, 1], 2), 2)]
