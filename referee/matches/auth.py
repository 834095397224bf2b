"""Whose token is this? The one question that the referee asks of its surroundings."""

from collections.abc import Collection
from enum import StrEnum
from typing import NamedTuple, Protocol


class BotIdentity(NamedTuple):
    """The bot version that a token belongs to."""

    version_id: int
    name: str
    """``owner/bot@version``."""


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
        """Return the bot version that ``token`` belongs to; None if the token is unknown or revoked."""

    def scope(self, token: str) -> Scope | None:
        """Return what ``token`` allows; None for a bot's token, and if it is unknown or revoked."""

    def revoked(self, version_ids: Collection[int]) -> set[int]:
        """Return which of these bot versions no longer have a valid token."""
