"""Search: suggestions come from the API while somebody types; this page works without scripts."""

from typing import Annotated

from fastapi import Query
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from arena.queries.names import search
from arena.queries.profiles import find_bots
from arena.web.context import Shared
from arena.web.pages.links import bot_url, league_url, tournament_url
from arena.web.pages.page import SEE_OTHER, Page
from arena.web.pages.routing import page_router

router = page_router()

SHOWN = 40
"""Names of each kind on the page."""


@router.get("/search", response_class=HTMLResponse)
def show_search(page: Page, web: Shared, q: Annotated[str, Query(max_length=200)] = "") -> Response:
    """Show whose names begin with a text, or the page of the only one that has it as its name.

    Without a text, show the bots of the newest versions.
    """
    hits, name = search(web.storage, q, SHOWN), q.strip().lower()
    places = {
        **{name: league_url(name) for name in hits.leagues},
        **{name: tournament_url(name) for name in hits.tournaments},
        **{name: bot_url(name) for name in hits.bots},
    }
    if name in places and [*hits.names].count(name) == 1:
        return RedirectResponse(places[name], SEE_OTHER)
    newest = [] if name else [line.bot.partition("@")[0] for line in find_bots(web.storage, limit=SHOWN).bots]
    return page("search.html", q=q, found=hits, newest=list(dict.fromkeys(newest)), most=SHOWN)
