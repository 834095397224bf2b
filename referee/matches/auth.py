"""Whose token is this? The one question that the referee asks of its surroundings."""

from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import NamedTuple, Protocol


class BotIdentity(NamedTuple):
    """The bot version that a token belongs to."""

    version_id: int
    name: str
    """``owner/bot@version``."""
    token: int = 1
    """Counts the tokens that the version had; this is the one that was shown."""


class Scope(StrEnum):
    """What a token that is no bot's allows."""

    WORKER = "worker"
    """To run matches, and to ask how busy a referee is."""
    ORGANISER = "organiser"
    """To ask how busy a referee is, to watch, and to read the log of any bot."""
    SPECTATOR = "spectator"
    """To watch."""


class Authenticator(Protocol):
    """Knows tokens. Its methods may block; the referee calls them in a thread."""

    def bot(self, token: str) -> BotIdentity | None:
        """Return the bot version that ``token`` belongs to; None if the token is unknown or revoked.

        Raise TokenExpired, as does ``scope``.
        """

    def scope(self, token: str) -> Scope | None:
        """Return what ``token`` allows; None for a bot's token, and if it is unknown or revoked."""

    def revoked(self, bots: Collection[BotIdentity]) -> Mapping[int, str]:
        """Return which of these bot versions, by id, showed a token that is good no longer, and why not."""
