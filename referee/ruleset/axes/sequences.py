"""Straights, flushes and runs: which sequences of ranks are legal, and how they compare."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Literal

from annotated_types import Interval

from referee.cards import STANDARD_RANKS, meant_rank
from referee.reading.validation import short, suggestion
from referee.ruleset.annotations import Fields, Step, Whole
from referee.ruleset.axes.pack import MOST_RANKS, ranks_held
from referee.ruleset.axis import Axis, Numbers, Section
from referee.ruleset.straights import (
    ORDER_NAMES,
    ORDER_PATTERN,
    StraightOrder,
    cycle,
    own_order,
    sequences_of,
    straight_order,
)
from referee.ruleset.words import KIND_NAMES, listed, number, weakest_first

if TYPE_CHECKING:
    from referee.ruleset.model import Ruleset

RUNS: Mapping[str, int] = {
    "run": 1,
    "suited_run": 1,
    "pair_run": 2,
    "triple_run": 3,
    "triple_run_plus_pairs": 3,
    "triple_plus_two_pairs": 3,
}
"""By kind, how many cards a run has of each rank."""

MANY = ("two_pair", "bare_two_pair", *RUNS)
"""The kinds of which the number of plays soars with the number of cards in a hand."""

COUNTED = (*MANY, "straight_flush_plus_two")
"""The kinds with which hands are smaller, and may have more plays than a turn can list."""

MOST_SEQUENCES = 60
"""The most sequences in ``straights``; these bound the number of straights in a hand."""

_OF_FIVE = {"straight", "flush", "straight_flush"}
_SEQUENCE_KINDS = {"straight", "straight_flush", "straight_flush_plus_two"}
_ORDERED_RUNS = RUNS.keys() - {"triple_plus_two_pairs"}


def _straights(value: object, before: Fields) -> StraightOrder:
    ranks = before.get("ranks")
    if isinstance(value, str):
        if value not in ORDER_NAMES:
            hint = suggestion(value, ORDER_NAMES)
            raise ValueError(f"must be one of {', '.join(ORDER_NAMES)}, not {short(value)}{hint}")
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
        raise ValueError(f"{names}, not {short(value)}{hint}") from None


def _items(value: object) -> Sequence[object]:
    if not isinstance(value, list | tuple):
        raise ValueError(f"must be a list, not {short(value)}")
    return value


def _sequence(value: object, ranks: Sequence[str] | None) -> str:
    parts = value.split() if isinstance(value, str) else []
    for part in parts:
        if ranks is not None and part not in ranks:
            hint = rank_hint(part, ranks)
            raise ValueError(f"{short(value)} holds {short(part)}, which is not a rank{hint}")
    if len(parts) != 5 or len(set(parts)) != 5:
        raise ValueError(f"a sequence must be five different ranks in a text, not {short(value)}")
    return " ".join(parts)


def rank_hint(text: str, ranks: Sequence[str]) -> str:
    """Return "; did you mean …?" with a rank that is near to a text, or an empty string."""
    near = meant_rank(text, ranks)
    return f"; did you mean {near!r}?" if near else suggestion(text, ranks)


_levels = {"type": "array", "items": {"type": "array", "minItems": 1, "items": {"type": "string"}}}
_STRAIGHTS = {"anyOf": [_levels, {"type": "string", "enum": list(ORDER_NAMES)}]}
_RUN_ORDER = {"anyOf": [{"enum": list(ORDER_NAMES)}, {"type": "string", "pattern": ORDER_PATTERN}]}


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Sequences:
    """The fields on sequences of ranks, and on flushes."""

    __slots__ = ()

    straights: Annotated[StraightOrder, Step(_straights, "instead", _STRAIGHTS)]
    """The legal sequences in levels of equals, weakest level first; each a text of five ranks."""
    straight_suit_of: Literal["top", "highest"]
    """Whose suit decides between equal straights: the ``top`` of the sequence or the ``highest`` in rank."""
    flush_order: Literal["suit_then_top", "top_then_suit", "ranks_then_suit"]
    """How flushes compare: ``suit_then_top``, ``top_then_suit`` or ``ranks_then_suit``."""
    run_order: Annotated[str, Step(_run_order, "instead", _RUN_ORDER)]
    """Which ranks are consecutive in runs, and which end is higher: a named order of ``straights``, or one in
    words: the runs that begin with ``A`` or ``2`` or end in ``T`` (ace) or ``J`` (two), and those between."""
    run_from: Annotated[Whole, Interval(ge=3, le=12)]
    """The fewest cards in a ``run``, 3 to 12; not five where ``plays`` has straights or flushes."""
    pair_run_from: Annotated[Whole, Interval(ge=2, le=12)]
    """The fewest pairs in a ``pair_run``, 2 to 12."""


def pairs_beside(kind: str, length: int) -> int:
    """Return how many pairs of other ranks go with a run of this kind and number of ranks."""
    return {"triple_run_plus_pairs": length, "triple_plus_two_pairs": 2}.get(kind, 0)


def run_order(ruleset: "Ruleset", kind: str) -> dict[int, StraightOrder]:
    """Return, by number of ranks, the sequences of ranks of runs of this kind, weakest first.

    Those with a rank of which the packs have too few cards are left out.
    """
    if kind == "triple_plus_two_pairs":
        return {1: tuple((rank,) for rank in ruleset.rank_names)}
    one_each = RUNS[kind] == 1
    shortest = {1: ruleset.run_from, 2: ruleset.pair_run_from}.get(RUNS[kind], 2)
    lengths = list(range(shortest, len(ruleset.ranks) + 1))
    if one_each and _OF_FIVE & set(ruleset.plays):
        lengths = [length for length in lengths if length != 5]
    if one_each and "dragon" in ruleset.plays:
        lengths = lengths[:-1]
    orders = {length: straight_order(ruleset.run_order, ruleset.ranks, length) for length in lengths}
    held = ranks_held(ruleset, RUNS[kind])
    if len(held) < len(ruleset.ranks):
        orders = {length: sequences_of(held, order) for length, order in orders.items()}
    return {length: order for length, order in orders.items() if order}


def _settled_straights(ruleset: "Ruleset") -> StraightOrder:
    if not _SEQUENCE_KINDS & {*ruleset.plays}:
        return straight_order("two_low", ruleset.ranks)
    order = cycle(ruleset.ranks)
    levels = sequences_of(ranks_held(ruleset), ruleset.straights)
    return tuple([tuple(sorted(level, key=lambda text: order.index(text.split()[0]))) for level in levels])


def _straight_conflicts(ruleset: "Ruleset") -> Iterator[str]:
    kinds = _SEQUENCE_KINDS & {*ruleset.plays}
    if kinds and not sequences_of(ranks_held(ruleset), ruleset.straights):
        yield "has no sequence, though plays has kinds made of one"
    sequences = sum(map(len, ruleset.straights))
    if sequences > MOST_SEQUENCES:
        yield f"must hold at most {MOST_SEQUENCES} sequences, not {sequences}"


def _last_is_highest(ruleset: "Ruleset") -> bool:
    """Return whether the last card of every straight and run is that of the highest rank."""
    levels = [*ruleset.straights] if "straight" in ruleset.plays else []
    if "run" in ruleset.plays:
        levels += [level for order in run_order(ruleset, "run").values() for level in order]
    sequences = [map(ruleset.ranks.index, text.split()) for level in levels for text in level]
    return all(max(places) == places[-1] for places in map(tuple, sequences))


def _settled_order(ruleset: "Ruleset") -> str:
    """Return the first name of an order by which the runs that are played are the same."""
    kinds = _ORDERED_RUNS & {*ruleset.plays}
    orders = [run_order(ruleset, kind) for kind in kinds]
    for name in ORDER_NAMES:
        other = replace(ruleset, run_order=name)
        if orders == [run_order(other, kind) for kind in kinds]:
            return name
    return ruleset.run_order


def _settled_length(ruleset: "Ruleset") -> int:
    kinds = {"run", "suited_run"} & {*ruleset.plays}
    return min([length for kind in kinds for length in run_order(ruleset, kind)], default=3)


def _encode_levels(name: str, ruleset: "Ruleset", order: StraightOrder) -> Numbers:
    """Yield the place of each sequence of five ranks in an order, by where it begins."""
    levels = {frozenset(text.split()): level for level, texts in enumerate(order, 1) for text in texts}
    ranks = cycle(ruleset.ranks) * 2
    for start in range(MOST_RANKS):
        level = levels.get(frozenset(ranks[start : start + 5]), 0) if start < len(ruleset.ranks) else 0
        yield f"{name}.{start}", level / max(len(order), 1)


AXES = {
    "straights": Axis(
        settled=_settled_straights,
        conflicts=_straight_conflicts,
        encode=lambda ruleset: _encode_levels("straights", ruleset, ruleset.straights),
    ),
    "straight_suit_of": Axis("top", idle=lambda ruleset: ruleset.equal_suits or _last_is_highest(ruleset)),
    "flush_order": Axis(
        "suit_then_top",
        idle=lambda ruleset: (
            "flush" not in ruleset.plays or (ruleset.equal_suits and ruleset.flush_order == "top_then_suit")
        ),
    ),
    "run_order": Axis(
        settled=_settled_order,
        encode=lambda ruleset: _encode_levels(
            "run_order", ruleset, straight_order(ruleset.run_order, ruleset.ranks)
        ),
    ),
    "run_from": Axis(settled=_settled_length, scale=MOST_RANKS),
    "pair_run_from": Axis(2, idle=lambda ruleset: "pair_run" not in ruleset.plays, scale=MOST_RANKS),
}


def compare_runs(ruleset: "Ruleset") -> Iterator[str]:
    """Yield how runs of any kind compare."""
    kinds = [kind for kind in OF_MANY_LENGTHS if kind in ruleset.plays]
    if not kinds:
        return
    lengths = {length for kind in kinds for length in run_order(ruleset, kind)}
    # Of less than five ranks, different orders may be the same; runs of five may be straights instead.
    telling = 6 if 5 not in lengths and max(lengths) > 5 else 5
    ranks = {
        length: f"of {number(length)} ranks {_sequences(order, ruleset.ranks)}"
        for length in sorted({min(lengths), max(min(lengths), telling)})
        for order in [straight_order(ruleset.run_order, ruleset.ranks, length)]
    }
    equal = " (those joined by = are of equal strength)" if "=" in "".join(ranks.values()) else ""
    orders = f"{'; '.join(ranks.values())}{equal}; and of other numbers likewise"
    yield f"Runs of the same length go by their ranks: {orders}."
    highest = ruleset.straight_suit_of == "highest"
    cards = [("the card of the highest rank" if highest else "the last card")] if "run" in kinds else []
    cards += ["the card"] if kinds == ["suited_run"] else []
    cards += ["the last pair"] if "pair_run" in kinds else []
    cards += ["the last triple"] if ruleset.decks > 1 and any("triple" in kind for kind in kinds) else []
    if cards and not ruleset.equal_suits:
        yield f"Between equal runs the highest suit of {listed(cards, 'or')} decides."


OF_MANY_LENGTHS = ("run", "suited_run", "pair_run", "triple_run", "triple_run_plus_pairs")
"""The kinds of runs of which there are several lengths."""


def _straight_words(ruleset: "Ruleset") -> Iterator[str]:
    if not _SEQUENCE_KINDS & {*ruleset.plays}:
        return
    yield f"The sequences are, from weakest to strongest: {_sequences(ruleset.straights, ruleset.ranks)}."
    if any(len(level) > 1 for level in ruleset.straights):
        yield "Those joined by = are of equal strength."
    if not ruleset.equal_suits:
        card = "last card" if ruleset.straight_suit_of == "top" else "card of the highest rank"
        yield f"Between equal sequences the suit of the {card} decides."
    plain = [KIND_NAMES[kind] for kind in ruleset.five_card_order if kind in ("straight", "flush")]
    if "straight_flush" in ruleset.plays:
        yield "A sequence all of one suit is a straight flush and nothing else."
    else:
        yield f"Five cards of one suit in sequence are {plain[-1] if plain else 'not a play of their own'}."
    if "royal_flush" in ruleset.five_card_order:
        *_, last = (*cycle(ruleset.ranks), ruleset.ranks[-2])
        suit = "" if ruleset.equal_suits else "; its suit decides"
        ranks = " ".join((*ruleset.ranks[-6:-2], last))
        yield f"Of one suit, {ranks} is a royal flush, a kind of its own{suit}."


def _sequences(levels: StraightOrder, ranks: tuple[str, ...]) -> str:
    """Write out the levels, weakest first; of a long run rank by rank, only the ends."""
    order = cycle(ranks)
    follows = [False, *(_follows(before, level, order) for before, level in pairwise(levels)), False]
    parts: list[str] = []
    for place, level in enumerate(levels):
        if not all(follows[max(place - 1, 0) : place + 2]):
            parts.append(" = ".join(level))
        elif parts[-1] != "…":
            parts.append("…")
    return weakest_first(parts)


def _follows(level: tuple[str, ...], later: tuple[str, ...], order: tuple[str, ...]) -> bool:
    if len(level) > 1 or len(later) > 1:
        return False
    return [(order.index(rank) + 1) % len(order) for rank in level[0].split()] == [
        order.index(rank) for rank in later[0].split()
    ]


def _flushes(ruleset: "Ruleset") -> Iterator[str]:
    if "flush" not in ruleset.plays:
        return
    way = {
        "suit_then_top": "by suit, then by the highest rank",
        "top_then_suit": "by the highest rank, then by suit",
        "ranks_then_suit": "by all their ranks from the highest down, then by suit",
    }[ruleset.flush_order]
    if ruleset.equal_suits:
        by_all = ruleset.flush_order == "ranks_then_suit"
        way = "by all their ranks from the highest down" if by_all else "by the highest rank"
    yield f"Flushes, five cards of one suit, go {way}."
    if ruleset.decks > 1:
        yield "A flush may hold two of the same card."
    order = ruleset.five_card_order
    both = [kind for kind, decks in _IN_ONE_SUIT.items() if decks <= ruleset.decks and kind in order]
    flush = order.index("flush")
    for verb, is_stronger in (("are", False), ("are not", True)):
        if kinds := [KIND_NAMES[kind] for kind in both if (order.index(kind) > flush) == is_stronger]:
            yield f"In one suit, {listed(kinds)} {verb} a flush."


_IN_ONE_SUIT = {"two_pair": 2, "full_house": 3, "quads": 4}
"""By kind, how many packs it takes to have one in one suit."""


def _briefly(ruleset: "Ruleset") -> Iterator[str]:
    strongest = ruleset.straights[-1][0] if ruleset.straights else ""
    if "straight" in ruleset.plays and strongest:
        yield f"straights up to {strongest.replace('T', '10')}"
    if "flush" in ruleset.plays:
        yield f"flushes by {'suit' if ruleset.flush_order == 'suit_then_top' else 'rank'}"


SECTIONS = {"Sequences": Section((_straight_words,), (_briefly,)), "Flushes": Section((_flushes,))}
