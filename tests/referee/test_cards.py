"""Tests for cards as text, indices and masks."""

import pytest

from referee.cards import LECTIO_RANKS, STANDARD_RANKS, card_index, card_text
from referee.errors import CardError
from referee.rules.pack import Pack

ONE = Pack(STANDARD_RANKS, 1)
TWO = Pack(STANDARD_RANKS, 2)
LECTIO = Pack(LECTIO_RANKS, 1)
FOUR = Pack(STANDARD_RANKS, 4)
JOKERS = Pack(STANDARD_RANKS, 1, jokers=2, removed=("3C", "3H"))


@pytest.mark.parametrize(("text", "index"), [("3D", 0), ("3S", 3), ("4D", 4), ("TC", 29), ("2S", 51)])
def test_card_index_of_standard_cards_is_rank_then_suit(text: str, index: int) -> None:
    assert card_index(text, STANDARD_RANKS) == index
    assert card_text(index, STANDARD_RANKS) == text


@pytest.mark.parametrize(("text", "index"), [("3D", 0), ("10C", 29), ("15S", 51), ("1H", 54), ("2S", 59)])
def test_card_index_of_lectio_tiles_reads_the_last_letter_as_suit(text: str, index: int) -> None:
    assert card_index(text, LECTIO_RANKS) == index
    assert card_text(index, LECTIO_RANKS) == text


@pytest.mark.parametrize("text", ["", "3", "D", "D3", "1D", "3X", "10C", "3DD", "3d", "td", "🂱"])
def test_card_index_of_no_card_raises_card_error_that_quotes_it(text: str) -> None:
    with pytest.raises(CardError, match=r"is not a card of this ruleset"):
        card_index(text, STANDARD_RANKS)


@pytest.mark.parametrize("text", ["TD", "JD", "AS", "KH", "0D", "16D"])
def test_card_index_of_standard_ranks_in_lectio_raises_card_error(text: str) -> None:
    with pytest.raises(CardError):
        card_index(text, LECTIO_RANKS)


def test_parse_of_any_order_gives_canonical_text() -> None:
    assert ONE.text(ONE.parse(" 2S 3D\tKH  3C\n")) == "3D 3C KH 2S"
    assert LECTIO.text(LECTIO.parse("2S 1H 15S 10C 3D")) == "3D 10C 15S 1H 2S"


def test_parse_of_nothing_is_the_empty_mask() -> None:
    assert ONE.parse("") == 0
    assert ONE.text(0) == ""


def test_parse_of_more_copies_than_packs_raises_card_error() -> None:
    with pytest.raises(CardError, match="3D is there more often than one pack has it"):
        ONE.parse("3D 4C 3D")
    with pytest.raises(CardError, match="3D is there more often than two packs have it"):
        TWO.parse("3D 3D 4C 3D")


def test_two_packs_keep_copies_unary() -> None:
    assert TWO.parse("3D") == 0b01
    assert TWO.parse("3D 3D") == 0b11
    assert TWO.parse("3C") == 0b0100
    assert TWO.cards(TWO.parse("3C 3D 3C")) == [0, 1, 1]
    assert TWO.count(TWO.parse("3C 3D 3C")) == 3


def test_two_packs_carry_copies_when_cards_are_added_and_removed() -> None:
    one, both = TWO.parse("3D 4C"), TWO.parse("3D 3D 4C 4C")
    assert TWO.add(one, one) == both
    assert TWO.remove(both, one) == one
    assert TWO.remove(both, TWO.parse("3D 4C 4C")) == TWO.parse("3D")


def test_four_packs_carry_copies_when_cards_are_added_and_removed() -> None:
    one, three = FOUR.parse("3D 4C"), FOUR.parse("3D 3D 3D 4C 4C 4C")
    four = FOUR.parse("3D 3D 3D 3D 4C 4C 4C 4C")
    assert FOUR.add(one, three) == FOUR.add(three, one) == four
    assert FOUR.remove(four, three) == one
    assert FOUR.remove(four, one) == three
    assert FOUR.remove(four, FOUR.parse("3D 3D 4C 4C 4C 4C")) == FOUR.parse("3D 3D")


@pytest.mark.parametrize("decks", [1, 2, 3, 4])
def test_joined_cards_are_the_mask_of_their_indices(decks: int) -> None:
    pack = Pack(STANDARD_RANKS, decks, jokers=1)
    cards = [card for card in pack.indices for _ in range(card % (decks + 1))]
    assert pack.joined([pack.mask([card]) for card in cards]) == pack.mask(cards)


def test_choose_from_four_packs_gives_equal_choices_once() -> None:
    triples = [FOUR.text(triple) for triple in FOUR.choose(FOUR.parse("3D 3D 3D 3D 3C 3C"), 3)]
    assert sorted(triples) == ["3D 3C 3C", "3D 3D 3C", "3D 3D 3D"]


def test_pack_with_jokers_and_without_cards_has_the_jokers_last() -> None:
    assert JOKERS.text(JOKERS.full).startswith("3D 3S 4D 4C")
    assert JOKERS.text(JOKERS.full).endswith("2H 2S BJ RJ")
    assert JOKERS.pack == (0, *range(3, 54))
    assert Pack(STANDARD_RANKS, 1, jokers=1).pack == (*range(52), 53)


@pytest.mark.parametrize(("pack", "text"), [(JOKERS, "3C"), (ONE, "RJ"), (ONE, "BJ"), (JOKERS, "JJ")])
def test_parse_of_a_card_that_the_pack_lacks_raises_card_error(pack: Pack, text: str) -> None:
    with pytest.raises(CardError, match=f"'{text}' is not a card of this ruleset"):
        pack.parse(text)


def test_pack_is_in_canonical_order_the_second_after_the_first() -> None:
    assert ONE.pack == tuple(range(52))
    assert TWO.pack == tuple(range(52)) * 2
    assert len(LECTIO.pack) == 60
    assert TWO.mask(TWO.pack) == TWO.full == (1 << 104) - 1


def test_choose_from_two_packs_gives_equal_choices_once() -> None:
    pairs = [TWO.text(pair) for pair in TWO.choose(TWO.parse("3D 3D 3C"), 2)]
    assert pairs == ["3D 3D", "3D 3C"]
