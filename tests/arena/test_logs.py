"""Logs: one line for each event, with the ids of whatever it concerns."""

import json
import logging
import subprocess
import sys
from pathlib import Path

import pytest

from arena.host.logs import JsonFormatter, LoggingJournal, about, ids_of, in_one_line
from referee.matches.journal import Entry, EntryKind
from tests.arena.running import LATE_BOT, running_arena
from tests.referee.support import ListJournal
from tests.waiting import DEADLINE


def line(message: str, *args: object, **extra: object) -> dict[str, object]:
    """Return the fields that the JSON formatter writes for a record."""
    record = logging.LogRecord("arena.play.matches", logging.INFO, __file__, 1, message, args, None)
    vars(record).update(extra)
    parsed: dict[str, object] = json.loads(JsonFormatter("worker").format(record))
    return parsed


def test_line_when_formatted_then_it_has_the_common_fields() -> None:
    parsed = line("%s: %d sessions\nin 2 lines", "cup/1/1", 3)
    assert parsed.pop("time")
    assert parsed == {
        "level": "info",
        "logger": "arena.play.matches",
        "message": "cup/1/1: 3 sessions\nin 2 lines",
        "process": "worker",
    }


def test_ids_when_given_with_the_call_then_they_come_before_those_around_it() -> None:
    with about(tournament="cup", match="cup/1/1"):
        with about(match="cup/1/2"):
            parsed = line("stored", session="cup/1/2/3", colour="blue")
        outer = line("done", match="cup/9/9")
    assert (parsed["tournament"], parsed["match"], parsed["session"]) == ("cup", "cup/1/2", "cup/1/2/3")
    assert "colour" not in parsed
    assert (outer["tournament"], outer["match"]) == ("cup", "cup/9/9")
    assert "match" not in line("afterwards")


def test_session_when_named_then_its_match_and_tournament_follow() -> None:
    assert ids_of("cup/1/2/3") == {"tournament": "cup", "match": "cup/1/2", "session": "cup/1/2/3"}
    assert ids_of("") == {}


def test_fault_when_debugging_then_it_is_logged_and_kept(caplog: pytest.LogCaptureFixture) -> None:
    kept = ListJournal()
    journal = LoggingJournal(kept)
    fault = Entry(7, EntryKind.FAULT, "timeout", "no answer in time", "cup/1/2/3")
    with caplog.at_level(logging.DEBUG, "referee"):
        journal.add(fault)
        journal.add(Entry(7, EntryKind.LEFT, "", "the bot said goodbye"))
    assert [record.getMessage() for record in caplog.records] == [
        "cup/1/2/3: fault timeout: no answer in time"
    ]
    assert vars(caplog.records[0])["session"] == "cup/1/2/3"
    assert [entry.kind for entry in kept.entries] == [EntryKind.FAULT, EntryKind.LEFT]


def filtered(
    level: int, message: str, *args: object, troubles: tuple[type[Exception], ...] = ()
) -> logging.LogRecord:
    """Return a record about an exception, as the filter leaves it."""
    try:
        raise ConnectionError("reset by peer")
    except ConnectionError:
        record = logging.LogRecord("celery", level, __file__, 1, message, args, sys.exc_info())
    assert in_one_line(record, troubles)
    return record


def test_filter_when_a_warning_has_a_traceback_then_one_line_says_what_was_raised() -> None:
    record = filtered(logging.WARNING, "Lost %s.\nTrying again...\n", "redis://h")
    assert record.getMessage() == "Lost redis://h. Trying again... (ConnectionError('reset by peer'))"
    assert record.exc_info is None


def test_filter_when_an_error_has_a_traceback_then_it_stays() -> None:
    record = filtered(logging.ERROR, "Task %s\nfailed", "advance")
    assert record.getMessage() == "Task advance failed"
    assert record.exc_info is not None


def test_filter_when_an_error_is_a_trouble_that_is_known_then_one_line_says_once_what_was_raised() -> None:
    reason = ConnectionError("reset by peer")
    record = filtered(logging.CRITICAL, "Couldn't ack %r, reason:%r", 7, reason, troubles=(OSError,))
    assert record.getMessage() == "Couldn't ack 7, reason:ConnectionError('reset by peer')"
    assert record.exc_info is None


CRASHES = """
import logging, sys, threading, warnings
from pathlib import Path
from arena.host.logs import set_up
from arena.host.settings import load_settings
set_up(load_settings({"data": Path(sys.argv[1]), "log_format": sys.argv[2], "log_level": "warning"}), "beat")
print("for people")
logging.getLogger("arena").info("too quiet")
logging.getLogger("kombu").info("too quiet")
logging.getLogger("arena").warning("loud")
warnings.warn("old", stacklevel=1)
thread = threading.Thread(target=lambda: 1 / 0)
thread.start()
thread.join()
raise ValueError("the end")
"""


def crash(folder: Path, format: str) -> list[str]:
    command = [sys.executable, "-c", CRASHES, str(folder), format]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    done = subprocess.run(command, timeout=DEADLINE, **pipes)  # type: ignore[call-overload]
    assert done.returncode == 1
    lines: list[str] = done.stdout.splitlines()
    return lines


def test_process_when_it_crashes_then_its_traceback_is_one_json_line(tmp_path: Path) -> None:
    loud, old, thread, end = map(json.loads, crash(tmp_path, "json"))
    assert (loud["message"], loud["level"], loud["process"]) == ("loud", "warning", "beat")
    assert "UserWarning: old" in old["message"]
    assert thread["message"] == "ZeroDivisionError: division by zero"
    assert (end["message"], end["level"]) == ("ValueError: the end", "critical")
    assert end["exception"].startswith("Traceback")


def test_process_when_it_logs_text_then_it_reads_as_before(tmp_path: Path) -> None:
    lines = crash(tmp_path, "text")
    assert "for people" in lines
    assert any(text.endswith(" WARNING arena: loud") for text in lines)
    assert not any("too quiet" in text for text in lines)


def test_arena_when_it_logs_json_then_each_line_is_an_object_and_carries_ids_and_no_token(
    tmp_path: Path,
) -> None:
    bots = {"a/b": LATE_BOT, "a/c": "lowest.py", "a/d": "pairs_first.py", "a/e": "random_bot.py"}
    folder = tmp_path / "arena"
    strict = {"decision_ms": 5, "credit_ms": 0, "faults": 1000, "join_seconds": 60, "rated": False}
    fields = {"ruleset": "chinese", "format": "round-robin", "entrants": list(bots)}
    with running_arena(folder, bots, log_format="json", log_level="debug") as arena:
        arena.start_tournament(
            "cup", bytes(32), sessions=2, deals=2, allow_same_owner=True, **fields, **strict
        )
        arena.wait("cup", lambda status: status.state == "finished")
    logs = {file.stem: file.read_text() for file in (folder / "logs").iterdir()}
    assert set(logs) == {"referee", "worker", "beat"}
    lines = {name: [json.loads(text) for text in log.splitlines()] for name, log in logs.items()}
    assert all(one["process"] == name for name, log in lines.items() for one in log)

    stored = [one for one in lines["worker"] if one["message"].endswith(": stored")]
    ids = {(one["tournament"], one["match"], one["session"]) for one in stored}
    assert ids == {("cup", "cup/1/1", "cup/1/1/1"), ("cup", "cup/1/1", "cup/1/1/2")}
    assert [one["tournament"] for one in lines["worker"] if one["message"] == "cup: finished"] == ["cup"]
    played = [one for one in lines["referee"] if one.get("match") == "cup/1/1"]
    assert played[0]["message"] == "match cup/1/1: 2 sessions"
    faults = [one for one in lines["referee"] if " fault timeout: " in one["message"]]
    assert {one["match"] for one in faults} == {"cup/1/1"}
    assert {one["session"] for one in faults} <= {"cup/1/1/1", "cup/1/1/2"}
    assert "a/b@1" in {one.get("bot") for one in lines["referee"]}
    assert not any("bt_" in log for log in logs.values())
