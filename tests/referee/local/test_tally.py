"""Tests for adding up sessions, and for what is said about the sums."""

import json
from dataclasses import replace
from itertools import islice

import pytest

from referee.bot import Play, Turn
from referee.local.field import Block, field_blocks
from referee.local.report import compared, sentence
from referee.local.sequential import SequentialTest, Sums, student
from referee.local.tally import Assembly, Failure, Fault, Played, Tally, Times
from referee.local.versus import Versus
from referee.matches.match import SessionResult, SessionSpec
from tests.referee.local.test_session import play


def sums_of(*values: float) -> Sums:
    sums = Sums()
    for value in values:
        sums = sums.add(value)
    return sums


def played(number: int, *points: int, **more: list[object]) -> Played:
    result = SessionResult(number, points, None, ("{}",), (0,) * len(points))
    return Played(result, [[0.001]] * len(points), **more)  # type: ignore[arg-type]


def test_tally_when_a_block_is_added_then_its_value_is_the_mean_over_the_seats() -> None:
    tally = Tally(2, 1.0)
    block = Block(0, (SessionSpec(1, (0, 1), b""), SessionSpec(2, (1, 0), b"")))
    assert tally.add(block, [played(1, 10, -10), played(2, 4, -4)]) == {0: 3.0, 1: -3.0}
    assert tally.against[1].mean == 6.0
    assert [one.points.mean for one in tally.standings] == [3.0, -3.0]
    assert tally.standings[0].places == {1: 1, 2: 1}


def test_tally_when_bots_sit_twice_then_all_their_seats_count() -> None:
    tally = Tally(2, 1.0)
    tally.add(Block(0, (SessionSpec(1, (0, 1, 1, 0), b""),)), [played(1, 9, -3, -5, -1)])
    assert tally.against[1].mean == (9 - 1) / 2 - (-3 - 5) / 2
    assert [one.seats for one in tally.standings] == [2, 2]
    assert tally.standings[1].places == {3: 1, 4: 1}


def test_tally_when_a_session_has_several_deals_then_each_deal_counts() -> None:
    tally = Tally(2, 1.0, per_session=3)
    block = Block(0, (SessionSpec(1, (0, 1), b""), SessionSpec(2, (1, 0), b"")))
    records = tuple(f'{{"points": {points}}}' for points in ([4, -4], [-1, 1], [3, -3]))
    whole = Played(SessionResult(1, (6, -6), None, records, (0, 0)), [[], []])
    cut_short = Played(SessionResult(2, (-1, 1), None, ('{"points": [-1, 1]}',), (0, 0)), [[], []])
    assert tally.add(block, [whole, cut_short]) == {0: 1.5, 1: -1.5}
    assert [one.places for one in tally.standings] == [{1: 3, 2: 1}, {1: 1, 2: 3}]
    assert (tally.deals, tally.played, tally.standings[0].seats) == (3, 4, 4)
    told = compared(("a", "b"), tally.against, tally.per_session)
    assert [(one.deals, one.sentence) for one in told] == [
        (3, "too few deals to compare a with b: 3, and it takes 30 at least")
    ]


def test_tally_when_bots_do_not_meet_then_nothing_is_compared() -> None:
    tally = Tally(3, 1.0)
    tally.add(Block(0, (SessionSpec(1, (1, 2), b""),)), [played(1, 5, -5)])
    assert [one.count for one in tally.against] == [0, 0, 0]


def test_tally_when_things_go_wrong_then_they_are_those_of_the_bot_in_the_seat() -> None:
    tally = Tally(2, 0.0005)
    lines = ("ZeroDivisionError",)
    failures = [Failure(1, text, lines, text[:1]) for text in ("first", "failed again", "other")]
    faults = [
        Fault(0, "illegal", "deal 1: seat 3 has it", "seat 3 has it"),
        Fault(0, "illegal", "deal 2: seat 2 has it", "seat 2 has it"),
        Fault(0, "timeout", "deal 3: late", "late"),
    ]
    one = played(1, 0, 0, faults=[*faults], failures=[*failures])
    one.result = replace(one.result, forfeits=(0,))
    tally.add(Block(0, (SessionSpec(1, (1, 0), b""),)), [one])
    mine, theirs = tally.standings
    assert mine.failures == {"f": 2, "o": 1}
    assert [failure.text for failure in mine.first_failures.values()] == ["first", "other"]
    assert (theirs.faults, theirs.forfeits) == ({"illegal": 2, "timeout": 1}, 1)
    assert list(theirs.first_faults.values()) == ["deal 1: seat 3 has it", "deal 3: late"]
    assert [*theirs.alike.values()] == [2, 1]
    assert mine.times.late == theirs.times.late == 1


def test_tally_when_a_block_is_not_whole_then_only_times_and_faults_count() -> None:
    tally = Tally(2, 1.0)
    tally.add_unfinished((0, 1), played(1, 5, -5, faults=[Fault(1, "illegal", "why", "why")]))
    assert (tally.deals, tally.played, tally.unfinished) == (0, 0, 1)
    assert (tally.standings[0].places, tally.standings[0].points.count) == ({}, 0)
    assert (tally.standings[1].faults, tally.standings[1].times.spent() is None) == ({"illegal": 1}, False)


def test_assembly_when_sessions_come_in_another_order_then_blocks_come_in_theirs() -> None:
    blocks = [*islice(field_blocks("a", [0, 1], 2), 3)]
    assembly = Assembly()
    for block in blocks:
        assembly.expect(block)
    sessions = [session for block in blocks for session in block.sessions]
    assert assembly.seating(sessions[2].number) == sessions[2].seating
    came = [
        [whole.number for whole, _ in assembly.add(played(session.number, 0, 0))]
        for session in [sessions[2], sessions[1], sessions[3], sessions[0], sessions[5], sessions[4]]
    ]
    assert came == [[], [], [], [0, 1], [], [2]]


def test_assembly_when_a_block_is_not_whole_then_its_sessions_are_left() -> None:
    [block] = islice(field_blocks("a", [0, 1], 2), 1)
    assembly = Assembly()
    assembly.expect(block)
    one = played(block.sessions[1].number, 0, 0)
    assert [*assembly.add(one)] == []
    assert [*assembly.left()] == [(block.sessions[1].seating, one)]


@pytest.mark.parametrize(
    ("share", "freedom", "table"),
    [(0.975, 9, 2.2622), (0.975, 30, 2.0423), (0.975, 1000, 1.9623), (0.995, 9, 3.2498), (0.995, 20, 2.8453)],
)
def test_student_when_it_is_asked_then_it_is_what_tables_have(
    share: float, freedom: int, table: float
) -> None:
    assert student(share, freedom) == pytest.approx(table, rel=0.002)


def test_plus_minus_when_there_are_more_comparisons_then_it_is_wider() -> None:
    sums = sums_of(*[1.0, -1.0] * 50)
    one, three = sums.plus_minus(), sums.plus_minus(3)
    assert one is not None
    assert three is not None
    assert one == pytest.approx(1.9842 * (100 / 99 / 100) ** 0.5, rel=0.001)
    assert three == pytest.approx(one * 2.4356 / 1.9842, rel=0.002)
    assert sums_of(1.0, 2.0).plus_minus() is None


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([1.0, 3.0] * 10, "a is better than b: +2.00 ± 0.48 points a deal"),
        ([-1.0, -3.0] * 10, "a is worse than b: -2.00 ± 0.48 points a deal"),
        (
            [-2.0, 3.0] * 10,
            "a and b cannot be told apart: +0.50 ± 1.20 points a deal; if that is the difference,",
        ),
        ([0.0] * 10, "a and b cannot be told apart: equal points in each of 10 deals"),
        ([-1.0, 1.0] * 10, "a and b cannot be told apart: +0.00 ± 0.48 points a deal"),
        ([1.0], "too few deals to compare a with b: 1, and it takes 10 at least"),
        ([], "cannot compare a with b: they met in no deal"),
    ],
)
def test_sentence_when_values_are_so_then_it_says_what_is_known(values: list[float], said: str) -> None:
    assert sentence("a", "b", sums_of(*values), 1).startswith(said)


def test_sentence_when_the_difference_is_small_then_it_says_how_many_deals_tell() -> None:
    found = sentence("a", "b", sums_of(*[-2.0, 3.0] * 10), 1)
    assert found.endswith("about 120 deals tell")  # 20 · (1.2006 / 0.5)² = 115.3


def test_times_when_there_are_many_then_quantiles_are_within_two_digits() -> None:
    times = Times(limit=0.15)
    times.add(number / 1000 for number in range(1, 201))
    spent = times.spent()
    assert spent is not None
    assert (spent.decisions, spent.median_ms, spent.longest_ms, spent.late) == (200, 100, 200, 50)
    assert spent.p99_ms == pytest.approx(198, rel=0.1)
    assert Times(1.0).spent() is None


@pytest.mark.parametrize("leaves", [RuntimeError, SystemExit])
def test_tally_when_a_bot_leaves_then_all_its_deals_count_as_they_stand(leaves: type[BaseException]) -> None:
    def leaver(turn: Turn) -> Play | None:
        if turn.deal > 1:
            raise leaves
        return turn.legal[-1] if turn.legal else None

    def stayer(turn: Turn) -> Play | None:
        return turn.legal[-1] if turn.legal else None

    result = play("chinese", leaver, stayer, stayer, stayer, deals=4)
    assert result.result.forfeits == (0,)
    points = [json.loads(record)["points"] for record in result.result.records]
    tally, versus = Tally(4, 1.0, per_session=4), Versus(SequentialTest())
    block = Block(0, (SessionSpec(1, (0, 1, 2, 3), b""),))
    values = tally.add(block, [result])
    versus.take(block, [result], values)
    assert values[0] == tally.standings[0].points.mean == sum(deal[0] for deal in points) / 4
    assert versus.sums.mean == sum(deal[0] - deal[1] for deal in points) / 4 < 0
    assert (tally.standings[0].seats, tally.standings[0].forfeits) == (4, 1)
