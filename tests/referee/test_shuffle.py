"""Tests of the public shuffle and seeds against their definitions and against fixed values."""

import hmac
from hashlib import sha256
from itertools import islice

import pytest

from referee.deals.shuffle import deal_seed, luck, seed_hash, session_seed, shuffle, words

SEED = bytes(range(32))
ONES = 961_300
PUBLISHED = [51, 8, 26, 20, 35, 10, 47, 22, 9, 19, 46, 42, 27]


def slow_shuffle(seed: bytes, label: str, cards: list[int]) -> None:
    stream = words(seed, label)
    for i in range(len(cards) - 1, 0, -1):
        limit = 2**32 // (i + 1) * (i + 1)
        word = next(stream)
        while word >= limit:
            word = next(stream)
        j = word % (i + 1)
        cards[i], cards[j] = cards[j], cards[i]


def test_words_are_the_big_endian_words_of_the_hashes_in_turn() -> None:
    blocks = [sha256(SEED + b"deal" + counter.to_bytes(4, "big")).digest() for counter in range(3)]
    data = b"".join(blocks)
    expected = [int.from_bytes(data[at : at + 4], "big") for at in range(0, 96, 4)]
    assert list(islice(words(SEED, "deal"), 24)) == expected


@pytest.mark.parametrize("size", [0, 1, 2, 7, 8, 9, 10, 17, 52, 60, 104, 120, 256, 257, 300])
def test_shuffle_of_any_size_is_that_of_fisher_and_yates(size: int) -> None:
    cards, slow = list(range(size)), list(range(size))
    shuffle(SEED, "deal", cards)
    slow_shuffle(SEED, "deal", slow)
    assert cards == slow


def test_shuffle_when_words_would_bias_it_leaves_them_out() -> None:
    # About one shuffle in seven of this size leaves words out.
    for number in range(12):
        seed = number.to_bytes(32, "big")
        cards, slow = list(range(50_000)), list(range(50_000))
        shuffle(seed, "deal", cards)
        slow_shuffle(seed, "deal", slow)
        assert cards == slow


def test_shuffle_when_a_word_begins_with_ones_is_still_that_of_fisher_and_yates() -> None:
    # Found by search: one of the first 51 words of this seed begins with three bytes of ones.
    seed = ONES.to_bytes(32, "big")
    assert any(word >= 0xFFFFFF00 for word in islice(words(seed, "deal"), 51))
    cards, slow = list(range(52)), list(range(52))
    shuffle(seed, "deal", cards)
    slow_shuffle(seed, "deal", slow)
    assert cards == slow


def test_shuffle_of_one_pack_stays_as_published() -> None:
    cards = list(range(52))
    shuffle(SEED, "deal", cards)
    assert cards[:13] == PUBLISHED


def test_shuffle_with_another_label_is_another() -> None:
    one, other = list(range(52)), list(range(52))
    shuffle(SEED, "deal", one)
    shuffle(SEED, "deal/redeal/1", other)
    assert one != other


def test_hash_of_the_seed_is_sha256() -> None:
    assert seed_hash(SEED) == sha256(SEED).hexdigest()


def test_luck_is_the_seed_unless_a_beacon_had_a_share_in_it() -> None:
    assert luck(SEED, None) == SEED
    assert luck(SEED, "0042") == hmac.digest(SEED, b"beacon/0042", "sha256")


@pytest.mark.parametrize(("table", "name"), [(3, b"round/2/table/3/session/4"), (None, b"round/2/session/4")])
def test_session_seed_is_the_keyed_hash_of_its_place(table: int | None, name: bytes) -> None:
    assert session_seed(SEED, 2, table, 4) == hmac.new(SEED, name, sha256).digest()


def test_deal_seed_is_the_keyed_hash_of_its_number() -> None:
    assert deal_seed(SEED, 7) == hmac.new(SEED, b"deal/7", sha256).digest()


def test_deal_seed_of_a_later_attempt_is_the_keyed_hash_of_both_numbers() -> None:
    assert deal_seed(SEED, 7, 1) == deal_seed(SEED, 7)
    assert deal_seed(SEED, 7, 3) == hmac.new(SEED, b"deal/7/attempt/3", sha256).digest()
