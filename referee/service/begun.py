"""The attempts that referees on this host have begun, in a file: none of them is ever begun again.

The arena counts attempts in its database, which may forget the last of them: a standby that lacked commits
takes over, or an older file is put in its place. A second attempt of the same number would deal cards that
have been seen.
"""

import os
import sqlite3
import threading
from collections.abc import Collection, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Self

from referee.matches.match import Attempt

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST = 250_000
"""How many attempts are remembered at least: the latest ones. The file stays below 20 MB."""

TRIAL = 64
"""How many attempts prove that the file can be written."""

BUSY_SECONDS = 10.0
"""How long another process may have the file."""

_TABLES = """
CREATE TABLE IF NOT EXISTS begun (id INTEGER PRIMARY KEY, session BLOB NOT NULL, attempt INTEGER NOT NULL);
CREATE UNIQUE INDEX IF NOT EXISTS begun_session ON begun (session, attempt);
"""


class BegunAttempts:
    """The attempts that have been begun, shared by all processes that open the file.

    All methods block for as long as the disk takes, and may be called in any thread. They raise sqlite3.Error
    if the file cannot be used.
    """

    def __init__(self, file: Path, most: int = MOST) -> None:
        """Open the file, or make it, for its owner alone. Raise OSError, sqlite3.Error."""
        os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
        self._most = most
        self._lock = threading.Lock()
        self._file = sqlite3.connect(
            file, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            self._file.execute("PRAGMA journal_mode = WAL")
            self._file.execute("PRAGMA synchronous = FULL")  # what is noted survives a loss of power
            self._file.executescript(_TABLES)
        except sqlite3.Error:
            self._file.close()
            raise

    def begin(self, attempts: Collection[Attempt]) -> int:
        """Note that these attempts begin, and return 0 as soon as that is on the disk.

        If one of them, or a later one at the same session, has begun before, note nothing, and return the
        highest number of such an attempt.
        """
        with self._writing() as file:
            latest = _latest(file, attempts)
            if not latest:
                file.executemany("INSERT INTO begun (session, attempt) VALUES (?, ?)", attempts)
                file.execute("DELETE FROM begun WHERE id <= (SELECT max(id) FROM begun) - ?", (self._most,))
            return latest

    def latest(self, attempts: Iterable[Attempt]) -> int:
        """Return what ``begin`` would return, and note nothing."""
        with self._lock:
            return _latest(self._file, attempts)

    def forget(self, attempts: Iterable[Attempt]) -> None:
        """Take back attempts of which nobody was shown a card."""
        with self._writing() as file:
            file.executemany("DELETE FROM begun WHERE session = ? AND attempt = ?", attempts)

    def prove_writable(self) -> None:
        """Note as many attempts as a large match has, and take them back."""
        trial = [Attempt(os.urandom(16), 1) for _ in range(TRIAL)]
        self.begin(trial)
        self.forget(trial)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _writing(self) -> "Iterator[sqlite3.Connection]":
        with self._lock:
            self._file.execute("BEGIN IMMEDIATE")
            try:
                yield self._file
                self._file.execute("COMMIT")
            except BaseException:
                if self._file.in_transaction:
                    self._file.execute("ROLLBACK")
                raise


def _latest(file: sqlite3.Connection, attempts: Iterable[Attempt]) -> int:
    since = "SELECT max(attempt) FROM begun WHERE session = ? AND attempt >= ?"
    return max((file.execute(since, attempt).fetchone()[0] or 0 for attempt in attempts), default=0)
