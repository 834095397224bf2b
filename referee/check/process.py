"""The bot as a process that the check starts and ends, with all that it starts itself."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Sequence
from pathlib import Path

from referee.check.outcome import Absent

STOP_SECONDS = 3.0
"""How long a bot may take to end when it is told to, before it is killed."""


class BotProcess:
    """A bot's command; it can be started again after its end."""

    def __init__(self, command: Sequence[str], address: str, token: str, log: Path | None) -> None:
        self._command = list(command)
        self._environment = {**os.environ, "ARENA_REFEREE": address, "ARENA_TOKEN": token}
        self._log = log
        self._process: asyncio.subprocess.Process | None = None

    @property
    def status(self) -> int | None:
        """The exit status; None while it runs, and before its start."""
        return self._process.returncode if self._process is not None else None

    @property
    def running(self) -> bool:
        """Whether the command was started and has not ended."""
        return self._process is not None and self._process.returncode is None

    async def start(self) -> None:
        """Starts the command. Raises Absent if that fails."""
        if not self._command:
            raise Absent("the bot could not be started: the command is empty")
        target = self._log or Path(os.devnull)
        try:
            output = target.open("ab")
        except OSError as error:
            raise Absent(f"log: cannot write to {target}: {error.strerror}") from None
        with output:
            try:
                self._process = await asyncio.create_subprocess_exec(
                    *self._command,
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    env=self._environment,
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
                raise Absent(f"the bot could not be started: {self._command[0]}: {reason}") from None

    def signal(self, number: signal.Signals) -> None:
        """Sends a signal to the bot and all that it started."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)

    async def ended(self, seconds: float) -> bool:
        """Waits for the end; gives whether it came in time."""
        if self._process is not None:
            try:
                async with asyncio.timeout(seconds):
                    await self._process.wait()
            except TimeoutError:
                return False
        return True

    async def stop(self) -> None:
        """Ends the bot: politely, then by force."""
        if self._process is None:
            return
        self.signal(signal.SIGTERM)
        await self.ended(STOP_SECONDS)
        self.signal(signal.SIGKILL)
        await self._process.wait()
        self._process = None
