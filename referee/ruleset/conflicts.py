"""What fields of a ruleset forbid each other (docs/rulesets.md)."""

from collections.abc import Callable

from referee.errors import RulesetError
from referee.ruleset.fields import FIVE_CARD_KINDS
from referee.ruleset.limits import pack_size, refuse_excess
from referee.ruleset.model import Ruleset

_SEQUENCE_KINDS = {"straight", "straight_flush", "straight_flush_plus_two"}


def refuse_conflicts(ruleset: Ruleset) -> None:
    """Raise RulesetError for the first contradiction between fields, if there is one."""
    for check in _CHECKS:
        check(ruleset)


def _refuse(bad: bool, field: str, reason: str) -> None:
    if bad:
        raise RulesetError(field, reason)


def _hands(ruleset: Ruleset) -> None:
    if not isinstance(ruleset.hand_size, int):
        return
    dealt, cards = ruleset.players * ruleset.hand_size, pack_size(ruleset)
    over = cards - dealt
    _refuse(
        dealt > cards,
        "hand_size",
        f"{ruleset.players} hands of {ruleset.hand_size} need {dealt} cards, there are {cards}",
    )
    _refuse(
        ruleset.leftover == "to_lowest" and over >= ruleset.players,
        "leftover",
        f"to_lowest needs fewer cards left over than players, not {over} with {ruleset.players} players",
    )


def _dealing(ruleset: Ruleset) -> None:
    draws = ruleset.draw_on_pass != "none"
    _refuse(draws and ruleset.leftover != "stock", "draw_on_pass", "needs leftover: stock")
    _refuse(ruleset.restock and not draws, "restock", "needs draw_on_pass")
    _refuse(ruleset.exchange != "none" and ruleset.players != 3, "exchange", "needs three players")


def _kinds(ruleset: Ruleset) -> None:
    plays = set(ruleset.plays)
    _refuse("single" not in plays, "plays", "must have single")
    _refuse(
        {"straight_flush", "straight_flush_plus_two"} <= plays,
        "plays",
        "cannot have both straight_flush and straight_flush_plus_two",
    )
    _refuse(
        bool(plays & _SEQUENCE_KINDS) and not ruleset.straights,
        "straights",
        "has no sequence, though plays has kinds made of one",
    )


def _order(ruleset: Ruleset) -> None:
    order, plays = set(ruleset.five_card_order), set(ruleset.plays)
    missing = [kind for kind in FIVE_CARD_KINDS if kind in plays - order]
    extra = [kind for kind in ruleset.five_card_order if kind in FIVE_CARD_KINDS and kind not in plays]
    _refuse(bool(missing), "five_card_order", f"lacks {', '.join(missing)}, which plays has")
    _refuse(bool(extra), "five_card_order", f"has {', '.join(extra)}, which plays lacks")
    _refuse(
        "royal_flush" in order and "straight_flush" not in plays,
        "five_card_order",
        "has royal_flush, which needs straight_flush in plays",
    )


def _bombs(ruleset: Ruleset) -> None:
    playable = {*ruleset.plays, *ruleset.five_card_order}
    for kind in ruleset.bombs:
        where = "five_card_order" if kind == "royal_flush" else "plays"
        _refuse(kind not in playable, "bombs", f"has {kind}, which {where} lacks")
    _refuse(
        bool(ruleset.bomb_order) and set(ruleset.bomb_order) != set(ruleset.bombs),
        "bomb_order",
        "must hold the kinds of bombs, each once, or be empty",
    )
    _refuse(ruleset.bombs_out_of_turn and not ruleset.bombs, "bombs_out_of_turn", "needs bombs")


def _end(ruleset: Ruleset) -> None:
    if ruleset.deal_ends == "last_holder":
        reason = "with deal_ends: last_holder"
        _refuse(ruleset.dragon == "wins", "dragon", f"cannot be wins {reason}")
        _refuse(ruleset.last_top_card == "loses", "last_top_card", f"cannot be loses {reason}")
        _refuse(ruleset.guard == "liable", "guard", f"cannot be liable {reason}")
    elif ruleset.settle in ("places", "last_loses"):
        raise RulesetError("settle", f"{ruleset.settle} needs deal_ends: last_holder")


def _places(ruleset: Ruleset) -> None:
    wanted = ruleset.players if ruleset.settle == "places" else 0
    given = len(ruleset.place_points)
    reason = f"must have {wanted} numbers with settle: {ruleset.settle}, not {given}"
    _refuse(given != wanted, "place_points", reason)


_CHECKS: tuple[Callable[[Ruleset], None], ...] = (
    _hands,
    _dealing,
    _kinds,
    _order,
    _bombs,
    _end,
    _places,
    refuse_excess,
)
