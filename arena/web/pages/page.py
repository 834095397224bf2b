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
    """What was typed into a form, so that nobody has to type it again.

    Templates ask for it with ``typed(action)``, and print it with the filter ``as_typed``.
    """

    def __init__(self, texts: Mapping[str, Sequence[str]], action: str = "") -> None:
        self.texts, self.action = texts, action

    def at(self, action: str, **of_one: str) -> "Typed":
        """Return what was sent to an address, and nothing if this was sent to another one.

        Where several forms have that address, ``of_one`` has the fields that tell which of them it was.
        """
        mine = action == self.action and all(self[field] == of_one[field] for field in of_one)
        return self if mine else Typed({})

    def __bool__(self) -> bool:
        """Return whether the form was sent."""
        return bool(self.action)

    def get(self, field: str, otherwise: str = "") -> str:
        """Return what was typed into a field, and ``otherwise`` if the form was not sent."""
        return self[field] if self else otherwise

    def has(self, field: str, choice: str, *, otherwise: bool = False) -> bool:
        """Return whether something was chosen, and ``otherwise`` if the form was not sent."""
        return choice in self.all(field) if self else otherwise

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
        self.path = request.url.path
        """The address of the page."""

    def __call__(self, template: str, **values: object) -> HTMLResponse:
        """Return a filled template, which also gets the actor, the address, ``trouble`` and ``typed``.

        A page with ``secrets`` is neither stored by browsers nor compressed.
        """
        context = {"here": self.here, "origin": self.origin, "trouble": None, "typed": Typed({}).at, **values}
        answer = HTMLResponse(fill(template, self.path, self.actor, **context))
        if values.get("secrets"):
            answer.headers["Cache-Control"] = "no-store"
            answer.headers["Content-Encoding"] = "identity"
        return answer

    def again(self, template: str, error: Exception, **values: object) -> HTMLResponse:
        """Return a page with a form again, and what was wrong with the form."""
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
        return with_query(self.path, {**self.request.query_params, **changed})


async def pages(request: Request, actor: Anybody) -> Pages:
    """Return the renderer of the page that answers a request."""
    return Pages(request, actor)


Page = Annotated[Pages, Depends(pages)]
