"""A table that bots of this process sit down at: what is loaded and compiled once, for many sessions."""

import json
import logging
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from referee.bot.bots import one_for_all
from referee.local.field import Session
from referee.local.game import Game, Seated
from referee.local.loading import home_of, load_file
from referee.local.played import Played
from referee.local.programs import slug
from referee.matches.events import SessionInfo
from referee.matches.match import Limits
from referee.rules.rulebook import rules_of

TOURNAMENT = "play"
"""What stands for a tournament's name in sessions and records."""
SDK_FAULTS = 10
"""Faults at which a bot forfeits a session, as in an arena."""


class Setting(NamedTuple):
    """What all sessions have in common."""

    ruleset: str
    """The resolved ruleset as one JSON object."""
    names: tuple[str, ...]
    """Of the bots."""
    files: tuple[Path, ...]
    """Of the bots, in Python."""
    seed: str
    decision_ms: int
    deals: int = 1
    """Deals in a session."""


class LocalTable:
    """Has the bots of a setting play sessions. Raise ProgramError if one of them cannot be loaded."""

    def __init__(
        self, setting: Setting, thinking: Callable[[int, int], None] = lambda _session, _bot: None
    ) -> None:
        """Load the bots; ``thinking`` is told which bot decides in which session."""
        self._setting = setting
        self._rules = rules_of(json.loads(setting.ruleset))
        self._limits = Limits(decision_ms=setting.decision_ms, credit_ms=0, faults=SDK_FAULTS)
        self._bots = [Seated(one_for_all(load_file(file)), home_of(file).entered) for file in setting.files]
        self._thinking = thinking

    def play(self, session: Session) -> Played:
        """Play a session. What bots draw from the module ``random`` follows from the seed and the session."""
        setting = self._setting
        _seed_modules(f"{setting.seed}/{session.number}")
        info = SessionInfo(
            handle=0,
            session_id=session_id(session.number),
            number=session.number,
            tournament=TOURNAMENT,
            ruleset=setting.ruleset,
            rules=self._rules,
            seats=seat_names(setting.names, session.seating),
            deals=setting.deals,
            commitment="",
            limits=self._limits,
        )
        seated = [self._bots[bot] for bot in session.seating]

        def thinking(seat: int) -> None:
            self._thinking(session.number, session.seating[seat])

        with _quiet():
            return Game(info, session.seed, seated, thinking).play()


def session_id(number: int) -> str:
    """Return the name of a session."""
    return f"{TOURNAMENT}/1/1/{number}"


def seat_names(names: Sequence[str], seating: Sequence[int]) -> tuple[str, ...]:
    """Return by seat the name of its bot in matches; one that sits there twice is numbered."""
    seen: dict[int, int] = {}
    found = []
    for bot in seating:
        seen[bot] = seen.get(bot, 0) + 1
        found.append(f"local/{slug(names[bot])}{f'-{seen[bot]}' if seen[bot] > 1 else ''}@1")
    return tuple(found)


@contextmanager
def _quiet() -> Iterator[None]:
    """Log nothing of bots meanwhile: what fails is told in the report."""
    log = logging.getLogger("bot")
    before = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(before)


def _seed_modules(seed: str) -> None:
    """Have what draws from the modules' own generators draw the same again."""
    random.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(random.Random(seed).getrandbits(32))  # noqa: S311 no secret
