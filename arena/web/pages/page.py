"""How a handler makes a page."""

from typing import Annotated

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse

from arena.web.asking import Anybody
from arena.web.pages.links import with_query
from arena.web.pages.rendering import fill


class Pages:
    """Makes the page that answers a request."""

    def __init__(self, request: Request, actor: Anybody) -> None:
        self.request = request
        self.actor = actor

    def __call__(self, template: str, **values: object) -> HTMLResponse:
        """Return a template, filled; besides ``values`` it has ``path``, ``actor`` and ``here``."""
        return HTMLResponse(fill(template, self.request.url.path, self.actor, here=self.here, **values))

    def here(self, **changed: object) -> str:
        """Return the address of this page with some parameters of its query changed; None: without them."""
        return with_query(self.request.url.path, {**self.request.query_params, **changed})


Page = Annotated[Pages, Depends()]
