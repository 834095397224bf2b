"""The broker that needs no server: a folder with a file for each message.

Kombu's filesystem transport with one difference. There a reader can open a file before its writer has
filled it, which loses a message and ends the worker; here a file appears under its name whole or not at all,
and messages are taken without leaving the folder's file system.
"""

import os
import time
import uuid
from contextlib import suppress
from pathlib import Path
from queue import Empty
from typing import Any, ClassVar

from kombu.transport import filesystem
from kombu.utils import json

from arena.files import make_private

POLL_SECONDS = 0.01
"""How often a reader looks into an empty folder; the default second is a long time for a short task."""


def options(folder: Path) -> dict[str, object]:
    """Transport options for the messages of ``folder``, which is made."""
    for name in ("queue", "control", "drafts"):
        make_private(folder / name)
    queue = str(folder / "queue")
    return {
        "data_folder_in": queue,
        "data_folder_out": queue,
        "control_folder": str(folder / "control"),
        "processed_folder": str(folder / "drafts"),
        "polling_interval": POLL_SECONDS,
    }


WAIT_SECONDS = 0.2
"""How long a reader waits for a message at a time."""


class Channel(filesystem.Channel):
    """A channel whose files are put and taken by renaming."""

    def _queue_bind(self, exchange: str, routing_key: str, pattern: str, queue: str) -> None:
        table = self.get_table(exchange)  # type: ignore[no-untyped-call]
        bound = filesystem.exchange_queue_t(routing_key or "", pattern or "", queue or "")
        if bound not in table:
            draft = Path(self.processed_folder, f"{uuid.uuid4()}.exchange")
            draft.write_text(json.dumps([*table, bound]))  # type: ignore[no-untyped-call]
            draft.rename(self._exchange_file(exchange))  # type: ignore[no-untyped-call]

    def _put(self, queue: str, payload: dict[str, Any], **_: object) -> None:  # type: ignore[override]
        name = f"{time.time_ns():020}_{uuid.uuid4()}.{queue}.msg"
        draft = Path(self.processed_folder, name)
        draft.write_text(json.dumps(payload))  # type: ignore[no-untyped-call]
        draft.rename(Path(self.data_folder_out, name))

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        for name in sorted(os.listdir(self.data_folder_in)):
            if name.partition(".")[2] != f"{queue}.msg":
                continue
            taken = Path(self.processed_folder, name)
            with suppress(FileNotFoundError):  # another reader was faster
                Path(self.data_folder_in, name).rename(taken)
                text = taken.read_text()
                taken.unlink()
                return json.loads(text)  # type: ignore[no-untyped-call]
        raise Empty


class Transport(filesystem.Transport):
    """Kombu's filesystem transport with this channel."""

    Channel = Channel
    default_connection_params: ClassVar[dict[str, object]] = {}  # there is no host to name

    def drain_events(self, connection: Any, timeout: float | None = None, **_: object) -> None:
        """Deliver a message; a worker that is told to stop has to look up from waiting for one."""
        wait = None if timeout is None else min(timeout, WAIT_SECONDS)
        super().drain_events(connection, timeout=wait)  # type: ignore[no-untyped-call]
