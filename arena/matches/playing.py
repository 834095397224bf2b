"""A match is played by a referee and stored session by session; a pause takes effect between sessions."""

import logging
from collections.abc import Callable, Generator
from contextlib import closing
from datetime import datetime, timedelta

from sqlmodel import col, select

from arena import metrics
from arena.errors import LeaseLost, StorageError
from arena.logs import about
from arena.matches.leases import Claim, claim, hand_back, refuse, renew, store_session
from arena.models import Match, Tournament, TournamentState
from arena.storage import Storage
from referee.errors import MatchRefused, RefereeUnavailable
from referee.matches.match import MatchSpec, Progress, SessionResult

RENEWALS = 10
"""A lease is renewed so often while it would last, as long as the referee shows signs of life."""

log = logging.getLogger("arena.matches")

Clock = Callable[[], datetime]

Run = Callable[[int, MatchSpec], Generator[SessionResult | Progress]]
"""Has a referee play a match; the number chooses the referee where there are several."""

Hold = Callable[[str], None]
"""Has the referee that plays the match of this name begin no further session of it. RefereeUnavailable."""


def never_held(match_id: str) -> None:
    """Stand in for referees that cannot be told: a pause begins when the match has ended."""


def play(
    storage: Storage,
    match_id: int,
    run: Run,
    *,
    clock: Clock,
    lease: timedelta,
    hold: Hold = never_held,
    stopping: Callable[[], bool] = lambda: False,
) -> bool:
    """Claim a match and have it played; return whether it was there to be claimed.

    Ends when all sessions are stored, when the lease is lost, when the referee fails, when the sessions that
    were being played at a pause have ended (also if the tournament was resumed meanwhile), or when
    ``stopping`` says so at a sign of life; whatever is missing then is handed out again.
    """
    try:
        claimed = claim(storage, match_id, clock(), lease)
    except StorageError as error:
        log.warning("match %d is not played now: %s", match_id, error)
        raise
    if claimed is None:
        return False
    metrics.matches_claimed.inc()
    spec = claimed.spec
    outcome = "error"
    with about(tournament=spec.tournament, match=spec.match_id), metrics.matches_in_hand.track_inprogress():
        try:
            played = _Attempt(storage, claimed, clock, hold).play(run, stopping)
            outcome = "done" if played else "handed_back"
        except LeaseLost as lost:
            outcome = "lease_lost"
            log.info("%s: %s", spec.match_id, lost)
        except RefereeUnavailable as error:
            outcome = "unavailable"
            hand_back(storage, claimed, clock(), str(error))
        except MatchRefused as error:
            outcome = "refused"
            refuse(storage, claimed, clock(), str(error))
        except Exception as error:
            hand_back(storage, claimed, clock(), f"{type(error).__name__}: {error}")
            raise
        finally:
            metrics.matches_ended.labels(outcome).inc()
    return True


class _Attempt:
    """A claimed match while a referee plays it."""

    def __init__(self, storage: Storage, claimed: Claim, clock: Clock, hold: Hold) -> None:
        self._storage = storage
        self._claimed = claimed
        self._clock = clock
        self._hold = hold
        self._missing = {session.number for session in claimed.spec.sessions}
        self._renewed = clock()
        self._held = False
        """Whether there was a pause, and the referee has been told."""

    def play(self, run: Run, stopping: Callable[[], bool]) -> bool:
        """Return whether the match was played to its end; otherwise it was given back."""
        claimed = self._claimed
        with closing(run(claimed.route, claimed.spec)) as updates:
            for update in updates:
                if isinstance(update, SessionResult):
                    self._store(update)
                else:
                    self._show_life()
                if self._missing and stopping():
                    hand_back(self._storage, claimed, self._clock())
                    return False
        if self._missing and self._held:
            hand_back(self._storage, claimed, self._clock())
            return False
        if self._missing:
            raise RefereeUnavailable("the referee ended the match before all its sessions")
        log.info("%s: done, %d sessions played", claimed.spec.match_id, len(claimed.spec.sessions))
        return True

    def _store(self, result: SessionResult) -> None:
        now = self._clock()
        with metrics.store_seconds.time():
            store_session(self._storage, self._claimed, result, now)
        metrics.sessions_stored.inc()
        session = f"{self._claimed.spec.match_id}/{result.number}"
        log.debug("%s: stored", session, extra={"session": session})
        self._missing.discard(result.number)
        self._renewed = now

    def _show_life(self) -> None:
        """Take a pause if there is one, and keep the lease."""
        if not self._held and self._is_paused():
            self._tell_referee()
        now = self._clock()
        if abs(now - self._renewed) >= self._claimed.lease / RENEWALS:  # the clock may have been set back
            renew(self._storage, self._claimed, now)
            metrics.lease_renewals.inc()
            self._renewed = now

    def _is_paused(self) -> bool:
        state = (
            select(Tournament.state)
            .join(Match, col(Match.tournament_id) == Tournament.id)
            .where(Match.id == self._claimed.match_id)
        )
        with self._storage.read() as tx:
            return tx.exec(state).first() == TournamentState.PAUSED

    def _tell_referee(self) -> None:
        match_id = self._claimed.spec.match_id
        try:
            self._hold(match_id)
        except RefereeUnavailable as error:  # it is told again at the next sign of life
            log.debug("%s: the referee does not hear of the pause: %s", match_id, error)
        else:
            self._held = True
