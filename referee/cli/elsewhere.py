"""Commands that a light installation does not have, and that people ask it for all the same."""

from typing import Any

from typer.core import TyperCommand

from referee.errors import RefereeError

ELSEWHERE = (
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
"""Commands of the whole arena alone."""

ELSEWHERE_OF_BOT = (
    "describe",
    "faults",
    "history",
    "list",
    "register",
    "revoke",
    "rotate",
    "show",
    "test",
    "versus",
)
"""Those of ``arena bot``."""


class OnlyInArena(RefereeError):
    """What was asked for takes the whole arena."""


class Elsewhere(TyperCommand):
    """A command that says where it is to be had; the help does not list it."""

    def __init__(self, name: str) -> None:
        super().__init__(name, hidden=True)

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Raise OnlyInArena, whatever is given."""
        path = f"{parent.command_path} {self.name}" if parent is not None else f"arena {self.name}"
        raise OnlyInArena(f"`{path}` comes with the whole arena: pip install bigtwo-arena")
