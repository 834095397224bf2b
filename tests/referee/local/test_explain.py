"""Tests for what decisions cost, by playouts: which is better, by how much, and without bias."""

from itertools import count

import pytest

from referee.bot import Play, Turn
from referee.local.rewind import Replayed, compared, priced
from tests.referee.local.test_session import play, records_of


def test_compared_when_worlds_are_alike_then_one_half_chooses_and_the_other_measures() -> None:
    values = {1: [9, 0, 9, 0], 2: [1, 5, 1, 7], 0: [0, 4, 0, 4]}
    best, sums = compared(values, 0)
    assert best == 1  # by the first and the third world
    assert (sums.count, sums.mean) == (2, -4.0)


def test_compared_when_nothing_is_better_then_it_is_what_was_played() -> None:
    assert compared({1: [3, 3], 2: [3, 3]}, 2)[0] == 2


def passes(turn: Turn) -> Play | None:
    return None if turn.can_pass else turn.legal[0]


def lowest(turn: Turn) -> Play | None:
    return turn.legal[0] if turn.legal else None


@pytest.mark.parametrize("ruleset", ["chinese-2", "only-a-game-bombs", "choi-dai-di-3"])
def test_explain_when_a_deal_is_priced_then_the_clear_ones_come_first_and_the_time_is_shared(
    ruleset: str,
) -> None:
    [record] = records_of(ruleset, play(ruleset, passes, lowest))
    clock = map(float, count()).__next__
    told: list[tuple[int, int]] = []
    found = priced(Replayed(record, 0), 600.0, clock, lambda done, total: told.append((done, total)))
    assert told == [(number, len(found)) for number in range(1, len(found) + 1)]
    clear = [one for one in found if one.is_clear]
    assert found[: len(clear)] == clear
    assert [one.cost for one in clear] == sorted((one.cost for one in clear), reverse=True)
    assert all(one.better != one.played for one in clear)
    assert min(one.worlds for one in found) >= 8


def test_explain_when_a_bot_passes_though_it_could_play_then_that_is_what_it_cost() -> None:
    [record] = records_of("chinese-2", play("chinese-2", passes, lowest))
    found = priced(Replayed(record, 0), 600.0, map(float, count()).__next__, lambda _done, _total: None)
    assert found[0].is_clear
    assert (found[0].played, found[0].better != "-") == ("-", True)
