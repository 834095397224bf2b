"""Who asks for something, and what they may ask for."""

from dataclasses import dataclass
from enum import StrEnum

from arena.errors import NotAllowed


class Role(StrEnum):
    """What somebody is to the arena; each may do what those before it may."""

    ANONYMOUS = "anonymous"
    """Anybody: reads what is public."""
    AUTHOR = "author"
    """Owns bots: registers, enters and withdraws its own."""
    ORGANISER = "organiser"
    """Runs tournaments and leagues."""
    OPERATOR = "operator"
    """Runs the arena itself."""


RANKS = tuple(Role)


@dataclass(frozen=True, slots=True)
class Actor:
    """Who asks."""

    role: Role
    account: str = ""
    """Name of the account, an author's being that of its bots' owner; empty for anybody."""

    def __str__(self) -> str:
        return f"{self.role} {self.account}".rstrip()

    def require(self, least: Role, what: str) -> None:
        """Raise NotAllowed if the actor is less than ``least``; ``what`` is what it asked for."""
        if RANKS.index(self.role) < RANKS.index(least):
            raise NotAllowed(f"{self} may not {what}; it takes an {least}")

    def require_owner(self, owner: str, what: str) -> None:
        """Raise NotAllowed if the actor is neither the author ``owner`` nor an organiser."""
        if self.role is Role.AUTHOR and self.account != owner:
            raise NotAllowed(f"{self} may not {what}; it takes {owner} or an {Role.ORGANISER}")
        self.require(Role.AUTHOR, what)


ANONYMOUS = Actor(Role.ANONYMOUS)
