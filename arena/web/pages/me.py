"""The page of one's own account: bots, keys, owners, invitations, password."""

from typing import Annotated

from fastapi import Form, Path
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from arena.actors import Actor, KeyScope, Role
from arena.errors import ArenaError
from arena.people import accounts, apikeys, invitations, owners
from arena.queries.versions import find_bots
from arena.web.asking import Reader, Self
from arena.web.context import Shared, Web
from arena.web.naming import LARGEST
from arena.web.pages.asked import FromForm
from arena.web.pages.page import SEE_OTHER, Page
from arena.web.pages.routing import page_router

router = page_router()

HERE = "/me"
LISTED = 50
"""How many of the latest bot versions of each owner are listed."""


class NewKey(FromForm):
    """The form that creates a key."""

    name: str = ""
    scopes: tuple[KeyScope, ...] = ()
    expires_in: int | None = None


class NewPassword(FromForm):
    """The form that changes the password."""

    old_password: str = ""
    password: str = ""


class NewOwner(FromForm):
    """The form that adds an owner."""

    owner: str = ""


class NewInvitation(FromForm):
    """The form that creates an invitation."""

    role: Role = Role.AUTHOR
    owner: str | None = None


class Code(FromForm):
    """The form that takes the code of an invitation to an owner."""

    invitation: str = ""


def _told(web: Web, actor: Actor) -> dict[str, object]:
    bots = [(owner, find_bots(web.storage, owner, LISTED).bots) for owner in sorted(actor.owners)]
    return {
        "bots": bots,
        "keys": apikeys.list_keys(web.storage, actor),
        "scopes": KeyScope,
        "roles": [role for role in Role if role is not Role.ANONYMOUS],
        "operates": actor.role is Role.OPERATOR,
        "invitations": invitations.list_invitations(web.storage, actor, web.clock()),
        "key": None,
        "invited": None,
        "origin": web.settings.web_url,
    }


@router.get(HERE)
def show_me(page: Page, web: Shared, actor: Reader) -> HTMLResponse:
    """Show one's own account."""
    return page("me.html", **_told(web, actor))


@router.post(f"{HERE}/keys")
def create_key(page: Page, web: Shared, actor: Self, sent: Annotated[NewKey, Form()]) -> Response:
    """Create a key, and show it, once only."""
    try:
        key = apikeys.create_key(web.storage, actor, sent.name, sent.scopes, web.clock(), sent.expires_in)
    except ArenaError as error:
        return page.again("me.html", error, **_told(web, actor))
    return page("me.html", **{**_told(web, actor), "key": key})


@router.post(f"{HERE}/keys/{{name}}/revoke")
def revoke_key(web: Shared, actor: Self, name: str) -> Response:
    """Revoke a key, for good."""
    apikeys.revoke_key(web.storage, actor, name, web.clock())
    return RedirectResponse(f"{HERE}#keys", SEE_OTHER)


@router.post(f"{HERE}/password")
def change_password(page: Page, web: Shared, actor: Self, sent: Annotated[NewPassword, Form()]) -> Response:
    """Change the password; all browsers are signed out."""
    try:
        accounts.change_password(web.storage, actor, sent.old_password, sent.password, web.clock())
    except ArenaError as error:
        return page.again("me.html", error, **_told(web, actor))
    return RedirectResponse("/sign-in", SEE_OTHER)


@router.post(f"{HERE}/owners")
def create_owner(page: Page, web: Shared, actor: Self, sent: Annotated[NewOwner, Form()]) -> Response:
    """Add an owner, a team for instance."""
    try:
        owners.create_owner(web.storage, actor, sent.owner, web.clock())
    except ArenaError as error:
        return page.again("me.html", error, **_told(web, actor))
    return RedirectResponse(f"{HERE}#owners", SEE_OTHER)


@router.post(f"{HERE}/invitations")
def invite(page: Page, web: Shared, actor: Self, sent: Annotated[NewInvitation, Form()]) -> Response:
    """Invite somebody, and show the link, once only."""
    try:
        invited = invitations.invite(web.storage, actor, sent.role, web.clock(), sent.owner)
    except ArenaError as error:
        return page.again("me.html", error, **_told(web, actor))
    return page("me.html", **{**_told(web, actor), "invited": invited})


@router.post(f"{HERE}/invitations/{{number}}/revoke")
def revoke_invitation(web: Shared, actor: Self, number: Annotated[int, Path(ge=1, le=LARGEST)]) -> Response:
    """Revoke an invitation."""
    invitations.revoke_invitation(web.storage, actor, number, web.clock())
    return RedirectResponse(f"{HERE}#owners", SEE_OTHER)


@router.post(f"{HERE}/invitations/use")
def join_owner(page: Page, web: Shared, actor: Self, sent: Annotated[Code, Form()]) -> Response:
    """Join the owner that an invitation is for."""
    try:
        invitations.join_owner(web.storage, actor, sent.invitation, web.clock())
    except ArenaError as error:
        return page.again("me.html", error, **_told(web, actor))
    return RedirectResponse(f"{HERE}#owners", SEE_OTHER)
