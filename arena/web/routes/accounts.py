"""Accounts: signing up, in and out, keys, owners and invitations."""

from typing import Annotated

from fastapi import Path, Query, Request, Response
from pydantic import Field

from arena.accounts import accounts, apikeys, browsers, invitations, owners
from arena.actors import Actor, KeyScope, Role
from arena.web.asking import COOKIE, Operator, Reader, Self, keep_signed_in, require_own_page
from arena.web.context import Shared
from arena.web.naming import LARGEST
from arena.web.paging import LARGEST_PAGE
from arena.web.routing import api_router
from arena.web.sent import Sent
from arena.web.shapes import shape

router = api_router("accounts")


AccountInfo = shape(accounts.AccountInfo)
SignedIn = shape(accounts.SignedIn)
KeyInfo = shape(apikeys.KeyInfo)
MadeKey = shape(apikeys.MadeKey)
AccountPage = shape(accounts.Accounts)
KeyPage = shape(apikeys.Keys)
OwnerInfo = shape(owners.OwnerInfo)
Invited = shape(invitations.Invited)
InvitationInfo = shape(invitations.InvitationInfo)
InvitationPage = shape(invitations.Invitations)


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


class NewAccount(Sent):
    """An account that an operator creates."""

    account: str
    """Its name."""
    role: Role
    """What it may do."""
    password: str | None = None
    """Its password; without one it can only be used with keys."""


class NewRole(Sent):
    """Changes of an account."""

    role: Role | None = None
    """Its role from now on."""
    password: str | None = None
    """Its password from now on."""
    disabled: bool | None = None
    """Whether it is disabled from now on."""


class NewPassword(Sent):
    """A change of one's own password."""

    old_password: str
    password: str


class NewKey(Sent):
    """A key to create."""

    name: str
    """A name for people to recognise it."""
    scopes: list[KeyScope] = Field(min_length=1)
    """What it allows."""
    expires_in: int | None = None
    """Days until it expires; null if it does not."""


class NewOwner(Sent):
    """An owner to add."""

    owner: str
    """Its name."""


class NewInvitation(Sent):
    """An invitation to create."""

    role: Role = Role.AUTHOR
    """Role of the account that is created with it."""
    owner: str | None = None
    """The owner that its user joins."""


class Code(Sent):
    """An invitation's code."""

    invitation: str


@router.post("/accounts", status_code=201, response_model=AccountInfo)
def sign_up(web: Shared, sent: SignUp, request: Request) -> accounts.AccountInfo:
    """Create an account for yourself, and an owner of the same name for your bots."""
    require_own_page(request)
    open_to_all = web.settings.sign_up == "open"
    return accounts.sign_up(
        web.storage, sent.account, sent.password, web.clock(), sent.invitation, open_to_all=open_to_all
    )


@router.post("/session", response_model=SignedIn)
def sign_in(web: Shared, sent: SignIn, request: Request, response: Response) -> accounts.SignedIn:
    """Sign in with a browser, which gets a cookie."""
    require_own_page(request)
    session, actor = browsers.sign_in(web.storage, sent.account, sent.password, web.clock())
    keep_signed_in(request, response, session)
    return _signed_in(actor)


@router.delete("/session", status_code=204)
def sign_out(web: Shared, request: Request, response: Response) -> None:
    """Sign this browser out."""
    require_own_page(request)
    if session := request.cookies.get(COOKIE):
        browsers.sign_out(web.storage, session)
    response.delete_cookie(COOKIE, path="/")


@router.get("/me", response_model=SignedIn)
def me(actor: Reader) -> accounts.SignedIn:
    """Return the account that the request is made with."""
    return _signed_in(actor)


def _signed_in(actor: Actor) -> accounts.SignedIn:
    return accounts.SignedIn(account=actor.account, role=actor.role, owners=sorted(actor.owners))


@router.put("/me/password", status_code=204)
def change_password(web: Shared, actor: Self, sent: NewPassword) -> None:
    """Change your password; all browsers are signed out."""
    accounts.change_password(web.storage, actor, sent.old_password, sent.password, web.clock())


@router.get("/me/keys", response_model=KeyPage)
def list_keys(web: Shared, actor: Reader) -> apikeys.Keys:
    """List your keys, without the keys themselves."""
    return apikeys.Keys(apikeys.list_keys(web.storage, actor))


@router.post("/me/keys", status_code=201, response_model=MadeKey)
def create_key(web: Shared, actor: Self, sent: NewKey) -> apikeys.MadeKey:
    """Create a key; it is shown only once."""
    return apikeys.create_key(web.storage, actor, sent.name, sent.scopes, web.clock(), sent.expires_in)


@router.delete("/me/keys/{name}", response_model=KeyInfo)
def revoke_key(web: Shared, actor: Self, name: str) -> apikeys.KeyInfo:
    """Revoke a key, for good."""
    return apikeys.revoke_key(web.storage, actor, name, web.clock())


@router.post("/owners", status_code=201, response_model=OwnerInfo)
def create_owner(web: Shared, actor: Self, sent: NewOwner) -> owners.OwnerInfo:
    """Add an owner, a team for instance, whose bots are yours."""
    return owners.create_owner(web.storage, actor, sent.owner, web.clock())


@router.get("/owners/{owner}", response_model=OwnerInfo)
def show_owner(web: Shared, actor: Reader, owner: str) -> owners.OwnerInfo:
    """Return the members of an owner of yours."""
    return owners.show_owner(web.storage, actor, owner)


@router.delete("/owners/{owner}/members/{account}", status_code=204)
def leave_owner(web: Shared, actor: Self, owner: str, account: str) -> None:
    """Remove an account from the members of an owner of yours."""
    owners.leave_owner(web.storage, actor, owner, account, web.clock())


@router.post("/me/owners", response_model=SignedIn)
def join_owner(web: Shared, actor: Self, sent: Code) -> accounts.SignedIn:
    """Join the owner that an invitation is for."""
    joined = invitations.join_owner(web.storage, actor, sent.invitation, web.clock())
    return accounts.SignedIn(account=actor.account, role=actor.role, owners=sorted({*actor.owners, joined}))


@router.post("/invitations", status_code=201, response_model=Invited)
def invite(web: Shared, actor: Self, sent: NewInvitation) -> invitations.Invited:
    """Invite somebody: to the arena (operators), or to an owner of yours."""
    return invitations.invite(web.storage, actor, sent.role, web.clock(), sent.owner)


@router.get("/invitations", response_model=InvitationPage)
def list_invitations(web: Shared, actor: Reader) -> invitations.Invitations:
    """List the invitations that can still be used: to your owners, or for an operator all."""
    return invitations.Invitations(invitations.list_invitations(web.storage, actor, web.clock()))


@router.delete("/invitations/{number}", response_model=InvitationInfo)
def revoke_invitation(
    web: Shared, actor: Self, number: Annotated[int, Path(ge=1, le=LARGEST)]
) -> invitations.InvitationInfo:
    """Revoke an invitation, by the number under which it is listed."""
    return invitations.revoke_invitation(web.storage, actor, number, web.clock())


@router.get("/operator/accounts", response_model=AccountPage)
def list_accounts(
    web: Shared,
    actor: Operator,
    limit: Annotated[int, Query(ge=1, le=LARGEST_PAGE)] = 100,
    after: Annotated[str, Query(max_length=39, description="Those that follow this name.")] = "",
) -> accounts.Accounts:
    """List accounts by name."""
    return accounts.Accounts(accounts.list_accounts(web.storage, actor, limit, after))


@router.post("/operator/accounts", status_code=201, response_model=AccountInfo)
def create_account(web: Shared, actor: Operator, sent: NewAccount) -> accounts.AccountInfo:
    """Create an account for somebody."""
    return accounts.create_account(web.storage, actor, sent.account, sent.role, web.clock(), sent.password)


@router.patch("/operator/accounts/{account}", response_model=AccountInfo)
def change_account(web: Shared, actor: Operator, account: str, sent: NewRole) -> accounts.AccountInfo:
    """Change what an account may do, or its password; disable it, or enable it again."""
    storage, now = web.storage, web.clock()
    if sent.role is not None:
        accounts.change_role(storage, actor, account, sent.role, now)
    if sent.password is not None:
        accounts.reset_password(storage, actor, account, sent.password, now)
    if sent.disabled is not None:
        change = accounts.disable_account if sent.disabled else accounts.enable_account
        change(storage, actor, account, now)
    return accounts.show_account(storage, actor, account)
