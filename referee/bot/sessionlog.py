"""A bot's own log of its sessions: a small file, which ``arena verify --with`` compares with exports."""

import json
import logging
import os
import re
import shutil
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from queue import Empty, Full, Queue

from referee.bot.evidence import Entry

MOST_BYTES = 8 << 20
"""A file that would become larger is renamed to ``….1``, replacing the previous one."""
MOST_WAITING = 10_000
"""How many lines may wait to be written; further ones are dropped."""
CLOSE_SECONDS = 2.0
"""How long the end of a bot waits for its log."""

OFF = "off"
"""Stands for a path if no log is to be kept."""

_BOT = re.compile(r"[a-z0-9-]{1,39}/[a-z0-9-]{1,39}@[0-9]{1,9}")

log = logging.getLogger("bot")


class SessionLog:
    """Writes lines in a thread of its own, so that a slow or full disk holds nobody up."""

    def __init__(self, place: Callable[[str], Path]) -> None:
        """Create a log; ``place`` returns the path of the file for a bot's name, ``owner/bot@version``."""
        self._place = place
        self._waiting: Queue[Entry | None] = Queue(MOST_WAITING)
        self._failed = False
        """Whether the last line could not be written, which was logged."""
        self._thread = threading.Thread(target=self._run, name="session-log", daemon=True)
        self._thread.start()

    def add(self, entry: Entry) -> None:
        """Add a line, to be written soon; drop it if too many wait."""
        try:
            self._waiting.put_nowait(entry)
        except Full:
            self._fail("too many lines wait to be written")

    def close(self) -> None:
        """Write what waits, unless that takes long."""
        try:
            self._waiting.put(None, timeout=CLOSE_SECONDS)
        except Full:
            return
        self._thread.join(CLOSE_SECONDS)

    def _run(self) -> None:
        open_ = True
        while open_:
            entries = [self._waiting.get()]
            try:
                while len(entries) < MOST_WAITING:
                    entries.append(self._waiting.get_nowait())
            except Empty:
                pass
            open_ = None not in entries
            self._write([entry for entry in entries if entry is not None])

    def _write(self, entries: list[Entry]) -> None:
        lines: dict[str, bytes] = {}
        for entry in entries:
            lines[entry.bot] = lines.get(entry.bot, b"") + _encoded(entry.line)
        for bot, data in lines.items():
            try:
                append(self._place(bot), data)
                self._failed = False
            except (
                OSError,
                RuntimeError,
                ValueError,
            ) as error:  # no such home folder, or a path that is none
                self._fail(str(error))

    def _fail(self, why: str) -> None:
        if not self._failed:
            log.warning("the log of sessions is not complete: %s", why)
        self._failed = True


def append(path: Path, lines: bytes) -> None:
    """Append whole lines to a private file that others may append to: all of them or none. Raise OSError."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    while True:
        file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        try:
            _lock(file)
            if not _is_at(file, path):
                continue  # another process has renamed it meanwhile
            size = os.fstat(file).st_size
            if size and size + len(lines) > MOST_BYTES:
                _put_away(file, path)
                continue
            _write_whole(file, size, lines)
            return
        finally:
            os.close(file)


def _lock(file: int) -> None:
    """Wait until no other process has the file locked, and lock it until it is closed.

    On Windows, do nothing: a bot should not run twice with the same log there.
    """
    if sys.platform != "win32":
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)


def _put_away(file: int, path: Path) -> None:
    """Rename a locked file to ``….1``, or move its contents there if an open file cannot be renamed."""
    path = path.resolve()  # what a link leads to, and not the link
    older = path.with_name(f"{path.name}.1")
    if sys.platform == "win32":
        shutil.copyfile(path, older)
        os.ftruncate(file, 0)
    else:
        path.replace(older)


def _is_at(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False


def _write_whole(file: int, size: int, lines: bytes) -> None:
    """Write all or nothing at the end of a locked file, after a line that a crash has left unfinished."""
    if size:
        os.lseek(file, size - 1, os.SEEK_SET)
    if size and os.read(file, 1) != b"\n":
        lines = b"\n" + lines
    try:
        left = lines
        while left:
            left = left[os.write(file, left) :]
    except OSError:
        os.ftruncate(file, size)
        raise


def _encoded(line: Mapping[str, object]) -> bytes:
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


def default_place(bot: str) -> Path:
    """Return the file of a bot's log in the user's state folder: ``owner.bot.jsonl``."""
    state = os.environ.get("XDG_STATE_HOME", "")
    folder = Path(state) if os.path.isabs(state) else Path.home() / ".local" / "state"
    name = bot.partition("@")[0].replace("/", ".") if _BOT.fullmatch(bot) else "bot"
    return folder / "bigtwo-arena" / f"{name}.jsonl"


def session_log(variable: str) -> SessionLog | None:
    """Return the log that ``ARENA_BOT_LOG`` asks for: a path, ``off``, or empty for the default place."""
    if variable == OFF:
        return None
    if variable:
        return SessionLog(lambda bot: Path(variable).expanduser())
    return SessionLog(default_place)
