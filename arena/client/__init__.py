"""A client of the API of an arena (docs/api.md): typed calls, and what sends them.

``accounts``, ``bots``, ``entries``, ``leagues``, ``operator``, ``results``, ``rulesets`` and ``tournaments``
make the calls; a ``Client``, or an ``AsyncClient``, sends them.
"""

from arena.client.asynchronous import AsyncClient
from arena.client.call import Call
from arena.client.sync import Client

__all__ = ["AsyncClient", "Call", "Client"]
