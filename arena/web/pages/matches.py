"""The pages of matches: a list, and a match with its sessions and deals."""

from typing import Annotated

from fastapi import Path
from fastapi.responses import HTMLResponse

from arena.operations import results
from arena.play.matches import overview
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
    operation = results.list_matches
    return visit.page("matchlist.html", found=visit.do(operation, limit=LISTED), asked=visit.asked(operation))


@router.get("/matches/{tournament}/{round}/{table}")
def show_match(page: Page, web: Shared, tournament: str, round: Number, table: Number) -> HTMLResponse:
    """Show a match with its sessions."""
    return page("match.html", match=overview.played_match(web.storage, tournament, round, table))
