"""Swiss rounds: owners apart, no repeated meetings, like with like, byes to the lowest."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.core.formats.continuous import Closeness, Waiting
from arena.core.formats.swiss import swiss
from arena.core.pairing import History, Pairing
from arena.core.pairing.search import Costs
from tests.arena.pairing_bounds import (
    FIELDS,
    assert_whole,
    greedy,
    least_same_owner,
    meetings,
    partitions,
    random_field,
    repeats,
    same_owner,
)
from tests.examples import examples

SEED = bytes(32)
Cost = tuple[int, int, int]


def cost(tables: Sequence[Sequence[int]], history: History, places: Mapping[int, int]) -> Cost:
    """Return the pairs of one owner, the repeated meetings, and the sum of squared differences of places."""
    pairs = [tuple(sorted(pair)) for table in tables for pair in combinations(table, 2)]
    met = Counter(tuple(sorted(pair)) for table in history.tables for pair in combinations(table, 2))
    owners = history.owners
    same = sum(a in owners and b in owners and owners[a] == owners[b] for a, b in pairs)
    return same, sum(met[pair] for pair in pairs), sum((places[a] - places[b]) ** 2 for a, b in pairs)


def play(count: int, size: int, rounds: int, seed: int, owners: Mapping[int, int]) -> list[Pairing]:
    """Play a Swiss tournament of bots of random strength."""
    rng = random.Random(seed)
    strength = [rng.gauss(0, 1) for _ in range(count)]
    score = [0.0] * count
    played: list[Pairing] = []
    for number in range(1, rounds + 1):
        standing = sorted(range(count), key=lambda bot: (-score[bot], bot))
        history = History(
            [table for one in played for table in one.tables],
            [bot for one in played for bot in one.byes],
            owners,
        )
        played.append(swiss(standing, size, history, number, SEED))
        assert_whole(played[-1], range(count), size)
        for table in played[-1].tables:
            for place, bot in enumerate(sorted(table, key=lambda bot: rng.gauss(strength[bot], 1))):
                score[bot] += place
        for bot in played[-1].byes:
            score[bot] += (size - 1) / 2
    return played


@pytest.mark.parametrize(("count", "rounds", "most"), [(16, 5, 8), (24, 6, 8), (40, 6, 0)])
def test_swiss_repeats_far_fewer_meetings_than_greedy(count: int, rounds: int, most: int) -> None:
    for seed in range(3):
        met = meetings(play(count, 4, rounds, seed, {}), range(count))
        assert sum(times - 1 for times in met.values() if times > 1) <= most


@pytest.mark.parametrize(("count", "size"), [(8, 4), (9, 3), (12, 4), (8, 2)])
def test_swiss_finds_the_best_of_all_seatings(count: int, size: int) -> None:
    rng = random.Random(count)
    for _ in range(4):
        bots = rng.sample(range(count), count)
        seated = rng.sample(bots, count)
        tables = [seated[at : at + size] for at in range(0, count, size)]
        history = History(tables, (), {bot: bot // 2 for bot in bots[: count // 2]})
        places = {bot: place for place, bot in enumerate(bots)}
        best = min(cost(tables, history, places) for tables in partitions(bots, size))
        for apart in (False, True):
            found = swiss(bots, size, replace(history, owners_apart=apart), 2, SEED)
            assert cost(found.tables, history, places) == best


def test_swiss_with_owners_keeps_them_apart_before_all_else() -> None:
    owners = {bot: bot // 4 for bot in range(16)}
    for one in play(16, 4, 4, 1, owners):
        assert all(len({owners[bot] for bot in table}) == 4 for table in one.tables)


def test_swiss_without_history_seats_those_of_like_standing_together() -> None:
    pairing = swiss(range(12), 4, History(), 2, SEED)
    assert [sorted(table) for table in pairing.tables] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]


def test_swiss_in_the_first_round_draws_by_lot() -> None:
    tables = {
        frozenset(frozenset(table) for table in swiss(range(12), 4, History(), 1, bytes([n])).tables)
        for n in range(5)
    }
    assert len(tables) == 5


def test_swiss_gives_byes_to_the_lowest_who_had_none() -> None:
    standing = [5, 3, 1, 0, 2, 4]
    assert swiss(standing, 4, History(), 2, SEED).byes == (4, 2)
    assert swiss(standing, 4, History(byes=[4, 2]), 2, SEED).byes == (0, 1)
    assert swiss(standing, 4, History(byes=[4, 2, 0, 1, 3]), 2, SEED).byes == (5, 4)


def test_swiss_over_rounds_spreads_byes_within_one() -> None:
    out = Counter(bot for one in play(10, 4, 8, 3, {}) for bot in one.byes)
    assert max(out.values()) - min(out[bot] for bot in range(10)) <= 1


def test_swiss_ignores_entrants_of_the_past_who_are_gone() -> None:
    pairing = swiss([1, 2, 3, 4], 2, History([[1, 9], [2, 3]], [9]), 3, SEED)
    assert_whole(pairing, [1, 2, 3, 4], 2)
    assert {2, 3} not in [set(table) for table in pairing.tables]


def test_swiss_is_the_same_for_the_same_seed_only() -> None:
    first, again, other = (swiss(range(20), 4, History(), 1, seed) for seed in (b"a", b"a", b"b"))
    assert first == again
    assert first != other


@examples(25)
@given(st.data())
def test_swiss_of_any_field_and_history_is_whole(data: st.DataObject) -> None:
    size = data.draw(st.integers(2, 8))
    count = data.draw(st.integers(size, 24))
    bots = data.draw(st.permutations(range(count)))
    some = st.lists(st.integers(0, count - 1), min_size=2, max_size=size, unique=True)
    past = data.draw(st.lists(some, max_size=10))
    owners = data.draw(st.dictionaries(st.integers(0, count - 1), st.integers(1, 3)))
    out = data.draw(st.lists(st.integers(0, count - 1), max_size=6))
    pairing = swiss(bots, size, History(past, out, owners), data.draw(st.integers(1, 4)), SEED)
    assert_whole(pairing, bots, size)
    had = Counter(out)
    assert (
        max((had[bot] for bot in pairing.byes), default=0)
        <= min(had[bot] for table in pairing.tables for bot in table)
        or not pairing.byes
    )


@pytest.mark.parametrize("seed", range(FIELDS))
def test_swiss_of_a_random_field_stays_within_the_bounds(seed: int) -> None:
    field = random_field(seed)
    history = field.history
    pairing = swiss(field.standing, field.size, history, 2, seed.to_bytes(2, "big"))
    assert_whole(pairing, field.standing, field.size)
    playing = [bot for bot in field.standing if bot not in pairing.byes]
    found = same_owner(pairing.tables, history.owners), repeats(pairing.tables, history)
    assert found[0] == least_same_owner(playing, field.size, history.owners)
    other = greedy(playing, field.size, history)
    assert found <= (same_owner(other, history.owners), repeats(other, history))


@pytest.mark.parametrize("seed", range(FIELDS))
def test_change_of_any_exchange_when_looked_up_is_what_its_tables_cost_more(seed: int) -> None:
    field, rng = random_field(seed), random.Random(seed)
    waiting = [Waiting(bot, 100 * field.history.scores[bot], uncertainty=40) for bot in field.standing]
    for costs in (
        Costs(field.standing, field.size, field.history, gaps=True),
        Closeness(waiting, field.size, field.history),
    ):
        looked_up = costs.change_looked_up()
        for _ in range(100):
            places = rng.sample(range(len(waiting)), len(waiting))
            half = len(places) // 2
            one, two = places[:half], places[half:]
            p, q = one[0], two[0]
            more = sum(map(costs.table, ([q, *one[1:]], [p, *two[1:]]))) - sum(map(costs.table, (one, two)))
            assert looked_up(one, two, p, q) == costs.change(one, two, p, q) == more


def test_swiss_with_scores_lets_equal_scores_change_places_for_nothing() -> None:
    scores = {bot: float(bot % 3) for bot in range(12)}
    standing = sorted(range(12), key=lambda bot: (-scores[bot], bot))
    pairing = swiss(standing, 4, History(scores=scores), 2, SEED)
    assert [{scores[bot] for bot in table} for table in pairing.tables] == [{2.0}, {1.0}, {0.0}]
    history = History([[0, 3], [1, 4]], scores=scores)
    tables = swiss(standing, 4, history, 3, SEED).tables
    assert repeats(tables, history) == 0
    gaps = sum((scores[a] - scores[b]) ** 2 for table in tables for a, b in combinations(table, 2))
    assert gaps == 6  # two bots with neighbouring scores change places


@pytest.mark.parametrize("size", [2, 3, 4, 6, 8])
def test_swiss_over_rounds_gives_everyone_each_position_equally_often(size: int) -> None:
    played = play(5 * size, size, 2 * size, 7, {})
    had = Counter((bot, at) for one in played for table in one.tables for at, bot in enumerate(table))
    counts = [had[bot, at] for bot in range(5 * size) for at in range(size)]
    assert max(counts) - min(counts) <= 3
    assert sum(count == 2 for count in counts) > len(counts) / 2


def test_swiss_of_ten_thousand_repeats_no_meeting_and_parts_all_owners() -> None:
    count, rng = 10_000, random.Random(5)
    drawn = [rng.sample(range(count), count) for _ in range(5)]
    history = History(
        [order[at : at + 4] for order in drawn for at in range(0, count, 4)],
        owners={bot: bot // 3 for bot in range(count)},
        scores={bot: (count - bot) * 15 // count for bot in range(count)},
    )
    pairing = swiss(range(count), 4, history, 6, SEED)
    assert_whole(pairing, range(count), 4)
    assert same_owner(pairing.tables, history.owners) == repeats(pairing.tables, history) == 0
