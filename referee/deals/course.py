"""What a ruleset asks of every deal, worked out once so that no action has to look it up."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from referee.deals.dealing import landmarks
from referee.deals.stock import Stock
from referee.rules.plays import Rules


@dataclass(frozen=True, slots=True)
class Course:
    """Facts of a ruleset that bear on actions."""

    code: Callable[[int], int]
    """Gives the code of a mask."""
    full: int
    """The part of a code that is the mask of its cards."""
    group: int
    """The bits below a code's group."""
    first_bomb: int
    """The least code of a bomb."""
    bombs: bool
    """Whether any play is a bomb."""
    stronger: dict[int, int]
    """The cards that beat a single, as a mask, by its code."""
    one_pack: bool
    careful: bool
    """Whether a turn can be bound by a rule about last cards, a ban or a precaution."""
    goes_round: bool
    """Whether every turn is simply followed by the next seat's, as nobody is out or locked out and no rule
    looks at the seats around."""
    costly: bool
    """Whether a pass takes more than that."""
    losing: int
    """Mask of the card that who is left with it loses by; -1 for none."""
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
    return Course(
        code=rules.code,
        full=rules.full,
        group=rules.group_full,
        first_bomb=rules.first_bomb,
        bombs=bool(ruleset.bombs),
        stronger=_stronger(rules),
        one_pack=ruleset.decks == 1,
        careful=bans or guards,
        goes_round=goes_round,
        costly=draws or not goes_round,
        losing=top if ruleset.last_top_card == "loses" else -1,
        beat_own=ruleset.beat_own,
        windows=ruleset.bombs_out_of_turn,
        guards=guards,
        banned=top if bans else -1,
        draws=draws,
        pass_locks=ruleset.pass_locks,
        no_stock=None if ruleset.leftover == "stock" else Stock(rules, b"", ()),
    )


def _stronger(rules: Rules) -> dict[int, int]:
    cards = [1 << card * rules.decks for card in range(rules.width // rules.decks)]
    found, above = {}, 0
    for _, equals in groupby(sorted(map(rules.code, cards), reverse=True), lambda code: code >> rules.width):
        singles = list(equals)
        found.update(dict.fromkeys(singles, above))
        above += sum([single & rules.full for single in singles])
    return found
