"""What a long-running process does about its database from time to time, from its start to its end.

It compares the schema with the one that it needs, follows the database's clock, and writes its row in
``processes``, by which doctor knows it. One whose schema was changed meanwhile stops, and says why.
"""

import json
import logging
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import cache
from importlib import metadata
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy import delete
from sqlmodel import col

from arena.errors import SchemaError, StorageError
from arena.store.migrations import HEAD
from arena.store.models import Process
from arena.store.schema import find_problem, fingerprint, read_revision
from arena.store.storage import Storage, changed, put_rows
from referee.native import build

SECONDS = 20.0
"""How often a process looks at the database."""

GONE = timedelta(seconds=4 * SECONDS)
"""After this time without a sign, a process is not running any more."""

DISTRIBUTION = "bigtwo-arena"

log = logging.getLogger("arena.store")


class Watch:
    """Watches the database of a process during the block, and ends the process if its schema changes.

    At the end of the block it then raises SchemaError.
    """

    def __init__(self, storage: Storage, process: str, *, stop_with: signal.Signals = signal.SIGTERM) -> None:
        self.name = f"{process} {socket.gethostname()}:{os.getpid()}"
        self.problem: str | None = None
        """Why the process does not fit its database; None if it does."""
        self._storage = storage
        self._stop_with = stop_with
        self._ended = threading.Event()
        self._lock = threading.Lock()

    def fits(self) -> bool:
        """Return whether the schema is still the one of the start; it takes one short query."""
        if self.problem is None:
            with self._storage.connect() as connection:
                revision = read_revision(connection)
            if revision != HEAD:
                self.look()
        return self.problem is None

    def look(self) -> None:
        """Compare the whole schema; if it fits, measure the clock and write the row of this process."""
        with self._lock:
            if self.problem is not None:
                return
            with self._storage.connect() as connection:
                problem = find_problem(connection)
            if problem is None:
                self._sign(self._storage.measure_clock())
                return
            self.problem = f"database: {problem.what}; {problem.advice}"
        log.error("%s; this process takes nothing more and stops", self.problem)
        os.kill(os.getpid(), self._stop_with)

    def _sign(self, ahead: float) -> None:
        now = self._storage.now()
        row = Process(
            name=self.name,
            version=own_version(),
            schema_name=fingerprint(),
            ahead_seconds=ahead,
            seen_at=now,
        )
        with self._storage.write() as tx:
            put_rows(tx, Process, [row.model_dump()])
            changed(tx, delete(Process).where(col(Process.seen_at) < now - GONE))

    def _run(self) -> None:
        while not self._ended.wait(SECONDS):
            with _absence_allowed():
                self.look()

    def __enter__(self) -> Self:
        with _absence_allowed():
            self.look()
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()
        if self.problem is not None:
            raise SchemaError(self.problem)
        with _absence_allowed(), self._storage.write() as tx:
            changed(tx, delete(Process).where(col(Process.name) == self.name))


@contextmanager
def _absence_allowed() -> Iterator[None]:
    """Go on without a database that is away or can only be read; whatever else needs it says so."""
    try:
        yield
    except StorageError as error:
        log.debug("the database cannot be watched now: %s", error)


@cache
def commit() -> str:
    """Return the beginning of the commit that runs, as installed or checked out; empty if it is not known."""
    installed = metadata.distribution(DISTRIBUTION)
    place = json.loads(installed.read_text("direct_url.json") or "{}")
    folder = Path(__file__).parents[2]
    if revision := place.get("vcs_info", {}).get("commit_id"):
        return str(revision)[:12]
    if (file := folder / "arena" / "commit.txt").is_file():  # hatch_build.py writes it into wheels
        return file.read_text("utf-8").strip()
    if not (folder / ".git").exists():
        return ""
    command = ["git", "-C", str(folder), "rev-parse", "--short=12", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def own_version() -> str:
    """Return version, commit and build of this process in one text."""
    parts = [metadata.version(DISTRIBUTION), commit(), build()]
    return ", ".join(part for part in parts if part)
