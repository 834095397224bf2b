"""Standings for pages: computed once for all readers, however many bots there are.

If that takes long, nobody waits: readers see slightly older standings while new ones are computed, and those
of the newest tournaments are computed when the server starts.
"""

import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock, Thread

from arena.errors import ArenaError
from arena.queries.scoreboard import Scoreboard, corrections, scoreboard
from arena.queries.tournaments import list_tournaments
from arena.store.storage import Storage
from arena.tournaments.overview import TournamentStatus

SHARE = 20
"""While a tournament runs, its standings are recomputed after this many times the time that took."""

MOST_KEPT = 16
"""How many tournaments' standings are cached."""

SLOW = 0.2
"""If computing took longer than this, in seconds, readers get cached standings unless they are too old."""

OLDEST = 600.0
"""Seconds after which cached standings are too old."""

NEWEST, MANY, AHEAD = 50, 1_000, 3
"""How many of the newest tournaments are considered, how many entrants make one large, and for how many large
ones the standings are computed ahead."""

Key = tuple[object, ...]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Kept:
    """Cached standings."""

    board: Scoreboard
    decided: Key
    """The organiser's decisions about them; if these change, the standings are no longer shown."""
    played: Key
    """What had been played by then."""
    at: float
    """When they were computed."""
    took: float
    """How long that took, in seconds."""

    def is_fresh(self, played: Key, now: float) -> bool:
        """Return whether they can be shown without computing new ones."""
        return self.played == played or now < self.at + SHARE * self.took

    def is_better_than_waiting(self, now: float) -> bool:
        """Return whether to show them while newer ones are computed."""
        return self.took >= SLOW and now < self.at + OLDEST


class Placings:
    """The cache of standings that were read last."""

    def __init__(self, storage: Storage, now: Callable[[], float] = time.monotonic) -> None:
        self._storage, self._now = storage, now
        self._kept: OrderedDict[str, Kept] = OrderedDict()
        self._renewed: dict[str, Thread] = {}
        self._lock = Lock()

    def of(self, status: TournamentStatus) -> Scoreboard:
        """Return the standings of a tournament with this status, or slightly older ones.

        Raise UnknownError.
        """
        corrected = tuple(corrections(self._storage, status.tournament)) if status.ended else ()
        decided = (
            status.id,
            status.state,
            status.entrants,
            status.provisional,
            status.confirmed_at,
            corrected,
        )
        played = (status.sessions_done, status.matches_done, status.round)
        with self._lock:
            kept = self._kept.get(status.tournament)
            if kept is not None and kept.decided == decided:
                self._kept.move_to_end(status.tournament)
                now = self._now()
                if kept.is_fresh(played, now):
                    return kept.board
                if kept.is_better_than_waiting(now):
                    self._renew(status.tournament, decided, played)
                    return kept.board
        return self._compute(status.tournament, decided, played)

    def prepare(self) -> None:
        """Compute the standings of the newest large tournaments before anybody asks."""
        try:
            newest = list_tournaments(self._storage, limit=NEWEST).tournaments
            for status in [one for one in newest if one.entrants >= MANY][:AHEAD]:
                self.of(status)
        except ArenaError as error:
            log.warning("standings are not computed ahead: %s", error)

    def wait(self) -> None:
        """Wait until no standings are being computed in the background."""
        for thread in [*self._renewed.values()]:
            thread.join()

    def _renew(self, name: str, decided: Key, played: Key) -> None:
        """Compute standings in a thread, unless one does so already."""
        if name not in self._renewed:
            self._renewed[name] = Thread(target=self._renewing, args=(name, decided, played), daemon=True)
            self._renewed[name].start()

    def _renewing(self, name: str, decided: Key, played: Key) -> None:
        try:
            self._compute(name, decided, played)
        except ArenaError as error:
            log.warning("the standings of %s stay as they were: %s", name, error)
        finally:
            with self._lock:
                del self._renewed[name]

    def _compute(self, name: str, decided: Key, played: Key) -> Scoreboard:
        began = self._now()
        board = scoreboard(self._storage, name)
        now = self._now()
        with self._lock:
            self._kept[name] = Kept(board, decided, played, now, now - began)
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return board
