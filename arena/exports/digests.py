"""Digests of what an export holds, and JSON on a line (docs/formats.md, "Exports")."""

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256

from referee.records.results import canonical

DECISION = "bigtwo-decision/1"
"""What is signed of an organiser's decision says this of itself."""

SHARED = ("format", "ruleset", "tournament", "round", "table", "session", "seats")
"""Fields that are the same in all deal records of a session."""


def digest(content: object) -> str:
    """Return the SHA-256 of a JSON value written with sorted keys, without spaces, in ASCII."""
    return sha256(canonical(content)).hexdigest()


def decision_digest(event: str, previous: str, at: str, details: Mapping[str, object]) -> str:
    """Return what an arena signs of an organiser's decision: an event, without the signature in it."""
    plain = {name: value for name, value in details.items() if name != "signed"}
    content = {"format": DECISION, "event": event, "previous": previous, "at": at, "details": plain}
    return digest(content)


def deals_digest(records: Iterable[Mapping[str, object]]) -> str:
    """Return the SHA-256 of a session's records, each written as for ``digest`` and ended by a line feed.

    Left out of each record is what all of them share, ``SHARED``.
    """
    whole = sha256()
    for record in records:
        own = {name: value for name, value in record.items() if name not in SHARED}
        whole.update(canonical(own) + b"\n")
    return whole.hexdigest()


def json_line(value: object) -> str:
    """Return a value as JSON without blanks."""
    return json.dumps(value, separators=(",", ":"))
