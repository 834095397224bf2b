"""Accounts, their keys and owners, and invitations; signing in and up is the web's alone."""

from typing import Annotated

from annotated_types import Interval, Len

from arena.actors import Actor, KeyScope, Role
from arena.core.cursors import make_cursor, read_cursor
from arena.operations.operation import Context, operation
from arena.operations.parameters import LARGEST_ID, Cursor, Limit
from arena.people import accounts, apikeys, invitations, owners

Account = Annotated[str, "The account's name."]
ACCOUNT = "/operator/accounts/{account}"

Owner = Annotated[str, "The owner's name."]


@operation("GET", "/me", KeyScope.READ, tag="accounts")
def me(context: Context) -> accounts.SignedIn:
    """Return the account that the request is made with."""
    return signed_in(context.actor)


def signed_in(actor: Actor) -> accounts.SignedIn:
    """Return an account as it is told to its holder."""
    return accounts.SignedIn(account=actor.account, role=actor.role, owners=sorted(actor.owners))


@operation("PUT", "/me/password", KeyScope.ACCOUNT, tag="accounts", status=204)
def change_password(context: Context, old_password: str, password: str) -> None:
    """Change your password; all browsers are signed out."""
    accounts.change_password(context.storage, context.actor, old_password, password, context.now)


@operation("POST", "/password-reset", tag="accounts", status=204)
def use_reset(
    context: Context,
    code: Annotated[str, "The code from an operator's link."],
    password: Annotated[str, "The new password: 10 to 200 characters."],
) -> None:
    """Set a forgotten password anew; all browsers are signed out, and the code is used up."""
    accounts.use_reset(context.storage, code, password, context.now)


@operation("GET", "/me/keys", KeyScope.READ, tag="accounts")
def list_keys(context: Context) -> apikeys.Keys:
    """List your keys, without the keys themselves."""
    return apikeys.Keys(apikeys.list_keys(context.storage, context.actor))


@operation("POST", "/me/keys", KeyScope.ACCOUNT, tag="accounts", status=201, made="/me/keys")
def create_key(
    context: Context,
    name: Annotated[str, "A name for people to recognise it."],
    scopes: Annotated[list[KeyScope], Len(min_length=1), "What it allows."],
    expires_in: Annotated[int | None, "Days until it expires; without this, it never does."] = None,
) -> apikeys.MadeKey:
    """Create a key; it is shown only once."""
    return apikeys.create_key(context.storage, context.actor, name, scopes, context.now, expires_in)


@operation("DELETE", "/me/keys/{name}", KeyScope.ACCOUNT, tag="accounts")
def revoke_key(context: Context, name: Annotated[str, "The key's name."]) -> apikeys.KeyInfo:
    """Revoke a key, for good."""
    return apikeys.revoke_key(context.storage, context.actor, name, context.now)


@operation("POST", "/owners", KeyScope.ACCOUNT, tag="accounts", status=201, made="/owners/{owner}")
def create_owner(context: Context, owner: Owner) -> owners.OwnerInfo:
    """Add an owner, a team for instance, whose bots are yours."""
    return owners.create_owner(context.storage, context.actor, owner, context.now)


@operation("GET", "/owners/{owner}", KeyScope.READ, tag="accounts")
def show_owner(context: Context, owner: Owner) -> owners.OwnerInfo:
    """Return the members of an owner of yours."""
    return owners.show_owner(context.storage, context.actor, owner)


@operation(*("DELETE", "/owners/{owner}/members/{account}", KeyScope.ACCOUNT), tag="accounts", status=204)
def leave_owner(context: Context, owner: Owner, account: Account) -> None:
    """Remove an account from the members of an owner of yours."""
    owners.leave_owner(context.storage, context.actor, owner, account, context.now)


@operation("POST", "/me/owners", KeyScope.ACCOUNT, tag="accounts")
def join_owner(context: Context, invitation: Annotated[str, "The invitation's code."]) -> accounts.SignedIn:
    """Join the owner that an invitation is for."""
    actor = context.actor
    joined = invitations.join_owner(context.storage, actor, invitation, context.now)
    return accounts.SignedIn(actor.account, actor.role, sorted({*actor.owners, joined}))


@operation("POST", "/invitations", KeyScope.ACCOUNT, tag="accounts", status=201, made="/invitations")
def invite(
    context: Context,
    role: Annotated[Role, "Role of the account that is created with it."] = Role.AUTHOR,
    owner: Annotated[str | None, "The owner that its user joins."] = None,
) -> invitations.Invited:
    """Invite somebody: to the arena (operators), or to an owner of yours."""
    return invitations.invite(context.storage, context.actor, role, context.now, owner)


@operation("GET", "/invitations", KeyScope.READ, tag="accounts")
def list_invitations(context: Context) -> invitations.Invitations:
    """List the invitations that can still be used: to your owners, or for an operator all."""
    open_invitations = invitations.list_invitations(context.storage, context.actor, context.now)
    return invitations.Invitations(open_invitations)


@operation("DELETE", "/invitations/{number}", KeyScope.ACCOUNT, tag="accounts")
def revoke_invitation(
    context: Context,
    number: Annotated[int, Interval(ge=1, le=LARGEST_ID), "Its number, as it is listed."],
) -> invitations.InvitationInfo:
    """Revoke an invitation that was not used yet."""
    return invitations.revoke_invitation(context.storage, context.actor, number, context.now)


@operation("GET", "/operator/accounts", KeyScope.OPERATE, tag="accounts", lines="accounts")
def list_accounts(
    context: Context,
    name: Annotated[str, "Only accounts with this in their name."] = "",
    limit: Limit = 100,
    cursor: Cursor = None,
) -> accounts.Accounts:
    """List accounts by name."""
    question = ("accounts", name)
    after = "" if cursor is None else read_cursor(question, cursor, str)[0]
    lines = accounts.list_accounts(context.storage, context.actor, limit + 1, after, name)
    more = make_cursor(question, (lines[limit - 1].account,)) if len(lines) > limit else None
    return accounts.Accounts(lines[:limit], more)


@operation("GET", ACCOUNT, KeyScope.OPERATE, tag="accounts")
def show_account(context: Context, account: Account) -> accounts.AccountInfo:
    """Return an account."""
    return accounts.show_account(context.storage, context.actor, account)


@operation(*("POST", "/operator/accounts", KeyScope.OPERATE), tag="accounts", status=201, made=ACCOUNT)
def create_account(
    context: Context,
    account: Account,
    role: Annotated[Role, "What it may do."],
    password: Annotated[str | None, "Its password; without one it can only be used with keys."] = None,
) -> accounts.AccountInfo:
    """Create an account for somebody."""
    return accounts.create_account(context.storage, context.actor, account, role, context.now, password)


@operation("PATCH", ACCOUNT, KeyScope.OPERATE, tag="accounts")
def change_account(
    context: Context,
    account: Account,
    role: Annotated[Role | None, "Its role from now on."] = None,
    password: Annotated[str | None, "Its password from now on."] = None,
    disabled: Annotated[bool | None, "Whether it is disabled from now on."] = None,
) -> accounts.AccountInfo:
    """Change what an account may do, or its password; disable it, or enable it again: all, or nothing."""
    return accounts.change_account(
        *(context.storage, context.actor, account, context.now),
        role=role,
        password=password,
        disabled=disabled,
    )


@operation("POST", f"{ACCOUNT}/reset", KeyScope.OPERATE, tag="accounts", status=201, made=ACCOUNT)
def offer_reset(context: Context, account: Account) -> accounts.MadeReset:
    """Make a link with which somebody who forgot their password sets a new one: once, within a day.

    It is shown only once, and replaces an earlier one.
    """
    page = f"{context.settings.web_url}/reset-password"
    return accounts.offer_reset(context.storage, context.actor, account, context.now, page)
