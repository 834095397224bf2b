"""Fields that make no difference to play under the rest of a ruleset.

Ratings are kept by a ruleset's content, so two that play alike must have the same: every such field is given
the value by which its rule is off, or if there is none, one that is always taken. ``announce_at`` is left as
it is: it makes no difference to bots, but is a rule of the game as people play it.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from referee.ruleset.bombs import cards_held, limited
from referee.ruleset.fields import HONOURS, INSTANT_WINS, KINDS, cards_needed
from referee.ruleset.limits import MAX_DEALS, SETTLED_BY_PENALTIES, most_cards, pack_size
from referee.ruleset.model import Bonuses, Bracket, Honour, Ruleset
from referee.ruleset.runs import RUNS, ranks_held, run_order
from referee.ruleset.straights import ORDER_NAMES, cycle, sequences_of, straight_order

Changes = Iterator[tuple[str, Any]]
"""Fields and the values that they get."""

_SEQUENCE_KINDS = {"straight", "straight_flush", "straight_flush_plus_two"}
_ORDERED_RUNS = RUNS.keys() - {"triple_plus_two_pairs"}
_OTHERS_AT_0 = ("winner_scores", "fixed", "wins")
"""The ways to settle in which nobody has points to lose, so that liability costs nothing."""


def without_idle_fields(ruleset: Ruleset) -> Ruleset:
    """Return the ruleset that plays as this one does, the same for all that play alike."""
    for settled in _FIELDS:
        ruleset = replace(ruleset, **dict(settled(ruleset)))
    return ruleset


def without_lost_fields(ruleset: Ruleset, own: Mapping[str, object]) -> Ruleset:
    """Return the ruleset with those fields off that lost what they need to the ``own`` fields.

    These are fields of the preset that is extended. One that is among its own is left, to be refused.
    """
    for field, (is_lost, value) in _LOST.items():
        if field not in own and is_lost(ruleset):
            ruleset = replace(ruleset, **{field: value})
    return ruleset


_LOST: Mapping[str, tuple[Callable[[Ruleset], bool], Any]] = {
    "draw_on_pass": (lambda ruleset: ruleset.leftover != "stock", "none"),
    "restock": (lambda ruleset: ruleset.draw_on_pass == "none", False),
    "bombs_beat": (lambda ruleset: not set(limited(ruleset.bombs_beat)) <= set(ruleset.bombs), "any"),
    "bomb_order": (
        lambda ruleset: set(ruleset.bomb_order) != {*ruleset.bombs} - {*limited(ruleset.bombs_beat)},
        (),
    ),
    "bombs_out_of_turn": (lambda ruleset: not ruleset.bombs, False),
    "last_cards": (lambda ruleset: ruleset.last_top_card == "allowed", "top"),
    "lead_includes_lowest": (lambda ruleset: ruleset.first_lead == "random", False),
    "partners": (lambda ruleset: ruleset.players != 4, "none"),
    "after_out": (lambda ruleset: ruleset.deal_ends != "last_holder", "beatable"),
    "honours_left": (lambda ruleset: ruleset.settle not in SETTLED_BY_PENALTIES, ()),
    "final_honours": (lambda ruleset: ruleset.settle not in (*SETTLED_BY_PENALTIES, "fixed"), ()),
    "instant_win_penalty": (lambda ruleset: ruleset.settle not in SETTLED_BY_PENALTIES, None),
    "place_points": (lambda ruleset: ruleset.settle != "places", ()),
}
"""By field, whether it lacks what it needs, and the value by which its rule is off; in this order."""


def most_dealt(ruleset: Ruleset) -> int:
    """Return the most cards that a hand may have before the lead."""
    size, cards, players = ruleset.hand_size, pack_size(ruleset), ruleset.players
    if not isinstance(size, int):
        return -(-cards // players)
    return size + (cards - size * players if ruleset.leftover == "to_lowest" else 0)


def _dealing(ruleset: Ruleset) -> Changes:
    cards, players = pack_size(ruleset), ruleset.players
    whole = cards % players if ruleset.hand_size == "all" else cards - players * int(ruleset.hand_size)
    if ruleset.hand_size == "all" and not whole:
        yield "hand_size", cards // players
    left = whole > 0 and ruleset.hand_size != "all"
    if ruleset.draw_on_pass == "none" or not (left or ruleset.restock):
        yield from (("draw_on_pass", "none"), ("restock", False))
        if ruleset.leftover == "stock":
            yield "leftover", "unused"
    if ruleset.leftover == "to_lowest" and not left:
        yield "leftover", "unused"
    if ruleset.leftover != "to_lowest" or not left:
        yield "leftover_shown", False
    if most_dealt(ruleset) < 4:
        yield "redeal_four_twos", False
    yield from _wins(ruleset, len(ranks_held(ruleset)))


def _wins(ruleset: Ruleset, ranks: int) -> Changes:
    """Yield what of the hands that win at once can be dealt from packs of this many ranks."""
    dealt = most_dealt(ruleset)
    dragon = "none" if dealt < ranks else ruleset.dragon
    wins = [win for win in ruleset.instant_wins if cards_needed(win, ranks) <= dealt]
    if dragon == "wins" and ruleset.ranks[-1] not in ranks_held(ruleset):
        wins = [win for win in wins if win != "dragon_without_two"]  # which is the dragon
    several = len(wins) + (dragon == "wins") > 1
    if several and not ruleset.instant_wins_compete:
        wins.sort(key=INSTANT_WINS.index)
    yield from (("dragon", dragon), ("instant_wins", tuple(wins)))
    if not several:
        yield "instant_wins_compete", True
    if not (wins or dragon == "wins") or ruleset.settle not in SETTLED_BY_PENALTIES:
        yield "instant_win_penalty", None


def _turns(ruleset: Ruleset) -> Changes:
    every = ruleset.lowest_lead_every
    if ruleset.lead == "lowest" or every == 1:
        yield from (("lead", "lowest"), ("lowest_lead_every", 0))
    elif every >= MAX_DEALS:
        yield "lowest_lead_every", 0
    if ruleset.players == 2:
        yield from (("direction", "clockwise"), ("pass_locks", False), ("after_out", "beatable"))
        if ruleset.settle not in ("places", "last_loses"):
            yield "deal_ends", "first_out"
    if ruleset.guard == "liable" and (ruleset.players == 2 or ruleset.settle in _OTHERS_AT_0):
        yield "guard", "none"


def _lead(ruleset: Ruleset) -> Changes:
    pack = [rank + suit for rank in ruleset.ranks for suit in ruleset.suits]
    if ruleset.first_lead == next((card for card in pack if card not in ruleset.removed_cards), ""):
        yield "first_lead", "lowest"
    if ruleset.plays == ("single",) and ruleset.lead_includes_lowest:
        yield "lead_includes_lowest", True


def _combinations(ruleset: Ruleset) -> Changes:
    plays = set(ruleset.plays)
    yield "plays", tuple([kind for kind in KINDS if kind in plays])
    order = cycle(ruleset.ranks)
    possible = sequences_of(ranks_held(ruleset), ruleset.straights)
    levels = [sorted(level, key=lambda text: order.index(text.split()[0])) for level in possible]
    yield "straights", tuple(map(tuple, levels))
    if not plays & _SEQUENCE_KINDS:
        yield "straights", straight_order("two_low", ruleset.ranks)
    runs = run_order(ruleset, "run") if "run" in plays else {}
    by_suit_of = [level for order in runs.values() for level in order]
    by_suit_of += possible if "straight" in plays else ()
    if all(_ends_highest(ruleset, level) for level in by_suit_of):
        yield "straight_suit_of", "top"
    yield (
        "run_from",
        min([*runs, *(run_order(ruleset, "suited_run") if "suited_run" in plays else ())], default=3),
    )
    yield "run_order", _usual_order(ruleset, plays & _ORDERED_RUNS)
    if "pair_run" not in plays:
        yield "pair_run_from", 2
    if not plays & {"two_pair", "bare_two_pair"}:
        yield "two_pair_order", "top_then_suit"
    if "flush" not in plays:
        yield "flush_order", "suit_then_top"
    limits = limited(ruleset.bombs_beat)
    free = [name for name in ruleset.bomb_order or ruleset.bombs if name not in limits]
    if len({*ruleset.five_card_order} - {*free}) < 2:
        yield "kinds_compete", True
    yield from (("bombs", (*free, *sorted(limits))), ("bomb_order", ()))
    if ruleset.equal_suits:
        yield "straight_suit_of", "top"
        if ruleset.flush_order == "top_then_suit":
            yield "flush_order", "suit_then_top"


def _usual_order(ruleset: Ruleset, kinds: Collection[str]) -> str:
    """Return the first name of an order by which runs of these kinds are the same."""
    orders = [run_order(ruleset, kind) for kind in kinds]
    for name in ORDER_NAMES:
        other = replace(ruleset, run_order=name)
        if orders == [run_order(other, kind) for kind in kinds]:
            return name
    return ruleset.run_order


def _ends_highest(ruleset: Ruleset, level: Sequence[str]) -> bool:
    sequences = [[ruleset.ranks.index(rank) for rank in sequence.split()] for sequence in level]
    return all(max(ranks) == ranks[-1] for ranks in sequences)


def _scoring(ruleset: Ruleset) -> Changes:
    multipliers = tuple(_brackets(ruleset))
    counts = ruleset.settle in SETTLED_BY_PENALTIES
    if not counts and ruleset.settle != "difference":
        multipliers = ()
    yield "multipliers", multipliers
    if not multipliers:
        yield "multiplier_for", "all"
    fixed = [bracket.start for bracket in multipliers if bracket.points is not None]
    is_fixed = len(fixed) == len(multipliers) and fixed[:1] == [1] and ruleset.multiplier_for == "all"
    if not counts or is_fixed:
        yield "card_points", (1,) * len(ruleset.rank_names)
    if not counts:
        yield "double_per_two_left", False
    yield "honours_left", _in_order(ruleset.honours_left) if counts else ()
    last_play = counts or ruleset.settle == "fixed"
    if not last_play:
        yield "final_twos", "none"
    yield "final_honours", _in_order(ruleset.final_honours) if last_play else ()
    if ruleset.settle == "fixed" and ruleset.final_twos == "none" and not ruleset.final_honours:
        yield "settle", "wins"


def _in_order(honours: Sequence[Honour]) -> tuple[Honour, ...]:
    return tuple(sorted(honours, key=lambda entry: HONOURS.index(entry.honour)))


def _brackets(ruleset: Ruleset) -> Iterator[Bracket]:
    """Yield the brackets that a hand can reach and that change what the one before it says."""
    last: tuple[int | None, int | None] = (1, None)
    for bracket in ruleset.multipliers:
        if bracket.start == "all":
            yield bracket
        elif bracket.start <= most_cards(ruleset) and (bracket.times, bracket.points) != last:
            last = bracket.times, bracket.points
            yield bracket


def _ranks(ruleset: Ruleset) -> Changes:
    """Yield what concerns ranks of which the packs have no card, or too few."""
    held, points = ranks_held(ruleset), list(ruleset.card_points)
    first = next((place for place, rank in enumerate(ruleset.ranks) if rank in held), 0)
    for place, rank in enumerate(ruleset.ranks):
        if rank not in held:
            points[place] = points[max(place - 1, first)]
    yield "card_points", tuple(points)
    twos = cards_held(ruleset.ranks[-1], ruleset.removed_cards, ruleset.decks)
    bonuses = ruleset.bonuses
    if bonuses is not None and twos < 4:
        bonuses = replace(bonuses, four_twos=0, winner_per_two=bonuses.winner_per_two if twos else 0)
        yield "bonuses", bonuses
    if not twos:
        yield from (("double_per_two_left", False), ("final_twos", "none"))
        for field in ("honours_left", "final_honours"):
            yield field, tuple([entry for entry in getattr(ruleset, field) if entry.honour != "twos"])


def _extras(ruleset: Ruleset) -> Changes:
    deals = ruleset.session.deals
    if deals is not None and deals > MAX_DEALS:
        yield "session", replace(ruleset.session, deals=MAX_DEALS)
    bonuses, plays = ruleset.bonuses, set(ruleset.plays)
    if bonuses is None:
        return
    if not plays & {"quads", "bare_quads"}:
        bonuses = replace(bonuses, quads=0, four_twos=0)
    if not plays & {"straight_flush", "straight_flush_plus_two"}:
        bonuses = replace(bonuses, straight_flush=0)
    if not (bonuses.quads or bonuses.four_twos or bonuses.straight_flush):
        bonuses = replace(bonuses, final_times=1)
    yield "bonuses", None if bonuses == Bonuses(0, 0, 0, 1, 0, 0) else bonuses


_FIELDS: Sequence[Callable[[Ruleset], Changes]] = (
    _ranks,
    _dealing,
    _turns,
    _lead,
    _combinations,
    _scoring,
    _extras,
)
"""What each yields is in force for those after it."""
