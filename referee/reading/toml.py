"""TOML files, and the lines on which their fields are."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from referee.errors import Problem, TomlError

_NAME = r"""(?:[\w-]+|"[^"]*"|'[^']*')"""
_NAMES = rf"{_NAME}(?:\s*\.\s*{_NAME})*"
_KEY = re.compile(rf"\s*({_NAMES})\s*=\s*(.*)")
_TABLE = re.compile(rf"\s*\[\s*({_NAMES})\s*\]")
_ITEM = re.compile(rf"\s*\[\[\s*({_NAMES})\s*\]\]")
_LONG = re.compile(r"\"{3}|'{3}")


def read_toml(path: Path) -> dict[str, object]:
    """Return what a TOML file holds. Raise TomlError if it cannot be read or is not TOML."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise TomlError(path, f"cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise TomlError(path, f"is not TOML: {' '.join(str(error).split())}") from None


def problems_in(path: Path, problems: Sequence[Problem]) -> list[Problem]:
    """Return problems with the fields of a file, with its path and the lines of the fields.

    Items of lists are counted from 1: ``bots no. 3.bot``.
    """
    return problems_in_text(str(path), path.read_text(encoding="utf-8-sig"), problems)


def problems_in_text(name: str, text: str, problems: Sequence[Problem]) -> list[Problem]:
    """Return problems with the fields of a text in TOML, as ``problems_in`` does with those of a file."""
    lines = dict(_lines(text))
    return [
        problem._replace(field=f"{name}{_line(lines, problem.field)}: {_counted(problem.field)}")
        for problem in problems
    ]


def _counted(field: str) -> str:
    return re.sub(r"\[(\d+)\]", lambda match: f" no. {int(match[1]) + 1}", field)


def _line(lines: dict[str, int], field: str) -> str:
    """Return the line of a field, or else of the innermost table or list around it that has one."""
    while field and field not in lines:
        field = field[: max(field.rfind("."), field.rfind("["), 0)]
    return f":{lines[field]}" if field else ""


def _lines(text: str) -> Iterator[tuple[str, int]]:
    """Yield fields, as ``table.key`` or ``tables[0].key``, with their lines; named tables also by name.

    The text must be TOML.
    """
    table, again, items = "", "", Counter[str]()
    long = False  # within a string of several lines
    for number, line in enumerate(text.splitlines(), start=1):
        if not long and (item := _ITEM.match(line)):
            name = _plain(item[1])
            table, again = f"{name}[{items[name]}].", ""
            items[name] += 1
            if items[name] == 1:
                yield name, number
            yield table[:-1], number
        elif not long and (header := _TABLE.match(line)):
            table, again = f"{_plain(header[1])}.", ""
            yield table[:-1], number
        elif not long and (key := _KEY.match(line)):
            name = _plain(key[1])
            if name == "name" and table.endswith("]."):
                again = f"{table.rpartition('[')[0]}.{_plain(key[2].partition('#')[0].strip())}."
                yield again[:-1], number
            yield f"{table}{name}", number
            if again:
                yield f"{again}{name}", number
        long ^= len(_LONG.findall(line)) % 2 == 1


def _plain(names: str) -> str:
    return ".".join(name.strip("\"' ") for name in re.findall(_NAME, names))
