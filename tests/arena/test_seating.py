"""Seatings: every position in every seat, and after every neighbour, equally often."""

from collections import Counter

import pytest

from arena.core.seating import balance, seatings


def pairs(size: int) -> list[tuple[int, int]]:
    return [(a, b) for a in range(size) for b in range(size)]


def seat_counts(found: list[tuple[int, ...]]) -> list[int]:
    size = len(found[0])
    had = Counter((position, seat) for seating in found for seat, position in enumerate(seating))
    return [had[position, seat] for position, seat in pairs(size)]


def neighbour_counts(found: list[tuple[int, ...]]) -> list[int]:
    size = len(found[0])
    after = Counter((seating[seat - 1], seating[seat]) for seating in found for seat in range(size))
    return [after[one, other] for one, other in pairs(size) if one != other]


def spread(counts: list[int]) -> int:
    return max(counts) - min(counts)


@pytest.mark.parametrize("size", range(2, 9))
@pytest.mark.parametrize("sessions", [1, 2, 3, 4, 6, 8, 10])
def test_seatings_of_any_number_put_everyone_in_each_seat_within_one(size: int, sessions: int) -> None:
    found = seatings(size, sessions)
    assert len(found) == sessions
    assert all(sorted(seating) == list(range(size)) for seating in found)
    assert spread(seat_counts(found)) <= 1 + (size == 3 and sessions == 3)


@pytest.mark.parametrize(
    ("size", "sessions"), [(2, 2), (3, 6), (4, 12), (4, 24), (5, 20), (6, 60), (7, 42), (8, 112), (4, 48)]
)
def test_seatings_of_a_whole_block_are_exactly_equal(size: int, sessions: int) -> None:
    found = seatings(size, sessions)
    assert spread(seat_counts(found)) == 0
    assert spread(neighbour_counts(found)) <= 2 * ((size, sessions) == (4, 12))


@pytest.mark.parametrize("sessions", range(1, 40))
def test_seatings_of_four_keep_neighbours_within_two(sessions: int) -> None:
    found = seatings(4, sessions)
    assert spread(seat_counts(found)) <= 1
    assert spread(neighbour_counts(found)) <= 2


@pytest.mark.parametrize("size", [4, 6, 8])
def test_seatings_of_one_turn_at_an_even_table_are_as_equal_as_possible(size: int) -> None:
    found = seatings(size, size)
    assert spread(seat_counts(found)) == 0
    assert spread(neighbour_counts(found)) == 1


def test_seatings_are_the_same_each_time() -> None:
    assert seatings(4, 4) == seatings(4, 4) == [(0, 1, 3, 2), (1, 2, 0, 3), (2, 3, 1, 0), (3, 0, 2, 1)]
    assert seatings(4, 0) == []


@pytest.mark.parametrize(("size", "sessions"), [(2, 3), (4, 12), (5, 7), (8, 20)])
def test_balance_reports_what_is_counted(size: int, sessions: int) -> None:
    found = seatings(size, sessions)
    even = balance(found)
    assert [count for row in even.seats for count in row] == seat_counts(found)
    after = [even.after[own][before] for before, own in pairs(size) if before != own]
    assert after == neighbour_counts(found)
    assert even.seat_spread == (min(seat_counts(found)), max(seat_counts(found)))
    assert even.neighbour_spread == (min(after), max(after))


@pytest.mark.parametrize("size", range(2, 9))
def test_seatings_of_duplicate_deals_leave_everyone_in_place(size: int) -> None:
    assert seatings(size, 5, duplicate=True) == [tuple(range(size))] * 5
