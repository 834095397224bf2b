"""How a match that is being played takes a pause of its tournament: at the borders of sessions."""

from collections.abc import Callable, Generator
from contextlib import closing

from sqlmodel import col, select

from arena.models import Match, Tournament, TournamentState
from arena.services.matches import Run
from arena.storage import Storage
from referee.match import MatchSpec, Progress, SessionResult


class Pausing:
    """Stands between a referee and ``arena.services.matches.play``, as its ``run`` and its ``stopping``.

    In a pause it waits for as many sessions as were being played when it was noticed, then says stop. The
    referee cannot be told to begin no other session: what it begins in the place of one that has ended is
    void when the match is given back, and is played again with the same deals.
    """

    def __init__(
        self, storage: Storage, match_id: int, run: Run, stopping: Callable[[], bool] = lambda: False
    ) -> None:
        self._storage = storage
        self._match_id = match_id
        self._run = run
        self._stopping = stopping
        self._awaited: int | None = None
        """Sessions that are still waited for; None: there is no pause."""

    def run(self, route: int, spec: MatchSpec) -> Generator[SessionResult | Progress]:
        """Has the match played, and looks for a pause at each sign of life."""
        with closing(self._run(route, spec)) as updates:
            for update in updates:
                if isinstance(update, Progress):
                    self._look(update.sessions_open)
                elif self._awaited is not None:
                    self._awaited -= 1
                yield update

    def stopping(self) -> bool:
        """Whether to give the match back now."""
        return self._awaited == 0 or self._stopping()

    def _look(self, sessions_open: int) -> None:
        state = (
            select(Tournament.state)
            .join(Match, col(Match.tournament_id) == Tournament.id)
            .where(Match.id == self._match_id)
        )
        with self._storage.read() as tx:
            paused = tx.exec(state).first() == TournamentState.PAUSED
        if not paused:
            self._awaited = None
        elif self._awaited is None or sessions_open < self._awaited:
            self._awaited = sessions_open
