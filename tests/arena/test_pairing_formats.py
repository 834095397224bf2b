"""Pairings of gauntlets, knockouts and continuous tournaments, and the options of formats."""

import random
from collections import Counter
from itertools import combinations, pairwise

import pytest

from arena.core.formats import FORMATS, Setup
from arena.core.formats.continuous import GATHER, Waiting, continuous
from arena.core.formats.gauntlet import CHALLENGERS, gauntlet
from arena.core.formats.knockout import ADVANCE, KnockoutRound, knockout, still_in
from arena.core.formats.round_robin import MEETINGS
from arena.core.pairing import History, Pairing
from arena.core.ranking import MatchOutcome
from arena.errors import SpecError
from tests.arena.pairing_bounds import FIELDS

SEED = bytes(32)


def gauntlet_of(count: int, challengers: int, size: int, rounds: int, times: int = 1) -> list[Pairing]:
    return [
        gauntlet(range(count), challengers, size, History(), number, SEED, times)
        for number in range(1, rounds + 1)
    ]


@pytest.mark.parametrize("seed", range(FIELDS))
def test_gauntlet_of_a_random_field_meets_everyone_once_or_fills_tables(seed: int) -> None:
    rng = random.Random(seed)
    size = rng.randint(2, 8)
    count = rng.randint(size, 40)
    challengers = rng.randint(1, min(6, count - size + 1))
    rounds = FORMATS["gauntlet"].total(Setup(size, options={"challengers": challengers}), count)
    assert rounds is not None
    met: Counter[tuple[int, int]] = Counter()
    for pairing in gauntlet_of(count, challengers, size, rounds):
        seated = [bot for table in pairing.tables for bot in table]
        assert sorted([*seated, *pairing.byes]) == list(range(count))
        for table in pairing.tables:
            assert len(table) == size
            [one] = [bot for bot in table if bot < challengers]
            met.update((one, bot) for bot in table if bot != one)
    for one in range(challengers):
        times = [met[one, bot] for bot in range(challengers, count)]
        assert min(times) == 1
        assert max(times) <= 2
        assert sum(times) == -(-(count - challengers) // (size - 1)) * (size - 1)


def test_gauntlet_of_twice_as_many_rounds_goes_around_again() -> None:
    once, twice = gauntlet_of(13, 1, 4, 4), gauntlet_of(13, 1, 4, 8)
    assert twice[:4] == once
    met = Counter(bot for pairing in twice for bot in pairing.tables[0] if bot)
    assert set(met.values()) == {2}


@pytest.mark.parametrize(
    ("count", "challengers", "size", "times", "spread"),
    [
        (9, 4, 4, 1, 1),  # a field of 5, one challenger at a time: each group has one bot that plays twice
        (15, 10, 4, 1, 0),
        (17, 6, 4, 1, 1),  # three at a time
        (20, 9, 4, 1, 1),
        (20, 9, 4, 3, 1),
        (13, 4, 4, 2, 0),
        (26, 11, 8, 1, 1),
        (30, 7, 5, 1, 1),
        (30, 11, 5, 2, 2),  # the last group is not full
    ],
)
def test_gauntlet_of_several_groups_shares_double_duty_out_over_the_field(
    count: int, challengers: int, size: int, times: int, spread: int
) -> None:
    setup = Setup(size, options={"challengers": challengers})
    rounds = (FORMATS["gauntlet"].total(setup, count) or 0) * times
    pairings = gauntlet_of(count, challengers, size, rounds, times)
    played = Counter(bot for pairing in pairings for table in pairing.tables for bot in table)
    tables = [played[bot] for bot in range(challengers, count)]
    assert max(tables) - min(tables) == spread
    met = Counter((min(table), bot) for one in pairings for table in one.tables for bot in table)
    for one in range(challengers):
        assert {met[one, bot] for bot in range(challengers, count)} <= {times, times + 1}


def knockout_of(count: int, size: int, advance: int, rng: random.Random) -> list[KnockoutRound]:
    """Play a knockout in which each table ends at random; check each round."""
    played: list[KnockoutRound] = []
    while True:
        alive = still_in(range(count), size, advance, played, ())
        pairing = knockout(range(count), size, advance, alive, History(), len(played) + 1, SEED)
        if pairing is None:
            assert len(alive) == 1
            return played
        assert sorted([*pairing.byes, *(bot for table in pairing.tables for bot in table)]) == sorted(alive)
        assert all(len(table) == size for table in pairing.tables)
        assert all(max(pairing.byes) < bot for table in pairing.tables for bot in table if pairing.byes)
        tables = [{bot: rng.randrange(40) for bot in table} for table in pairing.tables]
        played.append(KnockoutRound([MatchOutcome(1, 1, table) for table in tables], pairing.byes))


@pytest.mark.parametrize(
    ("size", "advance"), [(size, advance) for size in range(2, 9) for advance in range(1, size)]
)
def test_knockout_of_any_field_has_all_its_byes_in_the_first_round(size: int, advance: int) -> None:
    """Every table eliminates somebody and sends its first on; the last round is one table."""
    rng = random.Random(f"{size}/{advance}")
    setup = Setup(size, options={"advance": advance})
    for count in (*range(size, 5 * size), *rng.sample(range(5 * size, 120), 5)):
        played = knockout_of(count, size, advance, rng)
        assert len(played) == FORMATS["knockout"].total(setup, count)
        tables = [len(round.tables) for round in played]
        assert sum(tables) == FORMATS["knockout"].tables_to_come(setup, count, 0)
        assert tables[-1] == 1
        assert not any(round.byes for round in played[1:])
        for round, after in pairwise(played):
            on = {*after.byes, *(bot for table in after.tables for bot in table.points)}
            assert on.issuperset(round.byes)
            for points in (table.points for table in round.tables):
                best = sorted(points, key=lambda bot: (-points[bot], bot))
                ahead = [bot in on for bot in best]
                assert ahead == sorted(ahead, reverse=True)
                assert ahead[0]
                assert not ahead[-1]


@pytest.mark.parametrize(
    ("count", "size", "advance", "tables", "byes"),
    [
        (9, 2, 1, [1, 4, 2, 1], 7),
        (12, 2, 1, [4, 4, 2, 1], 4),
        (16, 2, 1, [8, 4, 2, 1], 0),
        (13, 4, 2, [3, 2, 1], 1),
        (7, 4, 2, [1, 1], 3),  # one of four goes on: two of them would not fill the next table
        (8, 3, 1, [1, 2, 1], 5),  # 2 winners and 2 who sit out were one too many for a table
        (24, 4, 3, [6, 4, 3, 2, 1], 0),
    ],
)
def test_knockout_has_as_many_tables_as_lead_to_full_ones(
    count: int, size: int, advance: int, tables: list[int], byes: int
) -> None:
    played = knockout_of(count, size, advance, random.Random(1))
    assert ([len(round.tables) for round in played], len(played[0].byes)) == (tables, byes)
    assert list(played[0].byes) == list(range(byes))


def test_knockout_of_sixteen_seats_the_best_seeds_apart() -> None:
    pairing = knockout(range(16), 4, 2, range(16), History(), 1, SEED)
    assert pairing is not None
    assert sorted(sorted(table) for table in pairing.tables) == [
        [0, 7, 8, 15],
        [1, 6, 9, 14],
        [2, 5, 10, 13],
        [3, 4, 11, 12],
    ]


def test_knockout_keeps_owners_apart_within_the_rows_of_the_seeding() -> None:
    owners = {bot: bot % 4 if bot < 4 else (bot + 1) % 4 for bot in range(16)}
    pairing = knockout(range(16), 4, 2, range(16), History(owners=owners), 1, SEED)
    assert pairing is not None
    assert all(len({owners[bot] for bot in table}) == 4 for table in pairing.tables)
    assert all(sorted(bot // 4 for bot in table) == [0, 1, 2, 3] for table in pairing.tables)


def round_of(*tables: dict[int, float], forfeits: dict[int, float] | None = None) -> KnockoutRound:
    """Return a round of these points; ``forfeits`` has the shares that bots forfeited of their matches."""
    outcomes = [
        MatchOutcome(1, 1, table, {bot: share for bot, share in (forfeits or {}).items() if bot in table})
        for table in tables
    ]
    return KnockoutRound(outcomes)


def test_knockout_when_survivors_withdraw_then_those_who_lost_most_closely_play_on() -> None:
    first = round_of({0: 9, 1: 8, 2: 7, 3: 6}, {4: 30, 5: 20, 6: 10, 7: 10})
    assert still_in(range(8), 4, 2, [first], ()) == {0, 1, 4, 5}
    assert still_in(range(8), 4, 2, [first], [0]) == {1, 4, 5, 6}
    assert still_in(range(8), 4, 2, [first], [0, 6]) == {1, 2, 4, 5}
    assert still_in(range(8), 4, 2, [first], [0, 1, 2, 4, 5]) == {3, 6, 7}
    final = round_of({0: -9, 1: -9, 4: -5, 5: 0})
    assert still_in(range(8), 4, 2, [first, final], ()) == {5}


@pytest.mark.parametrize(
    ("size", "tables", "forfeits", "on"),
    [
        (4, [{0: 0, 1: 0, 2: 0, 3: -39}, {4: 5, 5: 4, 6: 3, 7: 2}], {0: 1, 3: 1}, {1, 2, 4, 5}),
        (4, [{0: 0, 1: 0, 2: 0, 3: -39}, {4: 5, 5: 4, 6: 3, 7: 2}], {0: 1, 1: 1, 3: 1}, {2, 4, 5, 6}),
        (
            4,
            [{0: 9, 1: 0, 2: 0, 3: 0}, {4: 5, 5: 4, 6: 3, 7: 2}],
            {0: 1},
            {1, 2, 4, 5},
        ),  # played for, luckily
        (4, [{0: 9, 1: 0, 2: 0, 3: 0}, {4: 5, 5: 4, 6: 3, 7: 2}], {0: 0.5, 1: 0.5}, {0, 2, 4, 5}),
        (2, [{0: 13, 1: -13}, {2: 1, 3: 2}], {0: 1, 1: 1}, {2, 3}),
        (2, [{0: 13, 1: -13}, {2: 1, 3: 2}], {0: 1, 1: 1, 2: 1}, {0, 3}),  # too few are left otherwise
    ],
)
def test_knockout_when_bots_never_came_then_those_who_played_go_on(
    size: int, tables: list[dict[int, float]], forfeits: dict[int, float], on: set[int]
) -> None:
    first = round_of(*tables, forfeits=forfeits)
    assert still_in(range(8), size, size // 2, [first], ()) == on


def waiting(ratings: list[float], uncertainty: float = 0.0) -> list[Waiting]:
    return [Waiting(bot, rating, uncertainty) for bot, rating in enumerate(ratings)]


def test_continuous_seats_like_ratings_together() -> None:
    ratings = [1500.0 + 300 * (bot % 3) + bot for bot in range(12)]
    found = continuous(waiting(ratings), 4, History(), 1, SEED)
    assert all(len({bot % 3 for bot in table}) == 1 for table in found.tables)


def test_continuous_avoids_recent_opponents_only_among_close_ratings() -> None:
    close = continuous(waiting([1500.0] * 8), 4, History([[0, 1, 2, 3]]), 2, SEED)
    assert sorted(sum(bot < 4 for bot in table) for table in close.tables) == [2, 2]
    apart = continuous(waiting([1000.0] * 4 + [2000.0] * 4), 4, History([[0, 1, 2, 3]]), 2, SEED)
    assert sorted(sorted(table) for table in apart.tables) == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_continuous_takes_ratings_that_are_uncertain_as_close() -> None:
    ratings = [1000.0] * 4 + [1600.0] * 4
    sure = continuous(waiting(ratings), 4, History([[0, 1, 2, 3]]), 2, SEED)
    unsure = continuous(waiting(ratings, 300.0), 4, History([[0, 1, 2, 3]]), 2, SEED)
    assert sorted(sum(bot < 4 for bot in table) for table in sure.tables) == [0, 4]
    assert sorted(sum(bot < 4 for bot in table) for table in unsure.tables) == [2, 2]


def test_continuous_lets_the_last_in_line_wait_on() -> None:
    found = continuous(waiting([1500.0] * 10), 4, History(), 1, SEED)
    assert found.byes == (8, 9)


def test_continuous_keeps_owners_apart_before_all_else() -> None:
    recent = History([[0, 5, 2, 7], [1, 4, 3, 6]] * 5, owners={bot: bot // 2 for bot in range(8)})
    found = continuous(waiting([1000.0 + 100 * bot for bot in range(8)]), 4, recent, 3, SEED)
    assert all(a // 2 != b // 2 for table in found.tables for a, b in combinations(table, 2))


@pytest.mark.parametrize(
    ("format", "options", "entrants", "rounds", "message"),
    [
        ("swiss", {}, 8, None, "rounds: a Swiss tournament needs a number of rounds"),
        ("swiss", {"advance": 2}, 8, 3, "options.advance: no such option; swiss has no options"),
        ("knockout", {}, 8, 3, "rounds: a knockout has as many rounds as it needs; leave this out"),
        ("knockout", {"advance": 4}, 8, None, "options.advance: must be a whole number from 1 to 3, not 4"),
        (
            "knockout",
            {"advance": True},
            8,
            None,
            "options.advance: must be a whole number from 1 to 3, not true",
        ),
        ("knockout", {"go": 1}, 8, None, "options.go: no such option; knockout has only advance"),
        (
            "gauntlet",
            {"challengers": 6},
            8,
            None,
            "options.challengers: must be a whole number from 1 to 5, not 6",
        ),
        (
            "continuous",
            {"gather": 3},
            8,
            None,
            "options.gather: must be a whole number from 4 to 10000, not 3",
        ),
        (
            "round-robin",
            {},
            401,
            None,
            "rounds: a round-robin of more than 400 entrants needs a number of rounds",
        ),
        (
            "round-robin",
            {"meetings": "once"},
            8,
            None,
            "options.meetings: must be one of equal, at-least-once, not 'once'",
        ),
        (
            "round-robin",
            {"meetings": "at-least-once"},
            8,
            3,
            "rounds: leave this out: at-least-once takes as many as it needs",
        ),
        (
            "round-robin",
            {"meetings": "at-least-once"},
            201,
            None,
            "options.meetings: at-least-once is for 200 entrants at most, not 201",
        ),
        ("swiss", {}, 10_001, 3, "entrants: 10001 are too many: at most 10000"),
    ],
)
def test_options_that_do_not_fit_are_told_in_one_line(
    format: str, options: dict[str, object], entrants: int, rounds: int | None, message: str
) -> None:
    with pytest.raises(SpecError) as caught:
        FORMATS[format].check(Setup(4, rounds, options), entrants)
    assert str(caught.value) == message


@pytest.mark.parametrize("format", FORMATS)
def test_options_of_every_format_have_defaults(format: str) -> None:
    FORMATS[format].check(Setup(4, 3 if format == "swiss" else None), 40)


def test_options_have_the_value_given_or_their_default() -> None:
    assert ADVANCE.of(Setup(4)) == 2
    assert ADVANCE.of(Setup(3)) == 1
    assert ADVANCE.of(Setup(4, options={"advance": 3})) == 3
    assert (CHALLENGERS.of(Setup(4)), GATHER.of(Setup(4))) == (1, 8)
    assert FORMATS["continuous"].total(Setup(4), 40) is None
    assert FORMATS["round-robin"].total(Setup(4), 28) == 9
    totals = [FORMATS["round-robin"].total(Setup(4, options={"meetings": one}), 8) for one in MEETINGS.values]
    assert totals == [7, 3]
