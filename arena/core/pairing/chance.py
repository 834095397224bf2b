"""Seeded chance that is the same on every platform and Python version.

Only ``Random.random`` is guaranteed to give the same numbers in every version of Python, so everything here
is made from it; it is seeded with a SHA-256 hash, never with Python's own hash of anything.
"""

import hashlib
import random
from collections.abc import Iterable
from typing import TypeVar

Item = TypeVar("Item")


def lots(commitment: str, beacon_value: str | None) -> bytes:
    """Return the seed of a tournament's pairings, which is public, and fixed when its entrants are.

    It is the SHA-256 of the commitment's hexadecimal digits, followed by the beacon's value if there is one.
    """
    return hashlib.sha256(f"{commitment}{beacon_value or ''}".encode()).digest()


def generator(seed: bytes, label: str) -> random.Random:
    """Return a separate generator for each seed and purpose."""
    return random.Random(int.from_bytes(hashlib.sha256(seed + label.encode()).digest(), "big"))  # noqa: S311 no secret


def below(rng: random.Random, stop: int) -> int:
    """Return a whole number from 0 to ``stop - 1``, all equally likely."""
    return int(rng.random() * stop)


def shuffled(items: Iterable[Item], rng: random.Random) -> list[Item]:
    """Return the items in an order drawn by lot (Fisher-Yates)."""
    result = list(items)
    for last in range(len(result) - 1, 0, -1):
        other = below(rng, last + 1)
        result[last], result[other] = result[other], result[last]
    return result
