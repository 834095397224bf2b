"""What programs of others are started with: nothing that is only the arena's."""

import os
from collections.abc import Mapping

OWN = ("ARENA_", "PGPASSWORD")
"""What variables begin with that hold the arena's settings, its secrets among them."""


def environment_for_bots(given: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return this process's environment without the arena's settings; ``given`` is added."""
    others = {name: text for name, text in os.environ.items() if not name.startswith(OWN)}
    return {**others, **(given or {})}
