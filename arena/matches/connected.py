"""Which bots are connected, and to which referee."""

from dataclasses import dataclass

from sqlmodel import col, select

from arena.errors import StateError
from arena.matches.referees import NO_REFEREE, Ask
from arena.models import BotVersion
from arena.pairing import owner_of
from arena.storage import Storage


@dataclass(frozen=True, slots=True)
class ConnectedBot:
    """A bot version with a live stream at a referee."""

    bot: str
    """``owner/bot@version``."""
    referee: str
    """The referee's address."""
    max_sessions: int
    """Sessions at once that this referee gives it at most."""
    sessions: int
    """Sessions that it plays there."""
    bounds: tuple[str, ...]
    """What it says that it plays at most, in words; empty: it plays everything."""


def connected_bots(
    storage: Storage, ask: Ask, owner: str | None = None
) -> tuple[list[ConnectedBot], list[str]]:
    """Return the bots that are connected, of all owners or of one, by name.

    And a line for each referee that does not say who is connected to it. Raise StateError if none does.
    """
    with storage.read() as tx:
        good = select(BotVersion.id, BotVersion.name).where(col(BotVersion.revoked_at).is_(None))
        names = {version_id: name for version_id, name in tx.exec(good) if owner in (None, owner_of(name))}
    answers = ask(list(names), None)
    silent = [f"referee {answer.address} {answer.trouble}" for answer in answers if answer.status is None]
    if len(silent) == len(answers):
        raise StateError(f"nobody says who is connected: {', '.join(silent) or NO_REFEREE}")
    bots = [
        ConnectedBot(name, answer.address, place.max_sessions, place.sessions, place.bounds)
        for answer in answers
        if answer.status is not None
        for name, place in zip(names.values(), answer.status.bots, strict=True)
        if place.connected
    ]
    return sorted(bots, key=lambda one: (one.bot, one.referee)), silent
