"""Lines that programs write to their consoles."""

import logging
import re
import sys
import time
from collections.abc import Sequence

ROUTINE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}Z (INFO|DEBUG) ")
"""How lines of our own logs begin that report nothing wrong."""

PANICKED = re.compile(r"(?:thread .* (panicked at .*?):?|(panic: .*))$")
"""The first line of a panic in Rust or Go, which names the cause; the last lines are alike in all panics."""


def last_words(lines: Sequence[str]) -> str:
    """Return what a program printed about its end: its panic, or else its last line; empty if it has none."""
    for place, line in reversed([*enumerate(lines)]):
        if panicked := PANICKED.match(line):
            why = "".join(lines[place + 1 : place + 2]) if line.endswith(":") else ""
            return panicked[2] or f"it {panicked[1]}{why and f': {why}'}"
    return f"its last line: {lines[-1]}" if lines else ""


class UtcFormatter(logging.Formatter):
    """Begins lines with the time in UTC, marked as such, because readers may be in other time zones."""

    converter = staticmethod(time.gmtime)
    default_msec_format = "%s,%03dZ"


def log_to_console() -> None:
    """Log to standard error, unless the program has set up another log."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(UtcFormatter("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
