"""Caching searches for tables, since most tests pair the same bots with the same random numbers."""

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

from arena.core.formats import continuous, round_robin, swiss
from arena.core.pairing.search import Costs, seat
from arena.core.pairing.values import Tables

SEARCHING: tuple[Any, ...] = (continuous, round_robin, swiss)
"""Modules that search for tables."""

_found: dict[object, tuple[Tables, Any]] = {}
"""By all inputs of a search, its result and the state of the random generator afterwards."""


def seat_once(places: int, size: int, costs: Costs, rng: Random, most_swaps: int | None = None) -> Tables:
    """Return the result of ``seat``, leaving the random generator in the state that ``seat`` leaves it in."""
    asked = (pickle.dumps((places, size, type(costs), vars(costs), most_swaps)), rng.getstate())
    if asked not in _found:
        _found[asked] = seat(places, size, costs, rng, most_swaps), rng.getstate()
    tables, state = _found[asked]
    rng.setstate(state)
    return [[*table] for table in tables]


@contextmanager
def searched_once() -> Iterator[None]:
    """Make formats reuse the results of earlier searches."""
    for module in SEARCHING:
        module.seat = seat_once
    try:
        yield
    finally:
        for module in SEARCHING:
            module.seat = seat
