"""The environment of other people's programs, without the arena's own settings."""

import os
import sys
from collections.abc import Mapping

OWN = ("ARENA_", "PGPASSWORD")
"""Prefixes of the variables that hold the arena's settings, including its secrets."""


HERE = "localhost,127.0.0.1,::1"

SAFE_PATH = "PYTHONSAFEPATH"
"""The variable with which Python imports nothing from the folder in which it is started."""


def safely(module: str, *arguments: str) -> list[str]:
    """Return the command line that runs a module of ours, and imports nothing from the current folder.

    It may be somebody else's: a file ``uvloop.py`` there would be executed.
    """
    return [sys.executable, "-P", "-m", module, *arguments]


NO_PROXY = ("no_proxy", "NO_PROXY", "no_grpc_proxy")
"""The variables that libraries of any language read for hosts to which no proxy leads."""


def environment_for_bots(variables: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return this process's environment without the arena's settings; ``variables`` is added.

    No proxy leads to this host, whatever language a bot is written in.
    """
    others = {name: text for name, text in os.environ.items() if not name.startswith(OWN)}
    excepted = {name: ",".join(filter(None, (others.get(name), HERE))) for name in NO_PROXY}
    if not others.get("no_grpc_proxy"):  # gRPC reads no_proxy only without it
        del excepted["no_grpc_proxy"]
    return {**others, **excepted, **(variables or {})}
