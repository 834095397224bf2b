"""Tests for the lines that programs log to their consoles."""

import logging

import pytest

from referee.processes.console import ROUTINE, UtcFormatter, last_words


def line(level: int) -> str:
    record = logging.LogRecord("bot", level, "", 1, "connected", None, None)
    record.created, record.msecs = 1_800_000_000.25, 250.0
    return UtcFormatter("%(asctime)s %(levelname)s %(message)s").format(record)


def test_line_when_it_is_logged_then_its_time_is_in_utc_and_says_so() -> None:
    assert line(logging.INFO) == "2027-01-15 08:00:00,250Z INFO connected"


def test_line_when_it_tells_of_nothing_wrong_then_it_is_routine() -> None:
    assert [bool(ROUTINE.match(line(level))) for level in (logging.DEBUG, logging.INFO, logging.ERROR)] == [
        True,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        ([], ""),
        (["hello", "no memory"], "its last line: no memory"),
        (
            ["hello", "thread 'main' (7) panicked at src/main.rs:1:2:", "no hand", "note: run with …"],
            "it panicked at src/main.rs:1:2: no hand",
        ),
        (["thread 'main' panicked at src/main.rs:1:2:"], "it panicked at src/main.rs:1:2"),
        (["panic: no hand", "goroutine 1 [running]:", "exit status 2"], "panic: no hand"),
        (["Error: no hand", "    at choose (bot.js:3:11)", "Node.js v20.20.2"], "its error: Error: no hand"),
    ],
)
def test_last_words_when_a_program_ended_then_they_say_why(printed: list[str], said: str) -> None:
    assert last_words(printed) == said
