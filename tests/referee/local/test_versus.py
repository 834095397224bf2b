"""Tests for whether one bot is better than another: what is known after some blocks, in figures and words."""

import pytest

from referee.local.field import Block
from referee.local.sequential import FEWEST, SequentialTest, Verdict
from referee.local.versus import Versus, finding, lines


def after(*leads: float, t1: float = 0.4) -> Versus:
    """Return what is known after blocks with these leads, or after those that decide the test."""
    versus = Versus(SequentialTest(t1=t1))
    for number, lead in enumerate(leads):
        if versus.take(Block(number, ()), [], {0: lead, 1: 0.0, 2: 9.0}):
            break
    return versus


@pytest.mark.parametrize(
    ("leads", "verdict", "said"),
    [
        ([2.0, 0.0] * 100, Verdict.BETTER, "new is better than old (alpha 0.05)"),
        ([-2.0, 0.0] * 100, Verdict.NOT_BETTER, "new is worse than old"),
        ([3.0, -3.0] * 100, Verdict.NOT_BETTER, "no difference shown: new is not better than old by "),
        (
            [0.0] * 100,
            Verdict.NOT_BETTER,
            "no difference: new made as many points as old in each of 64 deals",
        ),
        ([2.0, 0.0], Verdict.OPEN, "not known yet: new makes 1.00 points more per deal so far"),
        ([-2.0, 0.0], Verdict.OPEN, "not known yet: new makes 1.00 points fewer per deal so far"),
        ([], Verdict.OPEN, "not known: no deal was played by both"),
    ],
)
def test_finding_when_blocks_are_so_then_it_says_what_is_known(
    leads: list[float], verdict: Verdict, said: str
) -> None:
    found = finding(after(*leads), "new", "old")
    assert found.verdict is verdict
    assert found.sentence.startswith(said)
    assert lines(found, "new", "old")[-1] == found.sentence
    assert (found.deals_to_go == 0) == (verdict is not Verdict.OPEN)


def test_versus_when_the_test_knows_then_no_more_is_asked_for() -> None:
    versus = after(*[2.0, 0.0] * 100)
    assert FEWEST <= versus.sums.count < 200


def test_lines_when_it_is_open_then_they_tell_intervals_bounds_and_how_long_it_may_take() -> None:
    told = lines(finding(after(*[3.0, -2.0] * 35, t1=0.1), "new", "old"), "new", "old")
    assert told[0] == "new makes 0.50 points more per deal than old, with the same cards"
    assert told[1].startswith("  95 % interval that holds while one watches: -")
    assert told[2] == "  95 % interval for one look, planned before: -0.09 to +1.09"
    assert told[3].startswith("log-likelihood ratio +0.")
    assert told[4].startswith("expected to go: about ")


@pytest.mark.parametrize(
    ("sign", "side", "verdict"), [(1, "above", Verdict.BETTER), (-1, "below", Verdict.NOT_BETTER)]
)
def test_lines_when_the_interval_knows_before_the_ratio_does_then_they_say_so(
    sign: int, side: str, verdict: Verdict
) -> None:
    found = finding(after(*[3.0 * sign, 4.0 * sign] * 50, t1=0.1), "new", "old")
    assert (found.verdict, found.by_interval) == (verdict, True)
    said = f"all of the interval that holds while one watches is {side} 0: "
    told = lines(found, "new", "old")
    assert f"{said}that ended the test before the ratio could" in told
    more = "more" if sign > 0 else "fewer"
    assert told[0] == f"new makes 3.50 points {more} per deal than old, with the same cards"
    assert not finding(after(*[2.0, 0.0] * 100), "new", "old").by_interval
