"""Callers, to whom limits apply: accounts with good credentials, else hosts; and their long answers."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from starlette.types import Scope

from arena.errors import TooMany
from arena.web.cache import Store
from referee.net.addresses import host_at

MOST_KNOWN = 10_000
"""How many credentials are remembered; those that were used last."""


class Known:
    """The accounts of keys and cookies that were valid when they were last looked up."""

    def __init__(self) -> None:
        self._accounts: Store[str] = Store(MOST_KNOWN)

    def note(self, credentials: str, account: str | None) -> None:
        """Remember whose credentials these are; None if they are not valid."""
        if account is None:
            self._accounts.forget(credentials)
        else:
            self._accounts.put(credentials, account)

    def account(self, credentials: str) -> str | None:
        """Return whose credentials these are; None if they were not seen to be valid."""
        return self._accounts.get(credentials)


def host_of(scope: Scope) -> str:
    """Return the host that a request comes from."""
    client = scope.get("client")
    return host_at(client[0]) if client else ""


class Slots:
    """Slots for answers of one kind, limited for each caller and in total."""

    def __init__(self, what: str, each: int, in_all: int) -> None:
        self._what, self._each, self._in_all = what, each, in_all
        self._taken: Counter[str] = Counter()

    @property
    def taken(self) -> int:
        """Return how many slots are taken."""
        return self._taken.total()

    @contextmanager
    def held(self, caller: str) -> Iterator[None]:
        """Hold a slot during the block. Raise TooMany if none is free."""
        if self._taken[caller] >= self._each:
            raise TooMany(f"you have {self._each} {self._what} open already")
        if self.taken >= self._in_all:
            raise TooMany(f"{self._in_all} {self._what} are open already")
        self._taken[caller] += 1
        try:
            yield
        finally:
            self._taken -= Counter([caller])  # drops callers without a slot
