"""Tests for cards as numbers on the wire."""

import pytest

from referee.errors import CardError
from referee.protocol.numbers import card_numbers
from referee.rules.plays import Rules, compile_ruleset
from referee.ruleset import load_ruleset
from referee.v1 import cards_pb2


def rules(name: str) -> Rules:
    return compile_ruleset(load_ruleset(name))


@pytest.mark.parametrize("name", ["chinese", "pusoy-dos", "lectio", "only-a-game-8", "zheng-shangyou"])
def test_numbers_when_every_card_is_translated_then_it_is_the_enum_value_of_its_name(name: str) -> None:
    compiled = rules(name)
    tiles = {"10": "T", "11": "J", "12": "Q", "13": "K", "1": "A"}
    for index in set(compiled.pack):
        text = compiled.card_text(index)
        rank, suit = text[:-1], text[-1]
        value = cards_pb2.Card.Value(f"CARD_{tiles.get(rank, rank)}{suit}")
        assert card_numbers(compiled).number(index) == value
        assert card_numbers(compiled).numbers(compiled.mask([index])) == [value]
        assert card_numbers(compiled).mask([value]) == compiled.mask([index])


def test_numbers_when_two_packs_then_both_copies_have_the_same_number() -> None:
    translator = card_numbers(rules("only-a-game-8"))
    assert translator.numbers(translator.mask([7, 7, 3])) == [3, 7, 7]
    with pytest.raises(CardError, match="card 7 is named more often than the pack has it"):
        translator.mask([7, 7, 7])


@pytest.mark.parametrize("number", [0, 53, 61, -1, 1000])
def test_mask_when_a_number_is_no_card_here_then_it_is_refused(number: int) -> None:
    with pytest.raises(CardError, match=f"card {number} is not in this ruleset's pack"):
        card_numbers(rules("chinese")).mask([number])


def test_mask_when_four_packs_then_a_card_is_named_four_times_at_most() -> None:
    compiled = compile_ruleset(load_ruleset({"decks": 4, "jokers": 1}))
    translator = card_numbers(compiled)
    assert translator.mask([62] * 4 + [1] * 2) == compiled.parse("RJ RJ RJ RJ 3D 3D")
    with pytest.raises(CardError, match="card 62 is named more often than the pack has it"):
        translator.mask([62] * 5)
    with pytest.raises(CardError, match="card 61 is not in this ruleset's pack"):
        translator.mask([61])


def test_mask_when_a_card_is_there_twice_in_one_pack_then_it_is_refused() -> None:
    with pytest.raises(CardError, match="card 5 is named more often"):
        card_numbers(rules("chinese")).mask([5, 5])
