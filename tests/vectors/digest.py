"""Digests: of any JSON, of deals as seats are shown them, of results, of rulesets and of exports."""

from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from arena.core.canonical import deals_digest, decision_digest
from arena.core.canonical import digest as json_digest
from arena.core.pairing.values import lots
from arena.core.parts import RoundPart, make_part
from referee.deals.deal import Deal
from referee.records.record import deal_record
from referee.records.results import Result, canonical, measured_digest, shown_digest
from referee.ruleset import preset_names
from tests.vectors.dice import Dice
from tests.vectors.files import HEX, TEXT, Case, VectorFile, record
from tests.vectors.follow import BOMBS, DRAW_AS_NEEDED, DRAW_ONE, EXCHANGE
from tests.vectors.rulesets import SCORING, label, rules_named, ruleset_named

Input = dict[str, Any]


def answer(given: Mapping[str, Any]) -> dict[str, str]:
    """Return the digest of what is given, and the text that was hashed where it is short."""
    match given["of"]:
        case "json":
            return {"text": canonical(given["value"]).decode(), "sha256": json_digest(given["value"])}
        case "measured":
            return {"sha256": measured_digest(canonical(given["value"]).decode())}
        case "shown":
            return {"sha256": shown_digest(given["records"])}
        case "session":
            return {"sha256": deals_digest(given["records"])}
        case "result":
            return {"sha256": Result(**given["result"]).digest}
        case "ruleset":
            return {"sha256": ruleset_named(given["ruleset"]).hash}
        case "part":
            content = {name: value for name, value in given["part"].items() if name not in ("format", "part")}
            return {"sha256": str(make_part(RoundPart, **content)["digest"])}
        case "parts":
            return {"sha256": sha256("".join(given["digests"]).encode()).hexdigest()}
        case "decision":
            event = given["event"]
            return {
                "sha256": decision_digest(event["event"], event["previous"], event["at"], event["details"])
            }
    return {"sha256": lots(given["commitment"], given["beacon_value"]).hex()}


VALUES: tuple[object, ...] = (
    {"b": 1, "a": [True, False, None], "B": {}},
    {"é": 'ü\n\t"\\/', "z": "\u2028", "emoji": "🂡", "\u0000": "\u007f"},
    [0, -1, 2**53 - 1, -(2**53) + 1],
    [0.5, 1.0, 1e22, 1.5e-7, 1500.25, -0.0],
    {"10": 1, "9": 2, "a": {"y": [], "x": ""}},
    "",
    [],
)


def cases() -> Iterator[Case]:
    """Yield what is hashed."""
    for value in VALUES:
        yield "canonical JSON", {"of": "json", "value": value}
    yield from _records()
    for measured in (
        {},
        {"faults": [{"action": 4, "seat": 2, "kind": "timeout", "ms": 1040, "credit_ms": 40}]},
    ):
        yield "what the referee measured in a deal", {"of": "measured", "value": measured}
    for result in _results():
        yield "a signed result", {"of": "result", "result": result}
    for name in (*preset_names(), *(label(*variant) for variant in SCORING)):
        yield "the hash of a ruleset's content", {"of": "ruleset", "ruleset": name}
    yield from _exports()


def _records() -> Iterator[Case]:
    """Yield sessions of two or three deals, as the seats are shown them and as an export has them."""
    for name in (EXCHANGE, DRAW_ONE, DRAW_AS_NEEDED, BOMBS, "lectio"):
        records = [_record(name, number) for number in (1, 2)]
        yield "no deals yet", {"of": "shown", "records": []}
        yield "the first deal", {"of": "shown", "records": records[:1]}
        yield "a chain of deals; of drawn cards only the number is shown", {"of": "shown", "records": records}
        yield "the records of a session", {"of": "session", "records": records}
    again = [_record(EXCHANGE, 1), {**_record(EXCHANGE, 2), "attempt": 2}]
    fault = {"action": 0, "seat": 1, "kind": "illegal", "ms": 12, "credit_ms": 0}
    again.append({**_record(EXCHANGE, 3), "attempt": 2, "faults": [fault], "ms": "12 -", "credit_ms": "0 -"})
    for of in ("shown", "session"):
        yield "deals of two attempts, with faults and times", {"of": of, "records": again}


def _record(name: str, number: int) -> Input:
    """Return the lean record of a deal by lot."""
    rules = rules_named(name)
    dice = Dice(f"vectors/digest/{name}/{number}")
    exchange = (2, 1) if name == EXCHANGE and number > 1 else None
    deal = Deal(rules, bytes([number]) * 32, number, 0, 1, leader=1 if exchange else None, exchange=exchange)
    while not deal.over:
        seat = deal.owing()[0]
        choices = deal.choices(seat)
        plays = choices[:-1] if choices[-1] == 0 and len(choices) > 1 else choices
        deal.act(seat, plays[0 if dice.below(3) else -1] & rules.full)
    return deal_record(deal)


def _results() -> Iterator[Input]:
    result: Input = {
        "commitment": sha256(b"head").hexdigest(),
        "session": "autumn/1/2/3",
        "attempt": 1,
        "seats": ["ann/greedy@2", "bob/pass@1", "cy/pass@1", "dee/x@4"],
        "points": [-4, -9, 13, 0],
        "faults": [0, 1, 0, 0],
        "forfeits": [],
        "deals": sha256(b"deals").hexdigest(),
    }
    yield result
    yield {**result, "attempt": 2}
    yield {**result, "forfeits": [1, 3], "faults": [0, 10, 0, 10]}
    yield {**result, "deals": ""}


def _exports() -> Iterator[Case]:
    pool = [
        {"bot": "ann/greedy@2", "rating": 1512.25, "since": {"tournament": "summer", "round": 7, "table": 1}}
    ]
    part = {
        "format": "bigtwo-export/2",
        "part": "round",
        "round": 1,
        "state": "closed",
        "byes": [5],
        "free": None,
    }
    yield "a part of an export", {"of": "part", "part": {**part, "tables": [[1, 4, 3, 2]], "pool": pool}}
    yield "a part of an export", {"of": "part", "part": {**part, "tables": [], "pool": []}}
    digests = [sha256(bytes([number])).hexdigest() for number in range(3)]
    yield "all parts of an export, in the last one", {"of": "parts", "digests": digests}
    event = {"event": "disqualified", "previous": digests[0], "at": "2026-12-01T18:00:00+00:00"}
    details = {"entrant": 3, "reason": "plays by hand"}
    for signed in ({}, {"signed": {"digest": digests[1], "signature": "00"}}):
        yield (
            "a decision, without its signature",
            {"of": "decision", "event": {**event, "details": {**details, **signed}}},
        )
    for beacon in (None, "", "00ff"):
        yield "the lots of the pairings", {"of": "lots", "commitment": digests[2], "beacon_value": beacon}


DIGEST = {"type": "string", "pattern": "^([0-9a-f]{64})?$", "description": "Empty for no deals."}
OF = ("json", "measured", "shown", "session", "result", "ruleset", "part", "parts", "decision", "lots")

FILE = VectorFile(
    name="digest",
    about="What is hashed, by `of`: `json`, a value in canonical form; `measured`, what the referee "
    "measured in a deal; `shown`, a session's deals as all seats are shown them, a chain; `session`, "
    "the records of a session in an export; `result`, what a referee signs; `ruleset`, the content of "
    "a ruleset; `part` of an export, and `parts`, all together; `decision` of an organiser; `lots`, "
    "the seed of the pairings. Expected is the SHA-256 in hexadecimal, and for `json` the text that "
    "is hashed.",
    answer=answer,
    cases=cases,
    input={"type": "object", "properties": {"of": {"enum": [*OF]}}, "required": ["of"]},
    expected={"oneOf": [record(sha256=DIGEST), record(text=TEXT, sha256=HEX)]},
)
