"""Whose token is this? The referee leaves that question to its host."""

from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import NamedTuple, Protocol


class BotIdentity(NamedTuple):
    """The bot version that a token belongs to."""

    version_id: int
    name: str
    """``owner/bot@version``."""
    token: int = 1
    """Which of the version's tokens was presented, counted from 1."""


class Scope(StrEnum):
    """What a token that does not belong to a bot allows."""

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
        """Return, by version id, which of these bots presented a token that is no longer valid, and why."""
