"""The sandbox: what the given cards are, and what beats them, in agreement with the rules tools."""

import pytest

from arena.errors import SpecError
from arena.queries.replays.sandbox import Group, read_cards, try_cards
from referee.records.tools import compare
from referee.ruleset import load_ruleset
from tests.referee.deals import TELLING

PLAYS = (
    "3D",
    "8H",
    "9D 9C",
    "9D 9C 9H",
    "4D 5C 6H 7S 8D",
    "8D 8C 8H 4D 4S",
    "9D 9C 9H 9S 3C",
    "5H 6H 7H 8H 9H",
)


@pytest.mark.parametrize(
    "text", ["3D3C10H", "3d 3c th", " 3D, 3C,10H ", "3♦3♣10♥", "10H+3C+3D"], ids=str.strip
)
def test_cards_when_they_are_written_in_any_way_then_they_are_read(text: str) -> None:
    assert read_cards(load_ruleset("chinese"), "cards", text) == ("3D", "3C", "TH")


def test_cards_when_the_pack_has_jokers_then_they_are_read_and_are_the_highest() -> None:
    ruleset = load_ruleset({"jokers": 2, "removed_cards": ["3C", "3H"], "hand_size": 13})
    assert read_cards(ruleset, "cards", "rj 2S bj") == ("2S", "BJ", "RJ")
    assert try_cards(ruleset, ("BJ", "RJ"), ("2H", "2S")).put.name == "pair of jokers"
    with pytest.raises(SpecError, match="3C is not a card of this ruleset"):
        read_cards(ruleset, "cards", "3D3C")


def test_cards_when_ranks_are_numbers_then_a_ten_may_be_written_both_ways() -> None:
    lectio = load_ruleset("lectio")
    assert read_cards(lectio, "cards", "TD 1S 15C") == ("10D", "15C", "1S")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("3D XX", "'XX' is not a card; write them as 3D 3C 10H"),
        ("hello <b>", "'HELLO<B>' is not a card; write them as 3D 3C 10H"),
        ("3D" * 2, "3D is there more often than one pack has it"),
        ("14D", "14D is not a card of this ruleset"),
        ("3D3", "'3' is not a card; write them as 3D 3C 10H"),
        ("\x1b[2Jxxxxxxxxx", "'\\\\x1b[2JXXXX'… is not a card; write them as 3D 3C 10H"),
    ],
)
def test_cards_when_they_are_none_then_the_field_and_the_reason_are_named(text: str, reason: str) -> None:
    with pytest.raises(SpecError) as failed:
        read_cards(load_ruleset("chinese"), "against", text)
    assert (failed.value.field, failed.value.reason) == ("against", reason)


@pytest.mark.parametrize("name", TELLING)
def test_plays_when_they_are_put_then_their_examples_beat_and_are_beaten_as_the_rules_tools_say(
    name: str,
) -> None:
    ruleset = load_ruleset(name)

    def beats(a: tuple[str, ...], b: tuple[str, ...]) -> object:
        return compare({"ruleset": name, "a": " ".join(a), "b": " ".join(b)})["beats"]

    for text in PLAYS:
        put = try_cards(ruleset, read_cards(ruleset, "cards", text)).put
        if not put.name:
            continue
        for one in put.beaten_by:
            assert beats(one.lowest, put.cards)
            assert beats(one.highest, put.cards)
        for one in put.beats:
            assert beats(put.cards, one.lowest)
            assert beats(put.cards, one.highest)
        groups = (*put.beaten_by, *put.beats)
        assert all(0 < one.count <= one.of <= put.others for one in groups)
        assert not {*put.cards} & {card for one in groups for card in one.lowest} or ruleset.decks == 2


def test_single_card_when_it_is_put_then_its_place_and_the_cards_above_it_are_counted() -> None:
    chinese = load_ruleset("chinese")
    lowest, highest = (try_cards(chinese, (card,)).put for card in ("3D", "2S"))
    assert (lowest.name, lowest.kind, lowest.above, lowest.strengths) == (
        "single card",
        "a single card",
        51,
        52,
    )
    assert lowest.beaten_by == [Group("single card", 51, 51, ("3C",), ("2S",))]
    assert (lowest.beats, highest.above, highest.beaten_by) == ([], 0, [])


def test_cards_when_they_are_no_play_then_the_plays_that_they_hold_are_told() -> None:
    put = try_cards(load_ruleset("chinese"), ("3D", "3C", "4D")).put
    assert (put.name, put.beaten_by, put.beats) == ("", (), ())
    assert put.holds == [
        Group("single card", 3, 3, ("3D",), ("4D",)),
        Group("pair", 1, 1, ("3D", "3C"), ("3D", "3C")),
    ]


def test_run_of_pairs_when_it_is_put_then_all_that_the_other_cards_make_are_counted() -> None:
    bombs = load_ruleset("only-a-game-bombs")
    longest = tuple(rank + suit for rank in "3456789TJQKA2" for suit in "CD")
    put = try_cards(bombs, longest).put
    runs = [one for one in put.beats if one.name == "run of pairs"]
    # In two suits, thirteen ranks make a run of each length from each rank, and one of all.
    assert [one.count for one in runs] == [15 - length for length in range(2, 13)]
    others = try_cards(bombs, tuple(f"{rank}{suit}" for rank in "34" for suit in "CD")).put
    assert max(one.of for one in others.beaten_by) > 10**8


@pytest.mark.parametrize(
    ("name", "cards", "against", "beats", "beaten"),
    [
        ("chinese", "4D 4C", "3D 3S", True, False),
        ("chinese", "3D 3S", "4D 4C", False, True),
        ("chinese", "4D 4C", "3D", False, False),
        ("chinese", "9D 9C 9H 9S 3C", "2S", False, False),
        ("gamesky", "9D 9C 9H 9S 3C", "2S", True, False),
        ("chinese", "4D 5C", "3D", False, False),
    ],
)
def test_cards_when_they_are_put_against_others_then_it_is_said_which_beat_which(
    name: str, cards: str, against: str, beats: bool, beaten: bool
) -> None:
    tried = try_cards(load_ruleset(name), tuple(cards.split()), tuple(against.split()))
    assert tried.against is not None
    assert (tried.beats, tried.beaten) == (beats, beaten)
    assert tried.put.bomb is (name == "gamesky")
