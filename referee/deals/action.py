"""What can happen in a deal, as values: its stages, actions, exchange and forfeits."""

from enum import Enum
from typing import Literal, NamedTuple, TypeAlias

NOBODY = -1
"""Stands for a seat where there is none."""


class Stage(Enum):
    """What a deal is waiting for."""

    EXCHANGE = "exchange"
    """The last deal's winner chooses the card to return."""
    PLAY = "play"
    """The seat in turn leads, follows or passes."""
    BEAT_OWN = "beat_own"
    """All others have passed: the last to play may beat its own play, or pass and lead."""
    BOMBS = "bombs"
    """Every seat asked may bomb the last play out of turn."""
    OVER = "over"
    """Nothing: the deal is scored."""


class Action(NamedTuple):
    """A play or a pass."""

    seat: int
    """Who acted."""
    cards: int
    """Mask of the cards played; 0 for a pass."""
    drawn: int = 0
    """Mask of the cards drawn at a pass."""
    out_of_turn: bool = False
    """Whether it is a bomb out of turn."""


Entry = tuple[int, int, int, bool]
"""An action as a plain tuple: seat, cards, drawn, out of turn."""


class Exchange(NamedTuple):
    """The loser's highest card against one of the winner's choice."""

    loser: int
    """Seat that gives its highest card."""
    winner: int
    """Seat that returns a card."""
    given: int
    """Mask of the card that went to the winner."""
    returned: int = 0
    """Mask of the card that came back; 0 until it is chosen."""


OnForfeit: TypeAlias = Literal["default_action", "stand_in", "end_session"]
"""What happens to a session when one of its bots forfeits it: default actions or the stand-in play for its
seat, or the session ends."""


class Forfeit(NamedTuple):
    """A seat whose bot has forfeited the session, and that is played for from then on."""

    seat: int
    deal: int
    """The deal of the session in which it forfeited, from 1."""
    action: int
    """How many actions that deal had had by then."""
    why: Literal["absent", "faults"]
