"""The kinds of combinations that are played, and how those of five cards compare."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING, Annotated, Literal, get_args

from referee.ruleset.annotations import Flag, distinct_names
from referee.ruleset.axes.dealing import most_cards
from referee.ruleset.axes.pack import ranks_held
from referee.ruleset.axes.sequences import RUNS, compare_runs, run_order
from referee.ruleset.axis import Axis, Section, place_in
from referee.ruleset.words import KIND_NAMES, bare, listed, number, weakest_first

if TYPE_CHECKING:
    from referee.ruleset.model import Ruleset

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

MOST_CARDS_WITH_DRAGONS = 20
"""The most cards in a hand that may play dragons: it holds at most 2^7 of them."""


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Kinds:
    """The fields on the kinds of combinations."""

    __slots__ = ()

    plays: Annotated[tuple[Kind, ...], distinct_names]
    """The kinds of combinations that may be played."""
    five_card_order: Annotated[tuple[FiveCardKind | Literal["royal_flush"], ...], distinct_names]
    """The kinds of five cards in ``plays``, weakest first; ``royal_flush`` may be a kind of its own."""
    kinds_compete: Flag
    """Whether five cards of a stronger kind beat five of a weaker kind."""
    two_pair_order: Literal["top_then_suit", "ranks_then_suit"]
    """How two pairs compare: by the higher pair and its suit, or by the ranks of both, then that suit."""


def _play_conflicts(ruleset: "Ruleset") -> Iterator[str]:
    plays = {*ruleset.plays}
    gone = [rank for rank in ruleset.ranks if rank not in ranks_held(ruleset)]
    if gone and "dragon" in plays:
        yield f"has dragon, which needs every rank, and every {gone[0]} is removed"
    if "single" not in plays:
        yield "must have single"
    if {"straight_flush", "straight_flush_plus_two"} <= plays:
        yield "cannot have both straight_flush and straight_flush_plus_two"
    for kind in filter(plays.__contains__, ("run", "suited_run")):
        if "straight_flush_plus_two" in plays:
            yield f"cannot have both {kind} and straight_flush_plus_two: seven cards may be both"
    if {"bare_two_pair", "pair_run"} <= plays and ruleset.pair_run_from == 2:
        yield "cannot have both bare_two_pair and pair_run from two pairs: four cards may be both"
    for kind in filter(plays.__contains__, RUNS):
        if not run_order(ruleset, kind):
            yield f"has {kind}, but the pack lacks ranks for one"
    if "dragon" in plays:
        yield from _dragon_conflicts(ruleset)


def _dragon_conflicts(ruleset: "Ruleset") -> Iterator[str]:
    most, ranks = most_cards(ruleset), len(ruleset.ranks)
    if not ranks <= most <= MOST_CARDS_WITH_DRAGONS:
        needs = f"hands of at least {ranks} cards and never more than {MOST_CARDS_WITH_DRAGONS}"
        yield f"has dragon, which needs {needs}; they can have {most}"
    elif ruleset.dragon == "wins" and ruleset.draw_on_pass == "none" and ruleset.exchange == "none":
        yield "has dragon, which cannot be played with dragon: wins"


def _order_conflicts(ruleset: "Ruleset") -> Iterator[str]:
    order, plays = set(ruleset.five_card_order), set(ruleset.plays)
    missing = [kind for kind in FIVE_CARD_KINDS if kind in plays - order]
    extra = [kind for kind in ruleset.five_card_order if kind in FIVE_CARD_KINDS and kind not in plays]
    if missing:
        advice = "; write all five-card kinds of plays, weakest first"
        yield f"lacks {', '.join(missing)}, which plays has{advice}"
    if extra:
        rest = [kind for kind in ruleset.five_card_order if kind not in extra]
        advice = f"; write five_card_order = {json.dumps(rest)}" if not missing else ""
        yield f"has {', '.join(extra)}, which plays lacks{advice}"
    if "royal_flush" in order and "straight_flush" not in plays:
        yield "has royal_flush, which needs straight_flush in plays"


AXES = {
    "plays": Axis(
        settled=lambda ruleset: tuple([kind for kind in KINDS if kind in ruleset.plays]),
        conflicts=_play_conflicts,
        encode=lambda ruleset: [(f"plays.{kind}", float(kind in ruleset.plays)) for kind in KINDS],
    ),
    "five_card_order": Axis(
        conflicts=_order_conflicts,
        encode=lambda ruleset: [
            (f"five_card_order.{kind}", place_in(ruleset.five_card_order, kind))
            for kind in (*FIVE_CARD_KINDS, "royal_flush")
        ],
    ),
    "kinds_compete": Axis(
        True, idle=lambda ruleset: len({*ruleset.five_card_order} - {*ruleset.free_bombs}) < 2
    ),
    "two_pair_order": Axis(
        off="top_then_suit", idle=lambda ruleset: not {"two_pair", "bare_two_pair"} & {*ruleset.plays}
    ),
}


def _kinds(ruleset: "Ruleset") -> Iterator[str]:
    names = [name for kind, name in KIND_NAMES.items() if kind in ruleset.plays]
    yield f"The combinations are {listed(names)}."
    yield "A stronger play of the same kind and number of cards beats a weaker one; an equal play does not."
    yield f"Single cards go by rank{'' if ruleset.equal_suits else ', then by suit'}."
    yield from [text for kind, text in _of_kinds(ruleset).items() if kind in ruleset.plays]


def _of_kinds(ruleset: "Ruleset") -> Mapping[str, str]:
    """Return what there is to say about each kind; straights and flushes have their own sections."""
    suits, packs, plays = not ruleset.equal_suits, ruleset.decks > 1, ruleset.plays

    def by_rank(cards: str) -> str:
        return f"by the rank of {cards}{f', then by the highest suit of {cards}' if packs and suits else ''}"

    def least(kind: str, suit: str = "") -> str:
        lengths = run_order(ruleset, kind)
        cards = f"cards of consecutive ranks{', but not five' * (5 not in lengths)}{suit}"
        return f"{number(min(lengths, default=0))} or more {cards}"

    lower = " and of the lower" if ruleset.two_pair_order == "ranks_then_suit" else ""
    pairs = f"by the rank of the higher pair{lower}{', then by the highest suit of the higher pair' * suits}"
    apart = "; one all of one suit is a run of one suit and nothing else" * ("suited_run" in plays)
    triples = "A run of triples is two or more triples of consecutive ranks."
    beside = "which count for nothing"
    return {
        "pair": f"Pairs go by rank{', then by their higher suit' * suits}.",
        "triple": f"Triples go {by_rank('the three')}.",
        "two_pair": f"Two pairs with a card of a third rank go {pairs}; a fifth card counts for nothing.",
        "full_house": f"Full houses go {by_rank('the triple')}.",
        "quads": f"Four of a kind take any fifth card and go {by_rank('the four')}."
        + " Five cards of one rank are the same kind." * packs,
        "bare_quads": f"Bare four of a kind go {by_rank('the four')}.",
        "bare_two_pair": f"Two pairs go {pairs}.",
        "run": f"A run of cards is {least('run')}{apart}.",
        "suited_run": f"A run of one suit is {least('suited_run', ' in one suit')}.",
        "pair_run": f"A run of pairs is {number(ruleset.pair_run_from)} or more pairs of consecutive ranks.",
        "dragon": f"A dragon is one card of every rank; dragons go by the suit of the {ruleset.ranks[-1]}.",
        "triple_run": triples,
        "triple_run_plus_pairs": f"With a run of triples go as many pairs of different other ranks, {beside}."
        + f" {triples}" * ("triple_run" not in plays),
        "triple_plus_two_pairs": f"A triple with pairs of two other ranks, {beside}, goes "
        f"{by_rank('the triple')}.",
        "straight_flush_plus_two": f"Straight flushes take any two more cards, {beside}.",
    }


def _five_cards(ruleset: "Ruleset") -> Iterator[str]:
    whole, limits = ruleset.five_card_order, ruleset.bomb_limits
    kinds = [kind for kind in whole if kind not in ruleset.bombs or kind in limits]
    apart = ", bombs apart" if len(kinds) < len(whole) else ""
    names = [f"{bare(kind)} ({cards})" if (cards := example(ruleset, kind)) else bare(kind) for kind in kinds]
    if len(kinds) == 1:
        yield f"The only kind of five cards{apart} is {names[0]}."
    elif kinds and ruleset.kinds_compete:
        yield f"Five cards of a stronger kind beat five of a weaker one{apart}: {weakest_first(names)}."
    elif kinds:
        yield f"Five cards are beaten only by five of the same kind{apart}. The kinds are {listed(names)}."
    bombs = [kind for kind in ruleset.bomb_order or ruleset.bombs if kind in whole and kind not in kinds]
    if [*whole] != [*kinds, *bombs]:
        yield f"The whole order, bombs included, is {weakest_first([*map(bare, whole)])}."


def example(ruleset: "Ruleset", kind: str) -> str:
    """Return five cards of the kind, as text; empty if one pack does not have such cards."""
    ranks = ruleset.ranks
    match kind:
        case "two_pair":
            low = _equal(ruleset, 6, 2, "DCHS")
            high = _equal(ruleset, 8, 2, "HSDC", {card[:-1] for card in low})
            return _joined(ruleset, low + high, 3, 1, "CDHS") if low and high else ""
        case "full_house":
            return _joined(ruleset, _equal(ruleset, 6, 3, "DCHS"), 8, 2, "CSDH")
        case "quads":
            return _joined(ruleset, _equal(ruleset, 7, 4, "DCHS"), 3, 1, "CDHS")
        case "royal_flush":
            return _suited(ruleset, [ranks[-6:-1]], "HDCS")
        case "flush":
            return _suited(ruleset, _out_of_sequence(ruleset), "HDCS")
    middle = len(ruleset.straights) // 2
    sequences = [level[0].split() for level in (*ruleset.straights[middle:], *ruleset.straights[:middle])]
    if kind != "straight":
        return _suited(ruleset, sequences, "DCHS")
    suits = [first + "DCHS".replace(first, "") for first in "CHSDC"]
    mixed = (
        five
        for ranks in sequences
        for five in product(*(_present(ruleset, *cards) for cards in zip(ranks, suits, strict=True)))
        if len({card[-1] for card in five}) > 1
    )
    return " ".join(next(mixed, ()))


def _joined(ruleset: "Ruleset", equal: list[str], first: int, count: int, suits: str) -> str:
    """Return equal cards and so many of another rank, as text; empty if there are none of either."""
    others = _equal(ruleset, first, count, suits, {card[:-1] for card in equal})
    return " ".join(equal + others) if equal and others else ""


def _equal(ruleset: "Ruleset", first: int, count: int, suits: str, but: Collection[str] = ()) -> list[str]:
    """Return so many cards of one rank: of the rank at ``first``, or one that follows and has so many."""
    ranks = (*ruleset.ranks[first:], *ruleset.ranks[:first])
    held = (_present(ruleset, rank, suits) for rank in ranks if rank not in but)
    return next((cards[:count] for cards in held if len(cards) >= count), [])


def _suited(ruleset: "Ruleset", sets: Iterable[Sequence[str]], suits: str) -> str:
    """Return the cards of the first of these sets of ranks that are in the pack in one suit."""
    fives = (
        [card for rank in ranks for card in _present(ruleset, rank, suit)] for ranks in sets for suit in suits
    )
    return " ".join(next((five for five in fives if len(five) == 5), []))


def _present(ruleset: "Ruleset", rank: str, suits: str) -> list[str]:
    return [rank + suit for suit in suits if rank + suit not in ruleset.removed_cards]


def _out_of_sequence(ruleset: "Ruleset") -> Iterator[Sequence[str]]:
    legal = {frozenset(sequence.split()) for level in ruleset.straights for sequence in level}
    fives = combinations(ruleset.ranks[2:11:2] + ruleset.ranks, 5)
    return (five for five in fives if len(set(five)) == 5 and frozenset(five) not in legal)


def showdown(ruleset: "Ruleset") -> Iterator[str]:
    """Yield how plays of five cards are compared where players show the best of what they have left."""
    if len(ruleset.five_card_order) > 1:
        order = weakest_first([*map(bare, ruleset.five_card_order)])
        yield f"In this, five cards always go in the order {order}."


def _briefly(ruleset: "Ruleset") -> Iterator[str]:
    if more := [plural for kind, plural in _UNUSUAL.items() if kind in ruleset.plays]:
        yield listed(more)
    if missing := [plural for kind, plural in _USUAL.items() if kind not in ruleset.plays]:
        yield f"no {listed(missing, 'or')}"
    if not ruleset.kinds_compete and len(ruleset.five_card_order) > 1:
        yield "five cards beat only their own kind"


_USUAL = {"pair": "pairs", "triple": "triples", "straight": "straights", "flush": "flushes"}
"""Kinds of plays that are mentioned where they are missing."""


_UNUSUAL = {
    "two_pair": "two pairs",
    "bare_two_pair": "two pairs as four cards",
    "run": "runs of cards",
    "suited_run": "runs of one suit",
    "pair_run": "runs of pairs",
    "triple_run": "runs of triples",
    "triple_run_plus_pairs": "runs of triples with pairs",
    "triple_plus_two_pairs": "triples with two pairs",
}
"""Kinds of plays that are mentioned where they are played."""


SECTIONS = {
    "Combinations": Section((_kinds, compare_runs), (_briefly,)),
    "Five cards": Section((_five_cards,)),
}
