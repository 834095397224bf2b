"""Signing up, in and out, with a browser."""

from fastapi import Request, Response
from pydantic import BaseModel, ConfigDict

from arena.operations.accounts import signed_in
from arena.people import accounts, browsers
from arena.web.asking import COOKIE, keep_signed_in, require_own_page
from arena.web.context import Shared
from arena.web.routing import api_router, described
from referee.reading.docstrings import tell_fields


class Sent(BaseModel):
    """What is sent: no other keys than these."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=tell_fields)


router = api_router("accounts")


class SignUp(Sent):
    """A new account."""

    account: str
    """Its name: 1 to 39 of a-z, 0-9 and -."""
    password: str
    """10 to 200 characters."""
    invitation: str | None = None
    """The code of an invitation, if the arena requires one."""


class SignIn(Sent):
    """An account and its password."""

    account: str
    password: str


@router.post("/accounts", status_code=201, response_model=described(accounts.AccountInfo))
def sign_up(web: Shared, sent: SignUp, request: Request) -> accounts.AccountInfo:
    """Create an account for yourself, and an owner of the same name for your bots."""
    require_own_page(request)
    open_to_all = web.settings.sign_up == "open"
    return accounts.sign_up(
        web.storage, sent.account, sent.password, web.clock(), sent.invitation, open_to_all=open_to_all
    )


@router.post("/session", response_model=described(accounts.SignedIn))
def sign_in(web: Shared, sent: SignIn, request: Request, response: Response) -> accounts.SignedIn:
    """Sign in with a browser, which gets a cookie."""
    require_own_page(request)
    session, actor = browsers.sign_in(web.storage, sent.account, sent.password, web.clock())
    keep_signed_in(request, response, session)
    return signed_in(actor)


@router.delete("/session", status_code=204)
def sign_out(web: Shared, request: Request, response: Response) -> None:
    """Sign this browser out."""
    require_own_page(request)
    if session := request.cookies.get(COOKIE):
        browsers.sign_out(web.storage, session)
    response.delete_cookie(COOKIE, path="/")
