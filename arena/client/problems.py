"""Turning the API's problem details (RFC 9457) back into the exceptions that the use cases raised."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import httpx2

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
from referee.errors import Problem

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
    found = _problem(response)
    if found is None:
        return Unreachable(f"{where} answers {_status(response)}: is it the address of an arena?")
    kind, told = found["type"].rpartition("/")[2], found["detail"]
    problems = [Problem(str(one["field"]), str(one["reason"])) for one in found.get("problems") or ()]
    if kind == "wrong-fields" and problems:
        return SpecError.of(problems)
    if kind == "unknown" and found.get("reasons"):
        return UnknownError(*map(str, found["reasons"]))
    return KINDS.get(kind, ArenaError)(told)


def _problem(response: httpx2.Response) -> Any:
    """Return the problem details of an answer; None if there are none."""
    if response.headers.get("Content-Type", "").partition(";")[0] != PROBLEM:
        return None
    try:
        found = json.loads(response.content)
        return found if isinstance(found["type"], str) and isinstance(found["detail"], str) else None
    except (ValueError, KeyError, TypeError):
        return None


def _status(response: httpx2.Response) -> str:
    if response.is_redirect:
        return f"{response.status_code} with another address, {response.headers.get('Location', '')}"
    return f"{response.status_code} {response.reason_phrase}".strip()
