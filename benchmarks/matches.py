"""The matches that benchmarks play."""

import os
from collections.abc import Sequence

from referee.matches.match import Limits, MatchBot, MatchSpec, SessionSpec


def match_spec(name: str, bots: Sequence[int], sessions: int, deals: int, limits: Limits) -> MatchSpec:
    """Return a match of four bot versions, which are named by their numbers."""
    return MatchSpec(
        match_id=name,
        tournament="bench",
        round=1,
        table=1,
        ruleset={"name": "chinese"},  # so that referees of any commit know all of its fields
        bots=tuple(MatchBot(n, f"bench/bot{n}@1") for n in bots),
        sessions=tuple(SessionSpec(n + 1, (0, 1, 2, 3), os.urandom(32)) for n in range(sessions)),
        deals=deals,
        commitment="",
        limits=limits,
    )
