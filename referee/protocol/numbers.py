"""Cards on the wire, between masks and the ``Card`` enum, and cached fragments of messages."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeAlias, cast

from google.protobuf.descriptor import Descriptor

from referee.cards import JOKER, pack_of
from referee.errors import CardError
from referee.memo import Memo
from referee.rules.plays import Rules
from referee.ruleset import Ruleset

if TYPE_CHECKING:
    from referee.v1.cards_pb2 import Card

Numbers: TypeAlias = "list[Card.ValueType]"

_ORDER = ("3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K", "A", "2", "14", "15", JOKER)
_SAME = {"10": "T", "11": "J", "12": "Q", "13": "K", "1": "A"}
"""Ranks of tiles that have the number of a card's rank."""


def _numbers(ruleset: Ruleset) -> dict[int, int]:
    """Return the numbers of a ruleset's cards by index, in canonical order."""
    places = [4 * _ORDER.index(_SAME.get(rank, rank)) for rank in ruleset.rank_names]
    cards = pack_of(ruleset.ranks, ruleset.jokers, ruleset.removed_cards)
    return {card: places[card >> 2] + (card & 3) + 1 for card in cards}


def highest_card(ruleset: Ruleset) -> "Card.ValueType":
    """Return the highest number among a ruleset's cards."""
    return cast("Card.ValueType", max(_numbers(ruleset).values()))


class CardNumbers:
    """Translates the cards of one compiled ruleset."""

    def __init__(self, rules: Rules) -> None:
        copies = rules.ruleset.decks
        self._numbers = _numbers(rules.ruleset)
        self._number_of_bit = {
            1 << (copies * i + k): n for i, n in self._numbers.items() for k in range(copies)
        }
        self._first_bit = {n: 1 << (copies * i) for i, n in self._numbers.items()}
        self._copies = copies
        self._lists: Memo[int, Numbers] = Memo(self._list)
        self._chunks = rules.chunks
        self._packed: Memo[int, bytes] = Memo(lambda chunk: bytes(self._list(chunk)))
        self.read: Callable[[bytes], int] = Memo[bytes, int](self.mask).__getitem__
        """Return the cards of a packed field as a mask, like ``mask``: every number takes one byte."""

    def numbers(self, mask: int) -> Numbers:
        """Return the cards of ``mask`` as numbers, in canonical order. Shared: never change the list."""
        return self._lists[mask]

    def packed(self, mask: int) -> bytes:
        """Return the cards of ``mask`` as the bytes of a packed field: every number takes one byte."""
        packed = self._packed
        return b"".join([packed[part] for chunk in self._chunks if (part := mask & chunk)])

    def number(self, index: int) -> "Card.ValueType":
        """Return the number of the card with this index."""
        return cast("Card.ValueType", self._numbers[index])

    def _list(self, mask: int) -> Numbers:
        numbers: Numbers = []
        while mask:
            bit = mask & -mask
            numbers.append(cast("Card.ValueType", self._number_of_bit[bit]))
            mask ^= bit
        return numbers

    def mask(self, numbers: Iterable[int]) -> int:
        """Return the cards as a mask.

        Raise CardError for a number that is not a card of the pack, or comes more often than the pack has it.
        """
        mask = 0
        for number in numbers:
            bit = self._first_bit.get(number)
            if bit is None:
                raise CardError(f"card {number} is not in this ruleset's pack")
            last = bit << self._copies - 1
            while mask & bit:
                if bit == last:
                    raise CardError(f"card {number} is named more often than the pack has it")
                bit <<= 1
            mask |= bit
        return mask


card_numbers: Callable[[Rules], CardNumbers] = Memo[Rules, CardNumbers](CardNumbers, limit=64).__getitem__
"""Return the translator for a compiled ruleset."""


VARINT, BYTES = 0, 2
"""Wire types of protobuf's encoding: numbers, and values with a length."""


def varint(number: int) -> bytes:
    """Return a number in protobuf's encoding: seven bits per byte, the lowest first."""
    encoded = bytearray()
    while number > 127:
        encoded.append(number & 127 | 128)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


NUMBERS: Memo[int, bytes] = Memo(varint)
"""Numbers in protobuf's encoding."""


def sized(data: bytes) -> bytes:
    """Return the bytes preceded by their length."""
    return NUMBERS[len(data)] + data


def key(message: Descriptor, name: str, wire_type: int) -> bytes:
    """Return the key that precedes the value of a field."""
    return varint(message.fields_by_name[name].number << 3 | wire_type)


def field(before: bytes) -> Memo[int, bytes]:
    """Return a cache of the encoded field, by the number that it holds."""
    return Memo(lambda number: before + varint(number))


def head(*keys: bytes) -> Memo[int, bytes]:
    """Return a cache of what precedes the fields of a nested message, by the length of these fields.

    ``keys`` are those of the fields that hold the message, the outermost first.
    """

    def encoded(length: int) -> bytes:
        inner = b""
        for before in reversed(keys):
            inner = before + varint(length + len(inner)) + inner
        return inner

    return Memo(encoded)
