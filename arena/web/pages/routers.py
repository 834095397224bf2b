"""All pages, and the files that they load."""

from fastapi import APIRouter, FastAPI

from arena.web.pages import (
    among,
    boards,
    bots,
    deals,
    desk,
    docs,
    feeds,
    front,
    hooks,
    joining,
    leagues,
    leaguing,
    library,
    making,
    managing,
    matches,
    me,
    now,
    operating,
    rendering,
    rules,
    search,
    signing,
    tournaments,
    upkeep,
)

ROUTERS: tuple[APIRouter, ...] = (
    upkeep.router,
    among.router,
    boards.router,
    bots.router,
    deals.router,
    desk.router,
    docs.router,
    feeds.router,
    front.router,
    now.router,
    hooks.router,
    joining.router,
    leagues.router,
    leaguing.router,
    library.router,
    now.router,
    managing.router,
    making.router,
    matches.router,
    me.router,
    now.router,
    operating.router,
    signing.router,
    rules.router,
    search.router,
    signing.router,
    deals.router,
    tournaments.router,
    upkeep.router,
)


def add_pages(app: FastAPI) -> None:
    """Serve the pages."""
    app.router.routes += [route for router in (*ROUTERS, rendering.router) for route in router.routes]
