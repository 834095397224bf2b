"""Who was seen to ask with good credentials: limits apply to their accounts, and to all others by host."""

from collections import OrderedDict

from starlette.types import Scope

from referee.hosts import host_at

MOST_KNOWN = 10_000
"""How many credentials are remembered; those that were used last."""


class Known:
    """The accounts of keys and cookies that were valid when they were last looked up."""

    def __init__(self) -> None:
        self._accounts: OrderedDict[str, str] = OrderedDict()

    def note(self, credentials: str, account: str | None) -> None:
        """Remember whose credentials these are; None if they are not valid."""
        self._accounts.pop(credentials, None)
        if account is not None:
            self._accounts[credentials] = account
            if len(self._accounts) > MOST_KNOWN:
                self._accounts.popitem(last=False)

    def account(self, credentials: str) -> str | None:
        """Return whose credentials these are; None if they were not seen to be valid."""
        return self._accounts.get(credentials)


def host_of(scope: Scope) -> str:
    """Return the host that a request comes from."""
    client = scope.get("client")
    return host_at(client[0]) if client else ""
