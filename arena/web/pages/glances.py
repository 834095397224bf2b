"""The page with all tables of a round in small."""

from typing import Annotated

from fastapi import Path, Query
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from arena.core.specs import Name
from arena.web.context import Shared
from arena.web.pages.page import Page
from arena.web.pages.routing import page_router

router = page_router()

Number = Annotated[int, Path(ge=1, le=2**31 - 1)]
Offset = Annotated[int, Query(ge=0, le=2**31 - 1)]

LIVE = "/tournaments/{tournament}/rounds/{round}/live"


@router.get(LIVE)
async def show_tables(
    page: Page, web: Shared, tournament: Name, round: Number, offset: Offset = 0
) -> HTMLResponse:
    """Show all tables of a round in small, in their present state."""
    drawn = await web.glancing.tables(tournament, round, offset)
    return page(
        "glance.html",
        tournament=tournament,
        found=drawn.found,
        drawn=Markup(drawn.text),  # noqa: S704 it was made by a template
        offset=offset,
        most=web.glancing.most,
    )


@router.get(f"{LIVE}/tables")
async def draw_tables(web: Shared, tournament: Name, round: Number, offset: Offset = 0) -> HTMLResponse:
    """Return the tables alone, for the page that reloads them periodically."""
    return HTMLResponse((await web.glancing.tables(tournament, round, offset)).text)
