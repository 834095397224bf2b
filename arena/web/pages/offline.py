"""A deal as one file that a browser shows without a network: styles, scripts and data are within it."""

import re
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from typing import Any

from markupsafe import Markup

from arena.web.pages.rendering import fill
from arena.web.pages.statics import statics

STYLES = ("offline.css", "cards.css", "replay.css")
SCRIPTS = ("table.js", "replay.js")
"""Modules, each after those that it imports."""

_IMPORT = re.compile(r"^import .*;\n", re.MULTILINE)
_EXPORT = re.compile(r"^export ", re.MULTILINE)
_INDENT = re.compile(r"^\s+", re.MULTILINE)
_REMARK = re.compile(r"^(//.*|/\*.*\*/)\n", re.MULTILINE)
"""A line that is only for who reads the source."""
_NOTHING = "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'"


@cache
def _style() -> str:
    return _within(STYLES)


def _within(names: tuple[str, ...]) -> str:
    """Return files one after the other, without indentation and remarks."""
    text = "".join([statics().contents[name].decode() for name in names])
    return _REMARK.sub("", _INDENT.sub("", text))


@cache
def _script() -> str:
    """Return the modules as one; none of them may have a name of another."""
    return _EXPORT.sub("", _IMPORT.sub("", _within(SCRIPTS)))


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def offline_file(values: Mapping[str, Any]) -> str:
    """Return the file of a deal, of what its page is filled with.

    What it holds is all that its policy lets a browser load or run.
    """
    style, script = _style(), _script()
    policy = f"{_NOTHING}; style-src {_hash(style)}; script-src {_hash(script)}"
    ours: dict[str, Any] = {"style": Markup(style), "script": Markup(script)}  # noqa: S704 (files of this package)
    return fill("offline.html", "", policy=policy, **ours, **values)
