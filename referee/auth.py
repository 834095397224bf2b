"""Whose token is this? The one question that the referee asks of its surroundings."""

from typing import NamedTuple, Protocol


class BotIdentity(NamedTuple):
    """The bot version that a token belongs to."""

    version_id: int
    name: str
    """``owner/bot@version``."""


class Authenticator(Protocol):
    """Knows tokens. Its methods may block; the referee calls them in a thread."""

    def bot(self, token: str) -> BotIdentity | None:
        """The bot version that ``token`` belongs to; None if it is unknown or revoked."""

    def worker(self, token: str) -> bool:
        """Whether ``token`` is a worker's."""
