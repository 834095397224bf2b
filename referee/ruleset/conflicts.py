"""Contradictions between fields of a ruleset (docs/rulesets.md)."""

from collections.abc import Callable, Iterator

from referee.errors import Problem, RulesetError
from referee.ruleset.fields import FIVE_CARD_KINDS
from referee.ruleset.limits import excess, pack_size
from referee.ruleset.model import Ruleset

_SEQUENCE_KINDS = {"straight", "straight_flush", "straight_flush_plus_two"}


def refuse_conflicts(ruleset: Ruleset) -> None:
    """Raise RulesetError with all contradictions between fields, if there are any."""
    found = [problem for check in _CHECKS for problem in check(ruleset)] or list(excess(ruleset))
    if found:
        raise RulesetError.of(found)


def _hands(ruleset: Ruleset) -> Iterator[Problem]:
    if not isinstance(ruleset.hand_size, int):
        return
    players, size = ruleset.players, ruleset.hand_size
    dealt, cards = players * size, pack_size(ruleset)
    if dealt > cards:
        yield Problem("hand_size", f"{players} hands of {size} need {dealt} cards, there are {cards}")
    elif ruleset.leftover == "to_lowest" and cards - dealt >= players:
        reason = (
            f"to_lowest needs fewer cards left over than players, not {cards - dealt} with {players} players"
        )
        yield Problem("leftover", reason)


def _dealing(ruleset: Ruleset) -> Iterator[Problem]:
    draws = ruleset.draw_on_pass != "none"
    if draws and ruleset.leftover != "stock":
        yield Problem("draw_on_pass", "needs leftover: stock")
    if ruleset.restock and not draws:
        yield Problem("restock", "needs draw_on_pass")
    if ruleset.exchange != "none" and ruleset.players != 3:
        yield Problem("exchange", "needs three players")


def _kinds(ruleset: Ruleset) -> Iterator[Problem]:
    plays = set(ruleset.plays)
    if "single" not in plays:
        yield Problem("plays", "must have single")
    if {"straight_flush", "straight_flush_plus_two"} <= plays:
        yield Problem("plays", "cannot have both straight_flush and straight_flush_plus_two")
    if plays & _SEQUENCE_KINDS and not ruleset.straights:
        yield Problem("straights", "has no sequence, though plays has kinds made of one")


def _order(ruleset: Ruleset) -> Iterator[Problem]:
    order, plays = set(ruleset.five_card_order), set(ruleset.plays)
    missing = [kind for kind in FIVE_CARD_KINDS if kind in plays - order]
    extra = [kind for kind in ruleset.five_card_order if kind in FIVE_CARD_KINDS and kind not in plays]
    if missing:
        yield Problem("five_card_order", f"lacks {', '.join(missing)}, which plays has")
    if extra:
        yield Problem("five_card_order", f"has {', '.join(extra)}, which plays lacks")
    if "royal_flush" in order and "straight_flush" not in plays:
        yield Problem("five_card_order", "has royal_flush, which needs straight_flush in plays")


def _bombs(ruleset: Ruleset) -> Iterator[Problem]:
    playable = {*ruleset.plays, *ruleset.five_card_order}
    for kind in ruleset.bombs:
        if kind not in playable:
            where = "five_card_order" if kind == "royal_flush" else "plays"
            yield Problem("bombs", f"has {kind}, which {where} lacks")
    if ruleset.bomb_order and set(ruleset.bomb_order) != set(ruleset.bombs):
        yield Problem("bomb_order", "must hold the kinds of bombs, each once, or be empty")
    if ruleset.bombs_out_of_turn and not ruleset.bombs:
        yield Problem("bombs_out_of_turn", "needs bombs")


def _end(ruleset: Ruleset) -> Iterator[Problem]:
    if ruleset.deal_ends == "last_holder":
        for field, value in _FOR_THE_FIRST_OUT:
            if getattr(ruleset, field) == value:
                yield Problem(field, f"cannot be {value} with deal_ends: last_holder")
    elif ruleset.settle in ("places", "last_loses"):
        yield Problem("settle", f"{ruleset.settle} needs deal_ends: last_holder")


_FOR_THE_FIRST_OUT = (("dragon", "wins"), ("last_top_card", "loses"), ("guard", "liable"))
"""Values that make sense only if the first to go out ends the deal."""


def _places(ruleset: Ruleset) -> Iterator[Problem]:
    wanted = ruleset.players if ruleset.settle == "places" else 0
    given = len(ruleset.place_points)
    if given != wanted:
        reason = f"must have {wanted} numbers with settle: {ruleset.settle}, not {given}"
        yield Problem("place_points", reason)


_CHECKS: tuple[Callable[[Ruleset], Iterator[Problem]], ...] = (
    _hands,
    _dealing,
    _kinds,
    _order,
    _bombs,
    _end,
    _places,
)
