"""Stand-ins for the arena's surroundings: a referee that plays at once, and a clock that is set by hand."""

import json
from collections.abc import Generator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from arena.actors import Actor, Role
from arena.bots.versions import VersionInfo
from arena.queries.profiles import find_bots
from arena.store.storage import Storage
from referee.matches.match import MatchSpec, Progress, SessionResult, SessionSpec
from referee.records.results import NO_DEALS, Result, add_deal, record_as_shown
from referee.signing import SigningKey
from tests.referee.key import KEY

ROOT = Actor(Role.OPERATOR, "root")
"""An actor who may do everything."""

LOCKED = datetime(2026, 1, 1, tzinfo=UTC)
"""When tournaments whose runs are compared start, since the first pairings depend on it."""

DECISION_KEY = SigningKey.of(Ed25519PrivateKey.from_private_bytes(bytes([99] * 32)))
"""The arena's key for decisions."""

DEALS = 3
"""Deals in a session if the match leaves their number to the ruleset."""


def listed_versions(storage: Storage, owner: str | None = None) -> list[VersionInfo]:
    """Return all versions, or an owner's, in the order of their names."""
    return sorted(find_bots(storage, owner).bots, key=lambda version: version.bot)


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def move(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


def signed(spec: MatchSpec, session: SessionSpec, result: SessionResult) -> SessionResult:
    """Sign a result as a referee does, with the tests' key."""
    records = [json.loads(record) for record in result.records]
    deals = session.after.deals_digest if session.after is not None else NO_DEALS
    for record in records:
        deals = add_deal(deals, record_as_shown(record))
    whole = Result(
        commitment=spec.commitment,
        session=f"{spec.match_id}/{session.number}",
        attempt=session.attempt,
        seats=[spec.bots[position].name for position in session.seating],
        points=result.points,
        faults=result.faults,
        forfeits=result.forfeits,
        deals=deals,
    )
    return replace(result, signed=KEY.sign(whole.digest))


def session_result(spec: MatchSpec, session: SessionSpec) -> SessionResult:
    """Return a result whose points depend only on the seed and on who sits where."""
    records = []
    totals = [0] * len(session.seating)
    for number in range(1, (spec.deals or DEALS) + 1):
        points = [
            -(
                sha256(b"%s/%d/%s" % (session.seed, number, spec.bots[position].name.encode())).digest()[0]
                % 13
            )
            for position in session.seating
        ]
        points[number % len(points)] = 0
        totals = [total + own for total, own in zip(totals, points, strict=True)]
        records.append(json.dumps({"deal": number, "seed": session.seed.hex(), "points": points}))
    faults = (1,) + (0,) * (len(totals) - 1)
    return SessionResult(session.number, tuple(totals), None, tuple(records), faults)


def play_at_once(route: int, spec: MatchSpec) -> Generator[SessionResult | Progress]:
    """Play as a referee that gives a sign of life and then delivers every session, the last one first."""
    yield Progress(0, len(spec.sessions), ())
    for session in reversed(spec.sessions):
        yield session_result(spec, session)
