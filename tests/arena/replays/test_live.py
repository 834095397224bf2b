"""A watched deal shows the same steps as its record, except for what nobody may see."""

from typing import Any

import pytest

from arena.queries.replays.live import LiveDeal
from arena.queries.replays.make import make_replay
from arena.queries.replays.steps import Kind, Replay
from arena.queries.replays.table import ACTIONS, words_for
from referee.records.reading import read_record
from referee.records.record import parse_action
from tests.arena.replays.records import NAMES, Record, played

NOBODY = 99
"""A viewer who holds no cards."""


def watched(record: Record) -> tuple[Replay, list[Any]]:
    """Return a deal's replay, and the data of its steps as viewers received them."""
    read = read_record(record)
    replay = make_replay(record)
    rules = read.rules
    began = next(step for step in reversed(replay.steps) if step.trick == 0 and step.kind is not Kind.END)
    sizes = [len(hand) for hand in began.hands]
    live = LiveDeal(rules, read.seats, read.dealer, read.step, sizes)
    if read.exchange is not None:
        live.exchange(read.exchange.loser)
        live.exchange(read.exchange.winner)
    for text in read.actions:
        action = parse_action(rules, text)
        if action.cards:
            live.play(action.seat, action.cards, action.out_of_turn)
        else:
            live.passes(action.seat, len(text.partition("+")[2].split()))
    live.end(read.end, [rules.parse(hand) for hand in read.left], read.out, read.points)
    steps: Any = live.data()["steps"]
    return replay, steps


@pytest.mark.parametrize("name", NAMES)
def test_deal_when_it_is_watched_then_tricks_plays_and_words_are_those_of_its_replay(name: str) -> None:
    for record in played(name):
        replay, steps = watched(record)
        expected = [step for step in replay.steps if step.kind is not Kind.TAKE]
        assert [step["kind"] for step in steps] == [step.kind.value for step in expected]
        hands = [""] * len(replay.seats)
        for shown, step in zip(steps, expected, strict=True):
            assert shown.get("trick", 0) == step.trick
            assert shown.get("out", []) == list(step.out)
            for seat, hand in shown.get("hands", {}).items():
                hands[int(seat)] = hand
            if step.kind in ACTIONS:
                assert [len(hand.split()) for hand in hands] == [len(hand) for hand in step.hands]
                text = "".join(part for part in words_for(step, NOBODY) if isinstance(part, str))
                said = "".join(part for part in shown["words"] if isinstance(part, str))
                assert said == text.replace(" cannot beat it, and", "")
                assert shown.get("cards", "") == " ".join(step.cards)
        assert steps[-1]["points"] == record["points"]
        assert hands == [" ".join(hand) for hand in replay.steps[-1].hands]


@pytest.mark.parametrize("name", NAMES)
def test_deal_when_it_is_watched_then_no_hand_is_known_before_it_is_over(name: str) -> None:
    _, steps = watched(played(name)[0])
    for step in steps[:-1]:
        assert set(" ".join(step.get("hands", {}).values()).split()) <= {"?"}


@pytest.mark.parametrize("name", NAMES)
def test_turn_when_a_deal_is_watched_then_it_is_who_the_rules_ask(name: str) -> None:
    for record in played(name):
        replay, steps = watched(record)
        expected = [step for step in replay.steps if step.kind is not Kind.TAKE]
        for shown, step in zip(steps[:-2], expected[:-2], strict=True):
            if step.kind in ACTIONS and len(step.asked) == 1:
                assert shown["asked"] == list(step.asked)
