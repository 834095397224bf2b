"""The values that fields of a ruleset take, and how to read those that are more than a type and a range.

Contradictions between fields are a matter for ``referee.ruleset.load``.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Literal, get_args

from annotated_types import Interval

from referee.cards import (
    JOKER,
    JOKERS,
    LECTIO_RANKS,
    RANK_SETS,
    STANDARD_RANKS,
    SUITS,
    card_index,
    card_text,
    meant_rank,
)
from referee.errors import CardError, Problem
from referee.reading.validation import Refused, first_of, shown, suggestion
from referee.ruleset.annotations import Exactly, Fields, Step
from referee.ruleset.straights import ORDER_NAMES, ORDER_PATTERN, StraightOrder, own_order, straight_order

if TYPE_CHECKING:
    from referee.ruleset.model import Bracket, Honour

FiveCardKind = Literal["two_pair", "straight", "flush", "full_house", "quads", "straight_flush"]

FIVE_CARD_KINDS: tuple[FiveCardKind, ...] = get_args(FiveCardKind)
"""The kinds of five cards, in the usual order."""

Kind = Literal[
    "single",
    "pair",
    "triple",
    "two_pair",
    "straight",
    "flush",
    "full_house",
    "quads",
    "straight_flush",
    "bare_quads",
    "bare_two_pair",
    "run",
    "suited_run",
    "pair_run",
    "triple_run",
    "triple_run_plus_pairs",
    "triple_plus_two_pairs",
    "dragon",
    "straight_flush_plus_two",
]

KINDS: tuple[Kind, ...] = get_args(Kind)
"""Every kind that ``plays`` may list."""

InstantWin = Literal[
    "four_twos",
    "six_pairs",
    "five_pairs_and_triple",
    "five_pair_run",
    "three_triple_run",
    "dragon_without_two",
]

INSTANT_WINS: tuple[InstantWin, ...] = get_args(InstantWin)
"""Every hand that ``instant_wins`` may list."""


def cards_needed(win: InstantWin, ranks: int) -> int:
    """Return how many cards a hand needs at least to win at once with what ``instant_wins`` names."""
    return _CARDS_NEEDED.get(win, ranks - 1)


_CARDS_NEEDED: Mapping[InstantWin, int] = {
    "four_twos": 4,
    "six_pairs": 12,
    "five_pairs_and_triple": 13,
    "five_pair_run": 10,
    "three_triple_run": 9,
}


HonourName = Literal["quads", "straight_flush", "twos", "top_card"]

HONOURS: tuple[HonourName, ...] = get_args(HonourName)
"""What ``honours_left`` and ``final_honours`` may list."""

LARGEST = 1_000_000
"""The largest absolute value in a ruleset; ``limits`` bounds what the values may add up to."""

MOST_DECKS = 4

MOST_CARDS = len(max(RANK_SETS, key=len)) * len(SUITS)
"""The most cards that may be dealt to a seat, so that what a hand can be played as stays listable."""


def _distinct(value: Sequence[str], _: Fields) -> Sequence[str]:
    for name in value:
        if value.count(name) > 1:
            raise ValueError(f"has {name!r} twice")
    return value


def _name(value: object, _: Fields) -> str:
    if not isinstance(value, str):
        raise ValueError(f"must be a text, not {shown(value)}")
    if not value.isprintable() or value != value.strip() or not 1 <= len(value) <= 80 or {*";@"} & {*value}:
        form = "1 to 80 printable characters, none of them ; or @, without blanks at the ends"
        raise ValueError(f"must be {form}, not {shown(value)}")
    return value


def _ranks(value: object, _: Fields) -> tuple[str, ...]:
    if isinstance(value, list | tuple):
        for ranks in RANK_SETS:
            if tuple(value) == ranks:
                return ranks
    sets = " or ".join(" ".join(ranks) for ranks in RANK_SETS)
    raise ValueError(f"must be a list of texts, {sets}, not {shown(value)}")


def _all_suits(value: Sequence[str], _: Fields) -> Sequence[str]:
    if len(_distinct(value, _)) != len(SUITS):
        raise ValueError(f"must hold each of {' '.join(SUITS)} once, not {shown(list(value))}")
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
    return _distinct(tuple(card_text(card, ranks) for card in cards), before)


def _hand_size(value: object, _: Fields) -> int | str:
    if value == "all" or (type(value) is int and 1 <= value <= MOST_CARDS):
        return value
    raise ValueError(f"must be a whole number from 1 to {MOST_CARDS}, or 'all', not {shown(value)}")


def _first_lead(value: object, before: Fields) -> str:
    ranks, suits = before.get("ranks", STANDARD_RANKS), before.get("suits", SUITS)
    if value == ranks[0] + suits[0]:
        return "lowest"  # the same rules have one spelling, as ratings are kept by content
    if value in ("lowest", "random") or _is_card(value, ranks):
        return str(value)
    raise ValueError(f"must be 'lowest', 'random' or a card such as '3S', not {shown(value)}")


def _is_card(value: object, ranks: Sequence[str]) -> bool:
    return isinstance(value, str) and value[:-1] in ranks and value[-1:] in SUITS


def _last_cards(value: object, before: Fields) -> str:
    ranks = before.get("ranks", STANDARD_RANKS)
    if isinstance(value, str) and value in ("top", *ranks, *SUITS):
        return value
    raise ValueError(f"must be 'top', a rank such as '2' or a suit such as 'S', not {shown(value)}")


def _lead_includes(value: object, _: Fields) -> bool | str:
    if isinstance(value, bool) or value == "alone":
        return value
    raise ValueError(f"must be true, false or 'alone', not {shown(value)}")


def _straights(value: object, before: Fields) -> StraightOrder:
    ranks = before.get("ranks")
    if isinstance(value, str):
        if value not in ORDER_NAMES:
            hint = suggestion(value, ORDER_NAMES)
            raise ValueError(f"must be one of {', '.join(ORDER_NAMES)}, not {shown(value)}{hint}")
        return straight_order(value, ranks or STANDARD_RANKS)
    levels = tuple(tuple(_sequence(sequence, ranks) for sequence in _items(level)) for level in _items(value))
    sets = [frozenset(sequence.split()) for level in levels for sequence in level]
    for level in levels:
        if not level:
            raise ValueError("has a level without sequences")
        for sequence in level:
            if sets.count(frozenset(sequence.split())) > 1:
                raise ValueError(f"has the ranks {sequence} twice")
    return levels


def _run_order(value: object, _: Fields) -> str:
    if value in ORDER_NAMES:
        return str(value)
    try:
        return own_order(value) if isinstance(value, str) else own_order("")
    except ValueError:
        hint = suggestion(value, ORDER_NAMES) if isinstance(value, str) else ""
        names = f"must be one of {', '.join(ORDER_NAMES)}, or an order in words such as 'A 2 3-T J'"
        raise ValueError(f"{names}, not {shown(value)}{hint}") from None


def _items(value: object) -> Sequence[object]:
    if not isinstance(value, list | tuple):
        raise ValueError(f"must be a list, not {shown(value)}")
    return value


def _sequence(value: object, ranks: Sequence[str] | None) -> str:
    parts = value.split() if isinstance(value, str) else []
    for part in parts:
        if ranks is not None and part not in ranks:
            hint = _rank_hint(part, ranks)
            raise ValueError(f"{shown(value)} holds {shown(part)}, which is not a rank{hint}")
    if len(parts) != 5 or len(set(parts)) != 5:
        raise ValueError(f"a sequence must be five different ranks in a text, not {shown(value)}")
    return " ".join(parts)


def _rank_hint(text: str, ranks: Sequence[str]) -> str:
    near = meant_rank(text, ranks)
    return f"; did you mean {near!r}?" if near else suggestion(text, ranks)


def _card_points(value: object, before: Fields) -> tuple[int, ...]:
    if not isinstance(value, Mapping):
        raise ValueError(f"must be an object, not {shown(value)}")
    ranks: Sequence[str] = before.get("ranks", ())
    if ranks and before.get("jokers"):
        value = {JOKER: value.get(ranks[-1]), **value}  # as much as a two unless it is given
        ranks = (*ranks, JOKER)
    unknown = [rank for rank in value if ranks and rank not in ranks]
    wrong = first_of(
        unknown,
        lambda rank: [Problem("", f"has the unknown entry {shown(rank)}{_rank_hint(str(rank), ranks)}")],
    )
    missing = [rank for rank in ranks if rank not in value]
    if missing:
        wrong.append(Problem("", f"must have the points of every rank, and lacks {' '.join(missing)}"))
    wrong += [
        Problem(f".{rank}", f"must be a whole number from {-LARGEST} to {LARGEST}, not {shown(value[rank])}")
        for rank in ranks
        if rank in value and not (type(value[rank]) is int and -LARGEST <= value[rank] <= LARGEST)
    ]
    if wrong:
        raise Refused(*wrong)
    return tuple(value[rank] for rank in ranks)


def _bracket_start(value: object, _: Fields) -> int | str:
    if value == "all" or (type(value) is int and 1 <= value <= LARGEST):
        return value
    raise ValueError(f"must be a whole number from 1 to {LARGEST}, or 'all', not {shown(value)}")


def _rising(value: "Sequence[Bracket]", _: Fields) -> "Sequence[Bracket]":
    starts = [bracket.start for bracket in value]
    numbers = [LARGEST + 1 if start == "all" else start for start in starts]
    if any(later <= earlier for earlier, later in pairwise(numbers)):
        raise ValueError(f"must rise by 'from', 'all' being the last, not {starts}")
    return value


def _each_once(value: "Sequence[Honour]", _: Fields) -> "Sequence[Honour]":
    _distinct([entry.honour for entry in value], _)
    return value


def _not_zero(value: int, _: Fields) -> int:
    if value == 0:
        raise ValueError("must not be 0")
    return value


def _null_by_name(value: object, _: Fields) -> object:
    return None if value == "none" else value


rising = Step(_rising, "after")
each_once = Step(_each_once, "after")
null_by_name = Step(_null_by_name, "before")
"""For fields that are ``"none"`` in a TOML file, which has no null."""

distinct_names = Step(_distinct, "after")
_levels = {"type": "array", "items": {"type": "array", "minItems": 1, "items": {"type": "string"}}}
_points = {"type": "integer", "minimum": -LARGEST, "maximum": LARGEST}

Whole = Annotated[int, Exactly()]
_points_by_rank = {
    "type": "object",
    "additionalProperties": _points,
    "propertyNames": {"enum": [*sorted({rank for ranks in RANK_SETS for rank in ranks}), JOKER]},
    "minProperties": len(STANDARD_RANKS),
}

Positive = Annotated[Whole, Interval(ge=1, le=LARGEST)]
BracketStart = Annotated[
    int | Literal["all"],
    Step(
        _bracket_start,
        "instead",
        {"anyOf": [{"type": "integer", "minimum": 1, "maximum": LARGEST}, {"const": "all"}]},
    ),
]
Points = Annotated[Whole, Interval(ge=-LARGEST, le=LARGEST)]
Flag = Annotated[bool, Exactly()]
Target = Annotated[Points, Step(_not_zero, "after")]
Name = Annotated[
    str, Step(_name, "instead", {"type": "string", "minLength": 1, "maxLength": 80, "pattern": "^[^;@]+$"})
]
Ranks = Annotated[tuple[str, ...], Step(_ranks, "instead", {"enum": [list(ranks) for ranks in RANK_SETS]})]
Suits = Annotated[tuple[Literal["D", "C", "H", "S"], ...], Step(_all_suits, "after")]
Decks = Annotated[Whole, Interval(ge=1, le=MOST_DECKS)]
Jokers = Annotated[Whole, Interval(ge=0, le=len(JOKERS))]
RemovedCards = Annotated[tuple[str, ...], Step(_removed_cards, "after")]
HandSize = Annotated[
    int | Literal["all"],
    Step(
        _hand_size,
        "instead",
        {"anyOf": [{"type": "integer", "minimum": 1, "maximum": MOST_CARDS}, {"const": "all"}]},
    ),
]
FirstLead = Annotated[
    str,
    Step(
        _first_lead,
        "instead",
        {"type": "string", "pattern": r"^(lowest|random|([3-9TJQKA2]|1[0-5]?)[DCHS])$"},
    ),
]
LastCards = Annotated[
    str,
    Step(_last_cards, "instead", {"enum": ["top", *SUITS, *dict.fromkeys(STANDARD_RANKS + LECTIO_RANKS)]}),
]
LeadIncludes = Annotated[
    bool | Literal["alone"],
    Step(_lead_includes, "instead", {"anyOf": [{"type": "boolean"}, {"const": "alone"}]}),
]
Kinds = Annotated[tuple[Kind, ...], distinct_names]
FiveCardKinds = Annotated[tuple[FiveCardKind | Literal["royal_flush"], ...], distinct_names]
InstantWins = Annotated[tuple[InstantWin, ...], distinct_names]
Straights = Annotated[
    StraightOrder,
    Step(_straights, "instead", {"anyOf": [_levels, {"type": "string", "enum": list(ORDER_NAMES)}]}),
]
RunOrder = Annotated[
    str,
    Step(
        _run_order,
        "instead",
        {"anyOf": [{"enum": list(ORDER_NAMES)}, {"type": "string", "pattern": ORDER_PATTERN}]},
    ),
]
CardPoints = Annotated[
    tuple[int, ...],
    Step(_card_points, "instead", _points_by_rank),
]
