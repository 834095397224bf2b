"""Facts of a ruleset that bear on actions, computed once so that no action has to derive them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from referee.deals.dealing import landmarks
from referee.deals.stock import Stock
from referee.rules.plays import Rules
from referee.rules.strength import Limited


@dataclass(frozen=True, slots=True)
class RuleFacts:
    """Facts of a ruleset that bear on actions."""

    code: Callable[[int], int]
    """``Rules.code``; this and the next four are copied here to save each action a look-up."""
    full: int
    group_full: int
    first_bomb: int
    bombs: bool
    limited: Limited | None
    """The bombs that beat only some plays: what beats those is more than a slice of a list."""
    stronger: dict[int, int]
    """The cards that beat a single, as a mask, by the single's code; empty if other plays may beat it too."""
    one_pack: bool
    careful: bool
    """Whether a rule about last cards, a ban or a precaution, can restrict a turn."""
    goes_round: bool
    """Whether every turn is followed by the next seat's: nobody is out or locked out before the deal is
    over, and no rule depends on other seats."""
    costly: bool
    """Whether a pass takes more than giving the turn to the next seat."""
    losing: int
    """Mask of the cards whose holder loses when left with one alone, every copy; 0 for none."""
    beat_own: bool
    windows: bool
    """Whether bombs may be played out of turn."""
    guards: bool
    """Whether the rules ask for a precaution when the next seat has one card."""
    banned: int
    """Mask of the cards that may not be played last, every copy; 0 for none."""
    banned_hands: frozenset[int]
    """The hands of one of these cards alone."""
    asks_who_played: bool
    """Whether points depend on which seats have played a card."""
    draws: bool
    """Whether a pass draws cards."""
    pass_locks: bool
    lists_short: bool
    """Whether plays of up to three cards suffice to beat a play of so few: there are no bombs."""
    no_stock: Stock | None
    """The empty stock that all deals share if the rules have no stock; else None."""


@lru_cache(maxsize=64)
def rule_facts(rules: Rules) -> RuleFacts:
    """Return the facts of the rules."""
    ruleset = rules.ruleset
    last = landmarks(rules).last
    losing = last if ruleset.last_top_card == "loses" else 0
    bans = ruleset.last_top_card == "cannot_win"
    guards = ruleset.guard != "none"
    draws = ruleset.draw_on_pass != "none"
    around = bans or guards or ruleset.pass_locks or ruleset.beat_own or ruleset.bombs_out_of_turn
    goes_round = ruleset.deal_ends == "first_out" and not around
    return RuleFacts(
        code=rules.code,
        full=rules.full,
        group_full=rules.group_full,
        first_bomb=rules.first_bomb,
        bombs=bool(ruleset.bombs),
        limited=rules.limited,
        stronger={} if ruleset.bombs else stronger_singles(rules),
        one_pack=ruleset.decks == 1,
        careful=bans or guards,
        goes_round=goes_round,
        costly=draws or not goes_round,
        losing=losing,
        beat_own=ruleset.beat_own,
        windows=ruleset.bombs_out_of_turn,
        guards=guards,
        banned=last if bans else 0,
        banned_hands=frozenset(card for card in landmarks(rules).rising if bans and card & last),
        asks_who_played=any(bracket.start == "all" for bracket in ruleset.multipliers),
        draws=draws,
        pass_locks=ruleset.pass_locks,
        lists_short=not ruleset.bombs,
        no_stock=None if ruleset.leftover == "stock" else Stock(rules, b"", ()),
    )


@lru_cache(maxsize=64)
def stronger_singles(rules: Rules) -> dict[int, int]:
    """Return, by the code of each single card, the mask of all cards that beat it, every copy included."""
    cards = [1 << card * rules.decks for card in rules.indices]
    stronger, above = {}, 0
    for _, equals in groupby(sorted(map(rules.code, cards), reverse=True), lambda code: code >> rules.width):
        singles = list(equals)
        stronger.update(dict.fromkeys(singles, above))
        above += sum([(single & rules.full) * ((1 << rules.decks) - 1) for single in singles])
    return stronger
