"""Matches, and how bots did against each other."""

from typing import Annotated

from fastapi import Path, Query

from arena.matches import overview
from arena.queries import matches as queries
from arena.queries import meetings, tables, together
from arena.web.context import Shared
from arena.web.moments import Moment
from arena.web.paging import Cursor, Limit
from arena.web.routing import api_router
from arena.web.shapes import shape

router = api_router("results")

MOST_BOTS = 100
"""Most bots in a crosstable."""
MOST_TABLES = 24
"""Maximum number of tables whose records of a deal are returned at once."""


MatchPage = shape(queries.MatchPage)
PlayedMatch = shape(overview.PlayedMatch)
CrosstablePage = shape(meetings.Crosstable)
RoundTables = shape(tables.RoundTables)
SameDeal = shape(together.SameDeal)

Number = Annotated[int, Path(ge=1, le=2**31 - 1)]
Bot = Annotated[str | None, Query(description="`owner/bot`, or one version as `owner/bot@number`.")]
Ruleset = Annotated[str | None, Query(description="Name, `name@version`, or the beginning of its hash.")]


@router.get("/matches", response_model=MatchPage)
def list_matches(
    web: Shared,
    bot: Bot = None,
    opponent: Annotated[str | None, Query(description="Who sat there, too; goes with `bot`.")] = None,
    ruleset: Ruleset = None,
    tournament: str | None = None,
    round: Annotated[int | None, Query(ge=1, le=2**31 - 1, description="Of the tournament.")] = None,
    since: Annotated[Moment | None, Query(description="Finished then or later.")] = None,
    until: Annotated[Moment | None, Query(description="Finished before.")] = None,
    faults: Annotated[bool, Query(description="Only with faults, of the bot if one is named.")] = False,
    result: Annotated[queries.Result | None, Query(description="Of the bot; goes with `bot`.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> queries.MatchPage:
    """List matches that are done, the newest first, with points and changes of Elo."""
    asked = queries.Asked(
        bot=bot,
        opponent=opponent,
        ruleset=ruleset,
        tournament=tournament,
        round=round,
        since=since,
        until=until,
        faults=faults,
        result=result,
    )
    return queries.find_matches(web.storage, asked, limit, cursor)


@router.get("/matches/{tournament}/{round}/{table}", response_model=PlayedMatch)
def show_match(web: Shared, tournament: str, round: Number, table: Number) -> overview.PlayedMatch:
    """Return a match with its finished sessions: who sat where, points, faults and forfeits."""
    return overview.played_match(web.storage, tournament, round, table)


@router.get("/tournaments/{tournament}/rounds/{round}/tables", response_model=RoundTables)
def list_tables(
    web: Shared,
    tournament: str,
    round: Number,
    limit: Limit = 100,
    offset: Annotated[int, Query(ge=0, le=2**31 - 1, description="How many tables are left out.")] = 0,
) -> tables.RoundTables:
    """Return the tables of a round, played or not: the bots, the progress and the points of each."""
    return tables.round_tables(web.storage, tournament, round, limit, offset)


@router.get(
    "/tournaments/{tournament}/rounds/{round}/sessions/{session}/deals/{deal}", response_model=SameDeal
)
def show_same_deal(
    web: Shared,
    tournament: str,
    round: Number,
    session: Number,
    deal: Number,
    first: Annotated[int, Query(ge=1, le=2**31 - 1, description="The first table with its record.")] = 1,
    most: Annotated[int, Query(ge=1, le=MOST_TABLES, description="Tables with their records.")] = 12,
) -> together.SameDeal:
    """Return a deal of a duplicate round at all its tables, and what each bot made of its cards."""
    return together.same_deal(web.storage, tournament, round, session, deal, first, most)


@router.get("/crosstable", response_model=CrosstablePage)
def show_crosstable(
    web: Shared,
    bot: Annotated[
        list[str],
        Query(min_length=2, max_length=MOST_BOTS, description="Two bots or more, or versions of them."),
    ],
    ruleset: Ruleset = None,
    table_size: Annotated[int | None, Query(ge=2, le=8)] = None,
) -> meetings.Crosstable:
    """Return how often these bots finished ahead of each other, in each pool in which they met."""
    return meetings.Crosstable(meetings.crosstable(web.storage, bot, ruleset, table_size))
