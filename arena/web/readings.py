"""What pages show of tournaments and bots that takes long to compute, remembered for all readers.

Each reading says here how it is remembered: how many, for how long, and by what it becomes another one.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from arena.core.duplicate import RoundBeside
from arena.errors import ArenaError
from arena.play.rounds.overview import RoundNamed, last_rounds, pairings, reason_lines
from arena.queries.board import LeaderboardLine
from arena.queries.highlights import DealLine, HighlightQuery, deal_of_day, find_deals, notable_deals
from arena.queries.leaderboards import LeaderboardQuery, leaderboard
from arena.queries.luck import rounds_weighed
from arena.queries.matches import MatchLine
from arena.queries.names import NamedPool, list_pools
from arena.queries.scoreboard import Scoreboard, corrections, scoreboard
from arena.queries.sessions import deals_beside, is_over
from arena.queries.tournaments import RoundTables, TableLine, last_finished, list_tournaments, round_tables
from arena.store.models import HighlightKind, MatchState, RoundState
from arena.store.storage import Storage
from arena.tournaments.overview import TournamentStatus
from arena.web.cache import Computed, Rule, Store
from arena.web.pages.rendering import fill
from arena.web.watching import Glance, Watching

STANDINGS = Rule(most=16, share=20, slow=0.2, oldest=600)
"""While a tournament runs, standings are computed again only after 20 times the time that it took."""

PAIRINGS = Rule(most=16)
"""Pairings of a number of rounds never change, nor do the data behind them."""

DEALS = Rule(most=500, seconds=60)
"""After a minute, deals that others still had to play may have become visible."""

SUMMARY = Rule(most=1, seconds=10)
"""What the front page shows of the whole arena changes every few seconds at most."""

TOP, ENDED = 5, 5
"""The bots of the board's top on the front page, and among how many tournaments the last winner is found."""

OF_BOT = 2
"""Notable deals of each kind that are listed for a bot."""

NEWEST, MANY, AHEAD = 50, 1_000, 3
"""How many of the newest tournaments are considered, how many entrants make one large, and for how many large
ones the standings are computed ahead."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Why:
    """Why the tables of a round are as they are."""

    lines: Mapping[int, Sequence[str]]
    """The reasons by table; empty if there was no choice."""
    only: bool
    """Whether no other pairing was possible."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The whole arena in short."""

    pool: NamedPool | None
    """The pool with most matches; None if there are no ratings yet."""
    top: Sequence[LeaderboardLine]
    """Its best bots."""
    deal: DealLine | None
    """The deal of the day: of the newest day that is over, or of today if there is none."""
    finished: Sequence[TournamentStatus]
    """The tournaments that finished last."""


class Readings:
    """The readings of an arena; their methods raise UnknownError for what there is not."""

    def __init__(self, storage: Storage, now: Callable[[], float] = time.monotonic) -> None:
        self._storage = storage
        self._standings: Computed[Scoreboard] = Computed(STANDINGS, now)
        self._last_rounds: Computed[Sequence[RoundNamed]] = Computed(PAIRINGS, now)
        self._reasons: Computed[Why] = Computed(PAIRINGS, now)
        self._beside: Computed[RoundBeside] = Computed(PAIRINGS, now)
        self._deals: Computed[Sequence[DealLine]] = Computed(DEALS, now)
        self._summary: Computed[Summary] = Computed(SUMMARY, now)

    def standings(self, status: TournamentStatus) -> Scoreboard:
        """Return the standings of a tournament with this status, or slightly older ones."""
        name = status.tournament
        corrected = tuple(corrections(self._storage, name)) if status.ended else ()
        return self._standings.get(
            name,
            lambda: scoreboard(self._storage, name),
            version=(
                *(status.created_at, status.format, status.ruleset, status.state, status.entrants),
                *(status.provisional, status.confirmed_at, corrected),
            ),
            progress=(
                *(status.sessions_done, status.matches_done, status.round),
                rounds_weighed(self._storage, status.id),
            ),
        )

    def summary(self, now: datetime) -> Summary:
        """Return the whole arena in short, as of a few seconds ago at most."""
        return self._summary.get(None, lambda: self._summarised(now), version=now.date())

    def _summarised(self, now: datetime) -> Summary:
        pool = max(list_pools(self._storage), key=lambda line: line.matches, default=None)
        top: Sequence[LeaderboardLine] = ()
        if pool is not None:
            query = LeaderboardQuery(ruleset=pool.hash, table_size=pool.table_size)
            top = leaderboard(self._storage, query, TOP).leaderboard
        midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        deal = deal_of_day(self._storage, midnight) or deal_of_day(self._storage, now)
        return Summary(pool, top, deal, last_finished(self._storage, ENDED))

    def prepare(self) -> None:
        """Compute the standings of the newest large tournaments before anybody asks."""
        try:
            newest = list_tournaments(self._storage, limit=NEWEST).tournaments
            for status in [line for line in newest if line.entrants >= MANY][:AHEAD]:
                self.standings(status)
        except ArenaError as error:
            log.warning("standings are not computed ahead: %s", error)

    def wait(self) -> None:
        """Wait until no standings are being computed in the background."""
        self._standings.wait()

    def last_rounds(self, status: TournamentStatus, tables: int) -> Sequence[RoundNamed]:
        """Return the last rounds of a tournament, all that have at most so many tables together."""
        return self._last_rounds.get(
            status.id, lambda: last_rounds(self._storage, status.tournament, tables), version=status.round
        )

    def deals_beside(self, tournament: str, round: int) -> RoundBeside:
        """Return what the deals of a duplicate round that is over are compared with."""
        key = tournament, round
        return self._beside.get(key, lambda: deals_beside(self._storage, tournament, round))

    def reasons(self, status: TournamentStatus, round: int) -> Why:
        """Return why the tables of a round are as they are."""
        return self._reasons.get((status.id, round), lambda: self._explained(status.tournament, round))

    def _explained(self, tournament: str, round: int) -> Why:
        page = pairings(self._storage, tournament, round, explained=True)
        [paired] = page.rounds
        numbered = enumerate(paired.reasons, start=1)
        return Why({number: [*reason_lines(reason, page.bots)] for number, reason in numbered}, paired.only)

    def deals_of_bot(self, name: str, newest: Sequence[MatchLine]) -> Sequence[DealLine]:
        """Return the most notable deals of a bot or of a version, looked up again after its next match.

        ``newest`` are its newest matches. Raise SpecError for an invalid name.
        """
        latest = tuple(
            (match.tournament, match.round, match.table, match.finished_at) for match in newest[:1]
        )
        return self._deals.get(name, lambda: notable_deals(self._storage, name, OF_BOT), version=latest)

    def deals_of_tournament(self, status: TournamentStatus) -> Sequence[DealLine]:
        """Return the most notable deals of a tournament that has ended, one of each kind."""
        if not status.ended or not status.sessions_done:
            return ()
        return self._deals.get(status.id, lambda: self._notable(status.tournament), version=status.state)

    def _notable(self, tournament: str) -> Sequence[DealLine]:
        queries = [HighlightQuery(kind, tournament=tournament) for kind in HighlightKind]
        deals: dict[tuple[int, ...], DealLine] = {}
        for line in [line for query in queries for line in find_deals(self._storage, query, 1).deals]:
            deals.setdefault((line.round, line.table, line.session, line.deal), line)
        return [*deals.values()]


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

    def __init__(
        self, storage: Storage, watching: Watching, most: int, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._storage, self._watching, self._now = storage, watching, now
        self.most = most
        """Maximum number of tables in a drawing."""
        self._drawn: Store[asyncio.Task[Drawn]] = Store(MOST_DRAWN)

    async def tables(self, tournament: str, round: int, offset: int) -> Drawn:
        """Return a recent drawing of tables of a round. Raise UnknownError."""
        now, place = self._now(), (tournament, round, offset)
        drawn = self._drawn.get(place, now)
        if drawn is None:
            drawn = asyncio.create_task(self._draw(place))
            self._drawn.put(place, drawn, now + FRESH)
        return await asyncio.shield(drawn)

    async def _draw(self, place: Place) -> Drawn:
        tournament, round, offset = place
        page = await asyncio.to_thread(round_tables, self._storage, tournament, round, self.most, offset)
        tables = [SmallTable(line, *self._seen(tournament, round, line)) for line in page.tables]
        drawing = partial(
            fill,
            "smalltables.html",
            "",
            tournament=tournament,
            round=round,
            offset=offset,
            tables=tables,
            open=page.state == RoundState.OPEN,
        )
        return Drawn(page, await asyncio.to_thread(drawing))

    def _seen(self, tournament: str, round: int, line: TableLine) -> tuple[Glance | None, int]:
        if line.state != MatchState.RUNNING:
            return None, 0
        done = partial(is_over, self._storage, tournament, round, line.table)
        glances, count = self._watching.glances(f"{tournament}/{round}/{line.table}", done)
        return (glances[0], count - 1) if glances else (None, 0)
