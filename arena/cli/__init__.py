"""The command line ``arena``: reads what was asked for, calls one service, shows the result."""

from arena.cli.app import main

__all__ = ["main"]
