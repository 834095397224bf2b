"""What a seat may do under all rules: the one source of legality.

``referee.deals.deal`` answers an ordinary turn, in which only the play to beat matters, from the sorted plays
alone; whenever another rule bears on a turn it asks this module. So do the SDK and the rules tools.
"""

from typing import NamedTuple

from referee.errors import IllegalHere, NotAPlay, NotInHand, PlayError
from referee.rules.plays import Rules


class Constraints(NamedTuple):
    """What bears on a decision, besides the hand."""

    to_beat: int
    """Code of the play to beat, 0 for a lead."""
    include: int = 0
    """Mask of the card that the lead must contain, or be where the rules say so; 0 for none."""
    banned: int = 0
    """Mask of the cards that may not be the last one played, if one of them is the hand; 0 for no ban."""
    guarded: bool = False
    """Whether the next seat has one card, so that the rules ask for the precaution."""


class Options(NamedTuple):
    """What is legal in a turn."""

    plays: list[int]
    """Codes, ascending."""
    may_pass: bool
    """Whether passing is legal."""


def allowed(rules: Rules, plays: list[int], constraints: Constraints) -> Options:
    """Return what is legal for a hand with these plays, which must include all that could be legal."""
    options = _allowed_unguarded(rules, plays, constraints)
    if not constraints.guarded or rules.ruleset.guard != "must":
        return options
    if constraints.to_beat:
        return _precaution(rules, options, constraints)
    return Options(_hindering(rules, plays, options.plays), options.may_pass)


def checked(rules: Rules, seat: int, hand: int, mask: int, constraints: Constraints) -> int:
    """Return the code of the play ``mask`` of ``seat``, 0 for a pass.

    Raise PlayError if it is not legal.

    The hand's plays are listed only if the precaution must be taken, or the seat passes a lead.
    """
    code = 0 if mask & ~hand else rules.code(mask)
    legal = code > 0 and bool(_allowed_unguarded(rules, [code], constraints).plays)
    if not mask:
        legal = constraints.to_beat > 0 or allowed(rules, rules.list_plays(hand), constraints).may_pass
    if legal and constraints.guarded and rules.ruleset.guard == "must":
        legal = _takes(allowed(rules, rules.list_plays(hand), constraints), code)
    if not legal:
        raise refusal(rules, seat, hand, mask, constraints)
    return code


def ignores_precaution(rules: Rules, hand: int, code: int, constraints: Constraints) -> bool:
    """Return whether a legal action makes its seat liable: a play, or 0 for a pass."""
    if not constraints.guarded or rules.ruleset.guard != "liable":
        return False
    options = _allowed_unguarded(rules, rules.list_plays(hand), constraints)
    return not _takes(_precaution(rules, options, constraints), code)


def _takes(options: Options, code: int) -> bool:
    return code in options.plays if code else options.may_pass


def _allowed_unguarded(rules: Rules, plays: list[int], constraints: Constraints) -> Options:
    options = rules.following(plays, constraints.to_beat) if constraints.to_beat else plays
    include = constraints.include
    if include:
        required = rules.full if rules.ruleset.lead_includes_lowest == "alone" else include
        options = [play for play in options if play & required == include]
    if constraints.banned:
        options = [play for play in options if play & rules.full & ~constraints.banned]
    return Options(options, constraints.to_beat > 0 or not options)


def _hindering(rules: Rules, plays: list[int], leads: list[int]) -> list[int]:
    """Return those of the legal ``leads`` that ``guard: must`` leaves (pagat.com, "Last Card").

    They have two or more cards, or are the highest card of a hand with these ``plays``. A card that the lead
    must contain takes precedence: if this refuses every lead with it, all of them are legal.
    """
    highest = _highest(rules, plays)
    return [play for play in leads if play in highest or not _is_single(rules, play)] or leads


def _precaution(rules: Rules, options: Options, constraints: Constraints) -> Options:
    """Return those of the legal options that are the precaution of ``guard: liable`` (pagat.com, "Scoring").

    When leading, that is a play of two or more cards, or else the highest card; on a single (under ``must``
    too), the highest card if it beats that, or a bomb, or else a pass. A card that the lead must contain
    takes precedence: the options given all contain it.
    """
    highest = _highest(rules, options.plays)
    several = [play for play in options.plays if not _is_single(rules, play)]
    if not constraints.to_beat:
        return Options(several or highest, options.may_pass)
    if not _is_single(rules, constraints.to_beat):
        return options
    return Options(sorted(highest + several), not highest)


def _highest(rules: Rules, plays: list[int]) -> list[int]:
    """Return the highest single card among these plays; where suits are equal, all of its rank."""
    singles = [play for play in plays if _is_single(rules, play)]
    top = max(singles, default=0) >> rules.width
    return [play for play in singles if play >> rules.width == top]


def _is_single(rules: Rules, play: int) -> bool:
    return rules.count(play & rules.full) == 1


def refusal(rules: Rules, seat: int, hand: int, mask: int, constraints: Constraints) -> PlayError:
    """Return the error that says why ``seat`` may not play ``mask`` (0: pass) in this turn."""
    if not mask:
        if not constraints.to_beat:
            return IllegalHere("a pass is not legal when leading")
        return IllegalHere("a pass does not hinder the next seat, which has one card left")
    if mask & ~hand:
        missing = rules.text(mask & rules.full & ~hand)
        return NotInHand(f"seat {seat} does not hold {missing or 'these cards'}")
    code = rules.code(mask)
    if not code:
        return NotAPlay(f"{rules.text(mask)} is not a combination in {rules.ruleset.label}")
    return IllegalHere(_why_not(rules, code, constraints))


def _why_not(rules: Rules, code: int, constraints: Constraints) -> str:
    cards = rules.text(code & rules.full)
    if constraints.to_beat and not rules.beats(code, constraints.to_beat):
        return f"{cards} does not beat {rules.text(constraints.to_beat & rules.full)}"
    include = constraints.include
    if include and not code & include:
        return f"{cards} does not contain {rules.text(include)}, which this lead must"
    if include and rules.ruleset.lead_includes_lowest == "alone" and code & rules.full != include:
        return f"{cards} is more than {rules.text(include)}, which must be led alone"
    if constraints.banned:
        return f"{cards} may not be the last card played"
    return f"{cards} does not hinder the next seat, which has one card left"
