"""The progress of a new bot: registered, connected, checked, and in its first match."""

from collections.abc import Sequence
from dataclasses import dataclass

from arena.actors import Actor
from arena.bots.versions import find_versions
from arena.core.pairing import owner_of
from arena.store.storage import Storage
from arena.tournaments.overview import TournamentStatus
from arena.tournaments.referees import Answer, Ask
from arena.tournaments.testmatches import latest_test


@dataclass(frozen=True, slots=True)
class Steps:
    """How far a bot version has come."""

    version: str
    """``owner/bot@number``."""
    connected: bool | None
    """Whether it is connected to a referee now; None if no referee says."""
    checked: bool | None
    """Whether it passed its latest check; None if there was none."""
    test: TournamentStatus | None
    """Its latest test match."""


def steps_of(storage: Storage, actor: Actor, bot: str, ask: Ask) -> Steps:
    """Return how far a bot of the actor's has come, or rather its newest version with a valid token.

    Raise NotAllowed, SpecError, UnknownError.
    """
    actor.require_owner(owner_of(bot), f"see how far {bot} has come")
    with storage.read() as tx:
        [version] = find_versions(tx, [bot], None)
        checked = None if version.check_report is None else version.check_passed_at is not None
        test = latest_test(tx, version)
        name, version_id = version.name, version.id
    return Steps(name, _connected(ask([version_id], None)), checked, test)


def _connected(answers: Sequence[Answer]) -> bool | None:
    said = [answer.status.bots[0].connected for answer in answers if answer.status is not None]
    return any(said) if said else None
