"""What a ruleset asks of every deal, worked out once so that no action has to look it up."""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from referee.dealing import landmarks
from referee.plays import Rules


class Course(NamedTuple):
    """Facts of a ruleset that bear on actions, in the order in which a deal keeps them."""

    code: Callable[[int], int]
    """Gives the play code of a mask."""
    full: int
    """Mask of all cards, which parts a code's cards from its group and strength."""
    group: int
    """The bits of a code below its group."""
    first_bomb: int
    """The least code of a bomb."""
    bombs: bool
    """Whether any play is a bomb."""
    one_pack: bool
    beat_own: bool
    windows: bool
    """Whether bombs may be played out of turn."""
    careful: bool
    """Whether a turn can be bound by a rule about last cards: a ban or a precaution."""
    guards: bool
    """Whether a next seat with one card asks for a precaution."""
    banned: int
    """Mask of the card that may not be played last; -1 for none, which no hand is."""
    losing: int
    """Mask of the card that who is left with it loses by; -1 for none."""
    goes_round: bool
    """Whether every turn is simply followed by the next seat's: nobody is out or locked out, a pass costs
    nothing, and no rule looks at the seats around."""


@lru_cache(maxsize=64)
def course_of(rules: Rules) -> Course:
    """Return the course of the rules."""
    ruleset = rules.ruleset
    top = landmarks(rules).top
    bans = ruleset.last_top_card == "cannot_win"
    guards = ruleset.guard != "none"
    costly = ruleset.draw_on_pass != "none" or ruleset.pass_locks
    return Course(
        code=rules.code,
        full=rules.full,
        group=rules.group_full,
        first_bomb=rules.first_bomb,
        bombs=bool(ruleset.bombs),
        one_pack=ruleset.decks == 1,
        beat_own=ruleset.beat_own,
        windows=ruleset.bombs_out_of_turn,
        careful=bans or guards,
        guards=guards,
        banned=top if bans else -1,
        losing=top if ruleset.last_top_card == "loses" else -1,
        goes_round=ruleset.deal_ends == "first_out"
        and not (costly or bans or guards or ruleset.beat_own or ruleset.bombs_out_of_turn),
    )
