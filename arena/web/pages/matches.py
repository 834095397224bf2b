"""The pages of matches: a list, and a match with its sessions and deals."""

from typing import Annotated

from fastapi import Path
from fastapi.responses import HTMLResponse

from arena.operations import results
from arena.play.matches import overview
from arena.queries.counting import count_matches, count_rounds, deal_scores_at
from arena.web.context import Shared
from arena.web.pages.forms import AnyVisit
from arena.web.pages.page import Page
from arena.web.pages.routing import page_router

router = page_router()

LISTED = 40

Number = Annotated[int, Path(ge=1, le=2**31 - 1)]


@router.get("/matches")
def list_matches(visit: AnyVisit) -> HTMLResponse:
    """Show finished matches, the newest first."""
    found = visit.do(results.list_matches, limit=LISTED)
    counted = count_matches(visit.web.storage, found.matches)
    return visit.page("matchlist.html", found=found, asked=visit.asked(results.list_matches), counted=counted)


@router.get("/matches/{tournament}/{round}/{table}")
def show_match(page: Page, web: Shared, tournament: str, round: Number, table: Number) -> HTMLResponse:
    """Show a match with its sessions."""
    match = overview.played_match(web.storage, tournament, round, table)
    found = count_rounds(web.storage, tournament, [round])
    counted = found.matches.get((round, table))
    deals = deal_scores_at(web.storage, tournament, round, table) if found.duplicate and counted else None
    return page("match.html", match=match, duplicate=found.duplicate, counted=counted, deals=deals)
