"""A match that is being played, as it happens."""

from fastapi.responses import HTMLResponse

from arena.queries.sessions import played_match
from arena.web.context import Shared
from arena.web.pages.page import Page
from arena.web.pages.routing import page_router
from arena.web.routes.events import LookedAt, Number, sent
from arena.web.sse import EventStream

router = page_router()

LIVE = "/matches/{tournament}/{round}/{table}/live"


@router.get(LIVE)
def watch_match(page: Page, web: Shared, tournament: str, round: Number, table: Number) -> HTMLResponse:
    """Return the page of a match that is being played."""
    return page("live.html", match=played_match(web.storage, tournament, round, table))


@router.get(f"{LIVE}/events", response_class=EventStream)
async def follow_match(queue: LookedAt) -> EventStream:
    """Follow a match to its end, as in the API."""
    return EventStream(sent(queue))
