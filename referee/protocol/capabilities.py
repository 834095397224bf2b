"""What bots say they can play, compared with what a ruleset requires of them."""

from referee.deals.deal import Stage
from referee.protocol.numbers import highest_card
from referee.protocol.wire import TURN_KINDS
from referee.ruleset.axes import AXES
from referee.ruleset.model import Ruleset
from referee.v1 import bots_pb2, cards_pb2


def bounds(capabilities: bots_pb2.Capabilities) -> tuple[str, ...]:
    """Return, in words, the bounds in a bot's capabilities; empty if it plays everything."""
    texts = []
    for _, bound, thing in _BOUNDS:
        if capabilities.HasField(bound):
            most: int = getattr(capabilities, bound)
            texts.append(f"at most {most} {thing}{'' if most == 1 else 's'}")
    if capabilities.max_card:
        texts.append(f"cards up to {_name(capabilities.max_card)}")
    if capabilities.turn_kinds:
        kinds = [kind for kind in TURN_KINDS.values() if kind in capabilities.turn_kinds]
        names = ", ".join(map(bots_pb2.TurnKind.Name, kinds))
        texts.append(f"turns of the kinds {names or 'that are not known here'}")
    return tuple(texts)


_BOUNDS = sorted(
    [(field, *axis.bound) for field, axis in AXES.items() if axis.bound],
    key=lambda bound: bots_pb2.Capabilities.DESCRIPTOR.fields_by_name[bound[1]].number,
)
"""The fields of a ruleset that bots may bound, the bounds in their capabilities, and what these count."""


def turn_kinds(ruleset: Ruleset) -> list["bots_pb2.TurnKind.ValueType"]:
    """Return the kinds of turns that a ruleset can ask for."""
    stages = {axis.turn for field, axis in AXES.items() if axis.turn and getattr(ruleset, field) != axis.off}
    return [kind for stage, kind in TURN_KINDS.items() if stage is Stage.PLAY or stage.value in stages]


def lacks(capabilities: bots_pb2.Capabilities, ruleset: Ruleset) -> tuple[str, ...]:
    """Return, in words, what a ruleset requires beyond a bot's capabilities; empty if the bot can play it."""
    allowed = set(capabilities.turn_kinds) or {*TURN_KINDS.values()}
    kinds = [bots_pb2.TurnKind.Name(kind) for kind in turn_kinds(ruleset) if kind not in allowed]
    texts = [f"turns of the kind {kind}" for kind in kinds]
    for field, bound, thing in _BOUNDS:
        number: int = getattr(ruleset, field)
        most: int = getattr(capabilities, bound)
        if capabilities.HasField(bound) and number > most:
            texts.append(f"{number} {thing}s, and the bot supports at most {most}")
    highest, most_card = highest_card(ruleset), capabilities.max_card
    if 0 < most_card < highest:
        texts.append(f"cards up to {_name(highest)}, and the bot supports them up to {_name(most_card)}")
    return tuple(texts)


def _name(card: "cards_pb2.Card.ValueType") -> str:
    return cards_pb2.Card.Name(card) if card in cards_pb2.Card.values() else f"number {card}"
