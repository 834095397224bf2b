"""Standard streams that a process finds closed; it loads next to nothing, as every command begins with it."""

import os
import sys


def open_closed() -> None:
    """Connect closed standard streams to the null device, before a file gets the number of one."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
            setattr(sys, name, os.fdopen(number, "w" if number else "r", closefd=False))
