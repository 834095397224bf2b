"""Tests for the times of decisions in deal records."""

import json
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from referee.cli.botlog import print_deals, print_deals_whole
from referee.deals.action import Stage
from referee.matches.journal import BotDeal
from referee.records.record import Times, decisions
from referee.testing import play_deal


def fields(times: Times, actions: int) -> dict[str, Any]:
    written = times.fields(actions)
    read: dict[str, Any] = {"end": "out"} | {name: json.loads(text) for name, text in written.items()}
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


def test_decisions_when_a_record_has_times_then_each_has_its_seat_and_credit() -> None:
    answer = {"action": 0, "seat": 3, "turn": "exchange", "ms": 7, "credit_ms": 1}
    record = {"actions": ["2:3D", "3:-", "0!4D 4H 4S 4C 5D"], "ms": "500 - 250", "credit_ms": "40 - 0"}
    assert [*decisions(record | {"answers": [answer]})] == [(2, 500, 40), (0, 250, 0), (3, 7, 1)]
    assert [*decisions({"actions": ["2:3D", "3:-"], "ms": "5 6"})] == [(2, 5, 0), (3, 6, 0)]
    assert [*decisions({"actions": ["2:3D"]})] == []


@pytest.mark.parametrize("show", [print_deals, print_deals_whole])
def test_games_when_a_record_has_times_then_they_tell_where_the_bots_own_went(
    show: Callable[[Sequence[BotDeal]], None], capsys: pytest.CaptureFixture[str]
) -> None:
    record = play_deal(ruleset="chinese-2").record
    times = {"ms": " ".join(["1203", "7"] * (len(record["actions"]) // 2 + 1)), "credit_ms": "41 0"}
    own = int(record["actions"][0][0])
    show([BotDeal("ann/bot@1", "cup/1/1/1", own, datetime.now(UTC), record | times)])
    told = capsys.readouterr().out
    assert {"1203", "41"} <= {*re.findall(r"\d+", told)}
    show([BotDeal("ann/bot@1", "cup/1/1/1", own, datetime.now(UTC), record)])
    assert "1203" not in capsys.readouterr().out
