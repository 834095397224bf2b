"""Errors about unknown names, with suggestions."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from sqlmodel import col, select

from arena.errors import UnknownError
from arena.store.models import BotVersion
from arena.store.storage import Transaction
from referee.reading.names import LONGEST_NAME
from referee.reading.validation import MOST_PROBLEMS, short, suggestion

LISTED = ("tournament", "league")
"""The kinds of things that have a command to list all of them."""

SHORTEST = 2
"""Minimum length of a name that is taken for a part of a longer one."""

LATEST = 1_000
"""How many names, the latest ones, are compared with the one that was given."""


LONGEST_VERSION = 2 * LONGEST_NAME + len("/@999999999")

HINTED = 5
"""For how many unknown names similar ones are looked for."""


def unknown(tx: Transaction, thing: str, name: str, column: Any) -> UnknownError:
    """Return the error that no ``thing`` has this name; ``column`` holds their names."""
    names = _latest(tx, column)
    hint = suggestion(name, names) or _containing(name, names)
    listed = f"; all are in: arena {thing} list" if thing in LISTED and names else ""
    return UnknownError(f"no {thing} {_quoted(name)}{hint or listed}")


def _containing(name: str, names: Sequence[str]) -> str:
    """Return "; did you mean …?" for the latest name that contains this one, or an empty string."""
    longer = next((known_name for known_name in names if len(name) >= SHORTEST and name in known_name), None)
    return f"; did you mean {longer!r}?" if longer else ""


def unknown_bots(tx: Transaction, names: Sequence[str], *, to_play: bool = False) -> UnknownError:
    """Return the error that there are no such bots, or no such versions if the names have ``@``.

    With ``to_play``, it says that they have to be registered.
    """
    versions = _latest(tx, col(BotVersion.name))
    bots = list(dict.fromkeys(version.partition("@")[0] for version in versions))
    advice = "; register it first" if to_play else ""
    hints = [suggestion(name, versions if "@" in name else bots) for name in names[:HINTED]]
    lines = [
        f"no bot {_quoted(name)}{hint or advice}"
        for name, hint in zip_longest(names[:MOST_PROBLEMS], hints, fillvalue="")
    ]
    left = len(names) - MOST_PROBLEMS
    return UnknownError(*lines, *([f"no {left:,} further bots either"] if left > 0 else []))


def _quoted(name: str) -> str:
    """Return a name in quotes; shortened if it is longer than any that there can be."""
    return repr(name) if len(name) <= LONGEST_VERSION else short(name)


def _latest(tx: Transaction, column: Any) -> list[str]:
    table = column.class_
    return list(tx.exec(select(column).order_by(col(table.id).desc()).limit(LATEST)))
