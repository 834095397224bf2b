"""Standings and crosstables."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.core.duplicate import PlayedSession
from arena.core.formats import FORMATS
from arena.core.ranking import (
    BY_SCORE,
    Criteria,
    MatchOutcome,
    Pair,
    Standing,
    Sums,
    match_scores,
    ranked,
    results_of,
)
from arena.queries.scoreboard import StandingLine, certainty


def standings(
    entrants: Sequence[int],
    outcomes: Sequence[MatchOutcome],
    byes: Sequence[int] = (),
    criteria: Criteria = BY_SCORE,
) -> list[Standing]:
    """Return the standings after these matches, at tables of the size of the first."""
    size = len(outcomes[0].points) if outcomes else 1
    return ranked(entrants, results_of(outcomes, byes), size, criteria)


@pytest.mark.parametrize(
    ("points", "scores"),
    [
        ({7: 0, 8: -3, 9: -10, 6: -25}, {7: 3, 8: 2, 9: 1, 6: 0}),
        ({1: -5, 2: -5, 3: 0}, {1: 0.5, 2: 0.5, 3: 2}),
        ({1: 4, 2: 4, 3: 4, 4: 4}, {1: 1.5, 2: 1.5, 3: 1.5, 4: 1.5}),
        ({1: 1, 2: -1}, {1: 1, 2: 0}),
    ],
)
def test_match_scores_of_a_table_share_ties(points: dict[int, int], scores: dict[int, float]) -> None:
    assert match_scores(points) == scores


@given(st.dictionaries(st.integers(), st.integers(-20, 20), min_size=2, max_size=8))
def test_match_scores_of_any_table_have_a_constant_sum(points: dict[int, int]) -> None:
    assert sum(match_scores(points).values()) == len(points) * (len(points) - 1) / 2


def test_standings_rank_by_score_then_points() -> None:
    outcomes = [MatchOutcome(1, 1, {1: 5, 2: 3, 3: -8}), MatchOutcome(2, 1, {1: 0, 2: 6, 3: -6})]
    lines = standings([1, 2, 3], outcomes)
    assert [(line.rank, line.entrant, line.score, line.points, line.wins) for line in lines] == [
        (1, 2, 3.0, 9, 1),
        (2, 1, 3.0, 5, 1),
        (3, 3, 0.0, -14, 0),
    ]


def test_standings_of_equal_score_and_points_go_by_wins_then_opponents() -> None:
    outcomes = [
        MatchOutcome(1, 1, {1: 4, 2: 0}),
        MatchOutcome(2, 1, {1: -4, 3: 2}),
        MatchOutcome(1, 2, {4: 0, 5: 0}),
        MatchOutcome(2, 2, {4: 0, 6: 0}),
        MatchOutcome(3, 1, {7: 0, 3: 0}),
        MatchOutcome(4, 1, {7: 0, 5: 0}),
    ]
    lines = standings(range(1, 8), outcomes)
    assert [line.entrant for line in lines] == [3, 1, 7, 5, 4, 6, 2]
    one, seven, five, four = (next(line for line in lines if line.entrant == who) for who in (1, 7, 5, 4))
    assert (one.score, one.points, one.wins) == (1, 0, 1)
    assert one.opponents == (0 + 1.5) / 2
    assert seven.opponents > five.opponents > four.opponents


def test_standings_give_a_bye_the_mean_score_and_no_points() -> None:
    outcomes = [MatchOutcome(1, 1, {1: 3, 2: 2, 3: 1, 4: 0})]
    lines = {line.entrant: line for line in standings([1, 2, 3, 4, 5], outcomes, [5])}
    assert lines[5].score == 1.5
    assert lines[5].points == 0
    assert [line.entrant for line in standings([1, 2, 3, 4, 5], outcomes, [5])] == [1, 2, 5, 3, 4]


def test_standings_share_a_rank_only_when_all_is_equal() -> None:
    lines = standings([4, 3, 2, 1], [MatchOutcome(1, 1, {1: 0, 2: 0, 3: 0, 4: -1})])
    assert [(line.rank, line.entrant) for line in lines] == [(1, 3), (1, 2), (1, 1), (4, 4)]


def test_standings_before_the_first_match_are_all_equal() -> None:
    lines = standings([3, 1, 2], [], [1])
    assert [(line.rank, line.entrant, line.score) for line in lines] == [(1, 3, 0), (1, 1, 0), (1, 2, 0)]


@given(st.lists(st.permutations(range(4)), min_size=1, max_size=6), st.randoms())
def test_standings_do_not_depend_on_the_order_of_the_matches(tables: list[list[int]], rng: object) -> None:
    outcomes = [MatchOutcome(n, 1, dict(enumerate(points))) for n, points in enumerate(tables, start=1)]
    assert standings(range(4), outcomes) == standings(range(4), outcomes[::-1])


def test_sums_of_pairs_count_who_had_more_points_in_each_deal() -> None:
    sums = Sums()
    deals = [{1: 0, 2: -3}, {1: -1, 2: -1}, {2: 5, 1: -5}, {1: 1, 3: 0}]
    for number, points in enumerate(deals, start=1):
        session = PlayedSession(1, [0, 1], [list(points.values())], None)
        sums.add_round(number, {1: points}, {1: [session]}, duplicate=False)
    assert sums.pairs == {(1, 2): Pair(3, 3, ahead=1, behind=1), (1, 3): Pair(1, 1, ahead=1, behind=0)}


OUTCOMES = [
    MatchOutcome(1, 1, {1: 9, 2: 5, 3: 0}),
    MatchOutcome(1, 2, {4: 9, 5: 5, 6: 0}),
    MatchOutcome(2, 1, {1: 0, 4: 2, 2: 1}),
    MatchOutcome(2, 2, {3: 9, 5: 8, 6: 0}),
]


def test_standings_of_a_swiss_go_by_the_opponents_scores_before_points() -> None:
    lines = standings(range(1, 7), OUTCOMES, (), FORMATS["swiss"].criteria)
    assert [line.entrant for line in lines] == [4, 1, 2, 3, 5, 6]
    assert [line.score for line in lines] == [4, 2, 2, 2, 2, 0]
    one, five = lines[1], lines[4]
    assert (one.opponents, one.opponents_cut) == ((2 + 2 + 2 + 4) / 4, (2 + 2 + 4) / 3)
    assert (five.opponents, five.opponents_cut) == ((0 + 0 + 2 + 4) / 4, (0 + 2 + 4) / 3)
    assert five.points > one.points
    assert [line.entrant for line in standings(range(1, 7), OUTCOMES)] == [4, 5, 1, 3, 2, 6]


def test_standings_of_a_gauntlet_go_by_the_mean_of_the_matches_played() -> None:
    outcomes = [MatchOutcome(1, 1, {1: 3, 2: 2, 3: 1}), MatchOutcome(2, 1, {1: 3, 4: 2, 2: 1})]
    lines = standings(range(1, 5), outcomes, [3, 4, 4, 4], FORMATS["gauntlet"].criteria)
    assert [(line.entrant, line.mean, line.matches) for line in lines] == [
        (1, 2.0, 2),
        (4, 1.0, 1),
        (2, 0.5, 2),
        (3, 0.0, 1),
    ]
    assert lines[1].score == 1.0


@pytest.mark.parametrize("format", ["gauntlet", "continuous"])
def test_standings_when_some_play_more_then_opponents_count_by_their_score_per_match(format: str) -> None:
    outcomes = [
        MatchOutcome(1, 1, {1: 2, 2: 1}),  # bot 2 plays and loses often, and wins three matches
        *[MatchOutcome(number, 1, {2: 1, 5: 0 if number < 5 else 2}) for number in range(2, 12)],
        MatchOutcome(12, 1, {3: 2, 4: 1}),  # bot 4 plays twice, and wins once
        MatchOutcome(13, 1, {4: 1, 5: 0}),
    ]
    lines = {line.entrant: line for line in standings(range(1, 6), outcomes, (), FORMATS[format].criteria)}
    assert (lines[1].opponents, lines[3].opponents) == (3 / 11, 1 / 2)
    assert (lines[4].opponents, lines[4].opponents_cut) == (9 / 11, 1)
    assert (lines[1].mean, lines[3].mean) == (1, 1)
    assert lines[3].rank < lines[1].rank


def test_standings_of_a_knockout_go_by_the_round_reached_then_by_the_last_match() -> None:
    outcomes = [
        MatchOutcome(2, 1, {1: 5, 2: 4, 5: 3, 4: 0}),
        MatchOutcome(1, 1, {2: 5, 4: 4, 6: 3, 7: 0}),
        MatchOutcome(1, 2, {3: 4, 5: 5, 1: 6, 8: 9}),
    ]
    lines = standings(range(1, 9), outcomes, [], FORMATS["knockout"].criteria)
    assert [line.entrant for line in lines[:4]] == [1, 2, 5, 4]
    assert {line.reached for line in lines[4:]} == {1}
    assert [line.last for line in lines[4:]] == [3, 1, 0, 0]


@pytest.mark.parametrize("format", sorted(FORMATS))
def test_standings_of_every_format_are_in_the_order_of_what_decides(format: str) -> None:
    criteria = FORMATS[format].criteria
    lines = standings(range(1, 7), OUTCOMES, [6], criteria)
    keys = [[getattr(line, name) for name in criteria.decisive] for line in lines]
    assert keys == sorted(keys, reverse=True)
    assert sorted(line.entrant for line in lines) == [*range(1, 7)]


def _placed(bot: str, points: float, plus_minus: float | None, deals: int = 100) -> StandingLine:
    rest: dict[str, Any] = dict.fromkeys((field.name for field in fields(StandingLine)), 0)
    rest |= {"bot": bot, "points": points, "plus_minus": plus_minus, "deals": deals}
    return StandingLine(**rest)


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        (
            (80, 30.0),
            (30, 40.0),
            "The lead over b, the second, is 0.50 ± 0.50 points a deal: with other cards",
        ),
        ((81, 30.0), (30, 40.0), "The lead over b, the second, is 0.51 ± 0.50 points a deal: more than"),
        (
            (30, 40.0),
            (81, 30.0),
            "b, the second, made 0.51 ± 0.50 points a deal more, which is not what decides here",
        ),
        (
            (160, 60.0, 200),
            (30, 40.0),
            "The lead over b, the second, is 0.50 ± 0.50 points a deal: with other",
        ),
        (
            (42, 30.0),
            (30, 40.0),
            "might have been the other way round. About 1,700 more deals of each would tell.",
        ),
        (
            (30, 30.0),
            (30, 40.0),
            "is 0.00 ± 0.50 points a deal: with other cards it might have been the other way",
        ),
        ((30, None), (30, 40.0), None),
    ],
)
def test_certainty_when_a_tournament_is_won_then_it_is_the_lead_beside_the_luck_of_the_cards(
    first: tuple[float, float], second: tuple[float, float], told: str | None
) -> None:
    said = certainty(_placed("a", *first), _placed("b", *second))
    assert (said is None) if told is None else (said is not None and told in said)
