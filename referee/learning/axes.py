"""The ruleset as numbers, so that one policy can learn several."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, get_args, get_origin, get_type_hints

from referee.cards import JOKER, JOKERS, LECTIO_RANKS
from referee.learning.features import PLAY_KINDS
from referee.ruleset import Bracket, Honour, Ruleset, pack_size
from referee.ruleset.bombs import is_card, kind_of, limited, rank_of, run_lengths
from referee.ruleset.fields import HONOURS, KINDS, MOST_DECKS
from referee.ruleset.limits import most_cards
from referee.ruleset.straights import StraightOrder, cycle, straight_order

_MOST_RANKS = len(LECTIO_RANKS)
_BRACKETS = 4
_HINTS = get_type_hints(Ruleset)
_FLAGS = [name for name, hint in _HINTS.items() if hint is bool and name != "instant_wins_compete"]
_CHOICES = {name: get_args(hint) for name, hint in _HINTS.items() if get_origin(hint) is Literal}
for _name in ("dealer", "direction"):  # which matter between deals
    del _CHOICES[_name]
_FIVES = ("two_pair", "straight", "flush", "full_house", "quads", "straight_flush", "royal_flush")
_BONUSES = ("quads", "straight_flush", "four_twos", "final_times", "winner", "winner_per_two")
_TYPICAL = 10
"""The number of points that becomes 0.5."""


@lru_cache(maxsize=64)
def axes(ruleset: Ruleset) -> dict[str, float]:
    """Return numbers from -1 to 1 that distinguish rulesets, by name; all rulesets have the same names."""
    values = dict(_cards(ruleset))
    values |= _combinations(ruleset)
    values |= {flag: float(getattr(ruleset, flag)) for flag in _FLAGS}
    for name, choices in _CHOICES.items():
        for value in choices:
            values[f"{name}.{value}"] = float(getattr(ruleset, name) == value)
    values |= _course(ruleset)
    values |= _scoring(ruleset)
    return values


def squashed(points: float) -> float:
    """Map points to a number between -1 and 1."""
    return points / (abs(points) + _TYPICAL)


def _cards(ruleset: Ruleset) -> Iterator[tuple[str, float]]:
    yield "players", ruleset.players / 8
    yield "decks", ruleset.decks / MOST_DECKS
    yield "ranks", len(ruleset.ranks) / _MOST_RANKS
    yield "most_cards", most_cards(ruleset) / pack_size(ruleset)
    for suit in "DCHS":
        yield f"suits.{suit}", ruleset.suits.index(suit) / 3
    yield "jokers", ruleset.jokers / len(JOKERS)
    removed = dict(enumerate(ruleset.ranks))
    for rank in range(_MOST_RANKS):
        yield (
            f"removed_cards.{rank}",
            sum(card[:-1] == removed.get(rank) for card in ruleset.removed_cards) / 4,
        )


def _combinations(ruleset: Ruleset) -> Iterator[tuple[str, float]]:
    for kind in KINDS:
        yield f"plays.{kind}", float(kind in ruleset.plays)
    for name in _FIVES:
        yield f"five_card_order.{name}", _place(name, ruleset.five_card_order)
    order = straight_order(ruleset.run_order, ruleset.ranks)
    yield from _levels("run_order", ruleset, order)
    yield "run_from", ruleset.run_from / _MOST_RANKS
    yield "pair_run_from", ruleset.pair_run_from / _MOST_RANKS
    yield from _bombs(ruleset)
    yield from _levels("straights", ruleset, ruleset.straights)


def _levels(name: str, ruleset: Ruleset, order: StraightOrder) -> Iterator[tuple[str, float]]:
    """Yield the place of each sequence of five ranks in an order, by where it begins."""
    levels = {frozenset(text.split()): level for level, texts in enumerate(order, 1) for text in texts}
    ranks = cycle(ruleset.ranks) * 2
    for start in range(_MOST_RANKS):
        level = levels.get(frozenset(ranks[start : start + 5]), 0) if start < len(ruleset.ranks) else 0
        yield f"{name}.{start}", level / max(len(order), 1)


def _bombs(ruleset: Ruleset) -> Iterator[tuple[str, float]]:
    bombs, limits = ruleset.bomb_order or ruleset.bombs, limited(ruleset.bombs_beat)
    kinds = tuple(map(kind_of, bombs))
    for kind in PLAY_KINDS:
        yield f"bombs.{kind}", _place(kind, kinds)
    for rank in range(_MOST_RANKS + 1):
        ranks = ruleset.rank_names[rank : rank + 1]
        chosen = [len(name.split()) for name in ruleset.bombs if rank_of(name) in ranks]
        yield f"bombs.rank.{rank}", max(chosen, default=0) / 4
    runs = [run_lengths(name, (), 0).start for name in ruleset.bombs if kind_of(name) == "pair_run"]
    yield "bombs.pairs", min(runs, default=_MOST_RANKS) / _MOST_RANKS
    for twos in range(1, 5):
        name = " ".join(ruleset.ranks[-1:] * twos)
        beating = [bomb for bomb in ruleset.bombs if bomb not in limits or name in limits[bomb]]
        yield f"bombs_beat.twos.{twos}", len(beating) / max(len(ruleset.bombs), 1)
    yield "bombs_beat.card", float(any(is_card(name) for names in limits.values() for name in names))
    yield "bombs_beat.any", float(len(limits) < len(ruleset.bombs))


def _place(name: str, order: tuple[str, ...]) -> float:
    return (order.index(name) + 1) / len(order) if name in order else 0.0


def _course(ruleset: Ruleset) -> Iterator[tuple[str, float]]:
    first = ruleset.first_lead
    yield "first_lead.random", float(first == "random")
    yield "first_lead.card", float(first not in ("lowest", "random"))
    yield "last_cards.rank", _place(ruleset.last_cards, ruleset.ranks)
    yield "last_cards.suit", _place(ruleset.last_cards, ruleset.suits)
    yield "lead_includes_lowest", float(ruleset.lead_includes_lowest is not False)
    yield "lead_includes_lowest.alone", float(ruleset.lead_includes_lowest == "alone")


def _worth(name: str, bracket: Bracket | Honour | None) -> Iterator[tuple[str, float]]:
    yield f"{name}.times", squashed(bracket.times or 0) if bracket else 0
    yield f"{name}.points", squashed(bracket.points or 0) if bracket else 0


def _scoring(ruleset: Ruleset) -> Iterator[tuple[str, float]]:
    points = dict(zip(ruleset.rank_names, ruleset.card_points, strict=True))
    names = dict(enumerate(ruleset.ranks))
    for rank in range(_MOST_RANKS):
        yield f"card_points.{rank}", squashed(points.get(names.get(rank, ""), 0))
    yield "card_points.joker", squashed(points.get(JOKER, 0))
    by_cards = [bracket for bracket in ruleset.multipliers if bracket.start != "all"]
    whole = [bracket for bracket in ruleset.multipliers if bracket.start == "all"]
    for place in range(_BRACKETS):
        bracket = by_cards[place] if place < len(by_cards) else None
        start = bracket.start if bracket and bracket.start != "all" else 0
        yield f"multipliers.{place}.from", min(start / 13, 1)
        yield from _worth(f"multipliers.{place}", bracket)
    yield from _worth("multipliers.all", whole[0] if whole else None)
    for field in ("honours_left", "final_honours"):
        entries = {entry.honour: entry for entry in getattr(ruleset, field)}
        for honour in HONOURS:
            yield from _worth(f"{field}.{honour}", entries.get(honour))
    places = dict(enumerate(ruleset.place_points))
    for place in range(8):
        yield f"place_points.{place}", squashed(places.get(place, 0))
    for name in _BONUSES:
        yield f"bonuses.{name}", squashed(getattr(ruleset.bonuses, name)) if ruleset.bonuses else 0
