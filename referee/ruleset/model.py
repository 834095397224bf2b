"""A ruleset as a value: one variant of Big Two, with a field for each of its dimensions.

The fields are those of the published ruleset object (docs/rulesets.md), with the same names, values and
meanings. Only values of this class returned by ``referee.ruleset.load`` are sure to be valid.
"""

import json
from dataclasses import dataclass, fields
from functools import lru_cache
from hashlib import sha256
from typing import Annotated, ClassVar, Literal

from annotated_types import Interval

from referee.cards import JOKER
from referee.ruleset.annotations import CONFIG
from referee.ruleset.bombs import BeatenByBombs, Bombs
from referee.ruleset.fields import (
    LARGEST,
    BracketStart,
    CardPoints,
    Decks,
    FirstLead,
    FiveCardKinds,
    Flag,
    HandSize,
    HonourName,
    InstantWins,
    Jokers,
    Kinds,
    LastCards,
    LeadIncludes,
    Name,
    Points,
    Positive,
    Ranks,
    RemovedCards,
    RunOrder,
    Straights,
    Suits,
    Target,
    Whole,
    each_once,
    null_by_name,
    rising,
)


@dataclass(frozen=True, slots=True)
class Bracket:
    """What a number of cards left costs: a factor, or a fixed amount instead of the points."""

    __pydantic_config__: ClassVar = CONFIG

    start: BracketStart
    """The fewest cards left that the bracket applies to, or ``all``: those of a seat that has played none
    (``from`` in the object)."""
    times: Positive | None = None
    """The factor on the card points; None if ``points`` is given."""
    points: Points | None = None
    """The fixed amount; None if ``times`` is given."""

    def __post_init__(self) -> None:
        if (self.times is None) == (self.points is None):
            raise ValueError("must hold 'from' and either 'times' or 'points'")

    def to_object(self) -> dict[str, object]:
        """Return the bracket as in the ruleset object."""
        if self.times is None:
            return {"from": self.start, "points": self.points}
        return {"from": self.start, "times": self.times}


@dataclass(frozen=True, slots=True)
class Honour:
    """What an honour does to penalty points: a factor, or points on top."""

    __pydantic_config__: ClassVar = CONFIG

    honour: HonourName
    """``quads``, ``straight_flush``, ``twos`` (any number of them) or ``top_card`` (the highest card)."""
    times: Annotated[Whole, Interval(ge=2, le=LARGEST)] | None = None
    """The factor; None if ``points`` is given."""
    points: Positive | None = None
    """The points on top; None if ``times`` is given."""

    def __post_init__(self) -> None:
        if (self.times is None) == (self.points is None):
            raise ValueError("must hold 'honour' and either 'times' or 'points'")

    def to_object(self) -> dict[str, object]:
        """Return the honour as in the ruleset object."""
        if self.times is None:
            return {"honour": self.honour, "points": self.points}
        return {"honour": self.honour, "times": self.times}


@dataclass(frozen=True, slots=True)
class Bonuses:
    """Points for plays that nobody beat and for the winner."""

    __pydantic_config__: ClassVar = CONFIG

    quads: Points
    """For four of a kind (bare or with a card) that nobody beat."""
    straight_flush: Points
    """For a straight flush of any form that nobody beat."""
    four_twos: Points
    """For four twos that nobody beat, instead of ``quads``."""
    final_times: Points
    """Factor on the three bonuses above if the play ends the deal."""
    winner: Points
    """For the winner, unless the final play holds twos."""
    winner_per_two: Points
    """For the winner, for every two in the final play, instead of ``winner``."""

    def to_object(self) -> dict[str, object]:
        """Return the bonuses as in the ruleset object."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True, slots=True)
class SessionEnd:
    """When a session ends: at the first of these, of which at least one is given."""

    __pydantic_config__: ClassVar = CONFIG

    deals: Positive | None = None
    """After this many deals; None for no such limit."""
    target: Target | None = None
    """At a score of at least this if above 0, of at most this if below; None for no target."""
    chips: Positive | None = None
    """When a score has fallen to minus this; None for unlimited chips."""

    def __post_init__(self) -> None:
        if self.deals is None and self.target is None and self.chips is None:
            raise ValueError("must have at least one of deals, target and chips")

    def to_object(self) -> dict[str, object]:
        """Return the session's end as in the ruleset object."""
        return {"deals": self.deals, "target": self.target, "chips": self.chips}


@dataclass(frozen=True, slots=True)
class Ruleset:
    """One variant of Big Two."""

    __pydantic_config__: ClassVar = CONFIG

    name: Name
    """The variant's name."""
    version: Positive
    """The version of the variant under this name, from 1."""
    decks: Decks
    """Packs shuffled together, 1 to 4; identical cards are equal, and equal never beats."""
    ranks: Ranks
    """The ranks, low to high: the standard 13 or Lectio's 15."""
    suits: Suits
    """The four suits, low to high."""
    equal_suits: Flag
    """Whether suits do not part equal ranks in play; ``suits`` then only orders cards around the play."""
    jokers: Jokers
    """Jokers in each pack, 0 to 2: the highest rank, of no suit and in no sequence; one is the red one."""
    removed_cards: RemovedCards
    """The cards taken out of each pack, such as ``3C``, in canonical order."""
    players: Annotated[Whole, Interval(ge=2, le=8)]
    """Seats at the table, 2 to 8."""
    partners: Literal["none", "opposite"]
    """``none``, or ``opposite``: of four players, seats 0 and 2 play together against 1 and 3."""
    hand_size: HandSize
    """Cards dealt to each seat, or ``all``: the whole pack, extra cards to the first after the dealer."""
    dealer: Literal["rotate", "winner", "loser"]
    """Who deals next: ``rotate``, or the ``winner`` or ``loser`` of the last deal."""
    leftover: Literal["unused", "to_lowest", "stock"]
    """Cards not dealt: ``unused``, ``to_lowest`` (to the holder of the lowest card) or the ``stock``."""
    leftover_shown: Flag
    """Whether cards that go ``to_lowest`` are seen by all."""
    draw_on_pass: Literal["none", "one", "as_needed"]
    """Cards drawn with a pass: ``none``, ``one``, or ``as_needed`` (as many as the play to beat has)."""
    restock: Flag
    """Whether the finished tricks are shuffled and become the stock when that is empty."""
    exchange: Literal["none", "loser_to_winner"]
    """``none``, or ``loser_to_winner``: the loser's highest card for one that the winner chooses."""
    redeal_four_twos: Flag
    """Whether the cards are dealt again if a hand has the twos of all suits."""
    dragon: Literal["none", "wins"]
    """``none``, or ``wins``: a dealt hand with every rank wins at once."""
    instant_wins: InstantWins
    """Other dealt hands that win at once, weakest first; a dragon that wins is above them."""
    instant_wins_compete: Flag
    """Whether of two hands that win at once the stronger wins; else the first after the dealer does."""
    instant_win_penalty: Annotated[Positive | None, null_by_name]
    """What each of the others then has as penalty points; None for those of the hand as dealt."""
    direction: Literal["clockwise", "anticlockwise", "alternating"]
    """Order of play: ``clockwise``, ``anticlockwise``, or ``alternating`` deal by deal."""
    lead: Literal["lowest", "winner", "loser"]
    """Who leads a deal: the holder of the ``lowest`` card, or the last deal's ``winner`` or ``loser``."""
    first_lead: FirstLead
    """Where the ``lowest`` card decides who leads, its holder; or the holder of a card such as ``3S``, which
    then stands for the lowest wherever leads speak of it; or a seat drawn from the seed (``random``)."""
    lowest_lead_every: Annotated[Whole, Interval(ge=0, le=LARGEST)]
    """With ``winner`` or ``loser``: deals 1, N+1, 2N+1 … are led by the lowest card; 0 for the first only."""
    lead_includes_lowest: LeadIncludes
    """Whether a lead chosen by the lowest card must contain that card, or even be it ``alone``."""
    plays: Kinds
    """The kinds of combinations that may be played."""
    five_card_order: FiveCardKinds
    """The kinds of five cards in ``plays``, weakest first; ``royal_flush`` may be a kind of its own."""
    kinds_compete: Flag
    """Whether five cards of a stronger kind beat five of a weaker kind."""
    two_pair_order: Literal["top_then_suit", "ranks_then_suit"]
    """How two pairs compare: by the higher pair and its suit, or by the ranks of both, then that suit."""
    straights: Straights
    """The legal sequences in levels of equals, weakest level first; each a text of five ranks."""
    straight_suit_of: Literal["top", "highest"]
    """Whose suit decides between equal straights: the ``top`` of the sequence or the ``highest`` in rank."""
    flush_order: Literal["suit_then_top", "top_then_suit", "ranks_then_suit"]
    """How flushes compare: ``suit_then_top``, ``top_then_suit`` or ``ranks_then_suit``."""
    run_order: RunOrder
    """Which ranks are consecutive in runs, and which end is higher: a named order of ``straights``, or one in
    words: the runs that begin with ``A`` or ``2`` or end in ``T`` (ace) or ``J`` (two), and those between."""
    run_from: Annotated[Whole, Interval(ge=3, le=12)]
    """The fewest cards in a ``run``, 3 to 12; not five where ``plays`` has straights or flushes."""
    pair_run_from: Annotated[Whole, Interval(ge=2, le=12)]
    """The fewest pairs in a ``pair_run``, 2 to 12."""
    bombs: Bombs
    """Plays that beat other kinds and sizes: kinds, ``pair_run N`` (N or more pairs), ranks (``A A A``)."""
    bombs_beat: BeatenByBombs
    """What bombs beat: ``any`` play that is no bomb, ``twos`` only, or by bomb the list of what it beats."""
    bomb_order: Bombs
    """The bombs that beat any play, weakest first; empty for the order of ``bombs``."""
    bombs_out_of_turn: Flag
    """Whether any seat may bomb a play before the next turn."""
    pass_locks: Flag
    """Whether a seat that has passed is out until the trick ends."""
    beat_own: Flag
    """Whether the last to play may beat its own play when all others have passed."""
    announce_at: Annotated[Whole, Interval(ge=0, le=2)]
    """Number of cards left, 0 to 2, from which a seat's count is announced; 0 for never."""
    guard: Literal["none", "must", "liable"]
    """The duty of a seat that plays before one with a single card left: ``none``, ``must`` or ``liable``."""
    last_top_card: Literal["allowed", "cannot_win", "loses"]
    """The highest card as the last: ``allowed``, it ``cannot_win``, or the seat left with it ``loses``."""
    last_cards: LastCards
    """What ``last_top_card`` is about: the ``top`` card, or any card of a rank (``2``) or a suit (``S``)."""
    deal_ends: Literal["first_out", "last_holder"]
    """When a deal ends: ``first_out``, or ``last_holder`` (one seat still holds cards)."""
    after_out: Literal["beatable", "next_leads"]
    """With ``last_holder``, a seat's last play: ``beatable`` as any other, or ``next_leads`` at once."""
    card_points: CardPoints
    """Points for each card left, by rank position in ``ranks``; the last are those of a joker, if any."""
    multipliers: Annotated[tuple[Bracket, ...], rising]
    """Brackets by cards left, rising; the highest that applies counts."""
    multiplier_for: Literal["all", "leader"]
    """Whom brackets apply to: ``all``, or only the ``leader`` of the deal."""
    double_per_two_left: Flag
    """Whether every two left in a hand doubles its penalty."""
    honours_left: Annotated[tuple[Honour, ...], each_once]
    """What honours left in a hand do to its penalty, each counted once."""
    final_twos: Literal["none", "double_if_all", "double_each"]
    """``none``, ``double_if_all`` if the winning play is all twos, or ``double_each`` for every two in it."""
    final_honours: Annotated[tuple[Honour, ...], each_once]
    """What honours in the winning play do to the penalties of the others, or to the winner's fixed point."""
    settle: Literal[
        "penalty",
        "pairwise",
        "winner_collects",
        "better_collect",
        "winner_scores",
        "fixed",
        "places",
        "loser_only",
        "difference",
        "last_loses",
        "wins",
    ]
    """How penalties become points, such as ``penalty`` or ``pairwise``."""
    place_points: tuple[Points, ...]
    """With settle ``places``: points by order of going out, one for each seat; else empty."""
    bonuses: Annotated[Bonuses | None, null_by_name]
    """Points on top of the settlement; None for none."""
    session: SessionEnd
    """When a session ends."""

    def to_object(self) -> dict[str, object]:
        """Return the resolved ruleset object: every field, as JSON values."""
        return {field.name: self._plain(field.name) for field in fields(self)}

    def _plain(self, name: str) -> object:
        value = getattr(self, name)
        if name == "card_points":
            return dict(zip(self.rank_names, self.card_points, strict=True))
        if name == "bombs_beat" and self.bombs_beat != "any":
            return {bomb: list(beaten) for bomb, beaten in self.bombs_beat}
        return plain(value)

    @property
    def rank_names(self) -> tuple[str, ...]:
        """The ranks, low to high, and "joker" if there are any."""
        return (*self.ranks, JOKER) if self.jokers else self.ranks

    @property
    def hash(self) -> str:
        """The SHA-256, in hex, of what sets it apart from the default preset (docs/formats.md).

        So a field that is added later, with the value in the default preset that it had unsaid, changes none.
        """
        return _content_hash(self)

    @property
    def label(self) -> str:
        """Name and version, such as ``hong-kong@1``."""
        return f"{self.name}@{self.version}"


FIELD_NAMES = tuple(field.name for field in fields(Ruleset))
"""Every field of a ruleset, in the order of the object."""


def plain(value: object) -> object:
    """Return a field's value as JSON values."""
    if isinstance(value, tuple):
        return [plain(part) for part in value]
    return value.to_object() if isinstance(value, Bracket | Honour | Bonuses | SessionEnd) else value


@lru_cache(maxsize=256)
def _content_hash(ruleset: Ruleset) -> str:
    from referee.ruleset.load import DEFAULT, load_ruleset  # which make rulesets of this module

    default = load_ruleset(DEFAULT).to_object()
    fields = ruleset.to_object()
    content = {name: value for name, value in fields.items() if name == "name" or value != default[name]}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()
