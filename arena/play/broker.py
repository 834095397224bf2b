"""The broker that needs no server: a folder with a file for each message.

This is Kombu's filesystem transport with one difference. There, a reader can open a file before its writer
has filled it, which loses the message and ends the worker; here, a file appears under its name complete or
not at all, and messages are taken without leaving the folder's file system.
"""

import errno
import json
import logging
import os
import time
import uuid
from base64 import b64decode
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from queue import Empty
from typing import Any, ClassVar

from kombu.transport import filesystem

from arena.host.files import make_private

log = logging.getLogger("arena.play.broker")

AT_ONCE = 1_000
"""How many names of messages a reader remembers; it reads the folder again once it has tried them all."""

DRAFT_SECONDS = 60.0
"""The age from which a draft's process is surely gone: writing or taking one takes milliseconds."""

POLL_SECONDS = 0.01
"""How often a reader looks into an empty folder; the default, a second, is long for a short task."""

QUIET_POLL_SECONDS = 0.05
"""The same once nothing has come for ``WAIT_SECONDS``: most of what an idle worker does is looking."""


def options(folder: Path) -> dict[str, object]:
    """Return the transport options for messages in ``folder``, and create it. Raise OSError."""
    for name in ("queue", "control", "drafts"):
        make_private(folder / name)
        if not os.access(folder / name, os.R_OK | os.X_OK):  # a worker would end, without a word of why
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder / name))
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
    """A channel that puts and takes files by renaming them."""

    def _queue_bind(self, exchange: str, routing_key: str, pattern: str, queue: str) -> None:
        table = self.get_table(exchange)  # type: ignore[no-untyped-call]
        bound = filesystem.exchange_queue_t(routing_key or "", pattern or "", queue or "")
        if bound not in table:
            draft = Path(self.processed_folder, f"{uuid.uuid4()}.exchange")
            draft.write_text(json.dumps([*table, bound]))
            draft.rename(self._exchange_file(exchange))  # type: ignore[no-untyped-call]

    def _put(self, queue: str, payload: dict[str, Any], **_: object) -> None:  # type: ignore[override]
        name = f"{time.time_ns():020}_{uuid.uuid4()}.{queue}.msg"
        draft = Path(self.processed_folder, name)
        draft.write_text(json.dumps(payload))
        draft.rename(Path(self.data_folder_out, name))

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        while (name := self._next(queue)) is not None:
            taken = Path(self.processed_folder, name)
            with suppress(FileNotFoundError):  # another reader was faster
                Path(self.data_folder_in, name).rename(taken)
                message = _read_message(taken)
                if message is not None:
                    taken.unlink()
                    return message
                set_aside(taken)
        raise Empty

    def _next(self, queue: str) -> str | None:
        """Return the oldest known file of a queue; read the folder if there is none.

        Thus a folder with thousands of messages is read and sorted once, and not for each of them.
        """
        queues: dict[str, deque[str]] = vars(self).setdefault("_known", {})
        if not queues.get(queue):
            names = (name for name in os.listdir(self.data_folder_in) if _queue_of(name) == queue)
            queues[queue] = deque(sorted(names)[:AT_ONCE])
        return queues[queue].popleft() if queues[queue] else None


def _queue_of(name: str) -> str | None:
    """Return the queue that a message's file is for: ``time_uuid.queue.msg``; None if it is not a message."""
    rest = name.partition(".")[2]
    return rest.removesuffix(".msg") if rest.endswith(".msg") else None


def _read_message(file: Path) -> dict[str, Any] | None:
    """Return the message in a file; None if it is not one that an arena writes."""
    try:
        message = json.loads(file.read_bytes())
        return message if _is_task(message) else None
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return None


ADVANCE = "arena.advance"
ADVANCE_ALL = "arena.advance_all"
RUN_MATCH = "arena.run_match"
DELIVER = "arena.deliver"
ESTIMATE = "arena.estimate"
WEIGH = "arena.weigh"

TASKS: Mapping[str, int] = {ADVANCE: 1, ADVANCE_ALL: 0, RUN_MATCH: 1, DELIVER: 0, ESTIMATE: 0, WEIGH: 0}
"""The tasks of an arena, with the number of ids that each is sent. Celery's own would run any of them."""

_NOTHING = type(None)
_HEADERS: Mapping[str, tuple[type, ...]] = {
    **dict.fromkeys(("task", "id"), (str,)),
    **dict.fromkeys(("eta", "group", "group_index", "shadow", "stamped_headers"), (_NOTHING,)),
    **dict.fromkeys(("expires", "root_id", "parent_id"), (str, _NOTHING)),
    "retries": (int,),
    "ignore_result": (bool, _NOTHING),
    "stamps": (dict, _NOTHING),
    **dict.fromkeys(("lang", "argsrepr", "kwargsrepr", "origin"), (str, _NOTHING)),
    "replaced_task_nesting": (int, _NOTHING),
    "timelimit": (list,),
    "celery_beat_task": (bool, _NOTHING),
}
"""The headers that Celery sends, and their types. Others can end a worker, or name what to run next."""


def _is_task(message: Any) -> bool:
    """Return whether a message is a task sent by an arena. Raise any error if its content is malformed."""
    headers, properties = message["headers"], message["properties"]
    arguments, named, embedded = json.loads(b64decode(message["body"], validate=True))
    return (
        (message["content-type"], message["content-encoding"]) == ("application/json", "utf-8")
        and headers.keys() <= _HEADERS.keys()
        and all(isinstance(headers.get(name), kinds) for name, kinds in _HEADERS.items())
        and headers["timelimit"] == [None, None]
        and not headers.get("stamps")
        and TASKS.get(headers["task"]) == len(arguments)
        and all(type(argument) is int and argument < 1 << 63 for argument in arguments)
        and named == {}
        and not any(embedded.values())
        and isinstance(properties["delivery_tag"], str)
        and isinstance(properties["delivery_info"], dict)
        and properties["body_encoding"] == "base64"
        and all(isinstance(properties.get(name), str) for name in ("correlation_id", "reply_to"))
    )


def set_aside(file: Path) -> None:
    """Move an unreadable message to where no worker finds it again, log it and count it."""
    from arena.play import metrics  # takes long to load, and whoever only sends never needs it

    aside = file.parent.parent / "unreadable"
    make_private(aside)
    file.rename(aside / file.name)
    metrics.messages_set_aside.inc()
    log.warning("a message cannot be read; it was set aside as %s", aside / file.name)


def clear_drafts(folder: Path, now: float) -> int:
    """Delete files that crashed processes left half-written or half-taken; return their number.

    If a message is lost that was being taken, the next beat sends another.
    """
    old = 0
    for draft in (folder / "drafts").iterdir():
        with suppress(FileNotFoundError):  # its process is there, and was faster
            if now - draft.stat().st_ctime > DRAFT_SECONDS:
                draft.unlink()
                old += 1
    return old


class Transport(filesystem.Transport):
    """Kombu's filesystem transport with this channel."""

    Channel = Channel
    default_connection_params: ClassVar[dict[str, object]] = {}  # there is no host to name

    def drain_events(self, connection: Any, timeout: float | None = None, **_: object) -> None:
        """Deliver a message; the wait is short, so that a worker notices when it is told to stop."""
        wait = None if timeout is None else min(timeout, WAIT_SECONDS)
        try:
            super().drain_events(connection, timeout=wait)  # type: ignore[no-untyped-call]
        except TimeoutError:
            self.polling_interval = QUIET_POLL_SECONDS
            raise
        self.polling_interval = POLL_SECONDS
