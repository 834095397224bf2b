"""Tests of your bot: ``python -m unittest``."""

import unittest

from bot import choose

from referee.testing import play_deal, turn_from


class TestBot(unittest.TestCase):
    """What it does in single turns, and that it can play a deal."""

    def test_it_leads_with_as_many_cards_as_it_can(self) -> None:
        turn = turn_from("chinese; hand 3D 3C 4D 5C 6S 7H 9D")
        assert str(choose(turn)) == "3D 4D 5C 6S 7H"

    def test_it_passes_what_it_cannot_beat(self) -> None:
        turn = turn_from("chinese; hand 3D 4C; to beat 2S; counts 2 5 5 5")
        assert choose(turn) is None

    def test_it_plays_a_deal(self) -> None:
        played = play_deal(choose, "keeper", "greedy", "random", seed="7")
        assert len(played.points) == 4


if __name__ == "__main__":
    unittest.main()
