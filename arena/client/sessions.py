"""Calls that sign in and out; a client that sends them keeps the cookie.

They know accounts, and with them the database's models, which no other call loads.
"""

from types import NoneType

from arena.client.call import Call
from arena.people.accounts import AccountInfo, SignedIn


def sign_up(account: str, password: str, invitation: str | None = None) -> Call[AccountInfo]:
    """Create an account for yourself, and an owner of the same name."""
    body = {"account": account, "password": password, "invitation": invitation}
    return Call("POST", "/accounts", AccountInfo, body=body)


def sign_in(account: str, password: str) -> Call[SignedIn]:
    """Sign in; the client that sends this acts for the account from then on."""
    return Call("POST", "/session", SignedIn, body={"account": account, "password": password})


def sign_out() -> Call[None]:
    """Sign out."""
    return Call("DELETE", "/session", NoneType)
