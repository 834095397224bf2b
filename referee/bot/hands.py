"""Hands as they arrive, encoded, turned into text."""

from collections.abc import Callable, Iterable
from functools import lru_cache

from referee.protocol.numbers import card_numbers
from referee.rules.plays import Rules
from referee.v1 import bots_pb2

_PACKED = 0x0A
"""The first byte of an encoded hand."""


@lru_cache(maxsize=64)
def hand_text(rules: Rules) -> Callable[[bytes], str]:
    """Return a function from an encoded hand to its text, card by card: hands seldom come up twice."""
    numbers = card_numbers(rules)
    cards = range(len(rules.pack) // rules.decks)
    text = {int(numbers.number(index)): rules.card_text(index) for index in cards}.__getitem__
    return lambda encoded: " ".join(map(text, _numbers(encoded)))


def _numbers(encoded: bytes) -> Iterable[int]:
    """Return the cards of an encoded hand; nearly every encoder packs them."""
    if encoded and encoded[0] == _PACKED and encoded[1] == len(encoded) - 2:
        return encoded[2:]
    return bots_pb2.Hand.FromString(encoded).cards
