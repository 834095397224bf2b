"""Turns and tricks, the duties of those who sit before a last card, and the end of a deal."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from annotated_types import Interval

from referee.cards import LECTIO_RANKS, STANDARD_RANKS, SUITS
from referee.reading.validation import short
from referee.ruleset.annotations import Fields, Flag, Step, Whole
from referee.ruleset.axes.kinds import showdown
from referee.ruleset.axes.pack import SUIT_NAMES, ranks_held, rising
from referee.ruleset.axis import Axis, Section, place_in

if TYPE_CHECKING:
    from referee.ruleset.model import Ruleset


def _last_cards(value: object, before: Fields) -> str:
    ranks = before.get("ranks", STANDARD_RANKS)
    if isinstance(value, str) and value in ("top", *ranks, *SUITS):
        return value
    raise ValueError(f"must be 'top', a rank such as '2' or a suit such as 'S', not {short(value)}")


_LAST_CARDS = {"enum": ["top", *SUITS, *dict.fromkeys(STANDARD_RANKS + LECTIO_RANKS)]}


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Turns:
    """The fields on turns, last cards and the end of a deal."""

    __slots__ = ()

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
    last_cards: Annotated[str, Step(_last_cards, "instead", _LAST_CARDS)]
    """What ``last_top_card`` is about: the ``top`` card, or any card of a rank (``2``) or a suit (``S``)."""
    deal_ends: Literal["first_out", "last_holder"]
    """When a deal ends: ``first_out``, or ``last_holder`` (one seat still holds cards)."""
    after_out: Literal["beatable", "next_leads"]
    """With ``last_holder``, a seat's last play: ``beatable`` as any other, or ``next_leads`` at once."""


def last_card(ruleset: "Ruleset") -> str:
    """Return what the rules about last cards concern: a card, or any of a rank or suit, with an article."""
    if ruleset.last_cards == "top":
        return rising(ruleset)[-1]
    if ruleset.last_cards in SUIT_NAMES:
        return f"a {SUIT_NAMES[ruleset.last_cards].removesuffix('s')}"
    article = "an" if ruleset.last_cards in ("8", "11", "A") else "a"
    return f"{article} {ruleset.last_cards}"


def _last_conflicts(ruleset: "Ruleset") -> Iterator[str]:
    last = ruleset.last_cards
    if last in ruleset.ranks and last not in ranks_held(ruleset):
        yield f"is {last}, and every {last} is removed"
    if ruleset.last_top_card != "allowed" and last == "top" and ruleset.equal_suits and not ruleset.jokers:
        yield "cannot be top with equal_suits, as no card is the highest"


AXES = {
    "pass_locks": Axis(
        False,
        idle=lambda ruleset: ruleset.players == 2,
        words={
            True: "Whoever has passed is out until the trick ends.",
            False: "Whoever has passed may play again at a later turn of the same trick.",
        },
        brief={True: "who passes is out of the trick"},
    ),
    "beat_own": Axis(
        False,
        turn="beat_own",
        words={
            True: "When all others have passed, the last to play may beat that play too, while the others "
            "stay out; passing instead ends the trick, and the same player leads the next.",
            False: "When all others have passed, the trick ends, and whoever played last leads the next one.",
        },
        brief={True: "one may beat one’s own play"},
    ),
    "announce_at": Axis(
        words={
            1: "Whoever has only one card left must announce it.",
            2: "Whoever has only two cards left, or one, must announce it.",
        }
    ),
    "guard": Axis(
        "none",
        idle=lambda ruleset: (  # where nobody else has points to lose
            ruleset.guard == "liable"
            and (ruleset.players == 2 or ruleset.settle in ("winner_scores", "fixed", "wins"))
        ),
        never=(("liable", "deal_ends", "last_holder"), ("liable", "settle", "places")),
        words={
            "must": "When the next player has one card left, a lead must have two or more cards or be the "
            "highest card, whichever the leader likes; and a single card must be beaten with the highest "
            "card if that beats it (or with a bomb), else passed.",
            "liable": "When the next player has one card left there is a precaution to take: to lead two or "
            "more cards if that is possible, else the highest card; and on a single card to play the highest "
            "card if it beats (or a bomb), else to pass. It may be ignored, but if that next player then "
            "goes out with a single card at once, whoever ignored it pays the losses of all.",
        },
        brief=dict.fromkeys(("must", "liable"), "precautions against a last card"),
    ),
    "last_top_card": Axis(never=(("loses", "deal_ends", "last_holder"),)),
    "last_cards": Axis(
        "top",
        needs=lambda ruleset: ruleset.last_top_card != "allowed",
        refusal="needs last_top_card: cannot_win or loses",
        conflicts=_last_conflicts,
        encode=lambda ruleset: [
            ("last_cards.rank", place_in(ruleset.ranks, ruleset.last_cards)),
            ("last_cards.suit", place_in(ruleset.suits, ruleset.last_cards)),
        ],
    ),
    "deal_ends": Axis(
        "first_out",
        idle=lambda ruleset: ruleset.players == 2 and ruleset.settle not in ("places", "last_loses"),
        words={
            "first_out": "The deal ends as soon as somebody has played the last card, and that player wins "
            "it.",
            "last_holder": "Play goes on until only one player holds cards; the first to go out is the "
            "winner.",
        },
        brief={"last_holder": "played until one holds cards"},
    ),
    "after_out": Axis(
        "beatable",
        idle=lambda ruleset: ruleset.players == 2,
        needs=lambda ruleset: ruleset.deal_ends == "last_holder",
        refusal="next_leads needs deal_ends: last_holder",
        words={
            "beatable": "When the last play of a player who is out stands unbeaten, the next in order who "
            "holds cards leads.",
            "next_leads": "Nobody may beat the last play of a player who goes out: the trick ends there, and "
            "the next in order who holds cards leads.",
        },
    ),
}
"""``announce_at`` makes no difference to bots, but is never idle: it is a rule as people play the game."""


_TURN = "Whoever leads plays any combination; each in turn then beats the last play or passes."


def _drawing(ruleset: "Ruleset") -> Iterator[str]:
    if ruleset.draw_on_pass != "none":
        many = "one card" if ruleset.draw_on_pass == "one" else "as many cards as the play to beat has"
        yield f"Whoever passes draws {many} from the stock and may play from the next turn on."
        if ruleset.restock:
            yield (
                "When the stock is empty and a card is due, the finished tricks are shuffled and become the "
                "stock, at most ten times in a deal."
            )
        else:
            yield "When the stock is empty, play goes on without drawing."


def _last_top_card(ruleset: "Ruleset") -> Iterator[str]:
    card = last_card(ruleset)
    if ruleset.last_top_card == "cannot_win":
        yield (
            f"{card[0].upper()}{card[1:]} may not be played as a last, single card; whoever has nothing else "
            "passes, and a lead that cannot be made passes to the next player."
        )
        if ruleset.decks > 1 or ruleset.last_cards != "top":
            yield f"If all who hold cards hold just {card}, it may."
    elif ruleset.last_top_card == "loses":
        yield (
            f"Whoever is left with {card} alone ends the deal, which nobody wins, "
            "and scores as if no card had been played."
        )


def _last_top_briefly(ruleset: "Ruleset") -> Iterator[str]:
    if ruleset.last_top_card != "allowed":
        ends = {"cannot_win": "cannot go out alone", "loses": "left alone loses"}[ruleset.last_top_card]
        yield f"{last_card(ruleset)} {ends}"


def _loser(ruleset: "Ruleset") -> Iterator[str]:
    """Yield who is a deal's loser, if that matters for the next deal."""
    if "loser" not in (ruleset.lead, ruleset.dealer) and ruleset.exchange == "none":
        return
    if ruleset.deal_ends == "last_holder":
        yield "The winner of a deal is whoever goes out first, the loser whoever holds cards to the end."
        return
    yield (
        "The loser of a deal is whoever has the most cards left. Of several, each shows the best play that "
        "can be made of the cards left, most cards first, then the highest; the one whose play has the "
        "fewest cards, then the weakest, is the loser."
    )
    yield from showdown(ruleset)


SECTIONS = {
    "Turns": Section(
        (lambda _: [_TURN], "pass_locks", _drawing, "beat_own"),
        (
            "pass_locks",
            lambda ruleset: ["who passes draws"] if ruleset.draw_on_pass != "none" else [],
            "beat_own",
        ),
    ),
    "Last cards": Section(("announce_at", "guard", _last_top_card), ("guard", _last_top_briefly)),
    "End": Section(("deal_ends", "after_out"), ("deal_ends",)),
    "Loser": Section((_loser,)),
}
