"""Digests of the contents of an export, and JSON on one line (docs/formats.md, "Exports")."""

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256

from referee.records.results import canonical

DECISION = "bigtwo-decision/1"
"""The ``format`` of an organiser's decision in the form in which it is signed."""

SHARED = ("format", "ruleset", "tournament", "round", "table", "session", "seats")
"""Fields that are the same in all deal records of a session."""


def digest(content: object) -> str:
    """Return the SHA-256 of a JSON value written with sorted keys, without spaces, in ASCII."""
    return sha256(canonical(content)).hexdigest()


def decision_digest(event: str, previous: str, at: str, details: Mapping[str, object]) -> str:
    """Return the digest that an arena signs for an organiser's decision: that of the unsigned event."""
    plain = {name: value for name, value in details.items() if name != "signed"}
    content = {"format": DECISION, "event": event, "previous": previous, "at": at, "details": plain}
    return digest(content)


def deals_digest(records: Iterable[Mapping[str, object]]) -> str:
    """Return the SHA-256 of a session's records, each written as by ``digest`` and terminated by a line feed.

    The fields that all of them share, ``SHARED``, are left out of each.
    """
    whole = sha256()
    for record in records:
        own = {name: value for name, value in record.items() if name not in SHARED}
        whole.update(canonical(own) + b"\n")
    return whole.hexdigest()


def json_line(value: object) -> str:
    """Return a value as JSON without spaces."""
    return json.dumps(value, separators=(",", ":"))
