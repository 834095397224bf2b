"""Lines that programs log to their consoles."""

import logging
import re
import sys
import time
from collections.abc import Sequence

ROUTINE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}Z (INFO|DEBUG) ")
"""How such lines begin that tell of nothing wrong."""

PANICKED = re.compile(r"(?:thread .* (panicked at .*?):?|(panic: .*))$")
"""What a program in Rust or Go prints first when it panics; the last lines are the same in all panics."""


def last_words(lines: Sequence[str]) -> str:
    """Return what a program printed about its end: its panic, else its last line; empty if nothing."""
    for place, line in reversed([*enumerate(lines)]):
        if panicked := PANICKED.match(line):
            why = "".join(lines[place + 1 : place + 2]) if line.endswith(":") else ""
            return panicked[2] or f"it {panicked[1]}{why and f': {why}'}"
    return f"its last line: {lines[-1]}" if lines else ""


class UtcFormatter(logging.Formatter):
    """Begins lines with the time in UTC, and says so: who reads them may be elsewhere."""

    converter = staticmethod(time.gmtime)
    default_msec_format = "%s,%03dZ"


def log_to_console() -> None:
    """Log to standard error, unless the program has set up another log."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(UtcFormatter("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
