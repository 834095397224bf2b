"""A deal as one file that a browser shows without a network, with styles, scripts and data included."""

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
"""The JavaScript modules, each after those that it imports."""

_IMPORT = re.compile(r"^import .*;\n", re.MULTILINE)
_EXPORT = re.compile(r"^export ", re.MULTILINE)
_INDENT = re.compile(r"^\s+", re.MULTILINE)
_REMARK = re.compile(r"^(//.*|/\*.*\*/)\n", re.MULTILINE)
"""A comment line."""
_NOTHING = "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'"


@cache
def _style() -> str:
    return _within(STYLES)


def _within(names: tuple[str, ...]) -> str:
    """Return the concatenated files, without indentation and comments."""
    text = "".join([statics().contents[name].decode() for name in names])
    return _REMARK.sub("", _INDENT.sub("", text))


@cache
def _script() -> str:
    """Return the modules as one, which requires that they share no top-level name."""
    return _EXPORT.sub("", _IMPORT.sub("", _within(SCRIPTS)))


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def offline_file(values: Mapping[str, Any]) -> str:
    """Return the file of a deal from the values of its page's template.

    Its policy lets a browser load and run nothing but its own contents.
    """
    style, script = _style(), _script()
    policy = f"{_NOTHING}; style-src {_hash(style)}; script-src {_hash(script)}"
    ours: dict[str, Any] = {"style": Markup(style), "script": Markup(script)}  # noqa: S704 (files of this package)
    return fill("offline.html", "", policy=policy, **ours, **values)
