"""The keys of the JSON that commands print, in the notation of docs/json.md, and a reader of that page."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

PAGE = Path(__file__).resolve().parents[2] / "docs" / "json.md"


class Section(NamedTuple):
    """A section of the page: commands that print the same kind of object, and its keys."""

    title: str
    commands: tuple[str, ...]
    keys: frozenset[str]
    """For example ``bots[].bot``; ``settings.*`` stands for whatever keys an object has."""


def read_page() -> Iterator[Section]:
    """Yield the sections of the page that have keys."""
    for part in re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.M)[1:]:
        title, _, text = part.partition("\n")
        printed = re.search(r"^`arena .*?\n\n", text, flags=re.M | re.S)
        keys = re.findall(r"^\| `([^`]+)` \|", text, flags=re.M)
        if printed and keys:
            yield Section(title, tuple(re.findall(r"`arena ([^`]+)`", printed[0])), frozenset(keys))


def keys_of(found: Any, free: frozenset[str], at: str = "") -> Iterator[str]:
    """Yield the paths of all keys in an object, but only ``path.*`` for objects whose keys are ``free``."""
    if isinstance(found, list):
        for one in found:
            yield from keys_of(one, free, f"{at}[]")
    elif isinstance(found, dict) and f"{at}.*" in free:
        yield f"{at}.*"
    elif isinstance(found, dict):
        for name, value in found.items():
            path = f"{at}.{name}".removeprefix(".")
            yield path
            yield from keys_of(value, free, path)
