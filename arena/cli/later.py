"""Commands that are loaded when they are called, so that a call pays for no other."""

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand
from typer.main import get_command, get_group

from arena.cli import command_is_loaded


class Later(TyperCommand):
    """A command or a group in another module, as the list of commands needs it: its name and its help.

    ``where`` is ``module:attribute``: a ``typer.Typer`` for a group, a function for a command.
    """

    def __init__(self, name: str, where: str, help: str) -> None:
        super().__init__(name, help=help)
        self.where = where

    def load(self) -> Any:
        """Return the real command."""
        module, _, attribute = self.where.partition(":")
        found = getattr(import_module(module), attribute)
        if isinstance(found, typer.Typer):
            return get_group(found)
        single = typer.Typer(add_completion=False)
        single.command(self.name)(found)
        return get_command(single)

    def make_context(self, *args: Any, **options: Any) -> Any:
        """Return the context of the real command, which is then the one that runs."""
        command = self.load()
        command_is_loaded()
        return command.make_context(*args, **options)
