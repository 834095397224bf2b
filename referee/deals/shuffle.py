"""The public shuffle and the tree of seeds (docs/formats.md, version 1), reproducible in any language.

Every seed is 32 bytes. A deal's seed is derived from its session's, and that from the tournament's luck, so
one published hash covers every card of a tournament.
"""

import hmac
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from itertools import count
from operator import mod
from struct import Struct
from typing import TypeVar

T = TypeVar("T")

_BLOCK = Struct(">8I")
_COUNTER = Struct(">I")
_COUNTERS = tuple(_COUNTER.pack(counter) for counter in range(32))


def words(seed: bytes, label: str) -> Iterator[int]:
    """Yield the big-endian 32-bit words of SHA-256(seed, label in UTF-8, counter 0, 1, 2 …), for ever."""
    prefix = seed + label.encode()
    for counter in count():
        yield from _BLOCK.unpack(sha256(prefix + _COUNTER.pack(counter)).digest())


def shuffle(seed: bytes, label: str, cards: list[T]) -> None:
    """Shuffle ``cards`` in place by Fisher and Yates, with the words of ``seed`` and ``label``.

    For i from the last index down to 1, the first word below the largest multiple of i + 1 in 32 bits
    is taken, and card i is swapped with card (word mod (i + 1)).
    """
    place = len(cards)
    drawn = _first_words(seed, label, place) or _accepted_words(seed, label, place)
    for other in map(mod, drawn, range(place, 1, -1)):
        place -= 1
        cards[place], cards[other] = cards[other], cards[place]


def draw(seed: bytes, label: str, choices: int) -> int:
    """Return a number below ``choices``: the first word of ``seed`` and ``label`` that is below the largest
    multiple of it in 32 bits, modulo ``choices``."""
    limit = 2**32 // choices * choices
    return next(word for word in words(seed, label) if word < limit) % choices


def seed_hash(seed: bytes) -> str:
    """Return the SHA-256 of a seed in hex, which is published before the seed itself."""
    return sha256(seed).hexdigest()


def luck(seed: bytes, beacon_value: str | None) -> bytes:
    """Return what all session seeds derive from: a tournament's seed, or that and its beacon's value."""
    return seed if beacon_value is None else _derived(seed, f"beacon/{beacon_value}")


def session_seed(luck: bytes, round: int, table: int | None, session: int) -> bytes:
    """Return a session's seed; ``table`` is None where all tables of a round play the same cards.

    Round, table and session count from 1.
    """
    where = f"round/{round}" if table is None else f"round/{round}/table/{table}"
    return _derived(luck, f"{where}/session/{session}")


def deal_seed(session_seed: bytes, number: int, attempt: int = 1) -> bytes:
    """Return the seed of the session's deal with this number in this attempt at the session, both from 1."""
    name = f"deal/{number}"
    return _derived(session_seed, name if attempt == 1 else f"{name}/attempt/{attempt}")


def _derived(seed: bytes, name: str) -> bytes:
    return hmac.digest(seed, name.encode(), "sha256")


def _first_words(seed: bytes, label: str, size: int) -> tuple[int, ...]:
    """Return the first words for ``size`` cards; empty if one of them may have to be skipped."""
    blocks = (size + 6) // 8
    start = sha256(seed + label.encode())
    digests = []
    for counter in _COUNTERS[:blocks]:
        block = start.copy()
        block.update(counter)
        digests.append(block.digest())
    data = b"".join(digests)
    # Up to 256 cards, every word at or above its limit begins with three bytes of ones.
    if size > len(_COUNTERS) * 8 or b"\xff\xff\xff" in data:
        return ()
    return _unpacker(blocks).unpack(data)


def _accepted_words(seed: bytes, label: str, size: int) -> Iterator[int]:
    stream = words(seed, label)
    for choices in range(size, 1, -1):
        limit = 2**32 // choices * choices
        yield next(word for word in stream if word < limit)


@cache
def _unpacker(blocks: int) -> Struct:
    return Struct(f">{blocks * 8}I")
