"""A sample of honest play, which must be found right; ``python -m tests.arena.honest`` plays much more."""

import pytest

from tests.arena.honest import sweep


@pytest.mark.parametrize("first", range(3))
def test_season_of_honest_play_is_found_right_with_the_logs_of_all_bots(first: int) -> None:
    wrong, seen = sweep(3, first)
    assert wrong == []
    assert seen["started"] >= 3
