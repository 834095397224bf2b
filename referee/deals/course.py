"""What a ruleset asks of every deal, worked out once so that no action has to look it up."""

from functools import lru_cache
from typing import NamedTuple

from referee.deals.dealing import landmarks
from referee.deals.stock import Stock
from referee.rules.plays import Rules


class Course(NamedTuple):
    """Facts of a ruleset that bear on actions."""

    codes: tuple[int, int, int]
    """Parts of codes: the mask of all cards, the bits below a code's group, the least code of a bomb."""
    turns: tuple[bool, bool, bool, bool, bool, int]
    """What every turn asks for: whether any play is a bomb; whether there is one pack; whether a turn can be
    bound by a rule about last cards, a ban or a precaution; whether every turn is simply followed by the next
    seat's, as nobody is out or locked out and no rule looks at the seats around; whether a pass takes more
    than that; and the mask of the card that who is left with it loses by, -1 for none."""
    beat_own: bool
    windows: bool
    """Whether bombs may be played out of turn."""
    guards: bool
    """Whether a next seat with one card asks for a precaution."""
    banned: int
    """Mask of the card that may not be played last; -1 for none, which no hand is."""
    draws: bool
    """Whether a pass draws cards."""
    pass_locks: bool
    no_stock: Stock | None
    """The stock of every deal, where the rules have none; else None."""


@lru_cache(maxsize=64)
def course_of(rules: Rules) -> Course:
    """Return the course of the rules."""
    ruleset = rules.ruleset
    top = landmarks(rules).top
    bans = ruleset.last_top_card == "cannot_win"
    guards = ruleset.guard != "none"
    draws = ruleset.draw_on_pass != "none"
    around = bans or guards or ruleset.pass_locks or ruleset.beat_own or ruleset.bombs_out_of_turn
    goes_round = ruleset.deal_ends == "first_out" and not around
    losing = top if ruleset.last_top_card == "loses" else -1
    return Course(
        codes=(rules.full, rules.group_full, rules.first_bomb),
        turns=(
            bool(ruleset.bombs),
            ruleset.decks == 1,
            bans or guards,
            goes_round,
            draws or not goes_round,
            losing,
        ),
        beat_own=ruleset.beat_own,
        windows=ruleset.bombs_out_of_turn,
        guards=guards,
        banned=top if bans else -1,
        draws=draws,
        pass_locks=ruleset.pass_locks,
        no_stock=None if ruleset.leftover == "stock" else Stock(rules, b"", ()),
    )
