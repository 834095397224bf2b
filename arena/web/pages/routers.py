"""All pages, and the files that they load."""

from fastapi import APIRouter, FastAPI
from fastapi.responses import HTMLResponse

from arena.web.pages import (
    boards,
    bots,
    deals,
    desk,
    docs,
    glances,
    joining,
    leagues,
    live,
    matches,
    me,
    operating,
    previews,
    rules,
    signing,
    statics,
    together,
    tournaments,
)

ROUTERS: tuple[APIRouter, ...] = (
    boards.router,
    bots.router,
    deals.router,
    desk.router,
    docs.router,
    glances.router,
    joining.router,
    leagues.router,
    live.router,
    matches.router,
    me.router,
    operating.router,
    previews.router,
    rules.router,
    signing.router,
    together.router,
    tournaments.router,
)


def add_pages(app: FastAPI) -> None:
    """Serve the pages."""
    for router in ROUTERS:
        app.include_router(router, include_in_schema=False, default_response_class=HTMLResponse)
    app.include_router(statics.router, include_in_schema=False)
