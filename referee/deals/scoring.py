"""What a finished deal scores: points by seat, higher is better.

Sources: pagat.com "Scoring" and "Scoring variations", the rules of Only a Game, Choi Dai Di and
Silicon Valley, and of Pao De Kuai (hackmd.io) for hands of which nothing was played. All functions are pure;
``score`` is the way in.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import prod
from typing import NamedTuple

from referee.deals.action import Entry
from referee.deals.dealing import landmarks, seats_after
from referee.deals.showdown import best_honour, holds, loser, shows
from referee.rules.plays import Rules
from referee.ruleset import Bonuses, Bracket, Honour


class Unbeaten(NamedTuple):
    """A play that nobody beat."""

    seat: int
    code: int
    final: bool
    """Whether it ended the deal."""


def unbeaten(rules: Rules, log: Sequence[Entry], trick_ends: Sequence[int]) -> tuple[Unbeaten, ...]:
    """Return the last play of every trick.

    ``trick_ends`` has the number of actions up to each finished trick's end; the trick after them ended the
    deal.
    """
    listed = []
    for end in (*trick_ends, len(log)):
        last = end - 1
        while not log[last][1]:
            last -= 1
        seat, cards, _, _ = log[last]
        listed.append(Unbeaten(seat, rules.code(cards), end == len(log)))
    return tuple(listed)


class Finish(NamedTuple):
    """What decides the points of a finished deal. Seats without cards left have mask 0."""

    dealer: int
    step: int
    """Direction of play, 1 or -1."""
    leader: int | None
    """Who led the deal; None if a forfeit came before the lead."""
    full: tuple[int, ...]
    """Hands when play began: with leftover cards and after an exchange."""
    left: tuple[int, ...]
    """Hands at the end."""
    out: tuple[int, ...]
    """Seats that went out, in order; the first one is the winner."""
    culprit: int | None = None
    """Seat that ended the deal without a winner: left with the top card, or by a forfeit."""
    unplayed: bool = False
    """Whether the others score as if no card had been played (a hand won at once)."""
    final: int = 0
    """Code of the winner's last play; 0 if there is none."""
    ignorer: int | None = None
    """Seat that pays for all because it ignored the precaution."""
    unbeaten: tuple[Unbeaten, ...] = ()
    """Plays that nobody beat; needed only if there are bonuses."""
    played: int = 0
    """The seats, as bits, that have played a card; needed only if a bracket is for those that have not."""


class Case(NamedTuple):
    """A finished deal with a winner: what the ways to settle work from."""

    rules: Rules
    finish: Finish
    hands: tuple[int, ...]
    """The cards that count."""
    winner: int
    factor: int
    """What the winning play multiplies by (``final_twos`` and ``final_honours``)."""
    extra: int
    """What the winning play adds to the penalty points of each other seat (``final_honours``)."""
    penalties: list[int]
    """Penalty points by seat; the winner's are 0."""


def score(rules: Rules, finish: Finish) -> tuple[int, ...]:
    """Return the points of a finished deal, by seat."""
    if finish.culprit is not None:
        return tuple(_without_winner(rules, finish, finish.culprit))
    case = _case(rules, finish)
    points = _SETTLES[rules.ruleset.settle](case)
    if finish.ignorer is not None:
        points = _paid_by(points, case.winner, finish.ignorer)
    if rules.ruleset.bonuses is not None:
        _add_bonuses(points, case, rules.ruleset.bonuses)
    if rules.ruleset.partners == "opposite":
        points = [own + points[seat - 2] for seat, own in enumerate(points)]
    return tuple(points)


def penalty(rules: Rules, hand: int, brackets: bool = True, factor: int = 1, *, whole: bool = False) -> int:
    """Return a hand's penalty points, times ``factor``; an empty hand has none.

    These are card points through the bracket, doubled for twos, and with what honours left in it cost.
    ``brackets`` says whether brackets apply to this seat, ``whole`` whether it has played no card.
    """
    if not hand:
        return 0
    pricing = _pricing(rules)
    count = hand.bit_count()
    points = count * pricing.least
    for cards, more in pricing.dearer:
        points += (hand & cards).bit_count() * more
    if brackets:
        points = _through_bracket(pricing.brackets, count, points, whole)
    if pricing.doubling:
        points <<= (hand & pricing.doubling).bit_count()
    if rules.ruleset.honours_left:
        held = [entry for entry in rules.ruleset.honours_left if holds(rules, entry.honour, hand)]
        points = points * _times(held) + _added(held)
    return points * factor


def difference(rules: Rules, cards: int, brackets: bool = True) -> int:
    """Return what a difference in cards costs with ``settle: difference``: the number through the bracket."""
    return _through_bracket(_pricing(rules).brackets, cards, cards, False) if brackets and cards else cards


def _times(honours: Sequence[Honour]) -> int:
    return prod([entry.times or 1 for entry in honours])


def _added(honours: Sequence[Honour]) -> int:
    return sum([entry.points or 0 for entry in honours])


def final_factor(rules: Rules, final: int) -> int:
    """Return the factor of the winning play for its twos, given as a code; 1 for 0, no play."""
    if rules.ruleset.final_twos == "none":
        return 1
    cards = final & rules.full
    twos = rules.count(cards & landmarks(rules).all_twos)
    if rules.ruleset.final_twos == "double_each":
        return 1 << twos
    return 2 if twos and twos == rules.count(cards) else 1


def _case(rules: Rules, finish: Finish) -> Case:
    winner = finish.out[0]
    hands = finish.left
    if finish.unplayed:
        hands = tuple(0 if seat == winner else hand for seat, hand in enumerate(finish.full))
    final, fixed = finish.final, rules.ruleset.instant_win_penalty
    factor, extra = final_factor(rules, final), 0
    if final and rules.ruleset.final_honours:
        honours = [entry for entry in rules.ruleset.final_honours if shows(rules, entry.honour, final)]
        factor, extra = factor * _times(honours), _added(honours)
    if finish.unplayed and fixed is not None:
        penalties = [0 if seat == winner else fixed for seat in range(len(hands))]
    else:
        played = 0 if finish.unplayed else finish.played
        penalties = [
            penalty(rules, hand, _bracketed(rules, finish, seat), factor, whole=not played >> seat & 1)
            + (extra if hand else 0)
            for seat, hand in enumerate(hands)
        ]
    return Case(rules, finish, hands, winner, factor, extra, penalties)


class Pricing(NamedTuple):
    """What the cards left in a hand cost."""

    least: int
    """The points of the cheapest card."""
    dearer: tuple[tuple[int, int], ...]
    """Masks of dearer cards, every copy, and how much more each of them costs."""
    brackets: tuple[Bracket, ...]
    """The brackets, the highest first."""
    doubling: int
    """Mask of the cards that each double the points, every copy."""


@lru_cache(maxsize=64)
def _pricing(rules: Rules) -> Pricing:
    ruleset = rules.ruleset
    least, prices = min(ruleset.card_points), dict[int, int]()
    for cards, points in zip(rules.rank_masks, ruleset.card_points, strict=True):
        if points > least:
            prices[points - least] = prices.get(points - least, 0) | cards
    dearer = tuple((cards, more) for more, cards in prices.items())
    doubling = landmarks(rules).all_twos if ruleset.double_per_two_left else 0
    return Pricing(least, dearer, ruleset.multipliers[::-1], doubling)


def _through_bracket(brackets: Sequence[Bracket], count: int, points: int, whole: bool) -> int:
    for bracket in brackets:
        if whole if bracket.start == "all" else count >= bracket.start:
            return points * bracket.times if bracket.times is not None else bracket.points or 0
    return points


def _bracketed(rules: Rules, finish: Finish, seat: int) -> bool:
    return rules.ruleset.multiplier_for == "all" or seat == finish.leader


# The ways to settle


def _penalty(case: Case) -> list[int]:
    return [-points for points in case.penalties]


def _pairwise(case: Case) -> list[int]:
    total, seats = sum(case.penalties), len(case.penalties)
    return [total - seats * points for points in case.penalties]


def _winner_collects(case: Case) -> list[int]:
    points = _penalty(case)
    points[case.winner] = sum(case.penalties)
    return points


def _better_collect(case: Case) -> list[int]:
    points = [0] * len(case.penalties)
    for payer, more in enumerate(case.penalties):
        for payee, fewer in enumerate(case.penalties):
            if more > fewer:
                points[payer] -= more
                points[payee] += more
    return points


def _winner_scores(case: Case) -> list[int]:
    return _only(case, case.winner, sum(case.penalties))


def _fixed(case: Case) -> list[int]:
    return _only(case, case.winner, case.factor + case.extra)


def _wins(case: Case) -> list[int]:
    return _only(case, case.winner, 1)


def _last_loses(case: Case) -> list[int]:
    return _only(case, _last_holder(case), -1)


def _places(case: Case) -> list[int]:
    points = [0] * len(case.hands)
    for seat, place in zip(_order(case), case.rules.ruleset.place_points, strict=True):
        points[seat] = place
    return points


def _order(case: Case) -> list[int]:
    """Return the seats in the order of going out, or after the winner by what they have left."""
    finish, rules = case.finish, case.rules
    if rules.ruleset.deal_ends == "last_holder":
        return [*finish.out, _last_holder(case)]
    left = [seat for seat in seats_after(finish.dealer, finish.step, len(case.hands)) if seat != case.winner]
    worst: list[int] = []
    while left:
        worst.append(loser(rules, case.hands, left))
        left.remove(worst[-1])
    return [case.winner, *reversed(worst)]


def _difference(case: Case) -> list[int]:
    points = [0] * len(case.hands)
    counts = [case.rules.count(hand) for hand in case.hands]
    for payer, more in enumerate(counts):
        brackets = _bracketed(case.rules, case.finish, payer)
        for payee, fewer in enumerate(counts):
            if more > fewer:
                amount = difference(case.rules, more - fewer, brackets)
                points[payer] -= amount
                points[payee] += amount
    return points


def _loser_only(case: Case) -> list[int]:
    points = _only(case, case.winner, 1)
    points[_payer(case)] = -1
    return points


_SETTLES: dict[str, Callable[[Case], list[int]]] = {
    "penalty": _penalty,
    "pairwise": _pairwise,
    "winner_collects": _winner_collects,
    "better_collect": _better_collect,
    "winner_scores": _winner_scores,
    "fixed": _fixed,
    "places": _places,
    "loser_only": _loser_only,
    "difference": _difference,
    "last_loses": _last_loses,
    "wins": _wins,
}


def _only(case: Case, seat: int, points: int) -> list[int]:
    return [points if other == seat else 0 for other in range(len(case.hands))]


def _last_holder(case: Case) -> int:
    return next(seat for seat, hand in enumerate(case.hands) if hand)


def _payer(case: Case) -> int:
    """Return the one seat that pays with ``loser_only``; of equals, the first after the dealer."""
    finish, rules = case.finish, case.rules
    order = seats_after(finish.dealer, finish.step, len(case.hands))
    others = [seat for seat in order if seat != case.winner]
    honours = {seat: best_honour(rules, case.hands[seat]) for seat in others}
    held = [honour for honour in honours.values() if honour is not None]
    if held:
        return next(seat for seat in others if honours[seat] == max(held))
    aces = rules.rank_masks[len(rules.ruleset.ranks) - 2]
    highest = [seat for seat in others if case.hands[seat] & (rules.tops | aces)]
    if highest:
        return max(highest, key=lambda seat: _highest_place(rules, case.hands[seat]))
    return max(
        others, key=lambda seat: (rules.count(case.hands[seat]), _highest_place(rules, case.hands[seat]))
    )


def _highest_place(rules: Rules, hand: int) -> int:
    rising = landmarks(rules).rising
    return max((rules.code(card) >> rules.width for card in rising if card & hand), default=-1)


# What comes on top


def _paid_by(points: list[int], winner: int, ignorer: int) -> list[int]:
    lost = sum(points) - points[winner]
    paid = [0] * len(points)
    paid[winner] = points[winner]
    paid[ignorer] = lost
    return paid


def _add_bonuses(points: list[int], case: Case, bonuses: Bonuses) -> None:
    for play in case.finish.unbeaten:
        points[play.seat] += _bonus(case.rules, play, bonuses)
    twos = case.rules.count(case.finish.final & landmarks(case.rules).all_twos)
    points[case.winner] += bonuses.winner_per_two * twos if twos else bonuses.winner


def _bonus(rules: Rules, play: Unbeaten, bonuses: Bonuses) -> int:
    times = bonuses.final_times if play.final else 1
    match rules.kind(play.code):
        case "quads" | "bare_quads":
            twos = rules.count(play.code & landmarks(rules).all_twos)
            return (bonuses.four_twos if twos >= 4 else bonuses.quads) * times
        case "straight_flush" | "royal_flush" | "straight_flush_plus_two":
            return bonuses.straight_flush * times
    return 0


_PAYS_EACH = ("pairwise", "winner_collects", "better_collect", "difference", "loser_only")
_COUNTS_ONE = ("fixed", "wins", "last_loses", "loser_only")


def _without_winner(rules: Rules, finish: Finish, culprit: int) -> list[int]:
    settle, seats = rules.ruleset.settle, len(finish.full)
    if settle == "places":
        return _places_without_winner(rules, finish, culprit)
    amount = _amount(rules, finish, culprit)
    share = amount if settle in _PAYS_EACH else 0
    return [share if seat != culprit else -amount - share * (seats - 2) for seat in range(seats)]


def _amount(rules: Rules, finish: Finish, culprit: int) -> int:
    if rules.ruleset.settle in _COUNTS_ONE:
        return 1
    hand, brackets = finish.full[culprit], _bracketed(rules, finish, culprit)
    if rules.ruleset.settle == "difference":
        return difference(rules, rules.count(hand), brackets)
    return penalty(rules, hand, brackets, whole=True)


def _places_without_winner(rules: Rules, finish: Finish, culprit: int) -> list[int]:
    # Ahead of the culprit by no less than of the last one of a finished deal, or leaving would pay.
    *free, last = rules.ruleset.place_points
    places = zip(finish.out, rules.ruleset.place_points, strict=False)
    kept = {seat: place for seat, place in places if seat != culprit}
    for place in kept.values():
        free.remove(place)
    rest = -(-sum(free) // len(free)) if free else last
    return [last if seat == culprit else kept.get(seat, rest) for seat in range(len(finish.full))]
