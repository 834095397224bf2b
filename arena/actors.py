"""Who makes a request, and what they may do."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from arena.errors import NotAllowed


class Role(StrEnum):
    """A role in the arena; each role also has the permissions of those before it, for what is its own."""

    ANONYMOUS = "anonymous"
    """Anybody: reads what is public."""
    AUTHOR = "author"
    """Owns bots: registers, enters and withdraws its own."""
    ORGANISER = "organiser"
    """Runs tournaments and leagues: its own."""
    OPERATOR = "operator"
    """Runs the arena itself, and may do everything."""


RANKS = tuple(Role)


class KeyScope(StrEnum):
    """What a key allows, as far as its account may do it."""

    READ = "read"
    """Read what only the account may: logs, members, its account."""
    BOTS = "bots"
    """Change its bots, and enter and withdraw them."""
    TOURNAMENTS = "tournaments"
    """Create and steer its tournaments and leagues: who plays in them, too."""
    ACCOUNT = "account"
    """Change the account itself: keys, owners, invitations."""
    OPERATE = "operate"
    """Run the arena: accounts, roles, tokens, and what belongs to others."""


ALL_SCOPES = frozenset(KeyScope)

FOR_AUTHORS = frozenset({KeyScope.READ, KeyScope.BOTS, KeyScope.ACCOUNT})

SCOPES = {
    Role.ANONYMOUS: frozenset[KeyScope](),
    Role.AUTHOR: FOR_AUTHORS,
    Role.ORGANISER: FOR_AUTHORS | {KeyScope.TOURNAMENTS},
    Role.OPERATOR: ALL_SCOPES,
}
"""The scopes with which accounts of each role can do everything that they may."""

HOUSE = "house"
"""The owner of house bots; nobody's account gets its name."""


@dataclass(frozen=True, slots=True)
class Who:
    """Somebody, as named in the audit log."""

    role: Role
    account: str = ""
    """Name of the account; empty for anybody."""

    def __str__(self) -> str:
        return f"{self.role} {self.account}".rstrip()


@dataclass(frozen=True, slots=True)
class Actor(Who):
    """The person or program that makes a request."""

    owners: frozenset[str] = frozenset()
    """The owners whose bots are its own."""
    account_id: int | None = None
    """Id of the account; None for anonymous requests, and for the arena's own terminal."""
    scopes: frozenset[KeyScope] = ALL_SCOPES
    """What the key allows that the request is made with; everything without a key."""
    expires_at: datetime | None = None
    """When that key expires; None for never, and without a key."""

    def limited(self, scopes: frozenset[KeyScope], expires_at: datetime | None = None) -> "Actor":
        """Return this actor as a key with these scopes makes it: an operator only with ``operate``."""
        capped = self.role is Role.OPERATOR and KeyScope.OPERATE not in scopes
        role = Role.ORGANISER if capped else self.role
        return replace(self, role=role, scopes=scopes, expires_at=expires_at)

    @property
    def who(self) -> Who:
        """Return role and account alone."""
        return Who(self.role, self.account)

    def require(self, least: Role, what: str) -> None:
        """Raise NotAllowed if the actor's role is below ``least``; ``what`` is what it tried to do."""
        if RANKS.index(self.role) < RANKS.index(least):
            raise NotAllowed(f"{self} may not {what}; it takes an {least}")

    def require_owner(self, owner: str, what: str) -> None:
        """Raise NotAllowed unless the bots of ``owner`` are the actor's, or it is an operator."""
        if self.role is not Role.OPERATOR and (self.role is Role.ANONYMOUS or owner not in self.owners):
            raise NotAllowed(f"{self} may not {what}; it takes {owner} or an {Role.OPERATOR}")

    def require_scopes(self, scopes: Collection[KeyScope], what: str) -> None:
        """Raise NotAllowed unless the key has all these scopes; ``what`` is what it tried to do.

        That is for what somebody else could use afterwards, or could not do with this key alone.
        """
        if missing := [scope for scope in KeyScope if scope in scopes and scope not in self.scopes]:
            raise NotAllowed(f"a key may not {what} without the scope {missing[0]}")

    def organises(self, organiser_id: int | None) -> bool:
        """Return whether the actor organises what belongs to this account; None stands for no account."""
        if self.role is Role.OPERATOR:
            return True
        return self.role is Role.ORGANISER and organiser_id is not None and organiser_id == self.account_id

    def require_organiser(self, organiser_id: int | None, what: str) -> None:
        """Raise NotAllowed unless the actor organises tournaments and leagues of this account."""
        self.require(Role.ORGANISER, what)
        if not self.organises(organiser_id):
            raise NotAllowed(f"{self} may not {what}; it takes its organiser or an {Role.OPERATOR}")

    def require_bot_or_contest(self, owner: str, organiser_id: int | None, what: str) -> None:
        """Raise NotAllowed unless the actor decides about a bot in a tournament or a league.

        That is whoever organises it, with the scope ``tournaments``, or the owner of the bot, with ``bots``.
        """
        if not self.organises(organiser_id) or KeyScope.TOURNAMENTS not in self.scopes:
            self.require_owner(owner, what)
            self.require_scopes((KeyScope.BOTS,), what)


ANONYMOUS = Actor(Role.ANONYMOUS)
