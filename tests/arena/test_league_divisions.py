"""Promotion and relegation, and the times of seasons, computed by plain functions."""

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import SpecError
from arena.leagues.divisions import Level, next_divisions, owners_apart, regroup
from arena.leagues.spec import make_league
from tests.arena.leagues import START, WEEK, winter

THREE = [Level(3, 0), Level(3, 1), Level(None, 1)]
FULL = [[1, 2, 3], [4, 5, 6], [7, 8]]


@pytest.mark.parametrize(
    ("groups", "newcomers", "expected"),
    [
        pytest.param(FULL, [], [[1, 2, 4], [3, 5, 7], [6, 8]], id="one up and one down at each border"),
        pytest.param([[1, 2], [4, 5, 6], [7]], [], [[1, 2, 4], [5, 6, 7], []], id="who left goes down"),
        pytest.param([[1], [4, 5, 6], [7, 8]], [], [[1, 4, 5], [6, 7, 8], []], id="two left: two go up"),
        pytest.param(
            [[], [], []], [1, 2, 3, 4], [[1, 2, 3], [4], []], id="the first season fills from above"
        ),
        pytest.param([[1, 2, 3], [], []], [], [[1, 2, 3], [], []], id="nobody below: nobody goes down"),
        pytest.param([[1, 2, 3], [], []], [9], [[1, 2, 9], [3], []], id="only a newcomer below"),
        pytest.param(FULL, [9], [[1, 2, 4], [3, 5, 7], [6, 8, 9]], id="newcomers come last"),
        pytest.param([[1, 2, 3, 4], [5], []], [], [[1, 2, 5], [3, 4], []], id="a level has become smaller"),
    ],
)
def test_next_divisions_table(
    groups: list[list[int]], newcomers: list[int], expected: list[list[int]]
) -> None:
    assert next_divisions(THREE, groups, newcomers) == expected


@st.composite
def leagues(draw: st.DrawFn) -> tuple[list[Level], list[list[int]], list[int]]:
    """Draw levels, the members that each still has, and newcomers, all numbered from the best."""
    count = draw(st.integers(1, 5))
    sizes: list[int] = []
    levels, up = [], 0
    for _ in range(count - 1):
        sizes.append(draw(st.integers(max(2, up), 6)))
        levels.append(Level(sizes[-1], up))
        up = draw(st.integers(0, sizes[-1] - up))
    levels.append(Level(None, up))
    filled = [draw(st.integers(0, size + 1)) for size in sizes] + [draw(st.integers(0, 8))]
    numbers = iter(range(100))
    groups = [[next(numbers) for _ in range(places)] for places in filled]
    return levels, groups, [next(numbers) for _ in range(draw(st.integers(0, 6)))]


@given(leagues())
def test_next_divisions_keep_everyone_once_and_leave_no_gap(
    league: tuple[list[Level], list[list[int]], list[int]],
) -> None:
    levels, groups, newcomers = league
    after = next_divisions(levels, groups, newcomers)
    assert sorted(chain(*after)) == sorted([*chain(*groups), *newcomers])
    for at, level in enumerate(levels[:-1]):
        assert level.size is not None
        assert len(after[at]) <= level.size
        assert len(after[at]) == level.size or not any(after[at + 1 :])


@given(leagues())
def test_next_divisions_promote_the_best_and_relegate_the_last(
    league: tuple[list[Level], list[list[int]], list[int]],
) -> None:
    levels, groups, newcomers = league
    after = next_divisions(levels, groups, newcomers)
    groups = [*groups[:-1], groups[-1] + newcomers]
    for at, group in enumerate(groups):
        rose = [one for one in group if any(one in level for level in after[:at])]
        fell = [one for one in group if any(one in level for level in after[at + 1 :])]
        assert rose == group[: len(rose)]
        assert fell == group[len(group) - len(fell) :]


@given(leagues())
def test_next_divisions_when_all_are_full_then_exactly_the_promised_number_moves(
    league: tuple[list[Level], list[list[int]], list[int]],
) -> None:
    levels, _, _ = league
    numbers = iter(range(100))
    groups = [[next(numbers) for _ in range(level.size or 8)] for level in levels]
    after = next_divisions(levels, groups, [])
    for at, lower in enumerate(levels[1:], start=1):
        assert set(groups[at]) & set(after[at - 1]) == set(groups[at][: lower.promoted])
        upper = groups[at - 1]
        assert set(upper) & set(after[at]) == set(upper[len(upper) - lower.promoted :])


@pytest.mark.parametrize(
    ("owners", "expected"),
    [
        pytest.param("abcdefgh", [[1, 2, 4], [3, 5, 7], [6, 8]], id="an owner each"),
        pytest.param("abcdefge", [[1, 2, 4], [3, 5, 7], [6, 8]], id="at two levels"),
        pytest.param(
            "aacdefgh", [[1, 3, 4], [2, 5, 7], [6, 8]], id="the last goes down, the next best stays"
        ),
        pytest.param(
            "abcaefgh", [[1, 2, 5], [3, 4, 7], [6, 8]], id="it does not come up, the next best does"
        ),
        pytest.param("aaadaafg", [[1, 4, 7], [2, 8], [3, 5, 6]], id="until owners are enough"),
        pytest.param("abcdegfg", [[1, 2, 4], [3, 5, 7], [6, 8]], id="too few owners at the lowest: all stay"),
    ],
)
def test_owners_apart_table(owners: str, expected: list[list[int]]) -> None:
    owned = dict(enumerate(owners, start=1))
    assert owners_apart(THREE, FULL, [], owned, [2, 2, 2]) == (expected, [])


def test_owners_apart_leave_out_the_last_at_the_lowest_level() -> None:
    owned = dict(enumerate("abcdehfgg", start=1))
    assert owners_apart(THREE, FULL, [9], owned, [2, 2, 2]) == ([[1, 2, 4], [3, 5, 7], [6, 8]], [9])


@given(leagues(), st.integers(2, 4), st.data())
def test_owners_apart_have_no_more_of_an_owner_than_tables_and_fill_the_highest_level_first(
    league: tuple[list[Level], list[list[int]], list[int]], size: int, data: st.DataObject
) -> None:
    levels, groups, newcomers = league
    everyone = [*chain(*groups), *newcomers]
    owners = {one: data.draw(st.sampled_from("abcdef")) for one in everyone}
    divided, out = owners_apart(levels, groups, newcomers, owners, [size] * len(levels))
    assert sorted([*chain(*divided), *out]) == sorted(everyone)
    for at, members in enumerate(divided):
        assert len(members) <= (levels[at].size or len(everyone))
        assert can_play_or_too_few(members, owners, size)
    for one in out:
        assert any(owners[other] == owners[one] for other in divided[-1])
    if levels[0].size is None or levels[0].size >= size:  # always true of a league
        assert len({owners[one] for one in divided[0]}) >= min(size, len(set(owners.values())))
    plain = next_divisions(levels, groups, newcomers)
    if all(can_play_or_too_few(members, owners, size) for members in plain[-1:]) and all(
        max(Counter(owners[one] for one in members).values(), default=0) <= len(members) // size
        for members in plain[:-1]
    ):
        assert (divided, out) == (plain, [])


def can_play_or_too_few(members: list[int], owners: Mapping[int, str], size: int) -> bool:
    """Return whether no owner has more bots than there are tables, or owners are too few for a table."""
    had = Counter(owners[one] for one in members)
    return len(had) < size or max(had.values()) <= len(members) // size


def test_owners_apart_when_one_owner_has_thousands_then_they_are_quickly_divided() -> None:
    levels = [Level(16, 0), Level(16, 3), Level(None, 3)]
    owners = {member: "ann" if member < 9_000 else f"owner-{member}" for member in range(10_000)}
    divided, out = owners_apart(levels, [[], [], []], range(10_000), owners, [4, 4, 4])
    had = [sum(owners[one] == "ann" for one in group) for group in divided]
    assert had[:2] == [4, 4]
    assert [len(group) for group in divided[:2]] == [16, 16]
    assert had[2] <= len(divided[2]) // 4
    assert len(divided[2]) + len(out) == 10_000 - 32


def test_regroup_when_a_level_is_gone_then_its_members_come_first_in_the_next() -> None:
    former = [("a", [1, 2]), ("b", [3]), ("c", [4]), ("d", [5])]
    assert regroup(["a", "c"], former) == [[1, 2], [3, 4, 5]]
    assert regroup(["x", "c", "y"], former) == [[], [1, 2, 3, 4], [5]]
    assert regroup(["x"], []) == [[]]


@pytest.mark.parametrize(
    ("start", "zone", "hours", "after", "expected"),
    [
        # summer time begins on 29 March in Europe, on 8 March in America
        ("02T17", "Europe/Berlin", 168, "09T17:00", ["16 17:00", "23 17:00", "30 16:00", "06 16:00"]),
        ("02T17", "UTC", 168, "09T17:00", ["16 17:00", "23 17:00", "30 17:00", "06 17:00"]),
        ("06T17", "America/New_York", 24, "10T17:00", ["11 16:00", "12 16:00", "13 16:00", "14 16:00"]),
        ("01T17", "Europe/Berlin", 180, "16T16:59", ["16 17:00", "24 05:00", "31 17:00", "08 05:00"]),
    ],
)
def test_league_when_summer_time_begins_then_an_evening_stays_one_in_its_zone(
    start: str, zone: str, hours: int, after: str, expected: list[str]
) -> None:
    league = winter(start=f"2026-03-{start}:00:00Z", zone=zone, interval_hours=hours)
    starts = [
        at.astimezone(UTC) for at in league.first_starts(datetime.fromisoformat(f"2026-03-{after}Z"), 4)
    ]
    assert [f"{at:%d %H:%M}" for at in starts] == expected
    assert [league.next_start(at - timedelta(seconds=1)) for at in starts] == starts
    assert make_league(league.to_object()) == league


def test_league_when_its_start_has_no_offset_then_it_is_a_time_of_its_zone() -> None:
    league = winter(start="2026-07-01T20:00:00", zone="Europe/Berlin")
    assert league.start == datetime(2026, 7, 1, 18, tzinfo=UTC)
    with pytest.raises(SpecError, match=r"^start: 2026-07-01T20:00:00 has no zone"):
        winter(start="2026-07-01T20:00:00")
    with pytest.raises(SpecError, match=r"zone: must be a time zone, such as Europe/Berlin, not '\.\./x'"):
        winter(zone="../x")


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (START - WEEK, START),
        (START - timedelta(seconds=1), START),
        (START, START + WEEK),
        (START + timedelta(seconds=1), START + WEEK),
        (START + 3.5 * WEEK, START + 4 * WEEK),
        (START + 4 * WEEK, START + 5 * WEEK),
    ],
)
def test_next_start_is_the_first_time_of_the_schedule_after_another(
    after: datetime, expected: datetime
) -> None:
    assert winter().next_start(after) == expected
