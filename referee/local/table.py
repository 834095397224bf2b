"""A table for bots in this process, which are loaded once and then play many sessions."""

import json
import logging
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TypeAlias

from referee.bot.bots import one_for_all
from referee.local.loading import home_of, load_file
from referee.local.programs import slug
from referee.local.session import LocalSession, Seated
from referee.local.tally import Played
from referee.matches.events import SessionInfo
from referee.matches.match import Limits, SessionSpec
from referee.rules.rulebook import rules_of

TOURNAMENT = "play"
"""Stands for a tournament's name in sessions and records."""
SDK_FAULTS = 10
"""Faults at which a bot forfeits a session, as in an arena."""


EnteringBot: TypeAlias = Callable[[int, int, str, int, int, int], None]
"""As ``Entering``, but called with the session (0: none yet) and the bot instead of its seat; the method is
empty while its file is loaded."""


class Setting(NamedTuple):
    """What all sessions have in common."""

    ruleset: str
    """The resolved ruleset as one JSON object."""
    names: tuple[str, ...]
    """The names of the bots."""
    files: tuple[Path, ...]
    """The Python files of the bots."""
    seed: str
    decision_ms: int
    deals: int = 1
    """Deals in a session."""


class LocalTable:
    """Lets the bots of a setting play sessions. Raise ProgramError if one of them cannot be loaded."""

    def __init__(self, setting: Setting, entering: EnteringBot = lambda *_code: None) -> None:
        """Load the bots; ``entering`` is called before the code of one runs."""
        self._setting = setting
        self._entering = entering
        self._rules = rules_of(json.loads(setting.ruleset))
        self._limits = Limits(decision_ms=setting.decision_ms, credit_ms=0, faults=SDK_FAULTS)
        self._bots = [self._load(bot, file) for bot, file in enumerate(setting.files)]

    def _load(self, bot: int, file: Path) -> Seated:
        self._entering(0, bot, "", 0, 0, 0)
        return Seated(one_for_all(load_file(file)), home_of(file).entered)

    def play(self, session: SessionSpec) -> Played:
        """Play a session. The seed and its number determine what bots draw from the module ``random``."""
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

        def entering(seat: int, method: str, deal: int, hand: int, to_beat: int) -> None:
            self._entering(session.number, session.seating[seat], method, deal, hand, to_beat)

        with _quiet():
            return LocalSession(info, session.seed, seated, entering).play()


def session_id(number: int) -> str:
    """Return the name of a session."""
    return f"{TOURNAMENT}/1/1/{number}"


def seat_names(names: Sequence[str], seating: Sequence[int]) -> tuple[str, ...]:
    """Return, by seat, the name of its bot in matches; the second seat of a bot gets a number, and so on."""
    seen: dict[int, int] = {}
    labels = []
    for bot in seating:
        seen[bot] = seen.get(bot, 0) + 1
        labels.append(f"local/{slug(names[bot])}{f'-{seen[bot]}' if seen[bot] > 1 else ''}@1")
    return tuple(labels)


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the log of bots in the block: the report has what fails."""
    log = logging.getLogger("bot")
    before = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(before)


def _seed_modules(seed: str) -> None:
    """Seed the modules' own generators, so that bots that use them draw the same again."""
    random.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(random.Random(seed).getrandbits(32))  # noqa: S311 no secret
