"""Trying cards: what they are under a ruleset, what beats them, and what they beat."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from arena.errors import SpecError
from arena.queries.replays.steps import Cards, in_order
from arena.queries.replays.words import combination
from referee.errors import CardError
from referee.reading.plain import plain
from referee.rules.plays import Rules, compile_ruleset
from referee.ruleset import Ruleset
from referee.ruleset.words import KIND_NAMES, bare

CARD = re.compile(r"(1[0-5]|[0-9A-Z])([DCHSJ])")
"""A card as people type it, in upper case: ``3D``, ``TD``, ``10D``."""

SYMBOLS = str.maketrans({"♦": "D", "♣": "C", "♥": "H", "♠": "S", "♢": "D", "♧": "C", "♡": "H", "♤": "S"})

TENS = {"10": "T", "T": "10"}
"""The two ways of writing a ten, each with the other."""


Tally = Sequence[tuple[int, int]]
"""Codes of plays, ascending, each with the number of plays that it stands for (``Rules.tally``)."""


@dataclass(frozen=True, slots=True)
class Group:
    """Plays of one kind and number of cards."""

    name: str
    """The kind, without an article."""
    count: int
    """The number of plays."""
    of: int
    """The number of such plays that the other cards make in all."""
    lowest: Cards
    highest: Cards


@dataclass(frozen=True, slots=True)
class EnteredCards:
    """The cards that were entered, and what they are."""

    cards: Cards
    name: str = ""
    """Their name as a play; empty if they are not a play."""
    kind: str = ""
    """Their kind, with its article if it has one."""
    above: int = 0
    """How many strengths are higher among those of their kind and number of cards."""
    strengths: int = 0
    """How many strengths there are of their kind and number of cards."""
    bomb: bool = False
    """Whether they beat plays of another kind."""
    holds: Sequence[Group] = ()
    """The plays among these cards, if they are not a play as a whole."""
    beaten_by: Sequence[Group] = ()
    """The plays from the rest of the pack that beat them."""
    beats: Sequence[Group] = ()
    """The plays from the rest of the pack that they beat."""
    others: int = 0
    """The number of plays from the rest of the pack."""


@dataclass(frozen=True, slots=True)
class Tried:
    """The cards that were entered, compared with those that they are to beat."""

    put: EnteredCards
    against: EnteredCards | None
    beats: bool = False
    """Whether the cards beat the others."""
    beaten: bool = False
    """Whether the others beat the cards."""


def read_cards(ruleset: Ruleset, field: str, text: str) -> Cards:
    """Parse cards, in the ruleset's notation. Raise SpecError, which names the field, for other text.

    ``3D3C``, ``3d 3c``, ``3D, 10H`` and ``3♦`` are all understood.
    """
    rules = compile_ruleset(ruleset)
    names = set(map(rules.card_text, rules.indices))
    letters = re.sub(r"[\s,;+]+", "", text.upper().translate(SYMBOLS))
    cards: list[str] = []
    end = 0
    while end < len(letters):
        match = CARD.match(letters, end)
        if match is None:
            raise SpecError(field, f"{_quoted(letters[end:])} is not a card; write them as 3D 3C 10H")
        rank, suit = match.groups()
        rank = rank if rank in ruleset.ranks else TENS.get(rank, rank)
        if rank + suit not in names:
            raise SpecError(field, f"{match.group()} is not a card of this ruleset")
        cards.append(rank + suit)
        end = match.end()
    try:
        return in_order(rules, rules.parse(" ".join(cards)))
    except CardError as error:
        raise SpecError(field, str(error)) from None


def _quoted(rest: str) -> str:
    return f"{plain(rest[:8])!r}" + ("…" if len(rest) > 8 else "")


def try_cards(ruleset: Ruleset, cards: Cards, against: Cards = ()) -> Tried:
    """Return what cards are and, if others are given, whether they beat those."""
    rules = compile_ruleset(ruleset)
    entered, other = (rules.parse(" ".join(side)) for side in (cards, against))
    first, second = (rules.code(mask) if mask else 0 for mask in (entered, other))
    met = bool(first and second)
    return Tried(
        _entered(rules, entered, first),
        _entered(rules, other, second) if other else None,
        met and rules.beats(first, second),
        met and rules.beats(second, first),
    )


def _entered(rules: Rules, mask: int, code: int) -> EnteredCards:
    cards = in_order(rules, mask)
    if not code:
        return EnteredCards(cards, holds=_groups(rules, rules.tally(mask)))
    tally = rules.tally(rules.remove(rules.full, mask))
    plays = [play for play, _ in tally]
    numbers = dict(tally)
    totals = _totals(rules, tally)
    strengths = _strengths(rules.ruleset)[_group(rules, code)]
    return EnteredCards(
        cards,
        combination(rules.kind(code), cards),
        KIND_NAMES[rules.kind(code)],
        len(strengths) - 1 - bisect_left(strengths, code >> rules.width),
        len(strengths),
        rules.is_bomb(code),
        (),
        _groups(rules, [(play, numbers[play]) for play in rules.following(plays, code)], totals),
        _groups(rules, [(play, numbers[play]) for play in rules.beaten(plays, code)], totals),
        sum(numbers.values()),
    )


def _group(rules: Rules, code: int) -> tuple[str, int]:
    return rules.kind(code), rules.count(code & rules.full)


def _grouped(rules: Rules, tally: Tally) -> Mapping[tuple[str, int], list[tuple[int, int]]]:
    """Group plays by kind and number of cards; a whole deck makes tens of thousands."""
    groups: dict[tuple[str, int], list[tuple[int, int]]] = defaultdict(list)
    start = 0
    while start < len(tally):
        end = bisect_left(tally, (rules.end_of_kind(tally[start][0]), 0), start)
        groups[_group(rules, tally[start][0])] += tally[start:end]
        start = end
    return groups


def _totals(rules: Rules, tally: Tally) -> Mapping[tuple[str, int], int]:
    return {group: sum(number for _, number in some) for group, some in _grouped(rules, tally).items()}


def _groups(
    rules: Rules, tally: Tally, totals: Mapping[tuple[str, int], int] | None = None
) -> Sequence[Group]:
    """Return the groups of plays by kind and number of cards, the weakest kind first."""
    counts = _totals(rules, tally)
    return [
        Group(
            bare(kind),
            counts[kind, size],
            (totals or counts)[kind, size],
            in_order(rules, some[0][0] & rules.full),
            in_order(rules, some[-1][0] & rules.full),
        )
        for (kind, size), some in _grouped(rules, tally).items()
    ]


@lru_cache(maxsize=32)
def _strengths(ruleset: Ruleset) -> Mapping[tuple[str, int], Sequence[int]]:
    """Return the strengths that exist, ascending, by kind and number of cards."""
    rules = compile_ruleset(ruleset)
    grouped = _grouped(rules, rules.tally(rules.full))
    return {group: sorted({code >> rules.width for code, _ in some}) for group, some in grouped.items()}
