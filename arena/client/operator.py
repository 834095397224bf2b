"""Calls of operators."""

from collections.abc import Sequence

from arena.accounts.accounts import AccountInfo, Accounts
from arena.actors import Role
from arena.client.call import Call
from arena.matches.connected import Referees
from arena.operations.findings import Findings
from arena.operations.tokens import MadeToken, TokenInfo, Tokens
from arena.queries.changes import ChangePage
from arena.queries.waiting import Work
from arena.strength.baselines import Baselines
from referee.matches.auth import Scope


def findings() -> Call[Findings]:
    """Check the arena as ``arena doctor`` does."""
    return Call("GET", "/operator/findings", Findings)


def list_changes(
    subject: str | None = None, account: str | None = None, limit: int = 100, cursor: str | None = None
) -> Call[ChangePage]:
    """List who changed what, the latest change first."""
    query = {"subject": subject, "account": account, "limit": limit, "cursor": cursor}
    return Call("GET", "/operator/audit", ChangePage, query=query, lines="entries")


def referees() -> Call[Referees]:
    """Return how busy each referee is, and which bots are connected to it."""
    return Call("GET", "/operator/referees", Referees)


def work(limit: int = 100) -> Call[Work]:
    """List the matches that wait for a worker or are being played."""
    return Call("GET", "/operator/work", Work, query={"limit": limit})


def list_baselines() -> Call[Baselines]:
    """List the bot versions whose mean strength is 1500 in each pool."""
    return Call("GET", "/baselines", Baselines)


def add_baselines(bots: Sequence[str]) -> Call[Baselines]:
    """Make bot versions baselines, all or none."""
    return Call("POST", "/baselines", Baselines, body={"bots": [*bots]})


def remove_baselines(bots: Sequence[str]) -> Call[Baselines]:
    """Remove bot versions from the baselines, all or none."""
    return Call("POST", "/baselines/remove", Baselines, body={"bots": [*bots]})


def list_tokens() -> Call[Tokens]:
    """List the tokens of workers, organisers and spectators."""
    return Call("GET", "/operator/tokens", Tokens)


def create_token(name: str, scope: Scope, expires_in: int | None = None) -> Call[MadeToken]:
    """Create a token, which is shown only once."""
    body = {"name": name, "scope": scope, "expires_in": expires_in}
    return Call("POST", "/operator/tokens", MadeToken, body=body)


def rotate_token(name: str, expires_in: int | None = None) -> Call[MadeToken]:
    """Replace a token; the old one is refused at once."""
    body = {"expires_in": expires_in}
    return Call("POST", "/operator/tokens/{name}/rotate", MadeToken, {"name": name}, body=body)


def revoke_token(name: str) -> Call[TokenInfo]:
    """Revoke a token, for good."""
    return Call("DELETE", "/operator/tokens/{name}", TokenInfo, {"name": name})


def list_accounts(limit: int = 100, after: str = "") -> Call[Accounts]:
    """List accounts by name."""
    return Call("GET", "/operator/accounts", Accounts, query={"limit": limit, "after": after})


def create_account(account: str, role: Role, password: str | None = None) -> Call[AccountInfo]:
    """Create an account for somebody."""
    body = {"account": account, "role": role, "password": password}
    return Call("POST", "/operator/accounts", AccountInfo, body=body)


def change_account(
    account: str, role: Role | None = None, password: str | None = None, disabled: bool | None = None
) -> Call[AccountInfo]:
    """Change an account's role or password; disable it, or enable it again."""
    body = {"role": role, "password": password, "disabled": disabled}
    return Call("PATCH", "/operator/accounts/{account}", AccountInfo, {"account": account}, body=body)
