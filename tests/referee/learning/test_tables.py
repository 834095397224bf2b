"""Tests that many tables at once play as single ones do."""

import numpy as np
import pytest

from referee import learning
from referee.errors import LearningError


def last_legal(seen: learning.Observations) -> list[int]:
    """Return for each table its strongest play, or the pass."""
    actions: list[int] = (np.diff(seen.starts) - 1).tolist()
    return actions


@pytest.mark.parametrize("ruleset", ["chinese", "gamesky", "only-a-game-8", "choi-dai-di-5"])
def test_tables_when_many_play_then_each_sees_what_it_would_see_alone(ruleset: str) -> None:
    tables = learning.Tables(5, ruleset, seed=2)
    ended = 0
    for _ in range(120):
        seen = tables.observe()
        for place in range(len(tables)):
            alone = tables.observe([place])
            rows = slice(seen.starts[place], seen.starts[place + 1])
            assert np.array_equal(alone.observation[0], seen.observation[place])
            assert np.array_equal(alone.plays, seen.plays[rows])
            assert np.array_equal(alone.legal, seen.legal[rows])
        ended += len(tables.step(last_legal(seen)).tables)
    assert ended > 5


def test_tables_when_the_seed_is_the_same_then_so_are_the_deals_and_points() -> None:
    first, second = (learning.Tables(6, "hong-kong", seed=9) for _ in range(2))
    for _ in range(60):
        seen, again = first.observe(), second.observe()
        assert np.array_equal(seen.observation, again.observation)
        assert np.array_equal(first.seats, second.seats)
        ended, also = first.step(last_legal(seen)), second.step(last_legal(again))
        assert np.array_equal(ended.tables, also.tables)
        assert np.array_equal(ended.points, also.points)


def test_step_when_one_action_is_not_legal_then_no_table_has_moved() -> None:
    tables = learning.Tables(3, "chinese", seed=1)
    before = tables.observe()
    with pytest.raises(LearningError, match="action: 500 is not legal here"):
        tables.step([*last_legal(before)[:2], 500])
    assert np.array_equal(tables.observe().observation, before.observation)


def test_tables_when_numbers_are_wrong_then_the_error_names_them() -> None:
    with pytest.raises(LearningError, match="n: must be 1 or more, not 0"):
        learning.Tables(0)
    with pytest.raises(LearningError, match="actions: there are 2 tables, not 1"):
        learning.Tables(2).step([0])
