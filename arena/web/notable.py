"""Notable deals, looked up at most once a minute for all readers."""

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock

from arena.queries.highlights import DealLine, HighlightQuery, find_deals, telling_deals
from arena.queries.matches import MatchLine
from arena.store.models import HighlightKind
from arena.store.storage import Storage
from arena.tournaments.overview import TournamentStatus

OF_BOT = 2
"""Deals of each kind that are listed for a bot."""

SECONDS = 60.0
"""How long they are cached; by then, deals that others still had to play may have become visible."""

MOST_KEPT = 500
"""Number of bots and tournaments whose deals are cached."""


class Telling:
    """The cache of notable deals, for the bots and tournaments that were read last."""

    def __init__(self, storage: Storage, now: Callable[[], float] = time.monotonic) -> None:
        self._storage, self._now = storage, now
        self._kept: OrderedDict[tuple[object, ...], tuple[float, Sequence[DealLine]]] = OrderedDict()
        self._lock = Lock()

    def of_bot(self, name: str, newest: Sequence[MatchLine]) -> Sequence[DealLine]:
        """Return the most notable deals of a bot or of a version, looked up again after its next match.

        ``newest`` are its newest matches. Raise UnknownError, and SpecError for an invalid name.
        """
        key = [(one.tournament, one.round, one.table, one.finished_at) for one in newest[:1]]
        return self._known((name, *key), lambda: telling_deals(self._storage, name, OF_BOT))

    def of_tournament(self, status: TournamentStatus) -> Sequence[DealLine]:
        """Return the most notable deals of a tournament that has ended, one of each kind."""
        if not status.ended or not status.sessions_done:
            return ()
        return self._known((status.id, status.state), lambda: self._find(status.tournament))

    def _find(self, name: str) -> Sequence[DealLine]:
        asked = [HighlightQuery(kind, tournament=name) for kind in HighlightKind]
        found: dict[tuple[int, ...], DealLine] = {}
        for line in [line for one in asked for line in find_deals(self._storage, one, 1).deals]:
            found.setdefault((line.round, line.table, line.session, line.deal), line)
        return [*found.values()]

    def _known(self, key: tuple[object, ...], find: Callable[[], Sequence[DealLine]]) -> Sequence[DealLine]:
        """Return cached deals, or look them up; others who ask meanwhile look them up, too."""
        with self._lock:
            until, kept = self._kept.get(key, (0.0, ()))
            if self._now() < until:
                return kept
        found = find()
        with self._lock:
            self._kept[key] = (self._now() + SECONDS, found)
            self._kept.move_to_end(key)
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return found
