"""Standard output as a process may find it: full, or in an encoding that lacks characters."""

import codecs
import io
import os
import sys

SPELLED = {"…": "...", "–": "-", "—": "-", "→": "->", "±": "+/-", "·": ".", "×": "x", "─": "-"}
"""Replacements for characters of our texts that an encoding lacks."""

_ERRORS = "arena.spelled"


def spell_out() -> None:
    """Let standard output replace characters that its encoding lacks."""
    codecs.register_error(_ERRORS, _spelled)
    # Under LC_ALL=C the handler is surrogateescape, which knows no other missing characters either.
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors in ("strict", "surrogateescape"):
        sys.stdout.reconfigure(errors=_ERRORS)


def _spelled(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    missing = error.object[error.start : error.end]
    return "".join(SPELLED.get(one, "?") for one in missing), error.end


def discard_output() -> None:
    """Discard what is still to be written to standard output, so that the process ends quietly."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
