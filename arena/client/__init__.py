"""A client of an arena's API (docs/api.md), which does the operations of ``arena.operations``."""

from arena.client.asynchronous import AsyncClient
from arena.client.sync import Client

__all__ = ["AsyncClient", "Client"]
