"""Which bots are connected, and to which referee."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlmodel import col, select

from arena.actors import Actor, Role
from arena.core.pairing import owner_of
from arena.errors import StateError
from arena.store.models import BotVersion
from arena.store.storage import Storage
from arena.tournaments.referees import NO_REFEREE, Answer, Ask


@dataclass(frozen=True, slots=True)
class ConnectedBot:
    """A bot version with a live stream at a referee."""

    bot: str
    """``owner/bot@version``."""
    referee: str
    """The referee's address."""
    max_sessions: int
    """The most sessions at once that this referee gives it."""
    sessions: int
    """Sessions that it plays there."""
    bounds: tuple[str, ...]
    """The limits that it declares on what it plays, in words; empty if it plays everything."""


def _good_versions(storage: Storage) -> dict[int, str]:
    """Return the names of the versions that are not revoked, by id."""
    good = select(BotVersion.id, BotVersion.name).where(col(BotVersion.revoked_at).is_(None))
    with storage.read() as tx:
        return {row.id: row.name for row in tx.connection().execute(good)}


def _connected(names: Mapping[int, str], answer: Answer) -> list[ConnectedBot]:
    """Return the bots that are connected to a referee, from its answer about these versions."""
    if answer.status is None:
        return []
    return [
        ConnectedBot(name, answer.address, place.max_sessions, place.sessions, place.bounds)
        for name, place in zip(names.values(), answer.status.bots, strict=True)
        if place.connected
    ]


@dataclass(frozen=True, slots=True)
class RefereeLine:
    """A referee, and who is connected to it."""

    referee: str
    """Its address."""
    problem: str
    """Why it takes no matches; empty if it does."""
    matches: int
    sessions: int
    spectators: int
    bots: tuple[ConnectedBot, ...]
    """The bot versions with a live stream there, by name."""


@dataclass(frozen=True, slots=True)
class Referees:
    """All referees that are configured."""

    referees: tuple[RefereeLine, ...]
    problem: str
    """Why none can be asked; empty if they were."""


def connected_in(found: Referees, owner: str | None = None) -> tuple[list[ConnectedBot], list[str]]:
    """Return the bots that are connected, of all owners or of one, by name.

    Also return a line for each referee that takes no matches, and why. Raise StateError if no referee
    reported its bots.
    """
    silent = [f"referee {line.referee} {line.problem}" for line in found.referees if line.problem]
    if len(silent) == len(found.referees) and not any(line.bots for line in found.referees):
        raise StateError(f"no referee reported its bots: {', '.join(silent) or found.problem}")
    bots = [bot for line in found.referees for bot in line.bots if owner in (None, owner_of(bot.bot))]
    return sorted(bots, key=lambda one: (one.bot, one.referee)), silent


def referees(storage: Storage, actor: Actor, ask: Ask) -> Referees:
    """Return how busy each referee is, and who is connected to it. Raise NotAllowed."""
    actor.require(Role.OPERATOR, "see the referees")
    names = _good_versions(storage)
    answers = ask(list(names), None)
    return Referees(tuple(_line(names, one) for one in answers), "" if answers else NO_REFEREE)


def _line(names: Mapping[int, str], answer: Answer) -> RefereeLine:
    status = answer.status
    if status is None:
        return RefereeLine(answer.address, answer.trouble, 0, 0, 0, ())
    bots = tuple(sorted(_connected(names, answer), key=lambda one: one.bot))
    busy = (status.matches, status.sessions, status.spectators)
    return RefereeLine(answer.address, answer.trouble, *busy, bots)
