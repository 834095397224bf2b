"""The HTTP API's answer to a change of a tournament."""

from collections.abc import Sequence
from dataclasses import dataclass

from arena.tournaments.overview import TournamentStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed(TournamentStatus):
    """A tournament after a change."""

    warnings: Sequence[str]
    """What makes little sense about it, which bots are absent, and whether its workers could not be told."""


@dataclass(frozen=True, slots=True)
class Entered:
    """A bot that has entered, or asked to."""

    tournament: str
    bot: str
    first_round: int | None
    """From which round on it plays; None if the organiser must approve it first."""
    warnings: Sequence[str] = ()
    """What keeps it from playing, if the tournament is running."""


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """A bot that has withdrawn."""

    tournament: str
    bot: str
    last_round: int
    """The last round that it plays; 0: none."""
