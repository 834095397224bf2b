"""The context of operations in this process, without a web server."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from arena.actors import Actor
from arena.host.settings import Settings
from arena.operations.operation import Context
from arena.store.models import utc_now
from arena.store.storage import Storage

if TYPE_CHECKING:
    from arena.queries.scoreboard import Scoreboard
    from arena.tournaments.overview import TournamentStatus
    from arena.tournaments.referees import Answer


def make_context(storage: Storage, settings: Settings, actor: Actor) -> Context:
    """Return a context whose parts are loaded when an operation needs them."""

    def ask(version_ids: Sequence[int], ruleset: Mapping[str, object] | None) -> "Sequence[Answer]":
        from arena.tournaments import referees

        return referees.asker(settings)(version_ids, ruleset)

    def standings(status: "TournamentStatus") -> "Scoreboard":
        from arena.queries.scoreboard import scoreboard

        return scoreboard(storage, status.name)

    return Context(storage, settings, actor, utc_now(), ask, partial(_wake, settings), standings)


def _wake(settings: Settings, tournament_id: int) -> None:
    from arena.play.messages import wake

    wake(settings, tournament_id)
