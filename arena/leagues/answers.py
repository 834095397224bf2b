"""Leagues as the HTTP API returns them."""

from dataclasses import dataclass
from datetime import datetime

from arena.leagues.changes import Change
from arena.leagues.membership import Admitted
from arena.leagues.overview import LeagueInfo, Outside, SeasonShown


@dataclass(frozen=True, slots=True)
class Leagues:
    """All leagues by name."""

    leagues: list[LeagueInfo]


@dataclass(frozen=True, slots=True)
class LeagueWhole(LeagueInfo):
    """A league and its standing."""

    seasons: list[SeasonShown]
    """The season that is shown; empty if none has started."""
    outside: tuple[Outside, ...]
    """Members without a place in the latest season."""


@dataclass(frozen=True, slots=True)
class History:
    """The seasons of a league."""

    league: str
    seasons: list[SeasonShown]
    """The latest first."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What applying a league changes."""

    league: str
    applied: bool
    """Whether the changes were made."""
    changes: list[Change]


@dataclass(frozen=True, slots=True)
class Joined:
    """A bot that plays in a league from its next season on, or has asked to."""

    league: str
    bot: str
    state: Admitted
    """``joined``, or ``asked`` if the organiser decides."""
    next_at: datetime | None
    """When the next season is due; None if there is none left."""


@dataclass(frozen=True, slots=True)
class Left:
    """A bot that has left a league."""

    league: str
    bot: str
