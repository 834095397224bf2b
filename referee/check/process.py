"""The bot's process, which the check starts and ends together with every process that the bot starts."""

import asyncio
import contextlib
import errno
import os
import shutil
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from referee.check.outcome import Absent
from referee.processes.child import tied
from referee.processes.console import ROUTINE, begins_trace
from referee.processes.environment import environment_for_bots
from referee.processes.interrupts import FORCE
from referee.reading.plain import plain

STOP_SECONDS = 1.5
"""How long a bot may take to end each time it is told to, before it is told again and then killed."""
SHOWN_FIRST, SHOWN_LAST, SHOWN_WIDTH = 5, 9, 300
"""How much of a bot's output is shown: how many lines at the start and at the end, and characters of each.

Python names the failure in its last lines, other languages in the first lines of what they print of it.
"""
READ_BYTES = 32_768
"""How many bytes are read at each end of a bot's output."""
LEFT_OUT = "…"


class BotProcess:
    """A bot's command; it can be started again after its end."""

    def __init__(self, command: Sequence[str], address: str, token: str, log: Path | None) -> None:
        self._command = list(command)
        own = {"ARENA_REFEREE": address, "ARENA_TOKEN": token, "ARENA_STRICT": "1", "ARENA_BOT_LOG": "off"}
        self._environment = environment_for_bots(own)
        self._log = log
        self._output: IO[bytes] | None = None
        """What the process prints."""
        self._mark = 0
        self._process: asyncio.subprocess.Process | None = None

    @property
    def status(self) -> int | None:
        """Return the exit status; None while it runs, and before its start."""
        return self._process.returncode if self._process is not None else None

    @property
    def ending(self) -> str:
        """How the process ended: with which status, or by which signal."""
        if self.status is None or self.status >= 0:
            return f"ended with status {self.status}"
        return f"was ended by {signal.Signals(-self.status).name}"

    @property
    def running(self) -> bool:
        """Return whether the command was started and has not ended."""
        return self._process is not None and self._process.returncode is None

    async def start(self) -> None:
        """Start the command, which ends with this process, however that ends. Raise Absent if it fails."""
        if not self._command:
            raise Absent("the bot could not be started: the command is empty")
        if shutil.which(self._command[0]) is None:
            why = os.strerror(errno.EACCES if Path(self._command[0]).exists() else errno.ENOENT)
            raise Absent(f"the bot could not be started: {self._command[0]}: {why}")
        output = self._output = self._output or self._open()
        try:
            self._process = await asyncio.create_subprocess_exec(
                *tied(*self._command),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=self._environment,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
            raise Absent(f"the bot could not be started: {self._command[0]}: {reason}") from None

    def mark(self) -> None:
        """Let ``printed`` begin at what the bot prints from now on."""
        if self._output is not None:
            self._mark = os.fstat(self._output.fileno()).st_size

    def printed(self) -> tuple[str, ...]:
        """Return the first and the last lines that the bot printed since the mark, safe to show."""
        if self._output is None:
            return ()
        size = os.fstat(self._output.fileno()).st_size
        if size - self._mark <= 2 * READ_BYTES:
            return excerpt(self._lines(self._mark, size))
        first = self._lines(self._mark, self._mark + READ_BYTES)
        return excerpt([*first, LEFT_OUT, *self._lines(size - READ_BYTES, size)])

    def _lines(self, start: int, end: int) -> list[str]:
        """Return the lines in a part of the output that may explain a failure: not blank, not routine."""
        assert self._output is not None
        text = _read_part(self._output, start, end).decode(errors="replace")
        return [_fit(line) for line in text.splitlines() if line.strip() and not ROUTINE.match(line)]

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the bot and all that it started."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if sys.platform == "win32":
                    self._process.terminate()
                else:
                    os.killpg(self._process.pid, number)

    async def ended(self, seconds: float) -> bool:
        """Wait for the end. Return whether it came in time."""
        if self._process is None:
            return True
        # Not asyncio.timeout: where a signal is cancelling the task, that of Python 3.11.2 ends it as well.
        waiting = asyncio.ensure_future(self._process.wait())
        await asyncio.wait([waiting], timeout=seconds)
        if waiting.done():
            return True
        waiting.cancel()
        return False

    async def stop(self) -> None:
        """End the bot: politely, once more in case it is finishing open sessions, then by force."""
        if self._process is None:
            return
        for _ in range(2):
            self.signal(signal.SIGTERM)
            if await self.ended(STOP_SECONDS):
                break
        self.signal(FORCE)
        await self._process.wait()
        self._process = None

    async def close(self) -> None:
        """End the bot for good."""
        await self.stop()
        if self._output is not None:
            self._output.close()
            self._output = None

    def _open(self) -> IO[bytes]:
        """Open the file for what the process prints. Raise Absent if that fails."""
        if self._log is None:
            return TemporaryFile("a+b")
        try:
            return self._log.open("a+b")
        except OSError as error:
            raise Absent(f"log: cannot write to {self._log}: {error.strerror}") from None


def excerpt(lines: Sequence[str]) -> tuple[str, ...]:
    """Return the first lines, or those with which a panic or a trace of calls begins, and the last ones."""
    if len(lines) <= SHOWN_FIRST + SHOWN_LAST:
        return tuple(lines)
    named = [place for place in range(len(lines)) if begins_trace(lines, place)]
    start = min(named[-1] if named else 0, len(lines) - SHOWN_FIRST - SHOWN_LAST)
    before = (LEFT_OUT,) if start else ()
    first, rest = lines[start : start + SHOWN_FIRST], lines[start + SHOWN_FIRST :]
    between = (LEFT_OUT,) if len(rest) > SHOWN_LAST else ()
    return (*before, *first, *between, *rest[-SHOWN_LAST:])


def _read_part(file: IO[bytes], start: int, end: int) -> bytes:
    """Return a part of a file that another process writes to."""
    if sys.platform == "win32":  # where both processes share one file position
        file.seek(start)
        content = file.read(end - start)
        file.seek(0, os.SEEK_END)
        return content
    return os.pread(file.fileno(), end - start, start)


def _fit(line: str) -> str:
    """Return a line without terminal control characters, shortened if it is long."""
    text = plain(line.expandtabs().rstrip())
    return text if len(text) <= SHOWN_WIDTH else f"{text[:SHOWN_WIDTH]} …"
