"""Tests for the answers of the rules tools."""

from typing import Any

import pytest

from referee.errors import RefereeError, RulesetError
from referee.records.tools import RequestError, compare, legal

MUST = {"guard": "must"}
OWN = {"beat_own": True}


def answer(
    hand: str, table: str | None = None, ruleset: object = "chinese", **fields: object
) -> tuple[Any, Any]:
    result = legal({"ruleset": ruleset, "hand": hand, "table": table, **fields})
    return result["plays"], result["pass"]


# legal


@pytest.mark.parametrize(
    ("hand", "table", "plays", "may_pass"),
    [
        ("3D 3C 5H", None, ["3C", "3D", "5H", "3D 3C"], False),
        ("3C 3D 5H", "3H", ["5H"], True),
        ("3D 3C 5H", "4D 4C", [], True),
        ("TD JD QD KD AD 2S", "3D 4D 5D 6C 7D", ["TD JD QD KD AD"], True),
        ("", None, [], True),
        ("", "3D", [], True),
    ],
)
def test_legal_lists_leads_and_follows(
    hand: str, table: str | None, plays: list[str], may_pass: bool
) -> None:
    assert answer(hand, table) == (plays, may_pass)


def test_legal_sorts_by_number_of_cards_and_then_by_code_point() -> None:
    plays, _ = answer("TD TC 3D 3C 2S")
    assert plays == ["2S", "3C", "3D", "TC", "TD", "3D 3C", "TD TC"]


def test_legal_of_two_packs_lists_identical_plays_once() -> None:
    plays, _ = answer("3D 3D 4C", ruleset={"decks": 2})
    assert plays == ["3D", "4C", "3D 3D"]


def test_legal_lead_with_a_card_to_include() -> None:
    assert answer("3D 3C 5H", must_include="3D") == (["3D", "3D 3C"], False)
    assert answer("3D 3C 5H", must_include="3C")[0] == ["3C", "3D 3C"]


def test_legal_counts_bombs_among_the_plays_of_the_own_turn() -> None:
    plays, may_pass = answer("5D 5C 5H 5S 6D", "2S", "gamesky")
    assert (plays, may_pass) == (["5D 5C 5H 5S 6D"], True)


def test_legal_under_must_is_the_precaution() -> None:
    assert answer("5D 6D 7D", None, MUST, next_has_one=True) == (["7D"], False)
    assert answer("5D 5C 7D", None, MUST, next_has_one=True) == (["7D", "5D 5C"], False)
    assert answer("5D 6D 7D", "4D", MUST, next_has_one=True) == (["7D"], False)
    assert answer("5D 6D 7D", "8D", MUST, next_has_one=True) == ([], True)
    assert answer("5D 6D 7D", "4D", MUST, next_has_one=False)[0] == ["5D", "6D", "7D"]
    assert answer("5D 6D 7D", "4D", {"guard": "liable"}, next_has_one=True)[0] == ["5D", "6D", "7D"]


def test_legal_under_must_gives_way_to_the_card_to_include() -> None:
    assert answer("3D 5D 5C", None, MUST, next_has_one=True, must_include="3D") == (["3D"], False)
    assert answer("3D 3C 5C", None, MUST, next_has_one=True, must_include="3D") == (["3D 3C"], False)
    assert answer("3D 5D 5C", None, MUST, next_has_one=True, must_include="5C") == (["5C", "5D 5C"], False)


def test_legal_when_the_trick_is_the_own_is_a_lead_without_beat_own() -> None:
    assert answer("5D 6D", "9D", last_trick_player_is_self=True) == (["5D", "6D"], False)
    result = answer("5D 5C 7D", "9D", MUST, last_trick_player_is_self=True, next_has_one=True)
    assert result == (["7D", "5D 5C"], False)


def test_legal_when_the_trick_is_the_own_may_beat_it_with_beat_own() -> None:
    assert answer("5D TD", "9D", OWN, last_trick_player_is_self=True) == (["TD"], True)
    result = answer("5D TD JD", "9D", OWN | MUST, last_trick_player_is_self=True, next_has_one=True)
    assert result == (["JD", "TD"], True)


def test_legal_with_the_highest_card_alone() -> None:
    rules = {"last_top_card": "cannot_win"}
    assert answer("2S", None, rules) == ([], True)
    assert answer("2S", "2H", rules) == ([], True)
    assert answer("2S", "2H") == (["2S"], True)
    assert answer("3D 2S", "2H", rules) == (["2S"], True)
    assert answer("2H", "2D", rules) == (["2H"], True)
    assert answer("2H", "2D", rules | {"last_cards": "2"}) == ([], True)
    assert answer("2S", "2H", rules | MUST, next_has_one=True) == ([], True)
    assert answer("2S", "2H", {"last_top_card": "loses"}) == (["2S"], True)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"must_include": "3D", "table": "4D"}, "must_include: applies to a lead"),
        ({"must_include": "4D"}, "must_include: 4D is not in the hand"),
        ({"must_include": "3D 3C"}, "must_include: must be one card"),
        ({"must_include": ""}, "must_include: must be one card"),
        ({"must_include": 3}, "must_include: must be cards in text, not 3"),
        ({"hand": "3D 3D"}, "hand: 3D is there more often than one pack has it"),
        ({"hand": "3D 1X"}, "hand: '1X' is not a card"),
        ({"hand": None}, "hand: must be cards in text, not null"),
        ({"table": "3D 4D"}, "table: '3D 4D' is not a play under this ruleset"),
        ({"table": ""}, "table: '' is not a play under this ruleset"),
        ({"table": "4D 4D"}, "table: 4D is there more often than one pack has it"),
        (
            {
                "ruleset": "only-a-game-bombs",
                "hand": " ".join(rank + suit for rank in "3456789" for suit in "DCHS"),
            },
            "hand: must have at most 26 cards under this ruleset, not 28",
        ),
        ({"mustinclude": "3D"}, "mustinclude: unknown field; did you mean 'must_include'?"),
        ({"next_has_one": 1}, "next_has_one: must be true or false, not 1"),
        ({"last_trick_player_is_self": "no"}, "last_trick_player_is_self: must be true or false"),
    ],
)
def test_legal_refuses_what_cannot_be(fields: dict[str, object], reason: str) -> None:
    with pytest.raises(RequestError) as caught:
        legal({"ruleset": "chinese", "hand": "3D 3C 5H", **fields})
    assert str(caught.value).startswith(reason)


@pytest.mark.parametrize("request_", [None, 3, "x", [], {}, {"ruleset": "chinese"}, {"hand": "3D"}])
def test_legal_refuses_what_is_no_request(request_: object) -> None:
    with pytest.raises(RequestError):
        legal(request_)


@pytest.mark.parametrize("ruleset", [None, 3, [], "no-such", {"settel": "penalty"}, {"players": 9}])
def test_legal_refuses_what_is_no_ruleset(ruleset: object) -> None:
    with pytest.raises(RulesetError):
        legal({"ruleset": ruleset, "hand": "3D"})


# compare


@pytest.mark.parametrize(
    ("ruleset", "a", "b", "result"),
    [
        ("chinese", "9D 9S", "9H 9C", ("pair", "pair", True)),
        ("chinese", "9H 9C", "9D 9S", ("pair", "pair", False)),
        ("chinese", "9D 9S", "9D 9S", ("pair", "pair", False)),
        ("chinese", "3D", "4D 4C", ("single", "pair", False)),
        ("chinese", "3D 4D", "3D", (None, "single", False)),
        ("chinese", "3D", "", ("single", None, False)),
        ("gamesky", "5D 5C 5H 5S 6D", "2S", ("quads", "single", True)),
        ("gamesky", "3D 3C 3H 4D 4C", "3S 4S 5H 6D 7D", ("full_house", "straight", False)),
    ],
)
def test_compare_names_the_kinds_and_says_which_beats(
    ruleset: str, a: str, b: str, result: tuple[str | None, str | None, bool]
) -> None:
    answer = compare({"ruleset": ruleset, "a": a, "b": b})
    assert answer == dict(zip(("a", "b", "beats"), result, strict=True))


@pytest.mark.parametrize(
    "request_", [{"ruleset": "chinese", "a": "3D"}, {"ruleset": "chinese", "a": "3D", "b": "4D 4D"}, 7]
)
def test_compare_refuses_what_cannot_be(request_: object) -> None:
    with pytest.raises(RefereeError):
        compare(request_)
