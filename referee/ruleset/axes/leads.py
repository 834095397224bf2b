"""Who leads a deal, and what a first lead must include."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from annotated_types import Interval

from referee.cards import STANDARD_RANKS, SUITS
from referee.reading.validation import short
from referee.ruleset.annotations import LARGEST, Fields, Step, Whole
from referee.ruleset.axes.pack import rising
from referee.ruleset.axes.session import MAX_DEALS
from referee.ruleset.axis import Axis, Section

if TYPE_CHECKING:
    from referee.ruleset.model import Ruleset


def _first_lead(value: object, before: Fields) -> str:
    ranks, suits = before.get("ranks", STANDARD_RANKS), before.get("suits", SUITS)
    if value == ranks[0] + suits[0]:
        return "lowest"  # the same rules have one spelling, as ratings are kept by content
    if isinstance(value, str) and (
        value in ("lowest", "random") or (value[:-1] in ranks and value[-1:] in SUITS)
    ):
        return value
    raise ValueError(f"must be 'lowest', 'random' or a card such as '3S', not {short(value)}")


def _lead_includes(value: object, _: Fields) -> bool | str:
    if isinstance(value, bool) or value == "alone":
        return value
    raise ValueError(f"must be true, false or 'alone', not {short(value)}")


_FIRST_LEAD = {"type": "string", "pattern": r"^(lowest|random|([3-9TJQKA2]|1[0-5]?)[DCHS])$"}
_LEAD_INCLUDES = {"anyOf": [{"type": "boolean"}, {"const": "alone"}]}


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Leads:
    """The fields on the first lead of a deal."""

    __slots__ = ()

    lead: Literal["lowest", "winner", "loser"]
    """Who leads a deal: the holder of the ``lowest`` card, or the last deal's ``winner`` or ``loser``."""
    first_lead: Annotated[str, Step(_first_lead, "instead", _FIRST_LEAD)]
    """Where the ``lowest`` card decides who leads, its holder; or the holder of a card such as ``3S``, which
    then stands for the lowest wherever leads speak of it; or a seat drawn from the seed (``random``)."""
    lowest_lead_every: Annotated[Whole, Interval(ge=0, le=LARGEST)]
    """With ``winner`` or ``loser``: deals 1, N+1, 2N+1 … are led by the lowest card; 0 for the first only."""
    lead_includes_lowest: Annotated[bool | Literal["alone"], Step(_lead_includes, "instead", _LEAD_INCLUDES)]
    """Whether a lead chosen by the lowest card must contain that card, or even be it ``alone``."""


def _settled_first(ruleset: "Ruleset") -> str:
    return "lowest" if ruleset.first_lead == rising(ruleset)[0] else ruleset.first_lead


def _first_conflicts(ruleset: "Ruleset") -> Iterator[str]:
    if ruleset.first_lead in ruleset.removed_cards:
        yield f"is {ruleset.first_lead}, which is among removed_cards"


def _settled_inclusion(ruleset: "Ruleset") -> bool | str:
    included = ruleset.lead_includes_lowest
    return bool(included) if ruleset.plays == ("single",) else included


AXES = {
    "lead": Axis(
        "lowest",
        idle=lambda ruleset: ruleset.lowest_lead_every == 1,
        brief={who: f"the {who} of a deal leads the next" for who in ("winner", "loser")},
    ),
    "first_lead": Axis(
        settled=_settled_first,
        conflicts=_first_conflicts,
        encode=lambda ruleset: [
            ("first_lead.random", float(ruleset.first_lead == "random")),
            ("first_lead.card", float(ruleset.first_lead not in ("lowest", "random"))),
        ],
    ),
    "lowest_lead_every": Axis(
        0, idle=lambda ruleset: ruleset.lead == "lowest" or ruleset.lowest_lead_every >= MAX_DEALS
    ),
    "lead_includes_lowest": Axis(
        False,
        needs=lambda ruleset: ruleset.first_lead != "random",
        refusal="must be false with first_lead: random, as no card decides",
        settled=_settled_inclusion,
        encode=lambda ruleset: [
            ("lead_includes_lowest", float(ruleset.lead_includes_lowest is not False)),
            ("lead_includes_lowest.alone", float(ruleset.lead_includes_lowest == "alone")),
        ],
        brief={"alone": "the card that leads is led alone"},
    ),
}


def _first_leader(ruleset: "Ruleset") -> str:
    first = ruleset.first_lead
    if first == "random":
        return "a player drawn at random"
    if first != "lowest":
        return f"the holder of {first} (of the next higher card dealt, if that was not dealt)"
    return f"the holder of the lowest card dealt ({rising(ruleset)[0]}, if that was dealt)"


def _leader(ruleset: "Ruleset") -> Iterator[str]:
    led_by = _first_leader(ruleset)
    if ruleset.lead == "lowest":
        yield f"Every deal is led by {led_by}."
        return
    deals = "The first deal is"
    if ruleset.lowest_lead_every:
        second, third = 1 + ruleset.lowest_lead_every, 1 + 2 * ruleset.lowest_lead_every
        deals = f"Deals 1, {second}, {third} and so on are"
    decides = {"lowest": "the lowest card decides", "random": "one is drawn"}
    after = f" after a deal that nobody won, {decides.get(ruleset.first_lead, 'that card decides')}."
    after = after if ruleset.lead == "winner" else ""
    led = f"{deals} led by {led_by}, every other one by the {ruleset.lead} of the last deal"
    yield f"{led};{after}" if after else f"{led}."


def _must_include(ruleset: "Ruleset") -> Iterator[str]:
    if ruleset.first_lead == "random":
        return
    card = "the lowest card" if ruleset.first_lead == "lowest" else ruleset.first_lead
    how = {
        "alone": "must lead it alone, as a single card",
        True: "must play it in that lead, alone or in a combination",
        False: "need not play it in that lead",
    }[ruleset.lead_includes_lowest]
    yield f"Whoever leads by {card} {how}."


def _first_briefly(ruleset: "Ruleset") -> Iterator[str]:
    if ruleset.first_lead == "random":
        yield "the first lead is drawn" if ruleset.lead != "lowest" else "leads are drawn"
    elif ruleset.first_lead != "lowest":
        yield f"{ruleset.first_lead} leads"


SECTIONS = {"Lead": Section((_leader, _must_include), ("lead", _first_briefly, "lead_includes_lowest"))}
