"""Standard streams that are closed, or whose reader goes away."""

import io
import os
import sys
from contextlib import suppress
from typing import Any


def open_closed() -> None:
    """Connect closed standard streams to the null device, before a file gets the number of one."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
            setattr(sys, name, os.fdopen(number, "w" if number else "r", closefd=False))


class _Outlasting(io.FileIO):
    """A file that takes what cannot be written: its reader or terminal has gone, or its disk is full."""

    def write(self, data: Any) -> int:
        with suppress(OSError):
            return super().write(data)
        return memoryview(data).nbytes


def outlast_readers() -> None:
    """Let this process go on when nobody can read its standard output or standard error any more."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if not isinstance(stream, io.TextIOWrapper):
            continue  # it is not a file
        with suppress(OSError):
            stream.flush()
        with suppress(io.UnsupportedOperation):  # it is kept in memory
            raw = _Outlasting(stream.fileno(), "w", closefd=False)
            buffered = io.BufferedWriter(raw)
            text = io.TextIOWrapper(buffered, stream.encoding, stream.errors, line_buffering=True)
            setattr(sys, name, text)
