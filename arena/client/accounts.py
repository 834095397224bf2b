"""Calls about your own account, its keys, owners and invitations."""

from collections.abc import Sequence
from types import NoneType

from arena.accounts.accounts import AccountInfo, SignedIn
from arena.accounts.apikeys import KeyInfo, Keys, MadeKey
from arena.accounts.invitations import InvitationInfo, Invitations, Invited
from arena.accounts.owners import OwnerInfo
from arena.actors import KeyScope, Role
from arena.client.call import Call


def sign_up(account: str, password: str, invitation: str | None = None) -> Call[AccountInfo]:
    """Create an account for yourself, and an owner of the same name."""
    body = {"account": account, "password": password, "invitation": invitation}
    return Call("POST", "/accounts", AccountInfo, body=body)


def sign_in(account: str, password: str) -> Call[SignedIn]:
    """Sign in; the client that sends this keeps the cookie and acts for the account from then on."""
    return Call("POST", "/session", SignedIn, body={"account": account, "password": password})


def sign_out() -> Call[None]:
    """Sign out."""
    return Call("DELETE", "/session", NoneType)


def change_password(old_password: str, password: str) -> Call[None]:
    """Change your password; all browsers are signed out."""
    body = {"old_password": old_password, "password": password}
    return Call("PUT", "/me/password", NoneType, body=body)


def me() -> Call[SignedIn]:
    """Return the account that the key belongs to."""
    return Call("GET", "/me", SignedIn)


def list_keys() -> Call[Keys]:
    """List your keys, without the keys themselves."""
    return Call("GET", "/me/keys", Keys)


def create_key(name: str, scopes: Sequence[KeyScope], expires_in: int | None = None) -> Call[MadeKey]:
    """Create a key, which is shown only once."""
    body = {"name": name, "scopes": list(scopes), "expires_in": expires_in}
    return Call("POST", "/me/keys", MadeKey, body=body)


def revoke_key(name: str) -> Call[KeyInfo]:
    """Revoke a key, for good."""
    return Call("DELETE", "/me/keys/{name}", KeyInfo, {"name": name})


def create_owner(owner: str) -> Call[OwnerInfo]:
    """Add an owner, whose bots are yours."""
    return Call("POST", "/owners", OwnerInfo, body={"owner": owner})


def show_owner(owner: str) -> Call[OwnerInfo]:
    """Return the members of an owner of yours."""
    return Call("GET", "/owners/{owner}", OwnerInfo, {"owner": owner})


def leave_owner(owner: str, account: str) -> Call[None]:
    """Remove an account from the members of an owner of yours."""
    named = {"owner": owner, "account": account}
    return Call("DELETE", "/owners/{owner}/members/{account}", NoneType, named)


def join_owner(invitation: str) -> Call[SignedIn]:
    """Join the owner that an invitation is for."""
    return Call("POST", "/me/owners", SignedIn, body={"invitation": invitation})


def invite(role: Role = Role.AUTHOR, owner: str | None = None) -> Call[Invited]:
    """Invite somebody: to the arena, or to an owner of yours."""
    return Call("POST", "/invitations", Invited, body={"role": role, "owner": owner})


def list_invitations() -> Call[Invitations]:
    """List the invitations that can still be used: to your owners, or for an operator all."""
    return Call("GET", "/invitations", Invitations)


def revoke_invitation(number: int) -> Call[InvitationInfo]:
    """Revoke an invitation."""
    return Call("DELETE", "/invitations/{number}", InvitationInfo, {"number": number})
