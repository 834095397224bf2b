"""Who makes a request: the owner of an API key or of a browser's cookie, or an anonymous reader.

Dependencies that do not wait for the database are coroutines, because FastAPI calls all others in threads,
which takes longer than they do.
"""

from collections.abc import Awaitable, Callable
from functools import cache
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, Request, Response, Security
from fastapi.security import APIKeyCookie, HTTPBearer
from fastapi.security.http import HTTPAuthorizationCredentials
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection

from arena.actors import ANONYMOUS, Actor, KeyScope, Role
from arena.errors import NotAllowed, NotSignedIn
from arena.operations.operation import Context
from arena.people.apikeys import holder_of
from arena.people.browsers import STAYS, actor_in_browser
from arena.web.callers import host_of
from arena.web.context import Shared, Web

COOKIE = "arena_session"
"""Name of the cookie that holds a browser session's id."""

SAFE = ("GET", "HEAD", "OPTIONS")
"""Methods that change nothing."""

_bearer = HTTPBearer(auto_error=False, description="An API key: `Authorization: Bearer bt_key_…`")
_cookie = APIKeyCookie(name=COOKIE, auto_error=False, description="A browser that has signed in")


async def holder(
    request: Request,
    web: Shared,
    bearer: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)],
    session: Annotated[str | None, Security(_cookie)],
) -> Actor:
    """Return the caller, limited to what its key allows. Raise NotSignedIn for a key that is not valid."""
    if bearer is not None:
        asker = await look_up(web, bearer.credentials, "")
        if asker is None:
            raise NotSignedIn("the key is unknown, revoked or expired")
        return asker
    actor = await look_up(web, "", session or "")
    if actor is None:
        return ANONYMOUS
    if request.method not in SAFE:
        require_own_page(request)
    return actor


def credentials_in(headers: Headers) -> tuple[str, str]:
    """Return the API key and the cookie of a request; empty if it has none, and no cookie if it has a key."""
    scheme, _, key = headers.get("authorization", "").partition(" ")
    if key and scheme.lower() == "bearer":
        return key, ""
    return "", HTTPConnection({"type": "http", "headers": headers.raw}).cookies.get(COOKIE, "")


async def look_up(web: Web, key: str, session: str) -> Actor | None:
    """Return who asks with a key or a cookie, and remember that for the limits; None if it is not valid."""
    if not key and not session:
        return None
    find, credentials = (holder_of, key) if key else (actor_in_browser, session)
    asker = await run_in_threadpool(find, web.storage, credentials, web.clock())
    web.known.note(credentials, None if asker is None else asker.account)
    return asker


def require_own_page(request: Request) -> None:
    """Raise NotAllowed for a browser's request that originates from another site.

    Browsers send ``Sec-Fetch-Site``, old ones ``Origin``; programs send neither.
    """
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    own = origin is not None and urlsplit(origin)[:2] == (request.url.scheme, request.url.netloc)
    if site not in (None, "same-origin", "none") or (site is None and origin is not None and not own):
        raise NotAllowed("a page of another site may not do that here")


def keep_signed_in(request: Request, answer: Response, session: str) -> None:
    """Set the cookie of a browser's session."""
    answer.set_cookie(
        COOKIE,
        session,
        max_age=int(STAYS.total_seconds()),
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
        path="/",
    )


Holder = Annotated[Actor, Depends(holder)]


def require_scope(actor: Actor, scopes: tuple[KeyScope, ...]) -> None:
    """Raise NotSignedIn for an anonymous request, and NotAllowed for a key without any of the scopes.

    Without scopes, anybody may ask.
    """
    if scopes and actor.role is Role.ANONYMOUS:
        raise NotSignedIn("sign in, or send a key: Authorization: Bearer …")
    if scopes and actor.scopes.isdisjoint(scopes):
        raise NotAllowed(f"this key lacks the scope {' or '.join(scopes)}")


async def caller(request: Request, holder: Holder) -> str:
    """Return the caller to whom limits apply: the account, else the host."""
    return holder.account or host_of(request.scope)


Caller = Annotated[str, Depends(caller)]


async def anybody(holder: Holder) -> Actor:
    """Return the actor of a request that is open to everybody: nobody for a key that must not read."""
    return holder if KeyScope.READ in holder.scopes else ANONYMOUS


Anybody = Annotated[Actor, Depends(anybody)]


@cache
def allowed(*scopes: KeyScope) -> Callable[..., Awaitable[Context]]:
    """Return the dependency that makes an operation's context, if the caller's key has one of its scopes."""

    async def context(web: Shared, holder: Holder) -> Context:
        require_scope(holder, scopes)
        return Context(
            storage=web.storage,
            settings=web.settings,
            actor=holder,
            now=web.clock(),
            ask=web.ask,
            wake=web.wake,
            standings=web.readings.standings,
        )

    return context
