"""Lines that programs log to their consoles."""

import logging

from referee.lines import ROUTINE, UtcFormatter


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
