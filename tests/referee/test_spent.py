"""Tests for the words that say where the time of turns went."""

from referee.bot.evidence import Spent
from referee.v1 import bots_pb2


def turn(decision_ms: int, credit_ms: int = 0) -> bots_pb2.Turn:
    return bots_pb2.Turn(decision_ms=decision_ms, credit_ms=credit_ms)


def test_spent_when_there_was_no_turn_then_there_is_nothing_to_tell() -> None:
    assert str(Spent()) == ""


def test_spent_when_turns_were_answered_in_time_then_the_least_time_left_is_told() -> None:
    spent = Spent()
    for _ in range(99):
        spent.add(turn(1000, 3), 10.0, 10.001, 10.003)
    spent.add(turn(1000, 7), 10.0, 10.05, 10.35)
    assert str(spent) == (
        "100 turns, thought about for 2.0 ms (99 of 100 within 300 ms), waiting for that up to 50 ms, with "
        "at least 650 ms to spare; up to 7 ms credited for the network"
    )


def test_spent_when_a_turn_was_late_then_that_is_told() -> None:
    spent = Spent()
    spent.add(turn(100), 10.0, 10.0, 10.25)
    assert "late by 150 ms" in str(spent)
    assert str(spent).startswith("1 turn, ")
