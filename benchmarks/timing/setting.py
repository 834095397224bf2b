"""A way to play, its results, and who sits at the tables."""

from dataclasses import dataclass, field
from typing import NamedTuple

RULESET = "chinese"
PLAYERS = 4
SLOW, QUICK, AT_ONCE = (0.020, 0.050), (0.001, 0.005), (0.0, 0.0)
"""Seconds that bots think about a turn, from and to."""


@dataclass(frozen=True)
class Setting:
    """A way to play."""

    think: tuple[float, float]
    """Seconds that the opponents think about a turn, from and to."""
    tables: int = 1
    """Matches at once, each with bots of its own."""
    sessions: int = 1
    """Sessions of a match that are played at once."""
    ask_forced: bool = False
    hasty: bool = False
    """Whether the opponents answer at once when they have no choice, instead of thinking as usual."""
    one_by_one: bool = False
    """Whether an opponent thinks about one turn at a time, as a bot of the SDK does, or about all at once."""
    opponents: tuple[str, ...] = ("patient",) * PLAYERS
    """By bot; the first is the spy's place."""
    reads: bool = True
    """Whether the spy looks at the time."""
    watches: bool = False
    """Whether the spy also watches its match as a spectator, who is shown every action separately."""


class Guess(NamedTuple):
    """What the spy believed about a pass: the chance that it was forced."""

    session: int
    prior: float
    """The chance without the time."""
    timed: float
    """The chance with the time."""
    forced: bool
    """Whether it was forced."""


@dataclass
class Played:
    """The results of a setting."""

    seconds: float = 0.0
    decisions: int = 0
    points: dict[int, int] = field(default_factory=dict)
    """The spy's points by session; a session is one deal."""
    guesses: list[Guess] = field(default_factory=list)

    @property
    def deals(self) -> int:
        """Deals played to their end."""
        return len(self.points)


def token(table: int, bot: int) -> str:
    """Return the token of a table's bot, which is also its number."""
    return str(1 + table * PLAYERS + bot)


def program(name: str) -> str:
    """Return what a bot's name has in common with those at other tables that run the same program."""
    number = int(name.removeprefix("bench/bot").partition("@")[0])
    return str((number - 1) % PLAYERS)
