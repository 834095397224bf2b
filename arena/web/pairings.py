"""Pairings for pages: computed once for all readers, however many bots there are."""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, TypeVar

from arena.play.rounds.overview import PairingsNamed, pairings, reason_lines
from arena.store.storage import Storage
from arena.tournaments.overview import TournamentStatus

Found = TypeVar("Found")

MOST_KEPT = 16
"""Maximum number of cached answers, for tournaments and explained rounds together."""


@dataclass(frozen=True, slots=True)
class Why:
    """Why the tables of a round are as they are."""

    lines: Mapping[int, Sequence[str]]
    """The reasons by table; empty if there was no choice."""
    only: bool
    """Whether no other pairing was possible."""


class Pairings:
    """Cached pairings, which stay valid since neither they nor the data behind them ever change."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._kept: OrderedDict[tuple[int, ...], Any] = OrderedDict()
        self._lock = Lock()

    def all(self, status: TournamentStatus) -> PairingsNamed:
        """Return the paired rounds of a tournament. Raise UnknownError."""
        return self._known((status.id, status.round, 0), lambda: pairings(self._storage, status.tournament))

    def why(self, status: TournamentStatus, round: int) -> Why:
        """Return why the tables of a round are as they are. Raise UnknownError."""
        return self._known((status.id, round), lambda: self._explained(status.tournament, round))

    def _explained(self, tournament: str, round: int) -> Why:
        shown = pairings(self._storage, tournament, round, explained=True)
        [one] = shown.rounds
        told = enumerate(one.reasons, start=1)
        return Why({number: [*reason_lines(reason, shown.bots)] for number, reason in told}, one.only)

    def _known(self, key: tuple[int, ...], find: Callable[[], Found]) -> Found:
        """Return a cached answer, or compute it; meanwhile, others who ask for it wait."""
        with self._lock:
            if key not in self._kept:
                self._kept[key] = find()
            self._kept.move_to_end(key)
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
            found: Found = self._kept[key]
            return found
