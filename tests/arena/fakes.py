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
from referee.deals.deal import Deal
from referee.matches.match import MatchSpec, Progress, SessionResult, SessionSpec
from referee.records.reading import read_record
from referee.records.record import deal_json, full_record
from referee.records.replay import replay
from referee.records.results import NO_DEALS, Result, add_deal, record_as_shown
from referee.signing import SigningKey
from tests.referee.key import KEY

ROOT = Actor(Role.OPERATOR, "root")
"""An actor who may do everything."""

LOCKED = datetime(2026, 1, 1, tzinfo=UTC)
"""When tournaments whose runs are compared start, since the first pairings depend on it."""

DECISION_KEY = SigningKey.of(Ed25519PrivateKey.from_private_bytes(bytes([99] * 32)))
"""The arena's key for decisions."""

SEATS = [f"owner/bot-{number}@1" for number in range(8)]

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


def timed_json(deal: Deal, attempt: int = 1) -> str:
    """Return the record of a deal without faults, with times where a seat had a choice."""
    text = deal_json(deal, attempt=attempt)
    record = full_record(
        json.loads(text),
        ruleset=deal.rules.ruleset.to_object(),
        tournament="cup",
        round=1,
        table=1,
        session=1,
        seats=SEATS[: len(deal.dealt)],
    )
    choices: list[bool] = []
    replay(read_record(record), None, choices)
    times = " ".join("5" if choice else "-" for choice in choices)
    return f'{text[:-1]},"ms":"{times}"}}'


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
