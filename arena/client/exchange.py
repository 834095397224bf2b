"""The protocol of requests and answers without I/O: what to send, when to retry, and what answers mean.

``arena.client.sync`` and ``arena.client.asynchronous`` do the sending.
"""

import json
from collections import OrderedDict
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any, NamedTuple, TypeAlias, TypeVar
from uuid import uuid4

import httpx2

from arena.client.call import Call
from arena.errors import (
    ArenaError,
    BrokerError,
    NotAllowed,
    NotSignedIn,
    SpecError,
    StateError,
    StorageError,
    TakenError,
    TooMany,
    UnknownError,
    Unreachable,
)
from arena.jsonvalues import NotDecoded, from_text
from referee.errors import Problem
from referee.net import failures
from referee.net.addresses import proxy_to
from referee.reading.names import is_number

PROBLEM = "application/problem+json"

KINDS: Mapping[str, Callable[[str], ArenaError]] = {
    "broker": BrokerError,
    "not-allowed": NotAllowed,
    "not-now": StateError,
    "not-signed-in": NotSignedIn,
    "storage": StorageError,
    "taken": TakenError,
    "too-many-requests": TooMany,
    "unknown": UnknownError,
}
"""The exceptions by the last word of a problem's type, except for ``wrong-fields``."""


def error_of(response: httpx2.Response, where: str) -> ArenaError:
    """Return the exception that an answer stands for; ``where`` names its sender."""
    problem = _problem(response)
    if problem is None:
        return Unreachable(f"{where} answers {_status(response)}: is it the address of an arena?")
    kind, text = problem["type"].rpartition("/")[2], problem["detail"]
    problems = [Problem(str(each["field"]), str(each["reason"])) for each in problem.get("problems") or ()]
    if kind == "wrong-fields" and problems:
        return SpecError.of(problems)
    if kind == "unknown" and problem.get("reasons"):
        return UnknownError(*map(str, problem["reasons"]))
    return KINDS.get(kind, ArenaError)(text)


def _problem(response: httpx2.Response) -> Any:
    """Return the problem details of an answer; None if there are none."""
    if response.headers.get("Content-Type", "").partition(";")[0] != PROBLEM:
        return None
    try:
        body = json.loads(response.content)
        return body if isinstance(body["type"], str) and isinstance(body["detail"], str) else None
    except (ValueError, KeyError, TypeError):
        return None


def _status(response: httpx2.Response) -> str:
    if response.is_redirect:
        return f"{response.status_code} with another address, {response.headers.get('Location', '')}"
    return f"{response.status_code} {response.reason_phrase}".strip()


T = TypeVar("T")

PAUSES = (0.2, 0.8)
"""Seconds to wait before each further attempt after a connection was lost."""

REMEMBERED = 64
"""How many answers are cached, so that the arena need not send unchanged ones again."""

AGAIN = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
"""Statuses of requests that were not carried out, and can be repeated after ``Retry-After`` seconds."""

NOT_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError)


class Lost(Unreachable):
    """Raised if the connection is lost while an answer is read."""


class Pause(NamedTuple):
    """A wait before the next attempt."""

    seconds: float
    why: str
    """The reason, for people; empty if the wait is short."""


class CachedAnswer(NamedTuple):
    """A cached answer that may still be valid."""

    tag: str
    body: bytes


Known: TypeAlias = OrderedDict[str, CachedAnswer]
"""Answers by URL, the latest last."""

Step: TypeAlias = httpx2.Request | Pause
"""What the sender is to do next."""

Outcome: TypeAlias = httpx2.Response | httpx2.RequestError | None
"""The result of a step; None after a pause."""


def exchange(
    request: httpx2.Request, call: Call[T], cache: Known, patience: float
) -> Generator[Step, Outcome, T]:
    """Yield the steps of a call, receive the result of each, and return the decoded answer.

    If the arena asks to wait, the steps include a pause, up to ``patience`` seconds in all. Raise the error
    that the arena answers with, and Unreachable.
    """
    url, cached = str(request.url), cache.get(str(request.url))
    if cached is not None:
        request.headers["If-None-Match"] = cached.tag
    response = yield from _answered(request, patience)
    if response.status_code == HTTPStatus.NOT_MODIFIED and cached is not None:
        body = cached.body
    else:
        require_success(response)
        body = response.content
        _remember(cache, url, request, response)
    return _decoded(call, response, body)


def prepare(call: Call[Any]) -> dict[str, Any]:
    """Return the arguments with which a call's request is built; they make every POST repeatable."""
    arguments: dict[str, Any] = {"method": call.method, "params": call.parameters or None}
    if call.body is not None:
        arguments["json"] = call.body
    if call.method == "POST":
        arguments["headers"] = {"Idempotency-Key": str(uuid4())}
    return arguments


def _answered(request: httpx2.Request, patience: float) -> Generator[Step, Outcome, httpx2.Response]:
    lost, waited = 0, 0.0
    while True:
        outcome = yield request
        if isinstance(outcome, httpx2.RequestError):
            if lost == len(PAUSES) or not _may_be_repeated(request, outcome):
                raise unreachable(request, outcome)
            yield Pause(PAUSES[lost], "")
            lost += 1
            continue
        assert outcome is not None
        wait = _asked_to_wait(outcome)
        if wait is None or waited + wait > patience:
            return outcome
        waited += wait
        yield Pause(wait, f"{_host(request)} asks to wait {wait} s")


def _may_be_repeated(request: httpx2.Request, error: httpx2.RequestError) -> bool:
    """Return whether a request can be repeated safely; DELETE and PATCH would be answered differently."""
    return isinstance(error, NOT_SENT) or request.method in ("GET", "PUT", "POST")


def _asked_to_wait(response: httpx2.Response) -> int | None:
    """Return the seconds after which a request may be repeated; None if it may not be."""
    header = response.headers.get("Retry-After", "")
    return max(1, int(header)) if response.status_code in AGAIN and is_number(header) else None


def unreachable(request: httpx2.Request, error: httpx2.RequestError) -> Unreachable:
    """Return the error for a request without an answer, in words for people."""
    where = _host(request)
    if isinstance(error, httpx2.TimeoutException):
        return Unreachable(f"{where} does not answer in time")
    if isinstance(error, NOT_SENT):
        why = failures.reason(error) or str(error) or "no connection"
        return Unreachable(f"{where} cannot be reached: {why}")
    return Unreachable(f"the connection to {where} was lost: {str(error) or type(error).__name__}")


def require_success(response: httpx2.Response) -> None:
    """Raise the error that an answer stands for, unless it is a success; its body must have been read."""
    if not response.is_success:
        raise error_of(response, _host(response.request))


def _decoded(call: Call[T], response: httpx2.Response, body: bytes) -> T:
    where = _host(response.request)
    if call.answer is type(None):
        return None
    try:
        return from_text(call.answer, body)
    except NotDecoded as error:
        raise Unreachable(f"{where} does not answer as this version expects: {error}") from None
    except ValueError:
        kind = response.headers.get("Content-Type", "").partition(";")[0] or "something"
        raise Unreachable(f"{where} does not answer like an arena: {kind} where JSON was expected") from None


def _remember(cache: Known, url: str, request: httpx2.Request, response: httpx2.Response) -> None:
    tag = response.headers.get("ETag")
    if request.method == "GET" and tag:
        cache[url] = CachedAnswer(tag, response.content)
        cache.move_to_end(url)
        while len(cache) > REMEMBERED:
            cache.popitem(last=False)


def _host(request: httpx2.Request) -> str:
    """Return where a request goes, and the proxy that it goes through."""
    url = request.url
    variables = (f"{url.scheme}_proxy", f"{url.scheme.upper()}_PROXY", "all_proxy", "ALL_PROXY")
    proxy = proxy_to(url.host, variables)
    return f"{url.scheme}://{url.netloc.decode('ascii')}{f' (through {proxy})' if proxy else ''}"


@contextmanager
def proxy_errors() -> Iterator[None]:
    """Raise Unreachable if the environment names a proxy that cannot be used."""
    try:
        yield
    except (httpx2.InvalidURL, ImportError, ValueError) as error:
        said = " ".join(str(error).split())
        raise Unreachable(f"the proxy that the environment names cannot be used: {said}") from None


def headers_of(key: str | None) -> Mapping[str, str]:
    """Return the headers of all requests."""
    own = {"User-Agent": "bigtwo-arena-client", "Accept": "application/json"}
    return own if key is None else {**own, "Authorization": f"Bearer {key}"}
