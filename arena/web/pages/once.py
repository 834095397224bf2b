"""Secrets that are shown once: their page shows them until the reader puts them away.

The arena stores only hashes. So that a page can be loaded again, the reader's own browser keeps a secret in
the meantime, in a cookie that nothing but the reader's own credentials opens.
"""

import json
from collections.abc import Mapping, Sequence

from fastapi import Request, Response
from fastapi.responses import RedirectResponse

from arena.errors import StateError
from arena.store.encryption import Seal, Unsealable
from arena.web.asking import credentials_in
from arena.web.pages.page import SEE_OTHER

COOKIE = "arena_once"

PURPOSE = b"shown once"
"""What sets the key of its seal apart from others of the same credentials."""

MOST = 8
"""How many secrets are kept for one page: a cookie holds 4 kB."""

Secret = Mapping[str, str]
"""A secret, with what its page says about it."""


def _seal(request: Request) -> Seal:
    return Seal("".join(credentials_in(request.headers)).encode(), PURPOSE)


def secrets_of(request: Request) -> Sequence[Secret]:
    """Return the secrets that the reader has not put away, the newest first."""
    try:
        secrets: Sequence[Secret] = json.loads(_seal(request).open(request.cookies.get(COOKIE, "")))
    except Unsealable:
        return ()
    return secrets


def require_room(request: Request) -> None:
    """Raise StateError if the page shows so many secrets that there is no room for another."""
    if len(secrets_of(request)) >= MOST:
        raise StateError("too many secrets on the page: put them away first")


def show_once(request: Request, page: str, below: str, *secrets: Secret) -> Response:
    """Lead to a page that shows these secrets and no others, like all whose paths begin with ``below``."""
    answer = RedirectResponse(page, SEE_OTHER)
    sealed = _seal(request).close(json.dumps(secrets).encode())
    attributes = {"httponly": True, "samesite": "strict", "secure": request.url.scheme == "https"}
    answer.set_cookie(COOKIE, sealed, path=below, **attributes)  # type: ignore[arg-type]
    return answer


def put_away(page: str, below: str) -> Response:
    """Lead to a page that shows no secrets any more, like all whose paths begin with ``below``."""
    answer = RedirectResponse(page, SEE_OTHER)
    answer.delete_cookie(COOKIE, path=below)
    return answer
