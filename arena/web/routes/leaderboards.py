"""Leaderboards."""

from typing import Annotated

from fastapi import Query
from pydantic import Field

from arena.queries import leaderboards as queries
from arena.queries.board import Leaderboard
from arena.strength import baselines
from arena.web.asking import Operator
from arena.web.context import Shared
from arena.web.moments import Moment
from arena.web.paging import Cursor, Limit
from arena.web.routing import api_router
from arena.web.sent import Sent
from arena.web.shapes import shape

router = api_router("results")

BaselinesShown = shape(baselines.Baselines)
Page = shape(Leaderboard)


class Named(Sent):
    """Bots to add to the baselines, or to remove."""

    bots: Annotated[list[str], Field(min_length=1, max_length=200)]
    """`owner/bot@number`, or `owner/bot` for its newest version."""


@router.get("/leaderboard", response_model=Page)
def leaderboard(
    web: Shared,
    ruleset: Annotated[
        str | None, Query(description="Name, `name@version`, or the beginning of its hash.")
    ] = None,
    table_size: Annotated[int | None, Query(ge=2, le=8)] = None,
    league: Annotated[str | None, Query(description="Only bots with a place in a season of it.")] = None,
    season: Annotated[int | None, Query(ge=1, le=2**31 - 1)] = None,
    division: str | None = None,
    owner: str | None = None,
    language: str | None = None,
    active_since: Moment | None = None,
    min_matches: Annotated[int, Query(ge=1, le=2**31 - 1)] = 1,
    provisional: bool | None = None,
    around: Annotated[str | None, Query(description="The lines around this bot.")] = None,
    since: Annotated[Moment | None, Query(description="Show how they stood at that time.")] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Leaderboard:
    """Return the ratings: a leaderboard for each ruleset and table size, the best first."""
    asked = queries.Asked(
        ruleset=ruleset,
        table_size=table_size,
        league=league,
        season=season,
        division=division,
        owner=owner,
        language=language,
        active_since=active_since,
        matches=min_matches,
        provisional=provisional,
        since=since,
    )
    return queries.leaderboard(web.storage, asked, limit, cursor, around)


@router.get("/baselines", response_model=BaselinesShown)
def list_baselines(web: Shared) -> baselines.Baselines:
    """List the bot versions whose mean strength is 1500 in each pool."""
    return baselines.Baselines(baselines.list_baselines(web.storage))


@router.post("/baselines", response_model=BaselinesShown)
def add_baselines(web: Shared, actor: Operator, sent: Named) -> baselines.Baselines:
    """Make bot versions baselines, all or none."""
    baselines.add_baselines(web.storage, actor, sent.bots, web.clock())
    return baselines.Baselines(baselines.list_baselines(web.storage))


@router.post("/baselines/remove", response_model=BaselinesShown)
def remove_baselines(web: Shared, actor: Operator, sent: Named) -> baselines.Baselines:
    """Remove bot versions from the baselines, all or none."""
    baselines.remove_baselines(web.storage, actor, sent.bots, web.clock())
    return baselines.Baselines(baselines.list_baselines(web.storage))
