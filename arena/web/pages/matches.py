"""The pages of matches: a list, and a match with its sessions and deals."""

from typing import Annotated

from fastapi import Path, Query
from fastapi.responses import HTMLResponse

from arena.play.matches import overview
from arena.queries import matches as queries
from arena.web.context import Shared
from arena.web.pages.asked import FromForm
from arena.web.pages.page import Page
from arena.web.pages.routing import page_router

router = page_router()

LISTED = 40

Number = Annotated[int, Path(ge=1, le=2**31 - 1)]


class MatchesAsked(FromForm):
    """The query parameters that choose matches, named as in the API."""

    bot: str | None = None
    opponent: str | None = None
    ruleset: str | None = None
    tournament: str | None = None
    faults: bool = False
    result: queries.Result | None = None
    cursor: Annotated[str | None, Query(max_length=400)] = None


@router.get("/matches")
def list_matches(page: Page, web: Shared, asked: Annotated[MatchesAsked, Query()]) -> HTMLResponse:
    """Show finished matches, the newest first."""
    question = queries.MatchQuery(
        bot=asked.bot,
        opponent=asked.opponent,
        ruleset=asked.ruleset,
        tournament=asked.tournament,
        faults=asked.faults,
        result=asked.result,
    )
    found = queries.find_matches(web.storage, question, LISTED, asked.cursor)
    return page("matchlist.html", found=found, asked=asked)


@router.get("/matches/{tournament}/{round}/{table}")
def show_match(page: Page, web: Shared, tournament: str, round: Number, table: Number) -> HTMLResponse:
    """Show a match with its sessions."""
    return page("match.html", match=overview.played_match(web.storage, tournament, round, table))
