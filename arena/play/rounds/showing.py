"""Everything about a tournament: its terms, progress and entrants, what is wrong, and what it waits for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from arena.core.specs import Terms
from arena.play.rounds.waiting import obstacles
from arena.store.storage import Storage
from arena.tournaments import overview
from arena.tournaments.overview import TournamentStatus
from arena.tournaments.referees import Ask
from arena.tournaments.roster import RosterLine, roster
from arena.tournaments.warnings import list_doubts


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentShown(TournamentStatus):
    """A tournament with everything about it."""

    settings: Terms
    """The settings as in its file."""
    roster: Sequence[RosterLine]
    """Who entered."""
    unable: Sequence[str]
    """Connected bots that cannot play it, and why."""
    waits: Sequence[str]
    """What keeps it, or one of its matches, from going on."""
    warnings: Sequence[str]
    """What keeps it from being started, and what makes no sense about it."""


def show(storage: Storage, name: str, now: datetime, ask: Ask) -> TournamentShown:
    """Return a tournament with everything about it, as far as the referees answer. Raise UnknownError."""
    status = overview.status(storage, name)
    lines = roster(storage, name, now, ask)
    return TournamentShown(
        **fields_of(status),
        settings=overview.terms(storage, name),
        roster=lines,
        unable=[f"{one.bot} {one.problem}" for one in lines if one.connected and one.problem],
        waits=obstacles(storage, status, ask, now).lines,
        warnings=[] if status.ended else list_doubts(storage, name),
    )


def fields_of(status: TournamentStatus) -> Mapping[str, Any]:
    """Return the fields of a status, for a value that has more of them."""
    return {field.name: getattr(status, field.name) for field in fields(TournamentStatus)}
