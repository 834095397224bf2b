"""Deal records: a finished deal as one JSON object (the public format, docs/formats.md)."""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache

from referee.deals.action import Entry
from referee.deals.deal import Deal
from referee.memo import Memo
from referee.rules.plays import Rules

FORMAT = "bigtwo-deal/1"
"""What a record of this format says of itself."""

DIRECTIONS = {1: "clockwise", -1: "anticlockwise"}
"""A direction's name by its step."""


def deal_record(deal: Deal, *, faults: Sequence[Mapping[str, object]] = ()) -> dict[str, object]:
    """Return the lean record of a deal that is over: what is the same for all deals of a session is left out.

    ``faults`` are the format's: where the referee acted for a seat.
    """
    rules = deal.rules
    texts = _texts(rules)
    record: dict[str, object] = {
        "deal": deal.number,
        "seed": deal.seed.hex(),
        "dealer": deal.dealer,
        "direction": DIRECTIONS[deal.step],
        "hands": [rules.text(hand) for hand in deal.dealt],
        "leftover": " ".join([rules.card_text(card) for card in deal.leftover]),
    }
    if deal.exchange is not None:
        record["exchange"] = {
            "loser": deal.exchange.loser,
            "winner": deal.exchange.winner,
            "given": rules.text(deal.exchange.given),
            "returned": rules.text(deal.exchange.returned),
        }
    record |= {
        "leader": deal.leader,
        "actions": [texts[entry] for entry in deal.log],
        "out": list(deal.out),
        "left": [rules.text(hand) for hand in deal.left],
        "points": list(deal.points),
        "end": deal.end,
    }
    if faults:
        record["faults"] = [dict(fault) for fault in faults]
    if deal.end == "forfeit":
        record["forfeit"] = deal.culprit
    return record


_ENCODER = json.JSONEncoder(separators=(",", ":"), check_circular=False)


def deal_json(deal: Deal, *, faults: Sequence[Mapping[str, object]] = ()) -> str:
    """Return ``deal_record`` as a JSON object without blanks."""
    return _ENCODER.encode(deal_record(deal, faults=faults))


def full_record(
    lean: Mapping[str, object],
    *,
    ruleset: Mapping[str, object],
    tournament: str,
    round: int,
    table: int,
    session: int,
    seats: Sequence[str],
) -> dict[str, object]:
    """Return the complete record of a lean one.

    ``ruleset`` is the resolved object, ``seats`` name the bots.
    """
    rest = {name: value for name, value in lean.items() if name != "deal"}
    return {
        "format": FORMAT,
        "ruleset": dict(ruleset),
        "tournament": tournament,
        "round": round,
        "table": table,
        "session": session,
        "deal": lean["deal"],
        "seats": list(seats),
        **rest,
    }


def action_text(rules: Rules, entry: Entry) -> str:
    """Return an action as a record has it: ``2:3D 3C``, ``1:-``, ``1:- +7H`` or ``0!4D 4H 4S 4C 5D``."""
    seat, cards, drawn, out_of_turn = entry
    if cards:
        return f"{seat}{'!' if out_of_turn else ':'}{rules.text(cards)}"
    return f"{seat}:- +{rules.text(drawn)}" if drawn else f"{seat}:-"


@lru_cache(maxsize=32)
def _texts(rules: Rules) -> Memo[Entry, str]:
    """The texts of the actions of a ruleset."""
    return Memo(lambda entry: action_text(rules, entry))
