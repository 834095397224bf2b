"""Deal records for replays: random play under some presets and other rulesets."""

from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from typing import Any

from arena.queries.replays.steps import Words, spoken
from referee.records.random_play import random_records
from referee.rules.plays import compile_ruleset
from referee.ruleset import load_ruleset
from tests.referee.deals import TELLING, UNUSUAL

Record = dict[str, Any]

VARIANTS: dict[str, dict[str, Any]] = {
    "exchange": {"extends": "chinese-3", "exchange": "loser_to_winner"},
    "bombs out of turn": {"extends": "only-a-game-bombs", "bombs_out_of_turn": True},
    "beating one's own": {"extends": "chinese", "beat_own": True},
    "guard": {"extends": "chinese", "guard": "must"},
    "dragon": {"extends": "chinese-2", "hand_size": "all", "dragon": "wins"},
    **UNUSUAL,
}
"""Rulesets that are not presets, by name."""

NAMES = (*TELLING, *VARIANTS)


@cache
def played(name: str, deals: int = 6) -> tuple[Record, ...]:
    """Return records of random play, which are always the same."""
    return tuple(_played(name, deals))


def _played(name: str, deals: int) -> Iterator[Record]:
    rules = compile_ruleset(load_ruleset(VARIANTS.get(name, name)))
    yield from random_records(rules, sha256(f"replays/{name}".encode()).digest(), deals, session_deals=3)


def timed(record: Record) -> Record:
    """Return the record with clocks: the first action took 1 s, and each later one 10 ms more."""
    ms = " ".join(str(1000 + 10 * index) for index in range(len(record["actions"])))
    credit = " ".join("7" for _ in record["actions"])
    return {**record, "ms": ms, "credit_ms": credit}


def plain(words: Words) -> str:
    """Return a sentence as text, with its cards as they are spoken."""
    return "".join([part if isinstance(part, str) else ", ".join(map(spoken, part)) for part in words])
