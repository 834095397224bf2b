"""Forms of pages: one more door to the operations.

A form has fields for the parameters of its operation that its path does not have, under the same names.
They are checked and worded as everywhere, and an empty one counts as not given. A refusal is shown on the
page that has the form, with what was typed; success leads to a page that can be loaded again.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from http import HTTPStatus
from types import SimpleNamespace
from typing import Annotated, Any, TypeVar
from urllib.parse import quote

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException

from arena.actors import Actor, KeyScope
from arena.errors import ArenaError, NotSignedIn, SpecError
from arena.operations.checking import read_texts, reason
from arena.operations.operation import Context, Operation
from arena.web.asking import allowed, require_own_page, require_scope
from arena.web.context import Shared, Web
from arena.web.pages.page import SEE_OTHER, Page, Pages, Typed
from arena.web.problems import wants_page
from arena.web.storable import NUL, unstorable
from referee.errors import Problem, RefereeError
from referee.reading.validation import short

URLENCODED = "application/x-www-form-urlencoded"
MOST_FIELDS = 1_000

SIGN_IN = "/sign-in"
"""The address of the form for signing in."""

KEPT = "kept."
"""What the names of another form's fields begin with while its reader signs in again."""

T = TypeVar("T")
Read = TypeVar("Read", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Visit:
    """A request for a page: who makes it, and what a form sent with it."""

    request: Request
    page: Pages
    web: Web
    context: Context
    sent: Typed
    """Empty if nothing was sent."""
    trouble: Exception | None = None
    """Why what was sent was refused; None if it was not."""

    @property
    def actor(self) -> Actor:
        """Whoever makes it."""
        return self.context.actor

    def do(self, operation: Operation[..., T], **fixed: object) -> T:
        """Do an operation with the parameters in the path and the fields of the form.

        Parameters in ``fixed`` are taken from there, as they are. Raise SpecError, which names everything
        that is wrong, or what the operation raises.
        """
        require_scope(self.actor, operation.scopes)
        return operation(self.context, **fixed, **self._read_parameters(operation, fixed))

    def query_of(self, operation: Operation[..., Any]) -> SimpleNamespace:
        """Return the parameters that a page of an operation's answer was asked for with, or their defaults.

        Raise SpecError.
        """
        parameters = operation.parameters.values()
        defaults = {
            parameter.name: None if parameter.required else parameter.default for parameter in parameters
        }
        return SimpleNamespace(**{**defaults, **self._read_parameters(operation, {})})

    def _read_parameters(self, operation: Operation[..., Any], fixed: Mapping[str, object]) -> dict[str, Any]:
        path = self.request.path_params
        parts = {**{name: self.sent[name] for name in self.sent.texts}, **path}
        named = {
            parameter.name: [parameter.parts.join(parts)]
            for parameter in operation.parameters.values()
            if parameter.parts is not None and path.keys() >= {*parameter.parts.names}
        }
        texts = {**self.sent.texts, **{name: [value] for name, value in path.items()}, **named}
        return read_texts(operation, texts, fixed)

    def read(self, kind: type[Read]) -> Read:
        """Return the fields of the form as an object that the API takes, too. Raise SpecError."""
        fields = {name: self.sent[name] for name in kind.model_fields if name in self.sent.texts}
        try:
            return kind.model_validate(fields)
        except ValidationError as error:
            details = error.errors(include_url=False)
            raise SpecError.of(
                [Problem(str(detail["loc"][0]), reason(detail, {})) for detail in details]
            ) from None

    def choose(self, choices: Mapping[str, T]) -> T:
        """Return what the button stands for with which the form was sent. Raise SpecError if for nothing."""
        chosen = self.sent["do"]
        if chosen not in choices:
            raise SpecError("do", f"must be one of {', '.join(choices)}, not {short(chosen)}")
        return choices[chosen]


@cache
def visiting(*scopes: KeyScope) -> Callable[..., Awaitable[Visit]]:
    """Return the dependency for pages of those whose keys have one of the scopes, or of everybody."""

    async def visit(
        context: Annotated[Context, Depends(allowed(*scopes))], request: Request, page: Page, web: Shared
    ) -> Visit:
        return Visit(request, page, web, context, await _read_typed(request))

    return visit


async def _form(request: Request) -> FormData:
    """Return what a form sent. Raise HTTPException if it has files, or more than ``MOST_FIELDS``."""
    kind = request.headers.get("content-type", "")
    # the parser does not count empty fields, and takes half a second for as many as a body can have
    if kind.startswith(URLENCODED) and (await request.body()).count(b"&") >= MOST_FIELDS:
        raise HTTPException(400, f"Too many fields. Maximum number of fields is {MOST_FIELDS}.")
    return await request.form(max_files=0, max_fields=MOST_FIELDS)


async def _read_typed(request: Request) -> Typed:
    """Return what a form sent, in the query or the body. Raise SpecError for a query of odd characters."""
    texts: dict[str, list[str]] = {}
    sent = await _form(request) if request.method == "POST" else request.query_params
    for field, value in sent.multi_items():
        assert isinstance(value, str), "there are no files"
        if value.strip():
            text = _whole(value).replace("\r\n", "\n")  # browsers end lines with both
            texts.setdefault(_whole(field), []).append(text)
    if request.method == "POST":
        if request.url.path != SIGN_IN and any(name.startswith(KEPT) for name in texts):
            texts = {name.removeprefix(KEPT): sent for name, sent in texts.items() if name.startswith(KEPT)}
        return Typed(texts, request.url.path)  # checked where its refusals are shown
    typed = Typed(texts)
    _require_storable(typed)
    return typed


def _whole(text: str) -> str:
    """Return a text without halves of surrogate pairs: a form may be sent in an encoding that has them."""
    return text.encode(errors="replace").decode()


def _require_storable(sent: Typed) -> None:
    """Raise SpecError for texts that cannot be stored."""
    for field, values in sent.texts.items():
        for value in values:
            if wrong := unstorable(value):
                raise SpecError(field, wrong)


def _leading_to(page: str) -> Callable[[Request], Response]:
    """Return what leads those who open a form's address to the page that has the form."""
    return lambda request: RedirectResponse(_filled(page, request))


def _filled(path: str, request: Request) -> str:
    return path.format_map({name: quote(value, safe="@") for name, value in request.path_params.items()})


Reading = Annotated[Visit, Depends(visiting(KeyScope.READ))]
Organising = Annotated[Visit, Depends(visiting(KeyScope.TOURNAMENTS))]
Operating = Annotated[Visit, Depends(visiting(KeyScope.OPERATE))]
AnyVisit = Annotated[Visit, Depends(visiting())]


def _sign_in_first(visit: Visit) -> Response:
    """Return the form for signing in, which sends what was typed here again, except for passwords."""
    require_own_page(visit.request)
    kept = [
        (f"{KEPT}{name}", text)
        for name, texts in visit.sent.texts.items()
        if not name.endswith("password")
        for text in texts
    ]
    answer = visit.page("sign_in.html", next=visit.request.url.path, kept=kept)
    answer.status_code = HTTPStatus.UNAUTHORIZED
    answer.headers.update({"WWW-Authenticate": "Bearer", "Cache-Control": "no-store"})
    return answer


Leads = str | Callable[[Visit, T], Response]
"""Where a form leads: to a path with parameters of its own in braces, or to an answer."""


class Forms:
    """The forms of a page, which shows their refusals."""

    def __init__(
        self, router: APIRouter, page: str, template: str, values: Callable[[Visit], Mapping[str, object]]
    ) -> None:
        """Prepare forms of the page at a path; ``values`` returns what its template is filled with."""
        self._router, self._page, self._template, self._values = router, page, template, values

    def show(self, visit: Visit, **values: object) -> HTMLResponse:
        """Return the page, with some values besides or instead of those that it always has."""
        return visit.page(self._template, typed=visit.sent.at, **{**self._values(visit), **values})

    def _again(self, visit: Visit, error: Exception) -> Response:
        """Return the page with what was wrong with a form. Raise that for programs, which read no pages."""
        if not wants_page(visit.request.scope):
            raise error
        visit.page.path = self._page.format_map(visit.request.path_params)
        values = self._values(replace(visit, trouble=error))
        return visit.page.again(self._template, error, typed=visit.sent.at, **values)

    def add(self, path: str, operation: Operation[..., T], leads: Leads[T]) -> None:
        """Add the form that does an operation."""
        self.add_other(path, operation.scopes, lambda visit: visit.do(operation), leads)

    def add_other(
        self,
        path: str,
        scopes: KeyScope | tuple[KeyScope, ...],
        do: Callable[[Visit], T],
        leads: Leads[T],
    ) -> None:
        """Add a form that does something else, for those whose keys have a scope, or one of several.

        Without any it is for everybody.
        """
        needed = (scopes,) if isinstance(scopes, KeyScope) else scopes

        def handle(visit: AnyVisit) -> Response:
            try:
                require_scope(visit.actor, needed)
            except NotSignedIn:
                if not wants_page(visit.request.scope):
                    raise
                return _sign_in_first(visit)
            try:
                _require_storable(visit.sent)
                answer = do(visit)
            except (ArenaError, RefereeError) as error:
                return self._again(visit, error)
            if not isinstance(leads, str):
                return leads(visit, answer)
            return RedirectResponse(_filled(leads, visit.request), SEE_OTHER)

        self._router.add_api_route(path, handle, methods=["POST"])
        if path != self._page:
            self._router.add_route(path, _leading_to(self._page), methods=["GET"])


class FromForm(BaseModel):
    """Fields of a form, in the query of an address."""

    model_config = ConfigDict(frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _without_empty(cls, fields: Any) -> Any:
        if not isinstance(fields, dict):
            return fields
        if wrong := [name for name, value in fields.items() if isinstance(value, str) and "\0" in value]:
            raise SpecError(wrong[0], NUL)
        return {name: value for name, value in fields.items() if not isinstance(value, str) or value.strip()}
