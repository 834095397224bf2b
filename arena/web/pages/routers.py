"""All pages, and the files that they load."""

from fastapi import APIRouter, FastAPI

from arena.web.pages import (
    accounts,
    among,
    boards,
    bots,
    deals,
    desk,
    docs,
    feeds,
    front,
    glances,
    hooks,
    joining,
    leagues,
    leaguing,
    library,
    live,
    making,
    managing,
    matches,
    me,
    now,
    operating,
    resetting,
    rules,
    search,
    signing,
    statics,
    together,
    tournaments,
    upkeep,
)

ROUTERS: tuple[APIRouter, ...] = (
    accounts.router,
    among.router,
    boards.router,
    bots.router,
    deals.router,
    desk.router,
    docs.router,
    feeds.router,
    front.router,
    glances.router,
    hooks.router,
    joining.router,
    leagues.router,
    leaguing.router,
    library.router,
    live.router,
    managing.router,
    making.router,
    matches.router,
    me.router,
    now.router,
    operating.router,
    resetting.router,
    rules.router,
    search.router,
    signing.router,
    together.router,
    tournaments.router,
    upkeep.router,
)


def add_pages(app: FastAPI) -> None:
    """Serve the pages."""
    app.router.routes += [route for router in (*ROUTERS, statics.router) for route in router.routes]
