"""A deal as a list of steps: what happened in each, what was legal, and how the table stood after it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from arena.replays.faces import Cards

MOST_LISTED = 16
"""Legal plays that a step lists; of more it has the weakest, and their number."""


class Kind(StrEnum):
    """What happens in a step."""

    DEALT = "dealt"
    """The cards are dealt: the first step."""
    TAKE = "take"
    """A seat takes the cards left over."""
    GIVE = "give"
    """The exchange: the loser's highest card goes to the winner."""
    RETURN = "return"
    """The exchange: the winner returns a card of its choice."""
    PLAY = "play"
    PASS = "pass"
    BOMB = "bomb"
    """A bomb out of turn."""
    END = "end"
    """The deal is over: the last step."""


Words = tuple[str | Cards, ...]
"""A sentence: text, and cards in it."""


@dataclass(frozen=True, slots=True)
class Options:
    """What a seat could choose from."""

    count: int
    """Plays that were legal; a pass is not counted."""
    listed: tuple[Cards, ...]
    """The weakest of them."""
    may_pass: bool
    """Whether it could pass."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A decision that the referee made for a seat."""

    seat: int
    kind: str
    """``timeout``, ``illegal`` and so on (docs/formats.md)."""
    bombing: bool = False
    """Whether the seat was asked for a bomb out of turn, not in turn."""
    ms: int | None = None
    credit_ms: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """A seat that was asked for a bomb out of turn, and the time that it took."""

    seat: int
    ms: int
    credit_ms: int


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that happened at a table, and how it stood after it."""

    number: int
    """From 0."""
    kind: Kind
    seat: int | None
    """Who acted; None: nobody in particular."""
    hands: tuple[Cards, ...]
    """By seat, after the step."""
    cards: Cards = ()
    """Played, given, returned or taken."""
    drawn: Cards = ()
    """Drawn at a pass."""
    combination: str = ""
    """What kind of play it is, as ``pair``; empty for other steps."""
    trick: int = 0
    """The trick that it belongs to, from 1; 0 before the first."""
    options: Options | None = None
    """What the seat could choose from; None: it was not its decision."""
    forced: bool = False
    """Whether there was nothing to choose: nobody was asked."""
    ms: int | None = None
    """Milliseconds of the decision; None: nobody was asked, or there were no clocks."""
    credit_ms: int = 0
    """What it was credited for the network."""
    faults: tuple[Fault, ...] = ()
    """Decisions that the referee made here."""
    played_for: str = ""
    """What acted in place of a bot that had forfeited, ``default_action`` or ``stand_in``; empty: the bot."""
    answers: tuple[Answer, ...] = ()
    """Who was asked before it for a bomb out of turn."""
    asked: tuple[int, ...] = ()
    """Who owes a decision after it."""
    out: tuple[int, ...] = ()
    """Seats without cards after it, in the order of going out."""
    costs: tuple[int, ...] = ()
    """By seat, the penalty for the cards held after it; empty where the rules have none."""
    won_by: int | None = None
    """Who won a trick that ended with it."""
    points: tuple[int, ...] = ()
    """By seat, in the last step; else empty."""
    knows: tuple[int, ...] | None = None
    """The seats that see its cards, those drawn included; None: all."""
    words: Words = ()
    """What happened."""
    hidden_words: Words = ()
    """The same for those who do not know the cards; empty where all do."""

    @property
    def is_decision(self) -> bool:
        """Whether a seat chose something."""
        return self.options is not None


@dataclass(frozen=True, slots=True)
class Replay:
    """A deal, step by step."""

    record: Mapping[str, object]
    """The deal's record."""
    ruleset: str
    """Name and version, as ``hong-kong@1``."""
    seats: tuple[str, ...]
    """Who sat where, as ``owner/bot@version``."""
    short: tuple[str, ...]
    """The same as short as it can be told apart."""
    clockwise: bool
    """The order of play."""
    dealer: int
    points: tuple[int, ...]
    """By seat: the result."""
    steps: tuple[Step, ...] = field(repr=False)
    """From the cards as dealt to the points."""

    @property
    def last(self) -> int:
        """The number of the last step."""
        return len(self.steps) - 1
