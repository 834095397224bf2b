"""The pages for signing up, in and out."""

from typing import Annotated

from fastapi import Form, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from arena.errors import ArenaError
from arena.people import accounts, browsers
from arena.web.asking import COOKIE, keep_signed_in, require_own_page
from arena.web.context import Shared
from arena.web.pages.asked import FromForm
from arena.web.pages.page import SEE_OTHER, Page
from arena.web.pages.routing import page_router

router = page_router()

HOME = "/me"
"""The page after signing in, unless another page asked for it."""


class SignIn(FromForm):
    """The form for signing in, with the page to return to."""

    account: str = ""
    password: str = ""
    next: str = HOME


class SignUp(FromForm):
    """The form for a new account."""

    account: str = ""
    password: str = ""
    invitation: str | None = None


@router.get("/sign-in")
def show_sign_in(page: Page, next: Annotated[str, Query(max_length=2_000)] = HOME) -> HTMLResponse:
    """Show the form for signing in."""
    return page("sign_in.html", sent=SignIn(next=next))


@router.post("/sign-in")
def sign_in(page: Page, web: Shared, request: Request, sent: Annotated[SignIn, Form()]) -> Response:
    """Sign in."""
    require_own_page(request)
    try:
        session, _ = browsers.sign_in(web.storage, sent.account, sent.password, web.clock())
    except ArenaError as error:
        return page.again("sign_in.html", error, sent=sent)
    answer = RedirectResponse(_within(sent.next), SEE_OTHER)
    keep_signed_in(request, answer, session)
    return answer


def _within(next: str) -> str:
    """Return a path on this server; anything that could lead elsewhere is replaced by ``HOME``."""
    local = next.startswith("/") and not next.startswith(("//", "/\\")) and next.isprintable()
    return next if local else HOME


@router.post("/sign-out")
def sign_out(web: Shared, request: Request) -> Response:
    """Sign out."""
    require_own_page(request)
    if session := request.cookies.get(COOKIE):
        browsers.sign_out(web.storage, session)
    answer = RedirectResponse("/", SEE_OTHER)
    answer.delete_cookie(COOKIE, path="/")
    return answer


@router.get("/sign-up")
def show_sign_up(
    page: Page, web: Shared, invitation: Annotated[str | None, Query(max_length=200)] = None
) -> HTMLResponse:
    """Show the form for a new account."""
    return page("sign_up.html", sent=SignUp(invitation=invitation), open=web.settings.sign_up == "open")


@router.post("/sign-up")
def sign_up(page: Page, web: Shared, request: Request, sent: Annotated[SignUp, Form()]) -> Response:
    """Create an account, and sign in."""
    require_own_page(request)
    open_to_all = web.settings.sign_up == "open"
    try:
        accounts.sign_up(
            web.storage, sent.account, sent.password, web.clock(), sent.invitation, open_to_all=open_to_all
        )
        session, actor = browsers.sign_in(web.storage, sent.account, sent.password, web.clock())
    except ArenaError as error:
        return page.again("sign_up.html", error, sent=sent, open=open_to_all)
    answer = RedirectResponse("/join" if actor.role == "author" else HOME, SEE_OTHER)
    keep_signed_in(request, answer, session)
    return answer
