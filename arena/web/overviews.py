"""An overview of the tables of a round: what is stored, and what is visible of those in progress.

However many viewers there are, the tables are read and drawn at most once a second.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from time import monotonic

from arena.queries.sessions import is_over
from arena.queries.tournaments import RoundTables, TableLine, round_tables
from arena.store.models import MatchState, RoundState
from arena.store.storage import Storage
from arena.web.cache import Store
from arena.web.live import Glance
from arena.web.pages.rendering import fill
from arena.web.watching import Watching

FRESH = 1.0
"""Seconds for which a drawing is reused."""

MOST_DRAWN = 64
"""How many drawings are kept for that."""

Place = tuple[str, int, int]
"""A tournament, a round, and how many of its tables are skipped."""


@dataclass(frozen=True, slots=True)
class SmallTable:
    """A table, as shown in small."""

    line: TableLine
    playing: Glance | None
    """The session that is shown; None if none can be seen."""
    more: int
    """Number of other sessions that are being played."""

    @property
    def seats(self) -> Sequence[tuple[str, int, int | None, bool]]:
        """Return for each seat its bot, points, number of cards if known, and whether it is to act."""
        line, playing = self.line, self.playing
        points = line.points or (0,) * len(line.bots)
        stored = dict(zip(line.bots, points, strict=True))
        if playing is None:
            return [(name, own, None, False) for name, own in stored.items()]
        held = playing.held or (None,) * len(playing.names)
        return [
            (name, stored.get(name, 0) + score, count, playing.asked == seat)
            for seat, (name, score, count) in enumerate(zip(playing.names, playing.scores, held, strict=True))
        ]


@dataclass(frozen=True, slots=True)
class Drawn:
    """Tables of a round, drawn."""

    found: RoundTables
    text: str
    """The drawing, as a fragment of HTML."""


class Glancing:
    """Draws tables in small, once for all viewers."""

    def __init__(self, storage: Storage, watching: Watching, most: int) -> None:
        self._storage, self._watching = storage, watching
        self.most = most
        """Maximum number of tables in a drawing."""
        self._drawn: Store[asyncio.Task[Drawn]] = Store(MOST_DRAWN)

    async def tables(self, tournament: str, round: int, offset: int) -> Drawn:
        """Return a recent drawing of tables of a round. Raise UnknownError."""
        now, place = monotonic(), (tournament, round, offset)
        drawn = self._drawn.get(place, now)
        if drawn is None:
            drawn = asyncio.create_task(self._draw(place))
            self._drawn.put(place, drawn, now + FRESH)
        return await asyncio.shield(drawn)

    async def _draw(self, place: Place) -> Drawn:
        tournament, round, offset = place
        found = await asyncio.to_thread(round_tables, self._storage, tournament, round, self.most, offset)
        tables = [SmallTable(line, *self._seen(tournament, round, line)) for line in found.tables]
        drawing = partial(
            fill,
            "smalltables.html",
            "",
            tournament=tournament,
            round=round,
            offset=offset,
            tables=tables,
            open=found.state == RoundState.OPEN,
        )
        return Drawn(found, await asyncio.to_thread(drawing))

    def _seen(self, tournament: str, round: int, line: TableLine) -> tuple[Glance | None, int]:
        if line.state != MatchState.RUNNING:
            return None, 0
        done = partial(is_over, self._storage, tournament, round, line.table)
        shown, count = self._watching.glances(f"{tournament}/{round}/{line.table}", done)
        return (shown[0], count - 1) if shown else (None, 0)
