"""Standard streams as a process may find them: closed, full, or in an encoding that lacks characters."""

import codecs
import io
import os
import sys

SPELLED = {"…": "...", "–": "-", "—": "-", "→": "->", "±": "+/-", "·": ".", "×": "x", "─": "-"}
"""Replacements for characters of our texts that an encoding lacks."""

_ERRORS = "arena.spelled"


def open_closed() -> None:
    """Connect closed standard streams to the null device, before a file gets the number of one."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
            setattr(sys, name, os.fdopen(number, "w" if number else "r", closefd=False))


def spell_out() -> None:
    """Let standard output replace characters that its encoding lacks."""
    codecs.register_error(_ERRORS, _spelled)
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors=_ERRORS)


def _spelled(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    missing = error.object[error.start : error.end]
    return "".join(SPELLED.get(one, "?") for one in missing), error.end


def discard_output() -> None:
    """Discard what is still to be written to standard output, so that the process ends quietly."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
