"""Round-robins: everyone meets everyone, as equally often as possible."""

import random
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.core.formats.round_robin import round_robin, round_robin_on, round_robin_rounds
from arena.core.pairing import Pairing, Past, balance
from arena.core.pairing.coverings import least_rounds
from arena.core.pairing.designs import affine_space, equal_rounds
from tests.arena.pairing_bounds import (
    ROUND_ROBINS,
    around,
    assert_whole,
    byes,
    least_uneven,
    meetings,
    spread,
    uneven_by_lot,
)
from tests.examples import examples

SEED = bytes(range(32))

KNOWN = [
    # entrants, size, rounds, meetings of every pair
    (8, 4, 7, 3),  # S(3,4,8), its blocks in complementary pairs
    (9, 3, 4, 1),  # affine plane of order 3
    (15, 3, 7, 1),  # Kirkman's schoolgirls
    (16, 4, 5, 1),  # affine plane of order 4
    (25, 5, 6, 1),
    (49, 7, 8, 1),
    (64, 8, 9, 1),
    (12, 4, 11, 3),  # whist tournaments
    (13, 4, 13, 3),
    (20, 4, 19, 3),
    (24, 4, 23, 3),
    (7, 4, 7, 2),  # complement of the Fano plane, one table a round
    (6, 3, 10, 4),  # all triples: five rounds cannot be equal
    (12, 6, 11, 5),  # from the Hadamard matrix of order 12
    (16, 8, 15, 7),
    (6, 5, 6, 4),
    (4, 4, 1, 1),
    (28, 4, 9, 1),  # resolvable S(2,4,28)
    (40, 4, 13, 1),
    (52, 4, 17, 1),
    (64, 4, 21, 1),  # lines of the affine space of order 4
    (27, 3, 13, 1),
    (125, 5, 31, 1),
    (21, 3, 10, 1),  # Kirkman triple systems
    (39, 3, 19, 1),
    (63, 3, 31, 1),
    (32, 4, 31, 3),  # whist tournaments
    (44, 4, 43, 3),
    (60, 4, 59, 3),
    (73, 4, 73, 3),  # cosets
    (71, 7, 71, 6),
    (30, 5, 29, 4),
    (42, 6, 41, 5),
]


@pytest.mark.parametrize(("count", "size", "rounds", "each"), KNOWN)
def test_round_robin_of_a_known_design_meets_equally_often(
    count: int, size: int, rounds: int, each: int
) -> None:
    entrants = range(100, 100 + count)
    pairings = round_robin(entrants, size, SEED)
    assert len(pairings) == rounds
    assert set(meetings(pairings, entrants).values()) == {each}
    assert len(set(byes(pairings, entrants))) == 1


@pytest.mark.parametrize("size", [3, 4])
def test_round_robin_at_small_tables_is_equal_wherever_counting_allows_it(size: int) -> None:
    for count in range(size, 25):
        pairings = round_robin(range(count), size, SEED)
        each = meetings(pairings, range(count))
        possible = len(pairings) * (count // size) * size * (size - 1) % (count * (count - 1)) == 0
        assert spread(each) == (0 if possible else 1), count
        assert min(each.values()) >= 1
        assert len(set(byes(pairings, range(count)))) == 1


@pytest.mark.parametrize("count", range(2, 20))
def test_round_robin_of_two_at_a_table_meets_exactly_once(count: int) -> None:
    pairings = round_robin(range(count), 2, SEED)
    assert len(pairings) == count - 1 + count % 2
    assert set(meetings(pairings, range(count)).values()) == {1}


@examples(60)
@given(st.data())
def test_round_robin_of_given_rounds_is_whole_with_even_byes(data: st.DataObject) -> None:
    size = data.draw(st.integers(2, 8))
    count = data.draw(st.integers(size, 22))
    rounds = data.draw(st.integers(1, 2))
    seed = data.draw(st.binary(min_size=1, max_size=32))
    pairings = round_robin(range(count), size, seed, rounds)
    assert len(pairings) == rounds
    for pairing in pairings:
        assert_whole(pairing, range(count), size)
    out = byes(pairings, range(count))
    assert max(out) - min(out) <= 1


@pytest.mark.parametrize(
    ("count", "size", "rounds"), [(16, 4, 3), (15, 3, 4), (100, 4, 8), (10, 2, 4), (600, 4, 8)]
)
def test_round_robin_of_few_rounds_repeats_no_meeting(count: int, size: int, rounds: int) -> None:
    pairings = round_robin(range(count), size, SEED, rounds)
    assert set(meetings(pairings, range(count)).values()) == {0, 1}


@pytest.mark.parametrize(("count", "size", "cycle"), [(8, 4, 7), (16, 4, 5), (7, 2, 7)])
def test_round_robin_of_several_whole_schedules_stays_equal(count: int, size: int, cycle: int) -> None:
    pairings = round_robin(range(count), size, SEED, 3 * cycle)
    assert spread(meetings(pairings, range(count))) == 0
    assert pairings[:cycle] != pairings[cycle : 2 * cycle]


@pytest.mark.parametrize(
    ("count", "size", "rounds", "pairs"),
    [
        (20, 4, 5, (40, 150)),
        (30, 4, 6, (183, 252)),
        (60, 4, 30, (0, 840, 930)),
        (60, 4, 50, (0, 0, 810, 960)),
        (33, 3, 25, (0, 231, 297)),
    ],
)
def test_round_robin_of_given_rounds_leaves_no_meeting_that_could_be_spread(
    count: int, size: int, rounds: int, pairs: tuple[int, ...]
) -> None:
    assert balance(range(count), round_robin(range(count), size, SEED, rounds)).pairs == pairs


ONCE = [
    # entrants, size, rounds, Schönheim's bound
    (4, 4, 1, 1),
    (8, 4, 3, 3),
    (9, 4, 5, 4),
    (9, 8, 3, 3),
    (12, 4, 5, 4),
    (13, 4, 6, 5),
    (16, 4, 5, 5),
    (18, 3, 9, 9),
    (20, 6, 7, 5),
    (21, 5, 7, 6),
    (24, 4, 10, 8),
    (28, 4, 9, 9),
    (49, 7, 8, 8),
    (7, 2, 7, 7),
]


@pytest.mark.parametrize(("count", "size", "rounds", "bound"), ONCE)
def test_round_robin_at_least_once_takes_few_rounds_and_leaves_nobody_apart(
    count: int, size: int, rounds: int, bound: int
) -> None:
    entrants = range(100, 100 + count)
    pairings = round_robin(entrants, size, SEED, meet_once=True)
    assert least_rounds(count, size) == bound
    assert len(pairings) == rounds
    for pairing in pairings:
        assert_whole(pairing, entrants, size)
    assert min(meetings(pairings, entrants).values()) >= 1
    assert set(byes(pairings, entrants)) <= set(around(rounds * (count % size), count))


def test_round_robin_with_rounds_beyond_a_schedule_stays_within_one() -> None:
    pairings = round_robin(range(16), 4, SEED, 8)
    assert spread(meetings(pairings, range(16))) == 1


def test_round_robin_with_one_table_stays_near_equal() -> None:
    for rounds in range(2, 13):
        pairings = round_robin(range(6), 4, SEED, rounds)
        assert spread(meetings(pairings, range(6))) <= (3 if rounds % 3 else 1), rounds


def test_round_robin_is_the_same_for_the_same_seed_only() -> None:
    first, again, other = (round_robin(range(12), 4, seed) for seed in (b"a", b"a", b"b"))
    assert first == again
    assert first != other


def test_round_robin_does_not_depend_on_the_hash_seed() -> None:
    code = (
        "from arena.core.formats.round_robin import round_robin\n"
        "from arena.core.formats.swiss import swiss\n"
        "from arena.core.pairing import History\n"
        "print(round_robin(range(20), 4, b'x', 3), swiss(range(20), 4, History([[0, 1, 2, 3]]), 2, b'x'))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


def test_round_robin_of_a_seed_never_changes() -> None:
    first = round_robin(range(1, 9), 4, b"golden")[0]
    assert first == Pairing(((5, 7, 4, 1), (3, 6, 8, 2)))


@pytest.mark.parametrize("order", [3, 4, 5, 7, 8])
def test_affine_plane_has_every_two_points_on_one_line(order: int) -> None:
    rounds = list(affine_space(order, 2))
    assert len(rounds) == order + 1
    lines = [line for tables in rounds for line in tables[:-1]]
    assert all(len(set(one) & set(two)) <= 1 for one, two in pairwise(sorted(lines)))
    pairs = [(p, q) for line in lines for p in line for q in line if p < q]
    assert len(set(pairs)) == len(pairs) == order**2 * (order**2 - 1) // 2


def test_equal_rounds_skips_what_complementary_tables_rule_out() -> None:
    assert equal_rounds(6, 3) == [10]
    assert equal_rounds(8, 4) == [7]
    assert equal_rounds(8, 3) == []


@pytest.mark.parametrize("count", [97, 100, 130])
def test_round_robin_of_a_large_field_is_whole_and_nearly_equal(count: int) -> None:
    pairings = round_robin(range(count), 4, SEED)
    assert len(pairings) == round_robin_rounds(count, 4) <= count
    assert spread(meetings(pairings, range(count))) <= 2
    assert len(set(byes(pairings, range(count)))) == 1


@pytest.mark.parametrize(("count", "size", "rounds"), [(12, 4, None), (12, 3, 16), (9, 4, 5), (40, 4, 18)])
def test_round_robin_made_part_by_part_is_the_same(count: int, size: int, rounds: int | None) -> None:
    found: list[Pairing] = []
    while more := round_robin_on(range(count), size, SEED, rounds, Past(found), 3 * (count // size)):
        assert len(more) <= 3
        found += more
    assert found == round_robin(range(count), size, SEED, rounds)


def test_round_robin_without_rounds_is_the_same_as_with_as_many_as_it_takes() -> None:
    for count in (12, 73, 80):
        rounds = round_robin_rounds(count, 4)
        assert round_robin(range(count), 4, SEED) == round_robin(range(count), 4, SEED, rounds)


@pytest.mark.parametrize("seed", range(ROUND_ROBINS))
def test_round_robin_of_a_random_field_is_nearly_even_in_everything(seed: int) -> None:
    rng = random.Random(seed)
    size = rng.randint(2, 8)
    count, rounds = rng.randint(size, 60), rng.choice([None, *range(1, 13)])
    pairings = round_robin(range(count), size, seed.to_bytes(2, "big"), rounds)
    assert len(pairings) == rounds or (rounds is None and len(pairings) <= 2 * count)
    for pairing in pairings:
        assert_whole(pairing, range(count), size)
    out = byes(pairings, range(count))
    assert set(out) <= set(around(len(pairings) * (count % size), count))
    met = meetings(pairings, range(count))
    pairs, held = comb(count, 2), len(pairings) * (count // size) * comb(size, 2)
    mean = held / pairs
    assert mean - 3 <= min(met.values()) <= max(met.values()) <= mean + 4
    uneven = sum((times - mean) ** 2 for times in met.values())
    by_lot = uneven_by_lot(count, size, len(pairings))
    share = 0.95 if len(pairings) < 5 else 0.75  # few rounds leave little choice
    assert uneven <= max(share * by_lot, least_uneven(held, pairs)) + 1e-6
    had = Counter(
        (one, at) for pairing in pairings for table in pairing.tables for at, one in enumerate(table)
    )
    assert max(had.values()) <= len(pairings) / size + 2
    found = balance(range(count), pairings)
    assert found.meetings == (min(met.values()), max(met.values()))
    assert found.pairs == tuple(Counter(met.values())[times] for times in range(found.meetings.most + 1))
    assert found.byes == (min(out), max(out))
