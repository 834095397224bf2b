"""The board: the leaderboard of a pool, and the comparison of any two bots in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import groupby
from typing import Annotated

from fastapi import Query
from fastapi.responses import HTMLResponse, Response

from arena.errors import SpecError, UnknownError
from arena.operations.parameters import Moment
from arena.queries import leaderboards as queries
from arena.queries.board import Leaderboard, LeaderboardLine
from arena.queries.names import NamedPool, list_pools
from arena.queries.verdicts import Verdict, verdict
from arena.results.strength.scale import HELD
from arena.store.storage import Storage
from arena.tabular import write_lines
from arena.web.context import Shared
from arena.web.pages.asked import FromForm
from arena.web.pages.page import Page
from arena.web.pages.routing import page_router
from arena.web.pages.scales import Scale, scale_of

router = page_router()

LINES = 50
"""Lines on a page."""
AROUND = 15
"""Lines around a bot."""
MOST_CSV = 10_000

Whole = Annotated[int | None, Query(ge=1, le=2**31 - 1)]


class BoardAsked(FromForm):
    """The query parameters of the board, named as in the API."""

    ruleset: str | None = None
    table_size: Whole = None
    owner: str | None = None
    language: str | None = None
    active_since: Moment | None = None
    min_matches: Annotated[int, Query(ge=1, le=2**31 - 1)] = 1
    provisional: bool | None = None
    since: Moment | None = None
    around: str | None = None
    a: str | None = None
    b: str | None = None
    cursor: Annotated[str | None, Query(max_length=400)] = None

    @property
    def narrowed(self) -> bool:
        """Return whether only some bots are asked for."""
        narrowing = (self.owner, self.language, self.active_since, self.provisional)
        return any(one is not None for one in narrowing) or self.min_matches > 1

    def of(self, pool: NamedPool) -> queries.LeaderboardQuery:
        """Return the query for the lines of a pool."""
        return queries.LeaderboardQuery(
            ruleset=pool.hash,
            table_size=pool.table_size,
            owner=self.owner,
            language=self.language,
            active_since=self.active_since,
            matches=self.min_matches,
            provisional=self.provisional,
            since=self.since,
        )


@dataclass(frozen=True, slots=True)
class Tier:
    """The bots in one band of the board."""

    number: int | None
    """Number of the tier; None for bots without a strength yet."""
    group: int | None
    lines: Sequence[LeaderboardLine]


@dataclass(frozen=True, slots=True)
class Board:
    """A page of the leaderboard of a pool."""

    pool: NamedPool
    tiers: Sequence[Tier]
    scale: Scale
    """The scale of strengths; bars of provisional bots may extend beyond it."""
    next: str | None
    groups: bool
    """Whether bots of several groups are shown, which have never met."""
    anchor: str

    @property
    def lines(self) -> Sequence[LeaderboardLine]:
        """Return all lines."""
        return [line for tier in self.tiers for line in tier.lines]


@router.get("/")
def board(page: Page, web: Shared, asked: Annotated[BoardAsked, Query()]) -> HTMLResponse:
    """Show the board."""
    pools = list_pools(web.storage)
    pool = chosen(pools, asked.ruleset, asked.table_size)
    if pool is None:
        return page("board.html", board=None)
    trouble: dict[str, str] = {}
    found = None
    if asked.around is not None:
        try:
            found = queries.leaderboard(web.storage, asked.of(pool), AROUND, None, asked.around)
        except (UnknownError, SpecError) as error:
            trouble["around"] = str(error)
    if found is None:
        found = queries.leaderboard(web.storage, asked.of(pool), LINES, asked.cursor)
    try:
        said = compared(web.storage, pool, asked.a, asked.b)
    except (UnknownError, SpecError) as error:
        said, trouble["compare"] = None, str(error)
    return page(
        "board.html",
        pools=pools,
        board=board_of(pool, found),
        asked=asked,
        verdict=said,
        trouble=trouble,
        held=HELD,
        query=page.request.query_params,
        query_of_api={**page.request.query_params, "ruleset": pool.hash, "a": None, "b": None},
    )


@router.get("/leaderboard.csv")
def board_csv(web: Shared, asked: Annotated[BoardAsked, Query()]) -> Response:
    """Return the leaderboard of a pool for spreadsheets."""
    pool = chosen(list_pools(web.storage), asked.ruleset, asked.table_size)
    lines = queries.leaderboard(web.storage, asked.of(pool), MOST_CSV).leaderboard if pool is not None else ()
    file = StringIO()
    write_lines(file, LeaderboardLine, lines)
    headers = {"Content-Disposition": 'attachment; filename="leaderboard.csv"'}
    return Response(file.getvalue(), media_type="text/csv", headers=headers)


def chosen(pools: Sequence[NamedPool], ruleset: str | None, table_size: int | None) -> NamedPool | None:
    """Return the pool that is asked for, or by default the one with most matches; None if there is no pool.

    Raise UnknownError if no pool has this name.
    """
    called = [
        one
        for one in pools
        if (ruleset is None or one.is_called(ruleset)) and table_size in (None, one.table_size)
    ]
    if pools and not called:
        raise UnknownError(f"no ratings under {ruleset!r}" if ruleset else "no ratings at such tables")
    return max(called, key=lambda one: one.matches, default=None)


def board_of(pool: NamedPool, found: Leaderboard) -> Board:
    """Return a page of a leaderboard with its lines grouped in bands."""
    tiers = [
        Tier(key and key[1], key and key[0], [*lines]) for key, lines in groupby(found.leaderboard, key=_band)
    ]
    known = [line.strength for line in found.leaderboard if line.strength is not None]
    settled = [
        line.strength for line in found.leaderboard if line.strength is not None and not line.provisional
    ]
    ends = [end for one in settled or known for end in (one.figure_low, one.figure_high)]
    return Board(
        pool=pool,
        tiers=tiers,
        scale=scale_of([*ends, *(one.figure for one in known)], least=100.0),
        next=found.next,
        groups=len({one.group for one in known}) > 1,
        anchor=known[0].anchor if known else "mean",
    )


def _band(line: LeaderboardLine) -> tuple[int, int] | None:
    return None if line.strength is None else (line.strength.group, line.strength.tier)


def compared(storage: Storage, pool: NamedPool, one: str | None, other: str | None) -> Verdict | None:
    """Return the comparison of two bots of a pool; None unless both are named.

    Raise UnknownError, and SpecError for an invalid name.
    """
    if one is None or other is None:
        return None
    asked = queries.LeaderboardQuery(ruleset=pool.hash, table_size=pool.table_size)
    lines = [queries.leaderboard(storage, asked, 1, None, bot).leaderboard[0] for bot in (one, other)]
    if lines[0].bot == lines[1].bot:
        raise SpecError("b", f"{lines[0].bot} is compared with itself")
    return verdict(*lines)
