"""How a handler renders a page."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse

from arena.actors import Actor
from arena.errors import TooMany
from arena.web.asking import Anybody
from arena.web.context import web_of
from arena.web.pages.links import with_query
from arena.web.pages.rendering import fill
from arena.web.problems import status_of

SEE_OTHER = 303
"""The status that sends a browser to another page after a form."""


class Typed:
    """What was typed into a form; templates get it as ``sent``, so that nobody has to type it again."""

    def __init__(self, texts: Mapping[str, Sequence[str]]) -> None:
        self.texts = texts

    def __getitem__(self, field: str) -> str:
        """Return what was typed into a field; empty if nothing was."""
        return next(iter(self.texts.get(field, ())), "")

    def all(self, field: str) -> Sequence[str]:
        """Return everything that was chosen in a field."""
        return self.texts.get(field, ())


class Pages:
    """Renders the page that answers a request."""

    def __init__(self, request: Request, actor: Actor) -> None:
        self.request = request
        self.actor = actor

    def __call__(self, template: str, **values: object) -> HTMLResponse:
        """Return a filled template, which also gets the actor, the address, ``trouble`` and ``sent``."""
        told = {"here": self.here, "origin": self.origin, "trouble": None, "sent": Typed({}), **values}
        return HTMLResponse(fill(template, self.request.url.path, self.actor, **told))

    def again(self, template: str, error: Exception, **values: object) -> HTMLResponse:
        """Return a form again, with its input and what was wrong with it."""
        answer = self(template, trouble=error, **values)
        answer.status_code = status_of(error)
        if isinstance(error, TooMany):
            answer.headers["Retry-After"] = str(error.seconds)
        return answer

    @property
    def origin(self) -> str:
        """Return the arena's configured address, without a trailing slash; never what a client says."""
        return web_of(self.request).settings.web_url

    def here(self, **changed: object) -> str:
        """Return this page's address with some query parameters changed; None removes one."""
        return with_query(self.request.url.path, {**self.request.query_params, **changed})


async def pages(request: Request, actor: Anybody) -> Pages:
    """Return the renderer of the page that answers a request."""
    return Pages(request, actor)


Page = Annotated[Pages, Depends(pages)]
