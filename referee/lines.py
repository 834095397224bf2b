"""Lines that programs log to their consoles."""

import logging
import re
import sys
import time

ROUTINE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}Z (INFO|DEBUG) ")
"""How such lines begin that tell of nothing wrong."""


class UtcFormatter(logging.Formatter):
    """Begins lines with the time in UTC, and says so: who reads them may be elsewhere."""

    converter = staticmethod(time.gmtime)
    default_msec_format = "%s,%03dZ"


def log_to_console() -> None:
    """Log to standard error, unless the program has set up another log."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(UtcFormatter("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
