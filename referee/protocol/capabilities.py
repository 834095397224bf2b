"""What bots say they can play, compared with what a ruleset requires of them."""

from collections.abc import Iterator

from referee.deals.deal import Stage
from referee.protocol.numbers import highest_card
from referee.protocol.wire import TURN_KINDS
from referee.ruleset.model import Ruleset
from referee.v1 import bots_pb2, cards_pb2


def lacks(capabilities: bots_pb2.Capabilities, ruleset: Ruleset) -> tuple[str, ...]:
    """Return, in words, what a ruleset requires beyond a bot's capabilities; empty if the bot can play it."""
    return tuple(_lacks(capabilities, ruleset))


def bounds(capabilities: bots_pb2.Capabilities) -> tuple[str, ...]:
    """Return, in words, the bounds in a bot's capabilities; empty if it plays everything."""
    return tuple(_bounds(capabilities))


def _bounds(capabilities: bots_pb2.Capabilities) -> Iterator[str]:
    if capabilities.HasField("max_seats"):
        yield f"at most {_counted(capabilities.max_seats, 'seat')}"
    if capabilities.HasField("max_packs"):
        yield f"at most {_counted(capabilities.max_packs, 'pack')}"
    if capabilities.max_card:
        yield f"cards up to {_name(capabilities.max_card)}"
    kinds = [kind for kind in TURN_KINDS.values() if kind in capabilities.turn_kinds]
    if capabilities.turn_kinds:
        names = ", ".join(map(bots_pb2.TurnKind.Name, kinds))
        yield f"turns of the kinds {names or 'that are not known here'}"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def turn_kinds(ruleset: Ruleset) -> list["bots_pb2.TurnKind.ValueType"]:
    """Return the kinds of turns that a ruleset can ask for."""
    kinds = {
        Stage.PLAY: True,
        Stage.EXCHANGE: ruleset.exchange != "none",
        Stage.BEAT_OWN: ruleset.beat_own,
        Stage.BOMBS: ruleset.bombs_out_of_turn,
    }
    return [TURN_KINDS[stage] for stage, may_come in kinds.items() if may_come]


def _lacks(capabilities: bots_pb2.Capabilities, ruleset: Ruleset) -> Iterator[str]:
    kinds = set(capabilities.turn_kinds)
    for kind in turn_kinds(ruleset):
        if kinds and kind not in kinds:
            yield f"turns of the kind {bots_pb2.TurnKind.Name(kind)}"
    if capabilities.HasField("max_seats") and ruleset.players > capabilities.max_seats:
        yield f"{ruleset.players} seats, and the bot supports at most {capabilities.max_seats}"
    if capabilities.HasField("max_packs") and ruleset.decks > capabilities.max_packs:
        yield f"{ruleset.decks} packs, and the bot supports at most {capabilities.max_packs}"
    highest = highest_card(ruleset)
    if 0 < capabilities.max_card < highest:
        yield f"cards up to {_name(highest)}, and the bot supports them up to {_name(capabilities.max_card)}"


def _name(card: "cards_pb2.Card.ValueType") -> str:
    return cards_pb2.Card.Name(card) if card in cards_pb2.Card.values() else f"number {card}"
