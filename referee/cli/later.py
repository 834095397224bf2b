"""Commands that are loaded only when they are called, so that none slows another, or are not installed."""

from functools import cached_property
from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand
from typer.main import get_command, get_group

from referee.cli import command_is_loaded
from referee.errors import RefereeError

ARENA_COMMANDS = (
    "account",
    "audit",
    "backup",
    "beat",
    "config",
    "crosstable",
    "deal",
    "demo",
    "doctor",
    "export",
    "leaderboard",
    "league",
    "login",
    "logout",
    "match",
    "migrate",
    "rating",
    "referee",
    "restore",
    "token",
    "tournament",
    "up",
    "verify",
    "web",
    "webhook",
    "worker",
)
"""Commands that only the whole arena has."""

ARENA_BOT_COMMANDS = (
    "describe",
    "faults",
    "history",
    "list",
    "mine",
    "register",
    "revoke",
    "rotate",
    "show",
    "test",
    "versus",
)
"""Commands of ``arena bot`` that only the whole arena has."""


class OnlyInArena(RefereeError):
    """The command needs the whole arena."""

    def __init__(self, command: str) -> None:
        what = "the whole arena: pip install bigtwo-arena"
        if command == "arena verify":
            what = "the verifier: pip install bigtwo-verify"
        super().__init__(f"`{command}` comes with {what}, or the line for it on an arena's page /guide")


class MissingCommand(TyperCommand):
    """A command that says where to get it; the help does not list it."""

    def __init__(self, name: str) -> None:
        super().__init__(name, hidden=True)

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Raise OnlyInArena, whatever the arguments are."""
        path = f"{parent.command_path} {self.name}" if parent is not None else f"arena {self.name}"
        raise OnlyInArena(path)


class Later(TyperCommand):
    """A command or a group in another module: the name and the help that a list of commands shows.

    ``where`` is ``module:attribute``: a ``typer.Typer`` or a ``Group`` for a group, a function for a command.
    """

    def __init__(self, name: str, where: str, help: str) -> None:
        super().__init__(name, help=help)
        self.where = where

    @cached_property
    def real(self) -> Any:
        """The command itself, loaded on first use."""
        module, _, attribute = self.where.partition(":")
        loaded = getattr(import_module(module), attribute)
        if isinstance(loaded, Group):
            group = get_group(typer.Typer(no_args_is_help=True, help=loaded.help))
            for command in loaded.commands:
                group.add_command(command)
            return group
        if isinstance(loaded, typer.Typer):
            return get_group(loaded)
        single = typer.Typer(add_completion=False)
        single.command(self.name)(loaded)
        return get_command(single)

    def make_context(self, *args: Any, **options: Any) -> Any:
        """Return the context of the real command, so that this is the one that runs."""
        command = self.real
        command_is_loaded()
        return command.make_context(*args, **options)


class Group(NamedTuple):
    """A group of commands, each of which is loaded when it is called."""

    help: str
    commands: tuple[TyperCommand, ...]


class Whole(NamedTuple):
    """A whole command line."""

    root: typer.Typer
    """The root, with the options that come before the command."""
    commands: tuple[TyperCommand, ...]
    """In the order of the help."""
