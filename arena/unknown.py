"""Errors about unknown names, with suggestions."""

from collections.abc import Sequence
from typing import Any

from sqlmodel import col, select

from arena.errors import UnknownError
from arena.models import BotVersion
from arena.storage import Transaction
from referee.validation import suggestion

LISTED = ("tournament", "league")
"""The kinds of things that have a command to list all of them."""

SHORTEST = 2
"""Minimum length of a name that is taken for a part of a longer one."""

LATEST = 1_000
"""How many names, the latest ones, are compared with the one that was given."""


def unknown(tx: Transaction, thing: str, name: str, column: Any) -> UnknownError:
    """Return the error that no ``thing`` has this name; ``column`` holds their names."""
    known = _latest(tx, column)
    hint = suggestion(name, known) or _containing(name, known)
    listed = f"; all are in: arena {thing} list" if thing in LISTED and known else ""
    return UnknownError(f"no {thing} {name!r}{hint or listed}")


def _containing(name: str, known: Sequence[str]) -> str:
    """Return "; did you mean …?" for the latest name that contains this one, or an empty string."""
    found = next((one for one in known if len(name) >= SHORTEST and name in one), None)
    return f"; did you mean {found!r}?" if found else ""


def unknown_bots(tx: Transaction, names: Sequence[str], *, wanted: bool = False) -> UnknownError:
    """Return the error that there are no such bots, or no such versions if the names have ``@``.

    If the bots are ``wanted`` to play, it says that they have to be registered.
    """
    versions = _latest(tx, col(BotVersion.name))
    bots = list(dict.fromkeys(version.partition("@")[0] for version in versions))
    advice = "; it has to be registered first" if wanted else ""
    hints = (suggestion(name, versions if "@" in name else bots) or advice for name in names)
    return UnknownError(*(f"no bot {name!r}{hint}" for name, hint in zip(names, hints, strict=True)))


def _latest(tx: Transaction, column: Any) -> list[str]:
    table = column.class_
    return list(tx.exec(select(column).order_by(col(table.id).desc()).limit(LATEST)))
