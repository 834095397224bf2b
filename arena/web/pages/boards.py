"""The board: the leaderboard of a pool, and the comparison of any two bots in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import groupby

from fastapi.responses import HTMLResponse, Response

from arena.errors import SpecError, UnknownError
from arena.operations.leaderboards import leaderboard
from arena.queries.board import CHANGES, COLUMNS, Leaderboard, LeaderboardLine
from arena.queries.names import NamedPool, list_pools
from arena.queries.versus import compared
from arena.tabular import write_lines
from arena.web.pages.figures import Scale, scale_of
from arena.web.pages.forms import AnyVisit, Visit
from arena.web.pages.routing import page_router

router = page_router()

LINES = 50
"""Lines on a page."""
AROUND = 15
"""Lines around a bot."""
MOST_CSV = 10_000


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


NARROWING = ("league", "owner", "language", "active_since", "provisional")
"""Parameters that leave bots out, besides ``min_matches``."""


def asks_for_board(visit: Visit) -> bool:
    """Return whether a query has parameters of the board."""
    return not visit.sent.texts.keys().isdisjoint({*leaderboard.parameters, "a", "b"})


@router.get("/board")
def board(visit: AnyVisit) -> HTMLResponse:
    """Show the board."""
    web, query = visit.web, visit.query_of(leaderboard)
    first, second = visit.sent["a"], visit.sent["b"]
    pools = list_pools(web.storage)
    pool = chosen(pools, query.ruleset, query.table_size)
    if pool is None:
        return visit.page("board.html", board=None)
    trouble: dict[str, str] = {}
    rows = None
    if query.around is not None:
        try:
            rows = _lines(visit, pool, AROUND, cursor=None)
        except (UnknownError, SpecError) as error:
            trouble["around"] = str(error)
    if rows is None:
        rows = _lines(visit, pool, LINES, around=None)
    try:
        said = compared(web.storage, pool, first, second) if first and second else None
    except (UnknownError, SpecError) as error:
        said, trouble["compare"] = None, str(error)
    texts = visit.request.query_params
    columns = COLUMNS if query.since is None else [*COLUMNS, *CHANGES]
    return visit.page(
        "board.html",
        pools=pools,
        board=board_of(pool, rows.leaderboard, rows.next),
        asked=query,
        narrowed=query.min_matches > 1 or any(getattr(query, name) is not None for name in NARROWING),
        compare=(first, second),
        verdict=said,
        trouble=trouble,
        columns=[column for column in columns if column.page is not None],
        query=texts,
        query_of_api={**texts, "ruleset": pool.hash, "a": None, "b": None},
    )


def _lines(visit: Visit, pool: NamedPool, limit: int, **parameters: object) -> Leaderboard:
    """Return the lines of a pool that are asked for."""
    return visit.do(leaderboard, ruleset=pool.hash, table_size=pool.table_size, limit=limit, **parameters)


@router.get("/leaderboard.csv")
def board_csv(visit: AnyVisit) -> Response:
    """Return the leaderboard of a pool for spreadsheets."""
    query = visit.query_of(leaderboard)
    pool = chosen(list_pools(visit.web.storage), query.ruleset, query.table_size)
    whole: dict[str, object] = {"around": None, "cursor": None}
    lines = () if pool is None else _lines(visit, pool, MOST_CSV, **whole).leaderboard
    file = StringIO()
    write_lines(file, LeaderboardLine, lines)
    headers = {"Content-Disposition": 'attachment; filename="leaderboard.csv"'}
    return Response(file.getvalue(), media_type="text/csv", headers=headers)


def chosen(pools: Sequence[NamedPool], ruleset: str | None, table_size: int | None) -> NamedPool | None:
    """Return the pool that is asked for, or by default the one with most matches; None if there is no pool.

    Raise UnknownError if no pool has this name.
    """
    called = [
        line
        for line in pools
        if (ruleset is None or line.is_called(ruleset)) and table_size in (None, line.table_size)
    ]
    if pools and not called:
        raise UnknownError(f"no ratings under {ruleset!r}" if ruleset else "no ratings at such tables")
    return max(called, key=lambda line: line.matches, default=None)


def board_of(pool: NamedPool, lines: Sequence[LeaderboardLine], following: str | None) -> Board:
    """Return a page of a leaderboard, and the cursor of the next one, with its lines grouped in bands."""
    tiers = [Tier(key and key[1], key and key[0], [*band]) for key, band in groupby(lines, key=_band)]
    strengths = [line.strength for line in lines if line.strength is not None]
    settled = [line.strength for line in lines if line.strength is not None and not line.provisional]
    ends = [end for strength in settled or strengths for end in (strength.figure_low, strength.figure_high)]
    return Board(
        pool=pool,
        tiers=tiers,
        scale=scale_of([*ends, *(strength.figure for strength in strengths)], least=100.0),
        next=following,
        groups=len({strength.group for strength in strengths}) > 1,
        anchor=strengths[0].anchor if strengths else "mean",
    )


def _band(line: LeaderboardLine) -> tuple[int, int] | None:
    return None if line.strength is None else (line.strength.group, line.strength.tier)
