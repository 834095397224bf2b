"""No owner twice at a table: how many tables that leaves, who sits out, and who is refused entry."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.core.formats import FORMATS, Setup
from arena.core.formats.continuous import Closeness, Waiting, continuous
from arena.core.formats.swiss import swiss
from arena.core.pairing import History, Pairing
from arena.core.pairing.search import COOL, Costs, most_tables, parted
from arena.errors import SpecError
from tests.arena.pairing_bounds import FIELDS, random_field, repeats, same_owner
from tests.examples import examples

SEED = bytes(32)


def can_be_filled(tables: int, size: int, counts: Sequence[int]) -> bool:
    """Return whether ``tables`` tables can be filled with no owner twice, first from those with most bots.

    An owner with as many bots left as there are tables left has to sit at each, so it comes first.
    """
    left = list(counts)
    for _ in range(tables):
        left.sort(reverse=True)
        if len(left) < size or not left[size - 1]:
            return False
        for at in range(size):
            left[at] -= 1
    return True


def tables_possible(standing: Sequence[int], size: int, owners: Mapping[int, int]) -> int:
    """Return the most tables without an owner twice, found by trying each number."""
    counts = [*Counter(owners.get(bot, ("alone", bot)) for bot in standing).values()]
    return max(number for number in range(len(standing) // size + 1) if can_be_filled(number, size, counts))


def assert_apart(pairing: Pairing, standing: Sequence[int], size: int, owners: Mapping[int, int]) -> None:
    """Assert that all tables are full, have no owner twice and are as many as possible; the rest sit out."""
    seated = [bot for table in pairing.tables for bot in table]
    assert sorted([*seated, *pairing.byes]) == sorted(standing)
    assert all(len(table) == size for table in pairing.tables)
    for table in pairing.tables:
        known = [owners[bot] for bot in table if bot in owners]
        assert len(set(known)) == len(known)
    assert len(pairing.tables) == tables_possible(standing, size, owners)


def crowded(seed: int) -> tuple[list[int], int, History]:
    """Draw a random field, often with a few owners that have many bots."""
    field, rng = random_field(seed), random.Random(seed)
    few = rng.randint(1, 2 * field.size)
    owners = {bot: min(rng.randrange(few), rng.randrange(few)) for bot in field.standing}
    return field.standing, field.size, replace(field.history, owners=owners, owners_apart=True)


@given(st.lists(st.integers(1, 9), max_size=12), st.integers(2, 8))
def test_most_tables_are_as_many_as_can_be_filled_one_by_one(counts: list[int], size: int) -> None:
    found = most_tables(counts, size)
    assert can_be_filled(found, size, counts)
    assert not any(can_be_filled(more, size, counts) for more in range(found + 1, sum(counts) // size + 1))


@given(st.integers(1, 9), st.integers(2, 6), st.data())
def test_parted_tables_hold_the_same_places_without_an_owner_twice(
    tables: int, size: int, data: st.DataObject
) -> None:
    left, owner = tables * size, list[int]()
    while left:
        times = data.draw(st.integers(1, min(tables, left)))
        owner += [len(owner)] * times
        left -= times
    owner = data.draw(st.permutations(owner))
    plain = [list(range(at, at + size)) for at in range(0, tables * size, size)]
    found = parted(plain, owner)
    assert sorted(place for table in found for place in table) == list(range(tables * size))
    assert all(len({owner[place] for place in table}) == len(table) == size for table in found)
    if all(len({owner[place] for place in table}) == size for table in plain):
        assert found == plain


def test_parted_exchanges_with_the_nearest_table() -> None:
    owner = [0, 0, 1, 2, 3, 4, 5, 6]
    assert parted([[0, 1], [2, 3], [4, 5], [6, 7]], owner) == [[0, 2], [1, 3], [4, 5], [6, 7]]


@pytest.mark.parametrize("round", [1, 2])
@pytest.mark.parametrize("seed", range(FIELDS))
def test_swiss_of_a_crowded_random_field_never_seats_an_owner_twice(seed: int, round: int) -> None:
    standing, size, history = crowded(seed)
    pairing = swiss(standing, size, history, round, seed.to_bytes(2, "big"))
    assert_apart(pairing, standing, size, history.owners)
    if len(pairing.byes) == len(standing) % size:
        return
    # Beyond what the numbers require, bots sit out only if some owner has more bots than there are tables.
    counts = Counter(history.owners[bot] for bot in standing)
    assert any(count > len(standing) // size for count in counts.values())


@pytest.mark.parametrize("seed", range(FIELDS))
def test_swiss_byes_go_to_the_lowest_of_those_who_had_fewest_as_far_as_owners_allow(seed: int) -> None:
    standing, size, history = crowded(seed)
    pairing = swiss(standing, size, history, 2, SEED)
    had = Counter(history.byes)
    turn = {bot: (had[bot], -place) for place, bot in enumerate(standing)}  # the lowest sits out first
    tables, owners = len(pairing.tables), history.owners
    played = Counter(owners[bot] for table in pairing.tables for bot in table)
    for bot in pairing.byes:
        ahead = [one for table in pairing.tables for one in table if turn[one] < turn[bot]]
        if played[owners[bot]] < tables:
            assert not ahead
        else:  # its owner has a bot at every table, each with a better claim to its seat
            assert not [one for one in ahead if owners[one] == owners[bot]]


@pytest.mark.parametrize("seed", range(FIELDS))
def test_swiss_that_parts_owners_anyway_is_the_same_with_and_without_the_rule(seed: int) -> None:
    field = random_field(seed)
    alone = replace(field.history, owners={bot: bot for bot in field.standing})
    pairings = [
        swiss(field.standing, field.size, replace(alone, owners_apart=apart), 2, SEED)
        for apart in (False, True)
    ]
    assert pairings[0] == pairings[1]


@examples(25)
@given(st.data())
def test_swiss_with_any_history_and_some_owners_keeps_them_apart(data: st.DataObject) -> None:
    size = data.draw(st.integers(2, 6))
    count = data.draw(st.integers(1, 24))
    some = st.lists(st.integers(0, count - 1), min_size=2, max_size=size, unique=True)
    past = data.draw(st.lists(some, max_size=10)) if count > 1 else []
    owners = data.draw(st.dictionaries(st.integers(0, count - 1), st.integers(1, 4)))
    out = data.draw(st.lists(st.integers(0, count - 1), max_size=6))
    history = History(past, out, owners, owners_apart=True)
    assert_apart(swiss(range(count), size, history, 2, SEED), range(count), size, owners)


def test_swiss_when_only_two_owners_are_left_at_tables_of_four_then_there_is_no_table() -> None:
    history = History(owners={bot: bot % 2 for bot in range(9)}, owners_apart=True)
    pairing = swiss(range(9), 4, history, 2, SEED)
    assert pairing.tables == ()
    assert sorted(pairing.byes) == list(range(9))


def test_swiss_over_rounds_lets_the_bots_of_an_owner_with_too_many_take_turns() -> None:
    owners = {bot: 0 if bot < 5 else bot for bot in range(9)}  # five bots of one owner, and tables of four
    played: list[Pairing] = []
    for number in range(1, 11):
        tables = [table for one in played for table in one.tables]
        byes = [bot for one in played for bot in one.byes]
        played.append(swiss(range(9), 4, History(tables, byes, owners, owners_apart=True), number, SEED))
        assert_apart(played[-1], range(9), 4, owners)
    times = Counter(bot for one in played for table in one.tables for bot in table)
    assert [len(one.tables) for one in played] == [1] * 10
    assert max(times[bot] for bot in range(5)) - min(times[bot] for bot in range(5)) <= 1


@pytest.mark.parametrize("closeness", [False, True])
def test_exchange_that_seats_an_owner_twice_costs_more_than_any_search_takes(closeness: bool) -> None:
    rng = random.Random(3)
    for size in (2, 3, 4, 8):
        count = 4 * size
        owners = {bot: bot % (count // 2) for bot in range(count)}
        often = [rng.sample(range(count), size) for _ in range(40)] + [[*range(size)]] * 2000
        scores = {bot: float(rng.randint(0, 50)) for bot in range(count)}
        history = History(often, (), owners, scores, owners_apart=True)
        ratings = [Waiting(bot, rng.gauss(1500, 300), 0.0) for bot in range(count)]
        costs = (
            Closeness(ratings, size, history) if closeness else Costs(range(count), size, history, gaps=True)
        )
        tables = parted([list(range(at, at + size)) for at in range(0, count, size)], costs.owner)
        for one, two in combinations(tables, 2):
            for p in one:
                for q in two:
                    left = [place for place in one if place != p], [place for place in two if place != q]
                    after = [[*left[0], q], [*left[1], p]]
                    if same_owner(after, dict(enumerate(costs.owner))):
                        change = sum(map(costs.table, after)) - costs.table(one) - costs.table(two)
                        assert change >= max(COOL, costs.repeat)


def test_swiss_of_ten_thousand_with_large_owners_parts_them_and_repeats_nothing() -> None:
    count, rng = 10_000, random.Random(5)
    drawn = rng.sample(range(count), count)
    owners = {bot: 0 if bot < 2_500 else 1 + bot % 900 for bot in range(count)}  # an owner has the best 2,500
    history = History(
        [drawn[at : at + 4] for at in range(0, count, 4)],
        owners=owners,
        scores={bot: (count - bot) * 3 // count for bot in range(count)},
        owners_apart=True,
    )
    pairing = swiss(range(count), 4, history, 2, SEED)
    assert pairing.byes == ()
    assert same_owner(pairing.tables, owners) == repeats(pairing.tables, history) == 0


@pytest.mark.parametrize("seed", range(FIELDS))
def test_continuous_of_a_crowded_random_line_seats_no_owner_twice_and_the_first_in_line(seed: int) -> None:
    standing, size, history = crowded(seed)
    rng = random.Random(seed)
    line = [Waiting(bot, rng.gauss(1500, 200), 30.0) for bot in rng.sample(standing, len(standing))]
    pairing = continuous(line, size, history, 1, SEED)
    assert_apart(pairing, standing, size, history.owners)
    if pairing.tables:
        assert line[0].entrant not in pairing.byes


def test_continuous_over_batches_seats_everyone_whose_owner_can_be_parted() -> None:
    owners = {bot: 0 if bot < 6 else bot % 4 for bot in range(12)}
    times: Counter[int] = Counter()
    for number in range(1, 41):
        first = sorted(range(12), key=lambda bot: (times[bot], bot))
        line = [Waiting(bot, 1500.0, 0.0) for bot in first]
        pairing = continuous(line, 4, History(owners=owners, owners_apart=True), number, SEED)
        assert_apart(pairing, first, 4, owners)
        times.update(bot for table in pairing.tables for bot in table)
    of_large = [times[bot] for bot in range(12) if owners[bot] == 0]
    assert max(of_large) - min(of_large) <= 1
    assert min(times[bot] for bot in range(12)) > 0


BOTS = ["ann/a@1", "ann/b@1", "bob/c@1", "cy/d@1", "dee/e@1", "eve/f@1", "fay/g@1", "gus/h@1"]


@pytest.mark.parametrize("format", ["round-robin", "gauntlet", "knockout"])
def test_owner_of_two_where_all_may_meet_is_refused(format: str) -> None:
    with pytest.raises(SpecError) as caught:
        FORMATS[format].check_owners(Setup(4), BOTS)
    assert str(caught.value) == (
        f"entrants: ann has 2 bots (ann/a@1, ann/b@1), who would meet in a {format}; "
        "allow_same_owner = true allows it"
    )
    FORMATS[format].check_owners(Setup(4), BOTS[1:])


def test_owner_of_two_challengers_of_a_gauntlet_is_taken() -> None:
    FORMATS["gauntlet"].check_owners(Setup(4, options={"challengers": 2}), BOTS)
    with pytest.raises(SpecError, match="ann has 2 bots"):
        FORMATS["gauntlet"].check_owners(Setup(4, options={"challengers": 2}), [BOTS[0], *BOTS[2:], BOTS[1]])


@pytest.mark.parametrize("format", ["swiss", "continuous"])
def test_owner_of_more_than_there_are_tables_is_refused(format: str) -> None:
    FORMATS[format].check_owners(Setup(4), BOTS)
    with pytest.raises(SpecError) as caught:
        FORMATS[format].check_owners(Setup(4), [*BOTS, "ann/x@9"])
    assert str(caught.value) == (
        "entrants: ann has 3 bots (ann/a@1, ann/b@1, ann/x@9), and there are 2 tables of 4 for 9, with no "
        "owner twice at a table; allow_same_owner = true allows it"
    )
    with pytest.raises(SpecError, match="there is 1 table of 4 for 7, "):
        FORMATS[format].check_owners(Setup(4), BOTS[:7])


def test_owner_of_many_is_refused_in_one_short_line() -> None:
    with pytest.raises(SpecError) as caught:
        FORMATS["swiss"].check_owners(Setup(4), [f"ann/bot-{number}@1" for number in range(5000)])
    named = ", ".join(f"ann/bot-{number}@1" for number in range(4))
    assert str(caught.value).startswith(f"entrants: ann has 5000 bots ({named}, 4996 more), and there")
