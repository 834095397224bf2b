"""Duplicate deals: the same cards at all tables, fixed seats, scores relative to the same seat elsewhere."""

import json
from collections import defaultdict
from collections.abc import Generator, Iterator, Mapping, Sequence
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlmodel import col, select

from arena.core.duplicate import (
    PlayedSession,
    all_beside,
    deal_scores,
    scores,
    scores_at,
    session_deals,
)
from arena.core.elo import apply_match, match_weight
from arena.errors import SpecError
from arena.queries import scoreboard
from arena.queries.matches import MatchLine, MatchQuery, Result, find_matches
from arena.queries.sessions import played_match
from arena.queries.tournaments import round_tables
from arena.results.ratings.rebuild import mend, rebuild
from arena.store.models import Seat
from arena.trust.exports.write import export_records
from referee.errors import RefereeUnavailable
from referee.matches.match import MatchSpec, Progress, SessionResult
from referee.ruleset import load_ruleset
from tests.arena.exported import check, lines_of, play_by_table
from tests.arena.fakes import ROOT, play_at_once
from tests.arena.world import World

sessions = st.lists(
    st.lists(st.tuples(*[st.integers(-99, 99)] * 3), min_size=1, max_size=3), min_size=2, max_size=2
)


def tables_of(
    tables: Sequence[Mapping[int, Sequence[tuple[int, ...]]]],
    attempts: Sequence[list[int] | None] = (),
    forfeits: Mapping[int, Mapping[int, int]] | None = None,
    ended: Mapping[int, int] | None = None,
) -> list[list[PlayedSession]]:
    """Return the sessions of these tables, given by number.

    ``attempts`` are by table, and so are ``forfeits``: by seat the first deal that its bot did not play.
    ``ended`` has by table the seat whose forfeit ended its sessions.
    """
    return [
        [
            PlayedSession(
                number,
                range(len(deals[0])),
                deals,
                attempts[at] if attempts else None,
                list((forfeits or {}).get(at, ())),
                (ended or {}).get(at),
                list((forfeits or {}).get(at, {}).values()),
            )
            for number, deals in sessions.items()
        ]
        for at, sessions in enumerate(tables)
    ]


def by_seat(tables: list[list[PlayedSession]]) -> list[list[tuple[float, ...]]]:
    """Return for each table the scores of its deals, by seat."""
    return [[deal.by_seat for deals in sessions for deal in deals] for sessions in deal_scores(tables)]


def test_scores_are_points_beside_the_mean_of_the_same_seat_elsewhere() -> None:
    tables = tables_of([{1: [(0, -6)]}, {1: [(-3, 0)]}, {1: [(-9, 0)]}])
    assert scores(tables) == [(6.0, -6.0), (1.5, 3.0), (-7.5, 3.0)]
    assert by_seat(tables) == [[(6.0, -6.0)], [(1.5, 3.0)], [(-7.5, 3.0)]]


def test_scores_of_a_single_table_are_its_points() -> None:
    assert scores(tables_of([{1: [(0, -6)], 2: [(-2, 0)]}])) == [(-2.0, -6.0)]


def test_scores_of_a_deal_that_no_other_table_reached_are_its_points() -> None:
    tables = tables_of([{1: [(0, -6), (0, -1)]}, {1: [(-4, 0)]}])
    assert scores(tables) == [(4.0, -7.0), (-4.0, 6.0)]


@pytest.mark.parametrize(
    ("attempts", "expected"),
    [
        ([None, None, None], [(6.0, -6.0), (1.5, 3.0), (-7.5, 3.0)]),
        ([None, None, [2]], [(3.0, -6.0), (-3.0, 6.0), (0.0, 0.0)]),
        ([[2], None, [2]], [(9.0, -6.0), (0.0, 0.0), (-9.0, 6.0)]),
        ([None, [2], [3]], [(0.0, 0.0)] * 3),
    ],
    ids=["never", "at one table", "at two tables", "at all but one"],
)
def test_scores_of_a_deal_that_was_dealt_again_are_beside_the_tables_with_the_same_cards(
    attempts: list[list[int] | None], expected: list[tuple[float, ...]]
) -> None:
    tables = tables_of([{1: [(0, -6)]}, {1: [(-3, 0)]}, {1: [(-9, 0)]}], attempts)
    assert scores(tables) == expected
    assert by_seat(tables) == [[score] for score in expected]


def test_scores_of_a_deal_dealt_again_that_no_other_table_reached_are_its_points() -> None:
    tables = tables_of([{1: [(0, -6), (0, -1)]}, {1: [(-4, 0)]}], [[1, 2], None])
    assert scores(tables) == [(4.0, -7.0), (-4.0, 6.0)]


NONE = (0.0, 0.0)

FORFEITED: dict[str, tuple[list[list[PlayedSession]], Any]] = {
    "an absent bot leaves the other tables alone, and its neighbours get nothing": (
        tables_of([{1: [(-3, 0)]}, {1: [(-5, 0)]}, {1: [(-39, 8)]}], forfeits={2: {0: 0}}),
        [[((2.0, 0.0), False)], [((-2.0, 0.0), False)], [((-35.0, 0.0), True)]],
    ),
    "a bot that leaves midway spoils its table from that deal on": (
        tables_of([{1: [(0, -6), (0, -6)]}, {1: [(-4, 0), (-9, 0)]}], forfeits={1: {0: 1}}),
        [[((4.0, -6.0), False), (NONE, True)], [((-4.0, 6.0), False), ((-9.0, 0.0), True)]],
    ),
    "each bot is charged from the deal that it forfeited": (
        tables_of([{1: [(0, -1), (0, -1)]}] * 2 + [{1: [(-9, -9)] * 2}], forfeits={2: {0: 0, 1: 1}}),
        [[(NONE, False)] * 2] * 2 + [[((-9.0, 0.0), True), ((-9.0, -8.0), True)]],
    ),
    "nobody gains by a forfeit": (
        tables_of([{1: [(-7, 0)]}, {1: [(-5, 0)]}, {1: [(0, -2)]}], forfeits={2: {0: 0}}),
        [[((-2.0, 0.0), False)], [((2.0, 0.0), False)], [(NONE, True)]],
    ),
    "the only clean table is fouled, and those who forfeited are compared with it": (
        tables_of([{1: [(-3, 0)]}, {1: [(-9, 4)]}, {1: [(4, -9)]}], forfeits={1: {0: 0}, 2: {1: 0}}),
        [[(NONE, True)], [((-6.0, 0.0), True)], [((0.0, -9.0), True)]],
    ),
    "without a clean table those who forfeited have their points": (
        tables_of(
            [{1: [(-9, 4)]}, {1: [(4, -9)]}, {1: [(4, -9)]}], forfeits={0: {0: 0}, 1: {1: 0}, 2: {0: 0}}
        ),
        [[((-9.0, 0.0), True)], [((0.0, -9.0), True)], [(NONE, True)]],
    ),
    "a clean table with other cards is none to compare with": (
        tables_of([{1: [(-3, 0)]}, {1: [(-2, 0)]}, {1: [(-9, 4)]}], [None, None, [2]], {2: {0: 0}}),
        [[((-1.0, 0.0), False)], [((1.0, 0.0), False)], [((-9.0, 0.0), True)]],
    ),
    "deals after a forfeit that ended the only other session are fouled": (
        tables_of([{1: [(0, -6), (0, -6)]}, {1: [(-13, 0)]}], forfeits={1: {0: 0}}, ended={1: 0}),
        [[(NONE, True)] * 2, [((-13.0, 0.0), True)]],
    ),
    "a single table counts as in other tournaments": (
        tables_of([{1: [(-39, 8)]}], forfeits={0: {0: 0}}),
        [[((-39.0, 8.0), False)]],
    ),
}


@pytest.mark.parametrize("case", FORFEITED)
def test_scores_when_bots_forfeit_then_only_clean_tables_are_compared(case: str) -> None:
    tables, expected = FORFEITED[case]
    assert [[deal for deals in sessions for deal in deals] for sessions in deal_scores(tables)] == expected
    sums = [tuple(map(sum, zip(*(scored for scored, _ in deals), strict=True))) for deals in expected]
    assert scores(tables) == sums
    assert [scores_at(sessions, all_beside(tables)) for sessions in tables] == deal_scores(tables)


@given(st.lists(sessions, min_size=2, max_size=5))
def test_scores_of_any_tables_are_the_exact_sums_of_their_deals(given: list[Any]) -> None:
    tables = [dict(enumerate(table, start=1)) for table in given]
    expected = []
    for table in tables:
        sums = [Fraction()] * 3
        for number, deals in table.items():
            for at, points in enumerate(deals):
                others = [
                    other[number][at] for other in tables if other is not table and at < len(other[number])
                ]
                for seat in range(3):
                    mean = Fraction(sum(one[seat] for one in others), len(others) or 1)
                    sums[seat] += points[seat] - mean
        expected.append(tuple(map(float, sums)))
    played = tables_of(tables)
    assert scores(played) == expected
    assert [scores_at(sessions, all_beside(played)) for sessions in played] == deal_scores(played)
    for table_scores, scored in zip(scores(played), by_seat(played), strict=True):
        assert table_scores == pytest.approx([sum(column) for column in zip(*scored, strict=True)])


def test_scores_of_the_same_deals_sum_to_zero_in_every_seat() -> None:
    rng = Random(3)
    tables = [{1: [tuple(rng.randrange(-50, 1) for _ in range(4)) for _ in range(9)]} for _ in range(7)]
    for column in zip(*scores(tables_of(tables)), strict=True):
        assert sum(column) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("preset", "deals", "expected"),
    [
        ("chinese", None, 1),
        ("chinese", 1, 1),
        ("choi-dai-di", None, None),
        ("choi-dai-di", 5, 5),
        ("hong-kong-relatives", None, None),
    ],
)
def test_session_is_one_deal_where_the_cards_of_a_seat_depend_on_play(
    preset: str, deals: int | None, expected: int | None
) -> None:
    assert session_deals(load_ruleset(preset), deals) == expected


@pytest.mark.parametrize(
    ("fields", "part"),
    [
        ({"dealer": "winner"}, "the winner of a deal deals the next"),
        ({"dealer": "loser"}, "the loser of a deal deals the next"),
        ({"dealer": "rotate", "exchange": "loser_to_winner"}, "cards are exchanged after a deal"),
    ],
)
def test_longer_session_whose_hands_would_differ_is_refused(fields: dict[str, str], part: str) -> None:
    ruleset = load_ruleset({"extends": "chinese-3", "name": "house", **fields})
    with pytest.raises(
        SpecError, match=f"deals: duplicate under house@1 needs sessions of 1 deal, as {part}"
    ):
        session_deals(ruleset, 2)


@pytest.fixture
def duplicate(world: World) -> World:
    """Play a duplicate tournament: two rounds of three tables, with four sessions of one deal each."""
    fields = {"format": "swiss", "rounds": 2, "sessions": 4, "deals": 1, "duplicate": True}
    world.finish(world.tournament(13, **fields).id, play_by_table)
    return world


def records(world: World) -> Iterator[dict[str, Any]]:
    return (json.loads(line) for line in export_records(world.storage, "cup"))


def test_duplicate_tournament_has_the_same_hands_at_all_tables_of_a_round(duplicate: World) -> None:
    hands: dict[tuple[int, int, int], set[str]] = {}
    for one in records(duplicate):
        place = one["round"], one["session"], one["deal"]
        hands.setdefault(place, set()).add(json.dumps([one["hands"], one["dealer"], one["leader"]]))
    assert {len(found) for found in hands.values()} == {1}
    assert len({next(iter(found)) for found in hands.values()}) == 8


def test_duplicate_tournament_keeps_everyone_in_its_seat_and_shows_nobody_a_deal_twice(
    duplicate: World,
) -> None:
    seen: dict[str, list[str]] = {}
    seats: dict[tuple[int, str], set[int]] = {}
    for one in records(duplicate):
        for seat, name in enumerate(one["seats"]):
            seen.setdefault(name, []).append(one["seed"])
            seats.setdefault((one["round"], name), set()).add(seat)
    assert all(len(set(seeds)) == len(seeds) for seeds in seen.values())
    assert {len(found) for found in seats.values()} == {1}


def test_duplicate_tournament_is_ranked_by_the_scores_with_raw_points_beside(duplicate: World) -> None:
    deals = list(records(duplicate))
    expected: dict[str, float] = {}
    raw: dict[str, int] = {}
    for one in deals:
        same = [
            other
            for other in deals
            if (other["round"], other["session"]) == (one["round"], one["session"]) and other is not one
        ]
        for seat, name in enumerate(one["seats"]):
            mean = sum(other["points"][seat] for other in same) / len(same)
            expected[name] = expected.get(name, 0) + one["points"][seat] - mean
            raw[name] = raw.get(name, 0) + one["points"][seat]
    lines = scoreboard.standings(duplicate.storage, "cup")
    assert len(lines) == 13
    for line in lines:
        assert line.points == pytest.approx(expected.get(line.bot, 0))
        assert line.raw == raw.get(line.bot, 0)
        assert line.deals == sum(line.bot in one["seats"] for one in deals)
    ranked = [line.score for line in lines]
    assert ranked == sorted(ranked, reverse=True)


def test_matches_of_a_duplicate_tournament_are_won_by_the_scores_once_the_round_is_over(
    world: World,
) -> None:
    status = world.tournament(12, format="swiss", rounds=1, sessions=4, deals=1, duplicate=True)
    world.advance(status.id)
    [*most, last] = world.messages
    for match in most:
        world.play(match, play_by_table)

    def found(**asked: Any) -> list[MatchLine]:
        return [*find_matches(world.storage, MatchQuery(tournament="cup", **asked), 100).matches]

    assert [(one.scores, one.places) for one in found()] == [(None, None)] * 2
    assert [found(bot=bot, result=result) for result in Result for bot in found()[0].bots] == [[]] * 8
    world.play(last, play_by_table)
    world.advance(status.id)
    deals = list(records(world))
    scores: dict[str, Fraction] = defaultdict(Fraction)
    for one in deals:
        beside = [other["points"] for other in deals if other["session"] == one["session"] and other != one]
        for seat, name in enumerate(one["seats"]):
            scores[name] += one["points"][seat] - Fraction(sum(own[seat] for own in beside), len(beside))
    lines = found()
    assert any(one.points.index(max(one.points)) != one.places.index(1) for one in lines if one.places)
    for line in lines:
        own = [scores[bot] for bot in line.bots]
        assert line.scores == pytest.approx([float(score) for score in own])
        assert line.places == tuple(1 + sum(other > score for other in own) for score in own)
        shown = played_match(world.storage, "cup", 1, line.table)
        [table] = round_tables(world.storage, "cup", 1, 1, line.table - 1).tables
        assert {(one.scores, one.places) for one in (line, shown, table)} == {(line.scores, line.places)}
        for bot, place in zip(line.bots, line.places, strict=True):
            won = [line] if place == 1 else []
            assert [found(bot=bot, result=one) for one in Result] == [won, [] if won else [line]]


def test_rebuild_when_what_a_seat_counts_was_changed_then_it_is_named_and_mended(duplicate: World) -> None:
    with duplicate.storage.write() as tx:
        seats = tx.exec(select(Seat).order_by(col(Seat.id))).all()
        before = [(seat.score, seat.place) for seat in seats]
        seats[5].place, seats[6].score = 9, None
    problem = rebuild(duplicate.storage).problem
    assert problem == "cup: what round 1, table 2 counts is wrong"
    mend(duplicate.storage, ROOT, duplicate.clock())
    with duplicate.storage.read() as tx:
        after = tx.exec(select(Seat).order_by(col(Seat.id))).all()
        assert [(seat.score, seat.place) for seat in after] == before
    assert rebuild(duplicate.storage).problem is None


def test_duplicate_tournament_rates_by_the_scores(duplicate: World) -> None:
    end = next(part for part in map(json.loads, lines_of(duplicate)) if part.get("part") == "round_end")
    for points, changes in zip(end["scores"], end["ratings"], strict=True):
        before = {place: change["before"] for place, change in enumerate(changes)}
        after = apply_match(before, dict(enumerate(points)), weight=match_weight(4, 1))
        assert [change["after"] for change in changes] == pytest.approx(list(after.values()))
    assert rebuild(duplicate.storage).problem is None


def test_duplicate_tournament_when_a_table_was_dealt_again_then_its_deals_are_fouled_and_all_is_verified(
    world: World,
) -> None:
    cup = world.tournament(8, rounds=1, sessions=2, deals=1, duplicate=True)
    world.advance(cup.id)

    def lost(route: int, spec: MatchSpec) -> Generator[SessionResult | Progress]:
        yield Progress(0, 2, ())
        raise RefereeUnavailable("gone")

    world.play(world.messages[0], lost)
    world.clock.move(1)
    world.finish(cup.id, play_by_table)
    assert sorted(one.get("attempt", 1) for one in records(world)) == [1, 1, 2, 2]
    lines = scoreboard.standings(world.storage, "cup")
    assert {line.points for line in lines} == {0}
    assert any(line.raw for line in lines)
    assert check(lines_of(world)).problem is None
    assert rebuild(world.storage).problem is None


def test_duplicate_tournament_is_verified(duplicate: World) -> None:
    report = check(lines_of(duplicate))
    assert (report.problem, report.deals) == (None, 24)


@pytest.mark.parametrize(
    ("entrants", "duplicate", "shared"), [(8, True, True), (8, False, False), (7, True, False)]
)
def test_match_shares_its_deals_in_duplicate_where_the_round_has_another_table(
    world: World, entrants: int, duplicate: bool, shared: bool
) -> None:
    cup = world.tournament(entrants, format="swiss", rounds=2, sessions=2, deals=1, duplicate=duplicate)
    told: list[tuple[int, int, bool]] = []

    def run(route: int, spec: MatchSpec) -> Generator[SessionResult | Progress]:
        told.append((spec.round, spec.table, spec.shared_deals))
        return play_at_once(route, spec)

    world.finish(cup.id, run)
    tables = range(1, entrants // 4 + 1)
    assert told == [(round, table, shared) for round in (1, 2) for table in tables]


def test_export_of_an_open_duplicate_round_leaves_its_deals_out(world: World) -> None:
    fields = {"format": "swiss", "rounds": 2, "sessions": 2, "deals": 1, "duplicate": True}
    cup = world.tournament(8, **fields)
    world.advance(cup.id)
    world.play(world.messages[0], play_by_table)
    assert list(records(world)) == []
    assert not any('"hands"' in line for line in lines_of(world))


def test_duplicate_tournament_of_longer_sessions_is_refused_where_hands_would_differ(world: World) -> None:
    with pytest.raises(SpecError, match="deals: duplicate under chinese@1 needs sessions of 1 deal"):
        world.tournament(8, deals=2, duplicate=True)


def test_duplicate_tournament_of_longer_sessions_has_the_same_hands_where_the_deal_rotates(
    world: World,
) -> None:
    fields = {"ruleset": "choi-dai-di", "rounds": 1, "sessions": 2, "deals": 4, "duplicate": True}
    world.finish(world.tournament(8, **fields).id, play_by_table)
    hands: dict[tuple[int, int], set[str]] = {}
    for one in records(world):
        hands.setdefault((one["session"], one["deal"]), set()).add(json.dumps(one["hands"]))
    assert [len(found) for found in hands.values()] == [1] * 8
    assert check(lines_of(world)).problem is None
