"""Standings for pages: computed once for all readers, however many bots there are."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

from arena.standings.scoreboard import Scoreboard, corrections, scoreboard
from arena.storage import Storage
from arena.tournaments.overview import TournamentStatus

SHARE = 20
"""While a tournament runs its standings are worked out again after so many times as long as that took."""

MOST_KEPT = 16
"""Tournaments whose standings are kept."""

Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Kept:
    """Standings as they were."""

    board: Scoreboard
    decided: Key
    """What a person decided about them: with that another, they are not shown."""
    played: Key
    """What had been played."""
    until: float
    """Till when they are good though more was played since."""

    def holds(self, decided: Key, played: Key, now: float) -> bool:
        """Return whether they may be shown."""
        return self.decided == decided and (self.played == played or now < self.until)


class Placings:
    """The standings that were read last."""

    def __init__(self, storage: Storage, now: Callable[[], float] = time.monotonic) -> None:
        self._storage, self._now = storage, now
        self._kept: OrderedDict[str, Kept] = OrderedDict()
        self._lock = Lock()

    def of(self, status: TournamentStatus) -> Scoreboard:
        """Return the standings of a tournament that stands like this. Raise UnknownError."""
        corrected = tuple(corrections(self._storage, status.name)) if status.ended else ()
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
            kept = self._kept.get(status.name)
            if kept is not None and kept.holds(decided, played, self._now()):
                self._kept.move_to_end(status.name)
                return kept.board
        began = self._now()
        board = scoreboard(self._storage, status.name)
        took = self._now() - began
        with self._lock:
            self._kept[status.name] = Kept(board, decided, played, self._now() + SHARE * took)
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return board
