"""A client of an arena's API (docs/api.md): typed calls, and the classes that send them.

``accounts``, ``bots``, ``entries``, ``leagues``, ``operator``, ``results``, ``rulesets``, ``tournaments`` and
``webhooks`` make the calls; a ``Client`` or an ``AsyncClient`` sends them. Each is loaded when it is first
used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arena.client import (
        accounts,
        bots,
        entries,
        leagues,
        operator,
        results,
        rulesets,
        tournaments,
        webhooks,
    )
    from arena.client.asynchronous import AsyncClient
    from arena.client.call import Call
    from arena.client.sync import Client

__all__ = [
    "AsyncClient",
    "Call",
    "Client",
    "accounts",
    "bots",
    "entries",
    "leagues",
    "operator",
    "results",
    "rulesets",
    "tournaments",
    "webhooks",
]

_PLACES = {"AsyncClient": "asynchronous", "Call": "call", "Client": "sync"}
"""The classes, each with its module."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in _PLACES:
        return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
    return import_module(f"{__name__}.{name}")
