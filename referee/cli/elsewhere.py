"""Commands that a light installation lacks but people may still try."""

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
"""Commands that only the whole arena has."""

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
"""Commands of ``arena bot`` that only the whole arena has."""


class OnlyInArena(RefereeError):
    """The command needs the whole arena."""


class Elsewhere(TyperCommand):
    """A command that says where to get it; the help does not list it."""

    def __init__(self, name: str) -> None:
        super().__init__(name, hidden=True)

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Raise OnlyInArena, whatever the arguments are."""
        path = f"{parent.command_path} {self.name}" if parent is not None else f"arena {self.name}"
        raise OnlyInArena(f"`{path}` comes with the whole arena: pip install bigtwo-arena")
