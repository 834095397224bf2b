"""Lines that programs write to their consoles."""

import logging
import re
import sys
import time
from collections.abc import Sequence

ROUTINE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}Z (INFO|DEBUG) ")
"""How lines of our own logs begin that report nothing wrong."""

PANICKED = re.compile(r"(?:thread .* (panicked at .*?):?|(panic: .*|terminate called .*))$")
"""The first line of a panic in Rust or Go, or of the end of a program in C++, which names the cause; the last
lines are alike in all panics."""

RAISED = re.compile(
    r"(?:Uncaught |Exception in thread \".*\" |Caused by: )?(?:[\w$]+\.)*"
    r"(\w*(?:Error|Exception|Failed|Exit|Interrupt|Stop\w*))(?::|$)"
)
"""The line that names an exception: the last of a traceback in Python, the first in JavaScript and Java."""


def last_words(lines: Sequence[str]) -> str:
    """Return what a program printed about its end: its error, or else its last line; empty if it has none."""
    for place, line in reversed([*enumerate(lines)]):
        if panicked := PANICKED.match(line):
            why = "".join(lines[place + 1 : place + 2]) if line.endswith(":") else ""
            return panicked[2] or f"it {panicked[1]}{why and f': {why}'}"
        if begins_trace(lines, place):
            return f"its error: {line}"
    return f"its last line: {lines[-1]}" if lines else ""


def begins_trace(lines: Sequence[str], place: int) -> bool:
    """Return whether a line names the cause of a failure, and the calls that led to it follow."""
    if PANICKED.match(lines[place]):
        return True
    return RAISED.match(lines[place]) is not None and "".join(
        lines[place + 1 : place + 2]
    ).lstrip().startswith("at ")


class UtcFormatter(logging.Formatter):
    """Begins lines with the time in UTC, marked as such, because readers may be in other time zones."""

    converter = staticmethod(time.gmtime)
    default_msec_format = "%s,%03dZ"


def log_to_console() -> None:
    """Log to standard error, unless the program has set up another log."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(UtcFormatter("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
