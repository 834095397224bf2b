"""Exports for the tests that verify them and tamper with them."""

import json
from collections.abc import Generator
from hashlib import sha256
from random import Random
from typing import Any

from arena.core.canonical import deals_digest, digest
from arena.core.parts import FORMAT
from arena.trust.exports.write import export_lines
from arena.trust.verify import Report, check_export
from referee.deals.session import Session
from referee.matches.match import MatchSpec, Progress, SessionResult
from referee.records.random_play import play_randomly
from referee.records.results import Result, shown_digest
from referee.rules.plays import compile_ruleset
from referee.ruleset import load_ruleset
from referee.signing import SigningKey
from tests.arena.fakes import signed, timed_json
from tests.arena.world import World


def play_by_table(_route: int, spec: MatchSpec, how: str = "") -> Generator[SessionResult | Progress]:
    """Play at random, differently at each table and for each ``how``, even with the same cards."""
    rules = compile_ruleset(load_ruleset(spec.ruleset))
    for given in spec.sessions:
        rng = Random(f"{how}{spec.match_id}/{given.number}")
        session = Session(rules, given.seed, spec.deals or None, given.attempt)
        records = []
        while not session.over:
            deal = session.next_deal()
            play_randomly(deal, rng)
            session.close_deal()
            records.append(timed_json(deal, attempt=given.attempt))
        totals = tuple(session.scores)
        result = SessionResult(given.number, totals, None, tuple(records), (0,) * len(totals))
        yield signed(spec, given, result)


def lines_of(world: World, name: str = "cup") -> list[str]:
    """Return the lines of a tournament's export."""
    return list(export_lines(world.storage, name))


def check(lines: list[str]) -> Report:
    """Check these lines and return the report."""
    return check_export(line.encode() for line in lines)


def problem(lines: list[str]) -> str:
    """Return the first problem in these lines, which must have one."""
    found = check(lines).problem
    assert found is not None
    return found


def with_new_digests(lines: list[str], key: SigningKey | None = None) -> list[str]:
    """Recompute all digests, as somebody would who wants to hide a change; with a referee's key, sign too."""
    objects: list[dict[str, Any]] = [json.loads(line) for line in lines]
    digests = before = ""
    for at, one in enumerate(objects):
        if one["format"] != FORMAT:
            continue
        first = at + 1
        for session in one.get("sessions", ()) if one["part"] == "match" else ():
            records = objects[first : first + session["deals"]]
            session["digest"] = deals_digest(records)
            first += session["deals"]
            if key is not None:
                session["signed"] = key.sign(_result(objects[0], one, session, records).digest)._asdict()
        if one["part"] == "event":
            one["previous"] = before
        if one["part"] == "end":
            one["parts"] = digest_of(digests)
        one["digest"] = digest({name: value for name, value in one.items() if name != "digest"})
        if one["part"] != "reference":
            digests += one["digest"]
        if one["part"] in ("head", "event"):
            before = one["digest"]
    return [json.dumps(one) for one in objects]


def changed(lines: list[str], part: str, **fields: object) -> list[str]:
    """Change fields of the first part with this name, and recompute all digests."""
    objects: list[dict[str, Any]] = [json.loads(line) for line in lines]
    next(one for one in objects if one.get("part") == part).update(fields)
    return with_new_digests([json.dumps(one) for one in objects])


def _result(
    head: dict[str, Any], match: dict[str, Any], session: dict[str, Any], records: list[dict[str, Any]]
) -> Result:
    return Result(
        commitment=head["digest"],
        session=f"{head['tournament']}/{match['round']}/{match['table']}/{session['session']}",
        attempt=session["attempts"],
        seats=[match["bots"][position] for position in session["seating"]],
        points=session["points"],
        faults=session["faults"],
        forfeits=session["forfeits"],
        deals=shown_digest(records),
    )


def digest_of(digests: str) -> str:
    """Return the SHA-256 of the concatenated digests of all parts."""
    return sha256(digests.encode()).hexdigest()
