"""The pack: how many there are, which cards they have, and how these rank."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from annotated_types import Interval

from referee.cards import JOKER, JOKERS, LECTIO_RANKS, RANK_SETS, SUITS, card_index, card_text
from referee.errors import CardError
from referee.reading.validation import short
from referee.ruleset.annotations import Fields, Flag, Step, Whole, distinct
from referee.ruleset.axis import Axis, Numbers, Section
from referee.ruleset.words import counted, listed, number

if TYPE_CHECKING:
    from referee.ruleset.model import Ruleset

MOST_DECKS = 4

MOST_RANKS = len(LECTIO_RANKS)

SUIT_NAMES = {"D": "diamonds", "C": "clubs", "H": "hearts", "S": "spades"}

JOKER_NAMES = {"BJ": "black joker", "RJ": "red joker"}


def _ranks(value: object, _: Fields) -> tuple[str, ...]:
    if isinstance(value, list | tuple):
        for ranks in RANK_SETS:
            if tuple(value) == ranks:
                return ranks
    sets = " or ".join(" ".join(ranks) for ranks in RANK_SETS)
    raise ValueError(f"must be a list of texts, {sets}, not {short(value)}")


def _all_suits(value: Sequence[str], _: Fields) -> Sequence[str]:
    if len(distinct(value, _)) != len(SUITS):
        raise ValueError(f"must hold each of {' '.join(SUITS)} once, not {short(list(value))}")
    return value


def _removed_cards(value: Sequence[str], before: Fields) -> Sequence[str]:
    ranks: Sequence[str] = before.get("ranks", ())
    if not ranks:
        return value
    try:
        cards = sorted([card_index(text, ranks) for text in value])
    except CardError as error:
        raise ValueError(f"has {error}") from None
    if cards and cards[-1] >= len(ranks) * len(SUITS):
        raise ValueError(f"cannot have {card_text(cards[-1], ranks)}: set 'jokers' instead")
    return distinct(tuple(card_text(card, ranks) for card in cards), before)


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Pack:
    """The fields on the pack."""

    __slots__ = ()

    decks: Annotated[Whole, Interval(ge=1, le=MOST_DECKS)]
    """Packs shuffled together, 1 to 4; identical cards are equal, and equal never beats."""
    ranks: Annotated[tuple[str, ...], Step(_ranks, "instead", {"enum": [list(ranks) for ranks in RANK_SETS]})]
    """The ranks, low to high: the standard 13 or Lectio's 15."""
    suits: Annotated[tuple[Literal["D", "C", "H", "S"], ...], Step(_all_suits, "after")]
    """The four suits, low to high."""
    equal_suits: Flag
    """Whether suits do not part equal ranks in play; ``suits`` then only orders cards around the play."""
    jokers: Annotated[Whole, Interval(ge=0, le=len(JOKERS))]
    """Jokers in each pack, 0 to 2: the highest rank, of no suit and in no sequence; one is the red one."""
    removed_cards: Annotated[tuple[str, ...], Step(_removed_cards, "after")]
    """The cards taken out of each pack, such as ``3C``, in canonical order."""

    @property
    def rank_names(self) -> tuple[str, ...]:
        """The ranks, low to high, and "joker" if there are any."""
        return (*self.ranks, JOKER) if self.jokers else self.ranks


def pack_size(ruleset: "Ruleset") -> int:
    """Return the number of cards in all packs."""
    return (len(ruleset.ranks) * 4 - len(ruleset.removed_cards) + ruleset.jokers) * ruleset.decks


def cards_held(ruleset: "Ruleset", rank: str) -> int:
    """Return how many cards of a rank all packs have together."""
    if rank == JOKER:
        return ruleset.decks * ruleset.jokers
    return ruleset.decks * sum(rank + suit not in ruleset.removed_cards for suit in SUITS)


def ranks_held(ruleset: "Ruleset", cards: int = 1) -> tuple[str, ...]:
    """Return the ranks, low to high and without that of the jokers, of which the packs have so many cards."""
    return tuple([rank for rank in ruleset.ranks if cards_held(ruleset, rank) >= cards])


def rising(ruleset: "Ruleset") -> list[str]:
    """Return the cards of one pack, as texts, from the lowest to the highest."""
    cards = [rank + suit for rank in ruleset.ranks for suit in ruleset.suits]
    jokers = JOKERS[len(JOKERS) - ruleset.jokers :]
    return [*(card for card in cards if card not in ruleset.removed_cards), *jokers]


def _encode_removed(ruleset: "Ruleset") -> Numbers:
    removed = [card[:-1] for card in ruleset.removed_cards]
    ranks = dict(enumerate(ruleset.ranks))
    return [
        (f"removed_cards.{place}", removed.count(ranks.get(place, "")) / 4) for place in range(MOST_RANKS)
    ]


AXES = {
    "decks": Axis(bound=("max_packs", "pack"), scale=MOST_DECKS),
    "ranks": Axis(encode=lambda ruleset: [("ranks", len(ruleset.ranks) / MOST_RANKS)]),
    "suits": Axis(
        encode=lambda ruleset: [(f"suits.{suit}", ruleset.suits.index(suit) / 3) for suit in SUIT_NAMES]
    ),
    "equal_suits": Axis(
        words={
            True: "In play, suits do not count: cards of one rank are equal. Their order only tells which "
            "card is the lowest or the highest where a rule needs one."
        }
    ),
    "jokers": Axis(scale=len(JOKERS)),
    "removed_cards": Axis(encode=_encode_removed),
}


def _packs(ruleset: "Ruleset") -> Iterator[str]:
    size = pack_size(ruleset) // ruleset.decks
    pieces = "tiles" if "15" in ruleset.ranks else "cards"
    if ruleset.decks == 1:
        yield f"One pack of {size} {pieces} is used."
    else:
        many = number(ruleset.decks).capitalize()
        yield f"{many} packs of {size} {pieces} are shuffled together; two of the same card are equal."
    removed = ruleset.removed_cards
    whole = [rank for rank in ruleset.ranks if all(rank + suit in removed for suit in SUIT_NAMES)]
    parts = [f"every {rank}" for rank in whole] + [card for card in removed if card[:-1] not in whole]
    if parts:
        yield f"Of each pack, {listed(parts)} {'is' if len(parts) == 1 else 'are'} taken out."


def _ranking(ruleset: "Ruleset") -> Iterator[str]:
    suits = listed([SUIT_NAMES[suit] for suit in ruleset.suits])
    yield f"The ranks are, from low to high, {' '.join(ruleset.ranks)}, and the suits {suits}."
    names = [f"the {JOKER_NAMES[joker]} ({joker})" for joker in rising(ruleset) if joker in JOKER_NAMES]
    if names:
        verb, rank = ("is", "It is a rank of its") if len(names) == 1 else ("are", "They are a rank of their")
        yield f"Above all of these {verb} {listed(names)}."
        yield f"{rank} own, of no suit, and part of no sequence and no flush."


def _ends(ruleset: "Ruleset") -> Iterator[str]:
    lowest, *_, highest = rising(ruleset)
    yield f"So {lowest} is the lowest card and {highest} the highest."


def _briefly(ruleset: "Ruleset") -> Iterator[str]:
    if ruleset.decks > 1:
        yield f"{number(ruleset.decks)} packs"
    if ruleset.jokers:
        yield f"{counted(ruleset.jokers, 'joker')} in a pack"
    if ruleset.removed_cards:
        yield f"packs of {pack_size(ruleset) // ruleset.decks}"
    if ruleset.equal_suits:
        yield "suits are equal"
    elif ruleset.suits != ("D", "C", "H", "S"):
        yield f"suits from {SUIT_NAMES[ruleset.suits[0]]} up to {SUIT_NAMES[ruleset.suits[-1]]}"


SECTIONS = {"Cards": Section((_packs, _ranking, "equal_suits", _ends), (_briefly,))}
