"""A deal as a list of steps: what happened in each, what was legal, and how the table stood after it.

Cards are shown and spoken in the ruleset's order.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from referee.helpers.decompose import sort_hand
from referee.rules.plays import Rules
from referee.ruleset.axes.pack import JOKER_NAMES, SUIT_NAMES

Cards = tuple[str, ...]
"""Cards in text, such as ``3D``, in the order in which they are shown."""

_SPOKEN = {"T": "10", "J": "jack", "Q": "queen", "K": "king", "A": "ace"}


def in_order(rules: Rules, mask: int) -> Cards:
    """Return the cards of a mask, the lowest in the ruleset's order first."""
    return tuple(map(rules.text, sort_hand(rules, mask)))


def face(card: str) -> str:
    """Return the text in a card's corner: its rank, with 10 for a ten."""
    return "10" if card[:-1] == "T" else card[:-1]


def spoken_rank(rank: str) -> str:
    """Return a rank as it is spoken: ``king``, ``10``."""
    return _SPOKEN.get(rank, rank)


def spoken(card: str) -> str:
    """Return a card as it is spoken: ``3 of diamonds``, ``red joker``."""
    if card in JOKER_NAMES:
        return JOKER_NAMES[card]
    return f"{spoken_rank(card[:-1])} of {SUIT_NAMES[card[-1]]}"


MOST_LISTED = 16
"""The most legal plays that a step lists; of more it lists the weakest, and counts them all."""


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
"""A sentence: pieces of text and cards."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a seat that had to decide."""

    count: int
    """The number of legal plays, without passing."""
    listed: tuple[Cards, ...]
    """The weakest of them, at most ``MOST_LISTED``."""
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
    """A seat that was asked for a bomb out of turn, and the time that it took to answer."""

    seat: int
    ms: int
    credit_ms: int


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that happened at a table, and the state of the table after it."""

    number: int
    """The step's number, from 0."""
    kind: Kind
    seat: int | None
    """The seat that acted; None for nobody in particular."""
    hands: tuple[Cards, ...]
    """The hands by seat, after the step."""
    cards: Cards = ()
    """The cards that were played, given, returned or taken."""
    drawn: Cards = ()
    """The cards drawn with a pass."""
    combination: str = ""
    """The kind of play, such as ``pair``; empty for other steps."""
    trick: int = 0
    """The trick that it belongs to, from 1; 0 before the first."""
    options: Options | None = None
    """The seat's options; None if it had nothing to decide."""
    forced: bool = False
    """Whether there was no choice, so that nobody was asked."""
    folded: bool = False
    """Whether a list may leave it out: a forced pass, but not if it begins a trick, draws cards or follows
    a fault."""
    bomb: bool = False
    """Whether its cards are a bomb, in turn or out of turn."""
    ms: int | None = None
    """Milliseconds that the decision took; None if nobody was asked, or there were no clocks."""
    credit_ms: int = 0
    """Milliseconds credited to the seat for the network."""
    faults: tuple[Fault, ...] = ()
    """Decisions that the referee made here."""
    played_for: str = ""
    """What acted for a bot that had forfeited, ``default_action`` or ``stand_in``; empty if
    the bot itself acted."""
    answers: tuple[Answer, ...] = ()
    """The seats that were asked before it for a bomb out of turn."""
    asked: tuple[int, ...] = ()
    """The seats that owe a decision after it."""
    out: tuple[int, ...] = ()
    """Seats without cards after it, in the order of going out."""
    costs: tuple[int, ...] = ()
    """The penalty for the cards held after it, by seat; empty if the rules have none."""
    won_by: int | None = None
    """The seat that won a trick with it; None if no trick ended."""
    points: tuple[int, ...] = ()
    """In the last step, the points by seat; else empty."""
    knows: tuple[int, ...] | None = None
    """The seats that see its cards, including cards drawn; None for all."""
    words: Words = ()
    """What happened, as a sentence."""
    hidden_words: Words = ()
    """The same for those who do not know the cards; empty if everybody does."""


@dataclass(frozen=True, slots=True)
class Replay:
    """A deal, step by step."""

    record: Mapping[str, object]
    """The record of the deal."""
    ruleset: str
    """Name and version, as ``hong-kong@1``."""
    seats: tuple[str, ...]
    """The bots by seat, as ``owner/bot@version``."""
    short: tuple[str, ...]
    """The bots by seat, by the shortest names that tell them apart."""
    clockwise: bool
    """Whether play goes clockwise."""
    dealer: int
    points: tuple[int, ...]
    """The result: points by seat."""
    steps: tuple[Step, ...] = field(repr=False)
    """The steps, from the dealt cards to the points."""

    @property
    def last(self) -> int:
        """Return the number of the last step."""
        return len(self.steps) - 1
