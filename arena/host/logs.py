"""The log of a process: a line for each event, as text or as JSON, with the ids of what it concerns.

Ids come with the call (``extra={"match": …}``), or apply to everything that a thread logs within ``about``.
"""

import json
import logging
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from types import TracebackType

from arena.host.settings import Settings
from referee.matches.journal import DealPage, DealQuery, Entry, EntryKind, Journal, LogEntry, LogQuery
from referee.processes.closed import outlast_readers
from referee.processes.console import UtcFormatter
from referee.processes.interrupts import end_on_hangup
from referee.reading.plain import plain

IDS = ("tournament", "match", "session", "bot")
"""The kinds of ids in a line. A session's id is ``tournament/round/table/number``, its match's the same
without the number."""

TEXT = "%(asctime)s %(levelname)s %(name)s: %(message)s"

OURS = ("arena", "referee")
"""The loggers that ``log_level`` applies to; of all others, only warnings and errors are logged."""

_about: ContextVar[dict[str, str] | None] = ContextVar("about", default=None)


@contextmanager
def about(**ids: str) -> Iterator[None]:
    """Add these ids to everything that is logged within the block."""
    token = _about.set((_about.get() or {}) | ids)
    try:
        yield
    finally:
        _about.reset(token)


class TextFormatter(UtcFormatter):
    """Formats an event as a line of text, followed by the lines of a traceback if there was an exception."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Return the line; a line break in the message does not start another one."""
        return plain(super().formatMessage(record))

    def format(self, record: logging.LogRecord) -> str:
        """Return the line and the traceback."""
        return plain(super().format(record), keep="\n")


class JsonFormatter(logging.Formatter):
    """One JSON object a line: ``time`` (UTC), ``level``, ``logger``, ``message``, ``process``, and the ids.

    If there was an exception, ``exception`` has its traceback.
    """

    def __init__(self, process: str) -> None:
        super().__init__()
        self._process = process

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line of JSON."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            "process": self._process,
        }
        ids = _about.get() or {}
        for name in IDS:
            value = getattr(record, name, None) or ids.get(name)
            if value is not None:
                line[name] = str(value)
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line)


def set_up(settings: Settings, process: str) -> None:
    """Set up this process's log to standard error, as the settings say; ``process`` names it in each line.

    The process goes on when nobody can read it any more, and ends in good order when its terminal is closed.
    """
    outlast_readers()
    end_on_hangup()
    handler = logging.StreamHandler(sys.stderr)
    as_json = settings.log_format == "json"
    handler.setFormatter(JsonFormatter(process) if as_json else TextFormatter(TEXT))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    for name in OURS:
        logging.getLogger(name).setLevel(settings.log_level.upper())
    logging.captureWarnings(True)
    if as_json:
        sys.excepthook = _log_crash
        threading.excepthook = _log_thread_crash
        # Celery prints on standard output that it stops, which is not JSON if both go into one file.
        sys.stdout.flush()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def in_one_line(record: logging.LogRecord, troubles: tuple[type[BaseException], ...] = ()) -> bool:
    """A log filter that puts each record on one line, and drops none.

    Up to the level of warnings, and for these ``troubles``, exceptions are logged without a traceback.
    """
    message = record.getMessage()
    if record.exc_info and (record.levelno <= logging.WARNING or isinstance(record.exc_info[1], troubles)):
        raised = repr(record.exc_info[1])
        message = message if raised in message else f"{message} ({raised})"
        record.exc_info = None
    record.msg, record.args = " ".join(message.split()), ()
    return True


def _log_crash(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    logging.getLogger("arena").critical("%s: %s", kind.__name__, error, exc_info=(kind, error, trace))


def _log_thread_crash(crash: threading.ExceptHookArgs) -> None:
    error = crash.exc_value or crash.exc_type()
    _log_crash(crash.exc_type, error, crash.exc_traceback)


class LoggingJournal:
    """A journal that also logs its faults and notices, for debugging."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._log = logging.getLogger("referee.matches.journal")

    def add(self, entry: Entry) -> None:
        """Add an entry, and log it."""
        if entry.kind in (EntryKind.FAULT, EntryKind.NOTICE) and self._log.isEnabledFor(logging.DEBUG):
            extra = ids_of(entry.session_id) | {"bot": f"version {entry.version_id}"}
            where = entry.session_id or "a stream"
            self._log.debug("%s: %s %s: %s", where, entry.kind, entry.code, entry.text, extra=extra)
        self._journal.add(entry)

    def read(self, token: str, query: LogQuery) -> list[LogEntry]:
        """Read as the journal does."""
        return self._journal.read(token, query)

    def deals(self, token: str, query: DealQuery) -> DealPage:
        """Return what the journal does."""
        return self._journal.deals(token, query)


def ids_of(session_id: str) -> dict[str, str]:
    """Return the ids of a session, its match and its tournament; empty if there is no session."""
    match, slash, _ = session_id.rpartition("/")
    if not slash:
        return {}
    return {"tournament": session_id.partition("/")[0], "match": match, "session": session_id}
