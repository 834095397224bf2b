"""Capabilities: whether a bot that says what it can play can play a ruleset."""

from collections.abc import Iterator, Mapping
from typing import Any

from referee.protocol.capabilities import lacks, turn_kinds
from referee.protocol.numbers import highest_card
from referee.v1 import bots_pb2
from tests.vectors.files import FLAG, RULESET, TEXT, WHOLE, Case, VectorFile, array, maybe, record
from tests.vectors.follow import EXCHANGE
from tests.vectors.rulesets import ruleset_named

NAMES = bots_pb2.TurnKind.Name


def answer(given: Mapping[str, Any]) -> dict[str, object]:
    """Return what a ruleset asks of a bot, and whether these capabilities suffice."""
    ruleset, said = ruleset_named(given["ruleset"]), given["capabilities"]
    capabilities = bots_pb2.Capabilities(
        turn_kinds=[bots_pb2.TurnKind.Value(name) for name in said["turn_kinds"]],
        max_seats=said["max_seats"],
        max_packs=said["max_packs"],
        max_card=said["max_card"],
    )
    return {
        "turn_kinds": [NAMES(kind) for kind in turn_kinds(ruleset)],
        "highest_card": int(highest_card(ruleset)),
        "plays": not lacks(capabilities, ruleset),
    }


def cases() -> Iterator[Case]:
    """Yield capabilities just below and just at what a ruleset asks."""
    for name in ("chinese", "indonesia", "gamesky", EXCHANGE, "lectio", "only-a-game-8", "zheng-shangyou"):
        ruleset = ruleset_named(name)
        kinds = [NAMES(kind) for kind in turn_kinds(ruleset)]
        highest = int(highest_card(ruleset))
        yield "no bounds", _asked(name)
        for seats in (ruleset.players - 1, ruleset.players):
            yield "a bound on seats", _asked(name, max_seats=seats)
        for packs in (ruleset.decks - 1, ruleset.decks):
            yield "a bound on packs", _asked(name, max_packs=packs)
        for card in (highest - 1, highest, 52):
            yield "a bound on cards", _asked(name, max_card=card)
        for known in (
            kinds,
            kinds[:-1] or ["TURN_KIND_BOMB"],
            ["TURN_KIND_PLAY"],
            [*kinds, "TURN_KIND_EXCHANGE"],
        ):
            yield "the kinds of turns that it knows", _asked(name, turn_kinds=list(dict.fromkeys(known)))


def _asked(name: str, **bounds: object) -> dict[str, object]:
    none: dict[str, object] = {"turn_kinds": [], "max_seats": None, "max_packs": None, "max_card": 0}
    return {"ruleset": name, "capabilities": {**none, **bounds}}


FILE = VectorFile(
    name="capability",
    about="What a bot says in its Hello that it can play (null, 0 and no kinds: everything), and a ruleset: "
    "the kinds of turns that it can ask for, the number of its highest card in the protocol, and "
    "whether the bot can play it.",
    answer=answer,
    cases=cases,
    input=record(
        ruleset=RULESET,
        capabilities=record(
            turn_kinds=array(TEXT), max_seats=maybe(WHOLE), max_packs=maybe(WHOLE), max_card=WHOLE
        ),
    ),
    expected=record(turn_kinds=array(TEXT), highest_card=WHOLE, plays=FLAG),
)
