"""Tests for comparing what a bot says that it can play with rulesets."""

from typing import Any

import pytest

from referee.protocol.capabilities import bounds, lacks, turn_kinds
from referee.ruleset import load_ruleset
from referee.v1 import bots_pb2, cards_pb2

PLAYS = [bots_pb2.TURN_KIND_PLAY]
EXCHANGING = {"extends": "chinese-3", "name": "exchanging", "version": 1, "exchange": "loser_to_winner"}

ABLE = {
    "no bounds": ("gamesky", {}),
    "no kinds": ("indonesia", {"max_seats": 4}),
    "plays": (
        "chinese",
        {"turn_kinds": PLAYS, "max_seats": 4, "max_packs": 1, "max_card": cards_pb2.CARD_2S},
    ),
    "more than is asked": ("chinese-3", {"max_seats": 8, "max_packs": 2, "max_card": cards_pb2.CARD_15S}),
    "jokers": ("zheng-shangyou", {"max_card": cards_pb2.CARD_RJ}),
    "a kind that is not known here": ("chinese", {"turn_kinds": [*PLAYS, 99]}),
}

UNABLE = {
    "beating its own": ("indonesia", {"turn_kinds": PLAYS}, ["turns of the kind TURN_KIND_BEAT_OWN"]),
    "bombs": ("gamesky", {"turn_kinds": PLAYS}, ["turns of the kind TURN_KIND_BOMB"]),
    "an exchange": (EXCHANGING, {"turn_kinds": PLAYS}, ["turns of the kind TURN_KIND_EXCHANGE"]),
    "no plays": ("chinese", {"turn_kinds": [99]}, ["turns of the kind TURN_KIND_PLAY"]),
    "seats": ("chinese", {"max_seats": 3}, ["4 seats, and the bot supports at most 3"]),
    "no seats": ("chinese", {"max_seats": 0}, ["4 seats, and the bot supports at most 0"]),
    "packs": ("only-a-game-8", {"max_packs": 1}, ["2 packs, and the bot supports at most 1"]),
    "cards": (
        "lectio",
        {"max_card": cards_pb2.CARD_2S},
        ["cards up to CARD_15S, and the bot supports them up to CARD_2S"],
    ),
    "jokers": (
        "zheng-shangyou",
        {"max_card": cards_pb2.CARD_15S},
        ["cards up to CARD_RJ, and the bot supports them up to CARD_15S"],
    ),
    "three packs": ({"decks": 3}, {"max_packs": 2}, ["3 packs, and the bot supports at most 2"]),
    "several": (
        "only-a-game-8",
        {"max_seats": 4, "max_packs": 1},
        ["8 seats, and the bot supports at most 4", "2 packs, and the bot supports at most 1"],
    ),
}


@pytest.mark.parametrize(("ruleset", "fields"), ABLE.values(), ids=ABLE)
def test_lacks_when_the_capabilities_reach_then_it_is_empty(ruleset: Any, fields: dict[str, Any]) -> None:
    assert lacks(bots_pb2.Capabilities(**fields), load_ruleset(ruleset)) == ()


@pytest.mark.parametrize(("ruleset", "fields", "expected"), UNABLE.values(), ids=UNABLE)
def test_lacks_when_they_do_not_reach_then_it_says_what_for(
    ruleset: Any, fields: dict[str, Any], expected: list[str]
) -> None:
    assert list(lacks(bots_pb2.Capabilities(**fields), load_ruleset(ruleset))) == expected


@pytest.mark.parametrize(
    ("ruleset", "special"),
    [("chinese", set()), ("gamesky", {"BOMB"}), ("indonesia", {"BEAT_OWN"}), (EXCHANGING, {"EXCHANGE"})],
    ids=["chinese", "gamesky", "indonesia", "exchanging"],
)
def test_turn_kinds_when_a_ruleset_has_special_turns_then_they_are_among_them(
    ruleset: Any, special: set[str]
) -> None:
    kinds = {bots_pb2.TurnKind.Name(kind) for kind in turn_kinds(load_ruleset(ruleset))}
    assert kinds == {"TURN_KIND_PLAY", *(f"TURN_KIND_{name}" for name in special)}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, []),
        ({"max_seats": 3, "max_packs": 0}, ["at most 3 seats", "at most 0 packs"]),
        ({"max_card": cards_pb2.CARD_2S}, ["cards up to CARD_2S"]),
        ({"turn_kinds": [*PLAYS, 99]}, ["turns of the kinds TURN_KIND_PLAY"]),
        ({"turn_kinds": [99]}, ["turns of the kinds that are not known here"]),
    ],
)
def test_bounds_are_what_the_bot_says_in_words(fields: dict[str, Any], expected: list[str]) -> None:
    assert list(bounds(bots_pb2.Capabilities(**fields))) == expected
