"""The pages for signing up, in and out, and for setting a new password with an operator's link."""

from http import HTTPStatus
from typing import Annotated

from fastapi import Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from arena.errors import SpecError
from arena.operations import accounts
from arena.people import invitations
from arena.people.accounts import check_reset
from arena.web.context import Shared
from arena.web.pages.drawing import draw
from arena.web.pages.forms import KEPT, SIGN_IN, AnyVisit, Forms, Visit
from arena.web.pages.page import SEE_OTHER, Page
from arena.web.pages.routing import page_router
from arena.web.routes import sessions

router = page_router()

HOME = "/me"
"""The page after signing in, unless another page asked for it."""


def _open(visit: Visit) -> dict[str, object]:
    return {"open": visit.web.settings.sign_up == "open", "invitation": ""}


def _signing_in(visit: Visit) -> dict[str, object]:
    return {"next": HOME, "kept": _kept(visit)}


def _kept(visit: Visit) -> list[tuple[str, str]]:
    """Return the fields of the form for which the reader signs in again."""
    return [
        (name, text) for name, texts in visit.sent.texts.items() if name.startswith(KEPT) for text in texts
    ]


signing_in = Forms(router, SIGN_IN, "sign_in.html", _signing_in)
signing_up = Forms(router, "/sign-up", "sign_up.html", _open)


@router.get(SIGN_IN)
def show_sign_in(page: Page, next: Annotated[str, Query(max_length=2_000)] = HOME) -> HTMLResponse:
    """Show the form for signing in."""
    return page("sign_in.html", next=next, kept=())


def _sign_in(visit: Visit) -> Response:
    """Sign in, and return to the page that asked for it, or send it the form that waits for that."""
    status = HTTPStatus.TEMPORARY_REDIRECT if _kept(visit) else SEE_OTHER
    answer = RedirectResponse(_within(visit.sent["next"]), status)
    sessions.sign_in(visit.web, visit.read(sessions.SignIn), visit.request, answer)
    return answer


def _within(next: str) -> str:
    """Return a path on this server; anything that could lead elsewhere is replaced by ``HOME``."""
    local = next.startswith("/") and not next.startswith(("//", "/\\")) and next.isprintable()
    return next if local else HOME


@router.post("/sign-out")
def sign_out(web: Shared, request: Request) -> Response:
    """Sign out."""
    answer = RedirectResponse("/", SEE_OTHER)
    sessions.sign_out(web, request, answer)
    return answer


@router.get("/sign-up")
def show_sign_up(visit: AnyVisit, invitation: Annotated[str, Query(max_length=200)] = "") -> HTMLResponse:
    """Show the form for a new account, and at once whether an invitation can still be used."""
    try:
        if invitation:
            invitations.check_invitation(visit.web.storage, invitation, visit.context.now)
    except SpecError as error:
        return signing_up.show(visit, invitation=invitation, trouble=error)
    return signing_up.show(visit, invitation=invitation)


def _sign_up(visit: Visit) -> Response:
    """Create an account, and sign in."""
    made = sessions.sign_up(visit.web, visit.read(sessions.SignUp), visit.request)
    answer = RedirectResponse("/join" if made.role == "author" else HOME, SEE_OTHER)
    sessions.sign_in(visit.web, visit.read(sessions.SignIn), visit.request, answer)
    return answer


signing_in.add_other(SIGN_IN, (), _sign_in, lambda _, answer: answer)
signing_up.add_other("/sign-up", (), _sign_up, lambda _, answer: answer)


HERE = "/reset-password"


def _context(visit: Visit) -> dict[str, object]:
    code = visit.sent["code"] or visit.request.query_params.get("code", "")
    try:
        name = check_reset(visit.web.storage, code, visit.context.now)
    except SpecError:
        return {"name": None}
    form = draw(
        *(visit, accounts.use_reset, HERE, "Set the password"),
        fixed={"code": code},
        labels={"password": "New password"},
        username=name,
    )
    return {"name": name, "form": form}


forms = Forms(router, HERE, "reset_password.html", _context)


@router.get(HERE)
def show_reset(visit: AnyVisit, code: Annotated[str, Query(max_length=200)] = "") -> HTMLResponse:
    """Show the form for a new password, if the link can still be used."""
    return forms.show(visit)


forms.add(HERE, accounts.use_reset, "/sign-in")
