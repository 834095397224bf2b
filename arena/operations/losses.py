"""What a database has that an earlier backup lacks."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from arena.models import TournamentState

ENDED = frozenset({TournamentState.FINISHED.value, TournamentState.CANCELLED.value})


@dataclass(frozen=True, slots=True)
class Lost:
    """What is lost with a database that a backup replaces."""

    again: tuple[str, ...]
    """Tournaments that have ended, and run again from where they stood in the backup."""
    gone: tuple[str, ...]
    """Tournaments that the backup does not have."""
    sessions: int
    """Finished sessions, of all tournaments."""
    bots: int
    """Bot versions that the backup does not have; their tokens are good no longer."""


@dataclass(frozen=True, slots=True)
class Contents:
    """What of a database is compared."""

    tournaments: Mapping[str, tuple[str, int]]
    """By name the state, and how many sessions are finished."""
    bots: frozenset[str]
    """Names of bot versions."""

    def __sub__(self, backup: "Contents") -> Lost:
        """Return what is lost with the backup in its place."""
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
    """Return what a database has; None if there is none, or it cannot be read, or is of another schema."""
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
