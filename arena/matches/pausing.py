"""How a match that is being played takes a pause of its tournament: at the borders of sessions."""

from collections.abc import Callable, Generator
from contextlib import closing, suppress

from sqlmodel import col, select

from arena.matches.playing import Run
from arena.models import Match, Tournament, TournamentState
from arena.storage import Storage
from referee.errors import RefereeUnavailable
from referee.matches.match import MatchSpec, Progress, SessionResult

Hold = Callable[[str], None]
"""Has the referee that plays the match of this name begin no further session of it."""


def never_held(match_id: str) -> None:
    """For referees that cannot be told: a pause begins when the match has ended."""


class Pausing:
    """Stands between a referee and ``arena.matches.playing.play``, as its ``run`` and its ``stopping``.

    In a pause the referee begins no further session. Once those that are being played have ended, the match
    is given back, also if the tournament has been resumed meanwhile.
    """

    def __init__(
        self,
        storage: Storage,
        match_id: int,
        run: Run,
        hold: Hold = never_held,
        stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        self._storage = storage
        self._match_id = match_id
        self._run = run
        self._hold = hold
        self._stopping = stopping
        self.begun = False
        """Whether the match was claimed and a referee asked to play it."""
        self._held = False
        """Whether there was a pause."""
        self._over = False
        """Whether the referee has ended the match before all its sessions."""

    def run(self, route: int, spec: MatchSpec) -> Generator[SessionResult | Progress]:
        """Has the match played, and looks for a pause at each sign of life."""
        self.begun = True
        missing = len(spec.sessions)
        with closing(self._run(route, spec)) as updates:
            for update in updates:
                if isinstance(update, SessionResult):
                    missing -= 1
                elif not self._held and self._paused():
                    with suppress(RefereeUnavailable):  # it is asked again at the next sign of life
                        self._hold(spec.match_id)
                        self._held = True
                yield update
        if self._held and missing:
            self._over = True
            yield Progress(0, 0, ())  # at which the match is given back

    def stopping(self) -> bool:
        """Whether to give the match back now."""
        return self._over or self._stopping()

    def _paused(self) -> bool:
        state = (
            select(Tournament.state)
            .join(Match, col(Match.tournament_id) == Tournament.id)
            .where(Match.id == self._match_id)
        )
        with self._storage.read() as tx:
            return tx.exec(state).first() == TournamentState.PAUSED
