"""The expected contents of the golden files: records, counts, test vectors, made pages."""

import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path

from referee.deals.deal import Deal
from referee.deals.session import Legacy, setup
from referee.deals.shuffle import deal_seed
from referee.describe import describe
from referee.records.random_play import random_records
from referee.records.record import DIRECTIONS
from referee.records.tools import play_texts
from referee.reference.values import REFERENCE, place_values, reference_points, reference_values
from referee.rules.plays import Rules, compile_ruleset
from referee.rules.rulebook import rules_of
from referee.ruleset import load_ruleset, preset_names
from tests.wire import page as protocol

ROOT = Path(__file__).parents[2]
RECORDS = Path("tests/golden/records")
COUNTS = Path("tests/golden/counts")
PAGE = Path("docs/rules.md")
VECTORS = Path(f"docs/{REFERENCE.name}.json")

DEALS = 5
"""Deals of each preset, in the records and in the counts."""

SEED = sha256(b"bigtwo-arena/golden").digest()
"""The published seed: of the tournament in the records, of the session in the counts."""

LINE = (
    "Every seat takes the first legal play as `arena rules legal` lists them, by number of cards and then "
    "by code point; it passes, or declines to bomb, if there is none. `legal` counts the legal plays at "
    "each decision."
)


def golden_files() -> Iterator[tuple[Path, str]]:
    """Yield the path of every golden file, relative to the root of the repository, and its text."""
    for name in preset_names():
        rules = compile_ruleset(load_ruleset(name))
        yield RECORDS / f"{name}.jsonl", records(rules)
        yield COUNTS / f"{name}.json", counts(rules)
    yield VECTORS, vectors()
    yield PAGE, page()
    yield protocol.PAGE, protocol.page()
    yield protocol.STUDIES, protocol.studies()


def records(rules: Rules) -> str:
    """Return complete records of random play in two sessions, one per line."""
    deals = random_records(rules, SEED, DEALS, session_deals=3)
    return "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in deals)


def counts(rules: Rules) -> str:
    """Return the number of legal plays at each decision of the first deals, played as ``LINE`` says."""
    lines = [_counted(rules, deal_seed(SEED, number)) for number in range(1, DEALS + 1)]
    head = json.dumps({"ruleset": rules.ruleset.label, "line": LINE})
    return head[:-1] + ', "deals": [\n ' + ",\n ".join(lines) + "\n]}\n"


def _counted(rules: Rules, seed: bytes) -> str:
    dealer, step, _, _ = setup(rules.ruleset, 1, None)
    deal = Deal(rules, seed, 1, dealer, step)
    legal = []
    while not deal.over:
        seat = deal.owing()[0]
        plays = play_texts(rules, deal.legal(seat))
        deal.act(seat, rules.parse(plays[0]) if plays else 0)
        legal.append(len(plays))
    return json.dumps({"seed": seed.hex(), "dealer": dealer, "direction": DIRECTIONS[step], "legal": legal})


EXCHANGING = {"extends": "chinese-3", "exchange": "loser_to_winner", "lead": "winner"}
REFERRED: tuple[Mapping[str, object], ...] = (
    {"extends": "hong-kong"},
    {"extends": "chinese"},
    {"extends": "chinese-2"},
    {"extends": "chinese-stakes"},
    {"extends": "choi-dai-di"},
    {"extends": "lectio"},
    {"extends": "hong-kong-relatives-3"},
    {"extends": "only-a-game-8"},
    {"extends": "only-a-game-bombs"},
    {"extends": "indonesia"},
    {"extends": "zheng-shangyou"},
    {"extends": "gamesky", "beat_own": True},
    EXCHANGING,
)
"""The rulesets of the test vectors that are first deals."""
SETTLED: tuple[Mapping[str, object], ...] = (
    {"extends": "hong-kong"},
    {"extends": "zheng-shangyou"},
    EXCHANGING,
)
"""Those of second deals, in which places differ: few, because that takes thousands of plays."""


def vectors() -> str:
    """Return the reference's values of first deals, and of second ones after a deal that seat 1 won."""
    lines = [_vector(fields, 1) for fields in REFERRED] + [_vector(fields, 2) for fields in SETTLED]
    head = json.dumps({"name": REFERENCE.name, "plays": REFERENCE.plays, "parts": REFERENCE.parts})
    return head[:-1] + ', "deals": [\n ' + ",\n ".join(lines) + "\n]}\n"


def _vector(fields: Mapping[str, object], number: int) -> str:
    rules = rules_of(fields)
    last = Legacy(1, 0, 1, 0) if number == 2 else None
    begun = setup(rules.ruleset, number, last)
    seed = deal_seed(SEED, number)
    exchange = None if begun.exchange is None else dict(zip(("loser", "winner"), begun.exchange, strict=True))
    vector = {
        "ruleset": fields,
        "seed": seed.hex(),
        "dealer": begun.dealer,
        "direction": DIRECTIONS[begun.step],
        "leader": begun.leader,
        "exchange": exchange,
        "points": reference_points(rules, seed, begun),
        "places": place_values(rules, begun),
        "values": reference_values(rules, seed, begun),
    }
    return json.dumps(vector)


def page() -> str:
    """Return the page that describes the rules of all presets."""
    parts = ["# The presets", "", "Made from the rulesets by `make golden`; do not edit it by hand.", ""]
    for name in preset_names():
        ruleset = load_ruleset(name)
        parts += [f"## {ruleset.label}", "", *[f"- {line}" for line in describe(ruleset)], ""]
    return "\n".join(parts)
