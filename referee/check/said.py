"""What a bot's hello says it can play and asks for, as values."""

from dataclasses import dataclass

from google.protobuf.descriptor import EnumDescriptor

from referee.v1 import bots_pb2, cards_pb2


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a bot can play; what is empty or None sets no bound."""

    turn_kinds: tuple[str, ...] = ()
    """The kinds of turns that it knows, by their names in the protocol; others as ``number 9``."""
    max_seats: int | None = None
    max_packs: int | None = None
    max_card: str | None = None
    """The highest card that it knows, such as ``CARD_2S``; others as ``number 99``."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a hello says beyond the version of the protocol and the SDK."""

    max_sessions: int | None = None
    """How many sessions it plays at once; None if it leaves that to the referee."""
    wants: tuple[str, ...] = ()
    """What it asks for beyond what every bot is told: ``legal_plays``, ``hands``."""
    capabilities: Capabilities = Capabilities()


def said_in(hello: bots_pb2.Hello) -> Said:
    """Return what a hello says."""
    bounds = hello.capabilities
    return Said(
        hello.max_sessions if hello.HasField("max_sessions") else None,
        tuple(field.name for field, _ in hello.wants.ListFields()),
        Capabilities(
            tuple(dict.fromkeys(_name(bots_pb2.TurnKind.DESCRIPTOR, kind) for kind in bounds.turn_kinds)),
            bounds.max_seats if bounds.HasField("max_seats") else None,
            bounds.max_packs if bounds.HasField("max_packs") else None,
            _name(cards_pb2.Card.DESCRIPTOR, bounds.max_card) if bounds.max_card else None,
        ),
    )


def _name(kinds: EnumDescriptor, number: int) -> str:
    known = kinds.values_by_number.get(number)
    return known.name if known is not None else f"number {number}"
