"""What is lost if a backup replaces a later database."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from arena.store.models import TournamentState

ENDED = frozenset({TournamentState.FINISHED.value, TournamentState.CANCELLED.value})


@dataclass(frozen=True, slots=True)
class Lost:
    """The contents of a database that a backup of it lacks."""

    again: tuple[str, ...]
    """Tournaments that have ended since, and continue from their state in the backup."""
    gone: tuple[str, ...]
    """Tournaments that are not in the backup."""
    sessions: int
    """Number of finished sessions, in all tournaments."""
    bots: int
    """Number of bot versions that are not in the backup; their tokens become invalid."""


@dataclass(frozen=True, slots=True)
class Contents:
    """The contents of a database that are compared."""

    tournaments: Mapping[str, tuple[str, int]]
    """For each tournament by name, its state and number of finished sessions."""
    bots: frozenset[str]
    """Names of bot versions."""

    def __sub__(self, backup: "Contents") -> Lost:
        """Return what is lost if the backup takes its place."""
        of_backup = backup.tournaments
        return Lost(
            again=tuple(
                name
                for name, (state, _) in self.tournaments.items()
                if state in ENDED and name in of_backup and of_backup[name][0] not in ENDED
            ),
            gone=tuple(name for name in self.tournaments if name not in of_backup),
            sessions=sum(
                max(0, done - of_backup.get(name, ("", 0))[1]) for name, (_, done) in self.tournaments.items()
            ),
            bots=len(self.bots - backup.bots),
        )


def contents(database: Path) -> Contents | None:
    """Return the contents of a database; None if it is missing, unreadable, or has another schema."""
    if not database.is_file():
        return None
    tournaments = (
        "SELECT name, state, coalesce(("
        "SELECT sum(sessions_done) FROM matches WHERE tournament_id = one.id"
        "), 0) FROM tournaments AS one WHERE NOT test ORDER BY id"
    )
    readable = f"file:{quote(str(database.absolute()))}?mode=ro"
    with suppress(sqlite3.Error), closing(sqlite3.connect(readable, uri=True, timeout=0)) as asked:
        found = {name: (state, done) for name, state, done in asked.execute(tournaments)}
        return Contents(found, frozenset(name for (name,) in asked.execute("SELECT name FROM bot_versions")))
    return None
