"""Sage as a bot of the SDK: its turns, and how long it thinks about each."""

import sys
from os import environ
from random import Random
from time import perf_counter
from typing import ClassVar
from weakref import WeakSet

from referee.bot import EndedSession, Play, Turn
from referee.errors import PositionError
from referee.sage.sage import USUAL, Sage, Style

MARGIN = 0.25
"""The part of the time allowed that is reserved for everything but thinking."""
DECISIONS = 40
"""How many decisions a bank has to last for, in addition to one for each card in hand."""
LEAST_MS = 4.0
"""With less time than this it does not search."""


class SageBot:
    """Plays one session. Subclasses set how long it thinks."""

    level_ms: ClassVar[float] = 100.0
    """How many milliseconds it thinks about a decision, if the clock allows."""
    style: ClassVar[Style] = USUAL

    def __init__(self) -> None:
        PLAYING.add(self)
        self._sage: Sage | None = None

    def choose(self, turn: Turn) -> Play | None:
        """Answer a turn."""
        sage = self._ready(turn)
        seconds = thinking_time(self.level_ms, turn.decision_ms, turn.bank_ms, len(turn.hand), len(PLAYING))
        try:
            position = turn.position()
        except PositionError:  # it cannot be followed, or of two packs, a copy was taken for the other one
            code = sage.choose_unseen(turn.hand_mask, turn.legal_codes, turn.can_pass)
        else:
            code = sage.choose(position, turn.seat, turn.legal_codes, turn.can_pass, seconds)
        return Play(turn.rules, code) if code else None

    bomb = beat_own = choose

    def exchange(self, turn: Turn) -> Play:
        """Return a card in an exchange."""
        return Play(turn.rules, self._ready(turn).card_to_return(turn.hand_mask, turn.legal_codes))

    def session_ended(self, session: EndedSession) -> None:
        """Note that one session fewer is open."""
        PLAYING.discard(self)

    def now(self) -> float:
        """Return the time in seconds, from an arbitrary start."""
        return perf_counter()

    def _ready(self, turn: Turn) -> Sage:
        if self._sage is None:
            self._sage = Sage(turn.rules, Random(f"{turn.session} {turn.seat}"), self.now, self.style)  # noqa: S311
        return self._sage


def milliseconds(usual: float) -> float:
    """Return the value of ``ARENA_SAGE_MS``, or ``usual`` if it is not set. Exit if it is not a number."""
    text = environ.get("ARENA_SAGE_MS", "")
    try:
        limit = float(text.encode("ascii") or usual)
    except ValueError:
        limit = -1.0
    if not 0 <= limit < float("inf"):
        sys.exit(f"ARENA_SAGE_MS: must be a number of milliseconds, not {text!r}")
    return limit


def thinking_time(level_ms: float, decision_ms: int, bank_ms: int | None, cards: int, sessions: int) -> float:
    """Return how many seconds to think; 0 if there is no time for a search.

    The clocks of all ``sessions`` may be running at the same time.
    """
    most = decision_ms * (1 - MARGIN)
    if bank_ms is not None:
        most = min(most, bank_ms / (DECISIONS + cards))
    thinking = min(level_ms, most / max(1, sessions))
    return thinking / 1000 if thinking >= LEAST_MS else 0.0


PLAYING: WeakSet[SageBot] = WeakSet()
"""The bots that are playing a session; a turn may be waiting in each of them."""
