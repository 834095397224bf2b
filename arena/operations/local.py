"""The context of operations in this process, without a web server."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from arena.actors import Actor
from arena.host.settings import Settings
from arena.operations.operation import Context, Operation
from arena.store.storage import Storage

if TYPE_CHECKING:
    from arena.queries.scoreboard import Scoreboard
    from arena.tournaments.overview import TournamentStatus
    from arena.tournaments.referees import Answer

P = ParamSpec("P")
T = TypeVar("T")


def call(context: Context, operation: Operation[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Do an operation, and return its answer. Raise SpecError for wrong parameters, ArenaError."""
    from arena.operations.checking import require_valid

    require_valid(operation, operation.bind(*args, **kwargs))
    return operation(context, *args, **kwargs)


def make_context(storage: Storage, settings: Settings, actor: Actor) -> Context:
    """Return a context whose parts are loaded when an operation needs them."""

    def ask(version_ids: Sequence[int], ruleset: Mapping[str, object] | None) -> "Sequence[Answer]":
        from arena.tournaments import referees

        return referees.asker(settings)(version_ids, ruleset)

    def standings(status: "TournamentStatus") -> "Scoreboard":
        from arena.queries.scoreboard import scoreboard

        return scoreboard(storage, status.tournament)

    return Context(storage, settings, actor, storage.now(), ask, partial(_wake, settings), standings)


def _wake(settings: Settings, tournament_id: int) -> None:
    from arena.play.messages import wake

    wake(settings, tournament_id)
