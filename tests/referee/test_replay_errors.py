"""Tests for errors in records: the first one is named, at its action, and any JSON value gets an answer."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.records.replay import Replayer
from referee.records.tools import replay
from tests.examples import examples
from tests.referee.deals import rules_with
from tests.referee.test_replay import OK, Record, records_of

Answer = tuple[object, object]


def record() -> Record:
    (one,) = records_of(rules_with(), 1)
    return one


def answer(changed: Record) -> Answer:
    result = replay(Replayer(), changed)
    return result.get("action"), result.get("error")


def error_of(**changes: object) -> Answer:
    return answer(record() | changes)


def test_a_record_unchanged_is_right() -> None:
    assert replay(Replayer(), record()) == OK


# Actions


def with_action(index: int, text: str) -> Answer:
    changed = record()
    changed["actions"][index] = text
    return answer(changed)


def first_play() -> int:
    """Return the index of the first action with at least two cards."""
    return next(index for index, text in enumerate(record()["actions"]) if " " in text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0",
        "0:",
        "0: ",
        ":3D",
        "x:3D",
        "9:3D",
        "00:3D",
        "0;3D",
        "0!-",
        "0:-+3D",
        "0:- +",
        "0:XX",
        "0:3D\n",
    ],
)
def test_action_that_cannot_be_read_is_wrong_at_its_index(text: str) -> None:
    index, error = with_action(3, text)
    assert index == 3
    assert error


def test_action_of_another_seat_is_wrong() -> None:
    seat = record()["actions"][2][0]
    other = (int(seat) + 1) % 4
    assert with_action(2, f"{other}:-") == (2, f"seat {other} has no decision to make now")


def test_action_with_cards_in_another_order_is_wrong() -> None:
    index = first_play()
    text = record()["actions"][index]
    seat, cards = text.split(":")
    turned = f"{seat}:{' '.join(reversed(cards.split()))}"
    assert with_action(index, turned) == (index, f"action: is {turned!r}, should be {text!r}")


def test_action_with_cards_not_held_is_wrong() -> None:
    first = record()["actions"][0]
    other = record()["actions"][1]
    assert with_action(0, f"{first[0]}:{record()['hands'][int(other[0])].split()[0]}")[0] == 0


def test_action_that_draws_where_there_is_no_stock_is_wrong() -> None:
    index = next(index for index, text in enumerate(record()["actions"]) if text.endswith("-"))
    text = record()["actions"][index]
    assert with_action(index, f"{text} +3D") == (index, f"action: is '{text} +3D', should be {text!r}")


def test_bomb_where_there_is_no_window_is_wrong() -> None:
    text = record()["actions"][0]
    assert with_action(0, text.replace(":", "!")) == (0, "nothing may be bombed out of turn here")


def test_lead_without_the_card_to_include_is_wrong() -> None:
    seat = record()["leader"]
    card = record()["hands"][seat].split()[-1]
    index, error = with_action(0, f"{seat}:{card}")
    assert (index, error) == (0, f"{card} does not contain 3D, which this lead must")


def test_action_after_the_end_is_wrong() -> None:
    changed = record()
    changed["actions"].append("0:-")
    assert answer(changed) == (len(changed["actions"]) - 1, "the deal is over")


def test_too_few_actions_are_wrong_without_an_index() -> None:
    changed = record()
    changed["actions"].pop()
    assert answer(changed) == (None, "the actions stop before the deal is over")


def test_drawn_cards_that_are_not_the_stocks_are_wrong() -> None:
    (changed,) = records_of(rules_with(extends="hong-kong-relatives-3"), 1)
    index = next(index for index, text in enumerate(changed["actions"]) if "+" in text)
    seat = changed["actions"][index][0]
    changed["actions"][index] = f"{seat}:-"
    assert answer(changed)[0] == index


# Fields


@pytest.mark.parametrize("name", list(record()))
def test_record_that_lacks_a_field_is_wrong(name: str) -> None:
    changed = record()
    del changed[name]
    assert answer(changed) == (None, f"{name}: is missing")


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("format", "bigtwo-deal/2", "format: must be 'bigtwo-deal/1', not 'bigtwo-deal/2'"),
        ("ruleset", "chinese", "ruleset: must be a ruleset object, not 'chinese'"),
        ("ruleset", {"plays": 3}, "ruleset: plays: must be a list, not 3"),
        ("tournament", 3, "tournament: must be a text, not 3"),
        ("round", 0, "round: must be a whole number from 1 on, not 0"),
        ("table", True, "table: must be a whole number from 1 on, not true"),
        ("session", 1.0, "session: must be a whole number from 1 on, not 1.0"),
        ("deal", None, "deal: must be a whole number from 1 on, not null"),
        ("seats", ["a"], "seats: must be a list of 4 texts, not ['a']"),
        ("seed", "00", "seed: must be 64 hexadecimal digits, not '00'"),
        ("dealer", 4, "dealer: must be a whole number from 0 to 3, not 4"),
        ("direction", "left", "direction: must be clockwise or anticlockwise, not 'left'"),
        ("hands", "3D", "hands: must be a list of 4 texts, not '3D'"),
        ("leftover", None, "leftover: must be a text, not null"),
        ("leader", -1, "leader: must be a whole number from 0 to 3, not -1"),
        ("actions", [1], "actions: must be a list of texts, not [1]"),
        ("out", ["0"], "out: must be a list of whole numbers, not ['0']"),
        ("left", [], "left: must be a list of 4 texts, not []"),
        ("points", [0], "points: must be a list of 4 whole numbers, not [0]"),
        ("end", None, "end: must be a text, not null"),
        ("forfeit", "0", "forfeit: must be a whole number from 0 to 3, not '0'"),
        ("exchange", 3, "exchange: must be an object, not 3"),
        ("exchange", {}, "exchange.loser: is missing"),
        (
            "exchange",
            {"loser": 1, "winner": 1, "given": "2S", "returned": "3D"},
            "exchange: loser and winner are both seat 1",
        ),
        ("faults", {}, "faults: must be a list, not {}"),
        ("faults", [3], "faults[0]: must be an object, not 3"),
        ("faults", [{"action": -1}], "faults[0].action: must be a whole number from 0"),
        ("faults", [{"action": 0, "seat": 4}], "faults[0].seat: must be a whole number from 0 to 3, not 4"),
        ("faults", [{"action": 0, "seat": 1}], "faults[0].kind: is missing"),
        ("ms", [1], "ms: must be a text, not [1]"),
        ("ms", "1 2 soon", "ms: must be numbers of milliseconds and -, not '1 2 soon'"),
        ("ms", "1 -", "ms: must have one entry for each of the "),
        ("credit_ms", "40", "credit_ms: must have one entry for each of the "),
        ("answers", [{"action": 0, "seat": 1}], "answers[0].turn: is missing"),
        (
            "answers",
            [{"action": 999, "seat": 1, "turn": "bomb", "ms": 1, "credit_ms": 0}],
            "answers[0].action: must be a whole number from 0 to ",
        ),
    ],
)
def test_field_of_the_wrong_type_or_range_is_named(name: str, value: object, reason: str) -> None:
    action, error = error_of(**{name: value})
    assert action is None
    assert str(error).startswith(reason)


def first_pass(given: Record) -> tuple[int, int]:
    """Return the index of the first action that is a pass, the default action, and its seat."""
    return next((at, int(text[0])) for at, text in enumerate(given["actions"]) if text.endswith("-"))


def test_faults_with_more_fields_are_right() -> None:
    action, seat = first_pass(record())
    faults = [{"action": action, "seat": seat, "kind": "timeout", "ms": 5}]
    assert replay(Replayer(), record() | {"faults": faults}) == OK


@pytest.mark.parametrize(
    ("action", "seat", "error"),
    [
        ("first pass", 1, "faults: it is not the turn of seat"),
        ("first play", 0, "faults: the action is not the default one of seat"),
        ("end", 0, "faults: seat 0 has no action after it"),
    ],
)
def test_fault_where_the_referee_cannot_have_acted_is_named(action: str, seat: int, error: str) -> None:
    given = record()
    actions = given["actions"]
    passed, own = first_pass(given)
    places = {
        "first pass": (passed, (own + seat) % 4),
        "first play": next((at, int(text[0])) for at, text in enumerate(actions) if " " in text),
        "end": (len(actions), seat),
    }
    at, seat = places[action]
    found = replay(Replayer(), given | {"faults": [{"action": at, "seat": seat, "kind": "timeout"}]})
    assert str(found["error"]).startswith(error)


@pytest.mark.parametrize(
    ("name", "value"), [("end", "dragon"), ("leftover", "3D"), ("out", [0, 1]), ("out", [])]
)
def test_field_that_does_not_follow_is_wrong(name: str, value: object) -> None:
    action, error = error_of(**{name: value})
    assert action is None
    assert str(error).startswith(f"{name}: is ")


def test_hands_in_another_order_are_wrong() -> None:
    hands = record()["hands"]
    hands[2] = " ".join(reversed(hands[2].split()))
    action, error = error_of(hands=hands)
    assert action is None
    assert str(error).startswith("hands[2]: is ")


def test_the_first_error_is_the_one_reported() -> None:
    changed = record()
    changed["points"] = [9, 9, 9, 9]
    changed["actions"][4] = "0:XX"
    changed["actions"][6] = "0:XX"
    assert answer(changed)[0] == 4


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)


@given(json_values)
def test_any_json_value_gets_an_answer(value: Any) -> None:
    assert replay(Replayer(), value)["ok"] is False


@examples(300)
@given(st.sampled_from(sorted(record())), json_values)
def test_any_json_value_in_any_field_gets_an_answer(name: str, value: Any) -> None:
    assert isinstance(replay(Replayer(), record() | {name: value})["ok"], bool)


@given(
    st.integers(0, 40),
    st.text(max_size=12) | st.from_regex(r"[0-3][:!]([3-9TJQKA2][DCHS] ?){1,5}", fullmatch=True),
)
def test_any_text_as_an_action_gets_an_answer(index: int, text: str) -> None:
    changed = record()
    changed["actions"][index % len(changed["actions"])] = text
    result = replay(Replayer(), changed)
    assert result == OK or result["action"] is not None or result["error"]


# The ruleset of a record is resolved


def test_ruleset_without_a_field_is_wrong() -> None:
    changed = record()
    del changed["ruleset"]["suits"]
    assert answer(changed) == (None, "ruleset.suits: is missing; a record holds a resolved ruleset")


@pytest.mark.parametrize("ruleset", [{}, {"name": "chinese"}, {"extends": "chinese"}])
def test_ruleset_that_leaves_things_to_a_preset_is_wrong(ruleset: dict[str, object]) -> None:
    action, error = error_of(ruleset=ruleset)
    assert action is None
    assert "a record holds a resolved ruleset" in str(error)


def test_ruleset_with_the_name_of_a_ladder_is_wrong() -> None:
    changed = record()
    changed["ruleset"]["straights"] = "two_low"
    assert answer(changed) == (None, "ruleset.straights: must be written out in a record")


@pytest.mark.parametrize("field", ["exchange", "forfeit", "faults", "ms", "answers"])
def test_field_that_is_null_instead_of_absent_is_wrong(field: str) -> None:
    assert error_of(**{field: None}) == (None, f"{field}: must be omitted rather than null")
