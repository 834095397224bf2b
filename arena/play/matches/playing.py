"""Letting a referee play a match, and storing it by session; a pause takes effect between sessions."""

import logging
import time
from collections.abc import Callable, Generator
from contextlib import closing, suppress
from datetime import datetime, timedelta

from sqlmodel import col, select

from arena.errors import DatabaseChanged, LeaseLost, StorageError
from arena.host.logs import about
from arena.play import metrics
from arena.play.matches.leases import Claim, claim, hand_back, refuse, renew
from arena.play.matches.new_cards import deal_anew_after, deal_anew_if_changed
from arena.play.matches.storing import is_stored, store_deals, store_session
from arena.store.models import Match, Tournament, TournamentState
from arena.store.storage import Storage
from referee.errors import AttemptsBegun, MatchRefused, NotBegun, RefereeUnavailable
from referee.matches.match import DealsFinished, MatchSpec, SessionResult, Update

RENEWALS = 10
"""How often a lease is renewed within its duration, as long as the referee shows signs of life."""

RETRY_SECONDS = 0.5
"""The wait before another attempt to store a session that could not be stored."""

log = logging.getLogger("arena.play.matches")

Clock = Callable[[], datetime]

Run = Callable[[int, MatchSpec], Generator[Update]]
"""Lets a referee play a match; the number chooses the referee if there are several."""

Hold = Callable[[str], None]
"""Tells the referee that plays the match of this name to begin no further session of it; may raise
RefereeUnavailable."""


def never_held(match_id: str) -> None:
    """Stand in for referees that cannot be told: they play the match to its end."""


def play(
    storage: Storage,
    match_id: int,
    run: Run,
    *,
    clock: Clock,
    lease: timedelta,
    hold: Hold = never_held,
    stopping: Callable[[], bool] = lambda: False,
    wait: Callable[[float], None] = time.sleep,
) -> Claim | None:
    """Claim a match and let a referee play it; return None if it was not there to be claimed.

    End when all sessions are stored, when the lease is lost, when the referee fails, or when the sessions
    have ended that were being played when a pause began or ``stopping`` said so (even if the tournament has
    been resumed since); whatever is missing then is handed out again. Storing a session that cannot be stored
    is tried again after a ``wait``, as long as the lease holds.
    """
    try:
        claimed = _claim(storage, match_id, clock, lease)
    except StorageError as error:
        log.warning("match %d cannot be played now: %s", match_id, error)
        raise
    if claimed is None:
        return None
    metrics.matches_claimed.inc()
    spec = claimed.spec
    attempt = _Attempt(storage, claimed, clock, hold, stopping, wait)
    outcome = "error"
    with about(tournament=spec.tournament, match=spec.match_id), metrics.matches_in_hand.track_inprogress():
        try:
            played = attempt.play(run)
            outcome = "done" if played else "handed_back"
        except LeaseLost as lost:
            outcome = "lease_lost"
            log.info("%s: %s", spec.match_id, lost)
        except RefereeUnavailable as error:
            outcome = "unavailable"
            attempt.hand_back(error)
        except AttemptsBegun as error:
            outcome = "dealt_anew"
            deal_anew_after(storage, claimed, clock(), error)
        except MatchRefused as error:
            outcome = "refused"
            refuse(storage, claimed, clock(), str(error))
        except Exception as error:
            hand_back(storage, claimed, clock(), f"{type(error).__name__}: {error}")
            raise
        finally:
            metrics.matches_ended.labels(outcome).inc()
    return claimed


def _claim(storage: Storage, match_id: int, clock: Clock, lease: timedelta) -> Claim | None:
    """Take a match that is due; if the database has another history than before, deal anew first."""
    try:
        return claim(storage, match_id, clock(), lease)
    except DatabaseChanged:
        deal_anew_if_changed(storage, clock())
        return claim(storage, match_id, clock(), lease)


class _Attempt:
    """A claimed match while a referee plays it."""

    def __init__(
        self,
        storage: Storage,
        claimed: Claim,
        clock: Clock,
        hold: Hold,
        stopping: Callable[[], bool],
        wait: Callable[[float], None],
    ) -> None:
        self._storage = storage
        self._claimed = claimed
        self._clock = clock
        self._hold = hold
        self._stopping = stopping
        self._wait = wait
        self._missing = {session.number for session in claimed.spec.sessions}
        self._left: tuple[int, ...] = ()
        """The sessions that will not begin, as the referee says."""
        self._deals: list[DealsFinished] = []
        """Finished deals of open sessions that are still to be stored."""
        self._renewed = clock()
        self._held = False
        """Whether the referee has been told to begin no further session."""
        self._away = False
        """Whether the database was unavailable when it was last used, which has been logged."""

    def play(self, run: Run) -> bool:
        """Return whether the match was played to its end; otherwise it was given back."""
        claimed = self._claimed
        with closing(run(claimed.route, claimed.spec)) as updates:
            for update in updates:
                if isinstance(update, SessionResult):
                    self._store(update)
                elif isinstance(update, DealsFinished):
                    self._deals.append(update)
                else:
                    self._left = update.sessions_left
                    self._show_life()
        if self._missing and self._held:
            self.hand_back()
            return False
        if self._missing:
            raise RefereeUnavailable("the referee ended the match before all its sessions")
        log.info("%s: done, %d sessions played", claimed.spec.match_id, len(claimed.spec.sessions))
        return True

    def hand_back(self, error: RefereeUnavailable | None = None) -> None:
        """Store what is finished, and give the match back; ``error`` is why it was not played to its end.

        Do nothing if the match is no longer this attempt's.
        """
        if self._deals:
            with suppress(LeaseLost):
                self._while_leased(self._store_deals)
        unbegun = self._missing if isinstance(error, NotBegun) else self._left
        problem = None if error is None else str(error)
        hand_back(self._storage, self._claimed, self._clock(), problem, unbegun=unbegun)

    def _store(self, result: SessionResult) -> None:
        tried = False

        def store(now: datetime) -> None:
            nonlocal tried
            if not tried or not is_stored(self._storage, self._claimed, result.number):
                tried = True
                store_session(self._storage, self._claimed, result, now)

        with metrics.store_seconds.time():
            self._while_leased(store)
        metrics.sessions_stored.inc()
        session = f"{self._claimed.spec.match_id}/{result.number}"
        log.debug("%s: stored", session, extra={"session": session})
        self._missing.discard(result.number)
        self._deals = [deals for deals in self._deals if deals.number != result.number]

    def _store_deals(self, now: datetime) -> None:
        store_deals(self._storage, self._claimed, self._deals, now)
        self._deals = []

    def _while_leased(self, store: Callable[[datetime], None]) -> None:
        """Store something, which renews the lease; try again while it holds but the database is away."""
        while True:
            now = self._clock()
            try:
                store(now)
            except StorageError as error:
                self._bear(error)
                self._wait(RETRY_SECONDS)
            else:
                self._renewed, self._away = now, False
                return

    def _bear(self, error: StorageError) -> None:
        """Log once that the database is unavailable; raise ``error`` when the lease has run out."""
        if abs(self._clock() - self._renewed) >= self._claimed.lease:
            raise error
        if not self._away:
            log.warning("%s: tried again while the lease holds: %s", self._claimed.spec.match_id, error)
        self._away = True

    def _show_life(self) -> None:
        """Apply a pause if there is one, store finished deals, and keep the lease.

        While the database is unavailable and the lease holds, that waits for the next sign of life.
        """
        try:
            if not self._held and (self._stopping() or self._is_paused()):
                self._tell_referee()
            self._renew()
            self._away = False
        except StorageError as error:
            self._bear(error)

    def _renew(self) -> None:
        now = self._clock()
        if self._deals:
            self._store_deals(now)
        elif abs(now - self._renewed) >= self._claimed.lease / RENEWALS:  # the clock may have been set back
            renew(self._storage, self._claimed, now)
            metrics.lease_renewals.inc()
        else:
            return
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
            log.debug("%s: cannot tell the referee to begin no more sessions: %s", match_id, error)
        else:
            self._held = True
