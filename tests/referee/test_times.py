"""The times of decisions in deal records."""

import json
from typing import Any

import pytest

from referee.deals.action import Stage
from referee.records.times import Times


def fields(times: Times, actions: int) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(f'{{"end":"out"{times.fields(actions)}}}')
    return read


def test_times_when_some_actions_were_forced_then_these_have_none() -> None:
    times = Times()
    times.note(0, 2, Stage.PLAY, 0.0124, 0.0)
    times.note(3, 1, Stage.BEAT_OWN, 1.0, 0.0)
    assert fields(times, 5) == {"end": "out", "ms": "12 - - 1000 -"}


def test_credit_when_some_decisions_had_one_then_it_stands_beside_all_that_were_asked() -> None:
    times = Times()
    times.note(0, 2, Stage.PLAY, 0.5, 0.04)
    times.note(2, 1, Stage.PLAY, 0.25, 0.0)
    assert fields(times, 3) == {"end": "out", "ms": "500 - 250", "credit_ms": "40 - 0"}


@pytest.mark.parametrize(("stage", "turn"), [(Stage.EXCHANGE, "exchange"), (Stage.BOMBS, "bomb")])
def test_times_when_a_decision_is_no_action_then_it_stands_apart(stage: Stage, turn: str) -> None:
    times = Times()
    times.note(0, 2, stage, 0.5, 0.04)
    times.note(0, 1, Stage.PLAY, 0.25, 0.0)
    answer = {"action": 0, "seat": 2, "turn": turn, "ms": 500, "credit_ms": 40}
    assert fields(times, 1) == {"end": "out", "ms": "250", "answers": [answer]}
