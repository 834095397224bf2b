"""The environment of other people's programs, without the arena's own settings."""

import os
from collections.abc import Mapping

OWN = ("ARENA_", "PGPASSWORD")
"""Prefixes of the variables that hold the arena's settings, including its secrets."""


def environment_for_bots(given: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return this process's environment without the arena's settings; ``given`` is added."""
    others = {name: text for name, text in os.environ.items() if not name.startswith(OWN)}
    return {**others, **(given or {})}
