"""The scoring of deals and the end of a session, in words."""

from collections.abc import Iterator
from itertools import groupby

from referee.deals.showdown import HONOURS
from referee.describe.deal import showdown
from referee.describe.words import bare, counted, highest_card, last_card, listed, number, weakest_first
from referee.ruleset import Bonuses, Bracket, Ruleset
from referee.ruleset.limits import SETTLED_BY_PENALTIES


def scoring(ruleset: Ruleset) -> list[str]:
    """Return how a deal is scored."""
    return [*_settling(ruleset), *_liability(ruleset), *_partners(ruleset), _no_winner(ruleset)]


def _settling(ruleset: Ruleset) -> list[str]:
    if ruleset.settle == "difference":
        return [_difference(ruleset), *_bracket_owner(ruleset)]
    if ruleset.settle not in SETTLED_BY_PENALTIES:
        return [_settled(ruleset), *_final_twos(ruleset), *_final_honours(ruleset)]
    return [
        _card_points(ruleset),
        *_brackets(ruleset),
        *_bracket_owner(ruleset),
        *_twos_left(ruleset),
        *_honours_left(ruleset),
        *_final_twos(ruleset),
        *_final_honours(ruleset),
        _settled(ruleset),
    ]


def _card_points(ruleset: Ruleset) -> str:
    if len(set(ruleset.card_points)) == 1:
        each = counted(ruleset.card_points[0], "penalty point")
        return f"When a deal ends, every card left in a hand counts {each}."
    parts = []
    pairs = zip(ruleset.rank_names, ruleset.card_points, strict=True)
    for points, same in groupby(pairs, key=lambda pair: pair[1]):
        ranks = [rank for rank, _ in same]
        span = ranks[0] if len(ranks) == 1 else f"{ranks[0]} to {ranks[-1]}"
        parts.append(f"{span}: {points}")
    return f"When a deal ends, the cards left in a hand count penalty points by rank ({', '.join(parts)})."


def _brackets(ruleset: Ruleset) -> list[str]:
    if not ruleset.multipliers:
        return []
    parts = [f"{cards} cards left {_cost(bracket)}" for cards, bracket in _spans(ruleset)]
    parts += [
        f"all cards of a player who has played none {_cost(bracket)}"
        for bracket in ruleset.multipliers
        if bracket.start == "all"
    ]
    return [f"Of these, {listed(parts)}."]


def _spans(ruleset: Ruleset) -> Iterator[tuple[str, Bracket]]:
    """Yield each bracket by a number of cards, with the numbers that it applies to."""
    starts = [bracket.start for bracket in ruleset.multipliers]
    for bracket, following in zip(ruleset.multipliers, (*starts[1:], "all"), strict=True):
        if bracket.start == "all":
            return
        last = None if following == "all" else following - 1
        if last is None:
            yield f"{bracket.start} or more", bracket
        else:
            yield str(last) if bracket.start == last else f"{bracket.start} to {last}", bracket


def _cost(bracket: Bracket) -> str:
    if bracket.times is None:
        return f"cost {bracket.points} in all"
    return f"count {_fold(bracket.times)}"


def _fold(times: int) -> str:
    return {1: "once", 2: "double", 3: "triple"}.get(times, f"{number(times)}fold")


def _bracket_owner(ruleset: Ruleset) -> list[str]:
    if ruleset.multiplier_for == "all" or not ruleset.multipliers:
        return []
    return ["This applies only to whoever led the deal."]


def _twos_left(ruleset: Ruleset) -> list[str]:
    return ["Every two left in a hand doubles its points."] if ruleset.double_per_two_left else []


def _final_twos(ruleset: Ruleset) -> list[str]:
    if ruleset.final_twos == "none" or ruleset.settle not in (*SETTLED_BY_PENALTIES, "fixed"):
        return []
    what = "the winner's point" if ruleset.settle == "fixed" else "the others' points"
    if ruleset.final_twos == "double_each":
        return [f"Every two in the play that ends the deal doubles {what}."]
    return [f"A play of nothing but twos that ends the deal doubles {what}."]


def _honours_left(ruleset: Ruleset) -> list[str]:
    sentences = []
    for entry in ruleset.honours_left:
        more = counted(entry.points or 0, "point")
        effect = f"counts {_fold(entry.times)}" if entry.times else f"costs {more} more"
        sentences.append(f"A hand with {_honour(ruleset, entry.honour)} left {effect}.")
    return sentences


def _final_honours(ruleset: Ruleset) -> list[str]:
    sentences = []
    for entry in ruleset.final_honours:
        what = "the winner's point" if ruleset.settle == "fixed" else "the points of each of the others"
        if entry.times:
            effect = f"multiplies {what} by {number(entry.times)}"
        else:
            effect = f"adds {counted(entry.points or 0, 'point')} to {what}"
        sentences.append(f"A play with {_honour(ruleset, entry.honour)} that ends the deal {effect}.")
    return sentences


def _honour(ruleset: Ruleset, honour: str) -> str:
    return {
        "quads": "four of a kind",
        "straight_flush": "a straight flush",
        "twos": "one or more twos",
        "top_card": highest_card(ruleset),
    }[honour]


def _settled(ruleset: Ruleset) -> str:
    if ruleset.settle == "places":
        points = listed([str(points) for points in ruleset.place_points])
        if ruleset.deal_ends == "last_holder":
            return f"In the order of going out the players score {points}."
        return " ".join(
            [
                f"The winner, and then the others from the fewest cards left to the most, score {points}.",
                "Of several with as many cards, each shows the best play that can be made of them, most "
                "cards first, then the highest; the longer play, and of equal length the stronger, is first.",
                *showdown(ruleset),
            ]
        )
    if ruleset.settle == "loser_only":
        return _loser_only(ruleset)
    return _SETTLED[ruleset.settle]


_SETTLED = {
    "penalty": "The losers score minus their penalty points, the winner 0.",
    "pairwise": "Every two players settle the difference of their penalty points, so all points sum to 0.",
    "winner_collects": "Every loser pays the penalty points to the winner.",
    "better_collect": (
        "Of every two players, who has more penalty points pays them all to the other; all points sum to 0."
    ),
    "winner_scores": "The winner scores the sum of all penalty points, the others nothing.",
    "fixed": "The winner scores 1 point, the others nothing.",
    "wins": "The winner scores 1 point, the others nothing.",
    "last_loses": "The last to hold cards scores -1, the others nothing.",
}


def _loser_only(ruleset: Ruleset) -> str:
    order = (*ruleset.five_card_order, "straight_flush_plus_two")
    honours = [bare(kind) for kind in order if kind in HONOURS and kind in {*ruleset.plays, "royal_flush"}]
    card = f"of the highest {'joker, ' * (ruleset.jokers > 0)}two or ace"
    highest = (
        f"of the highest honour ({weakest_first(honours)}); if there is none, {card}" if honours else card
    )
    rest = "if none, of the most cards; if tied, of the highest card"
    return f"One player pays the winner 1 point: the holder {highest}; {rest}."


def _difference(ruleset: Ruleset) -> str:
    text = "Every two players settle the difference d of their numbers of cards left"
    if not ruleset.multipliers:
        return f"{text}, one point a card."
    parts = []
    for span, bracket in _spans(ruleset):
        cost = f"{bracket.points} points" if bracket.times is None else f"{bracket.times} times d"
        parts.append(f"{cost} where d is {span}")
    return f"{text}: d points, but {listed(parts)}."


def _liability(ruleset: Ruleset) -> list[str]:
    if ruleset.guard != "liable":
        return []
    return [
        "Whoever is liable for ignoring the precaution takes the points of all losers, who then have none."
    ]


def _partners(ruleset: Ruleset) -> list[str]:
    if ruleset.partners == "none":
        return []
    own = "what both come to by these rules" + (" and by bonuses" if ruleset.bonuses else "")
    return [f"Each of two partners then scores the sum of {own}, except in a deal that nobody wins."]


def _no_winner(ruleset: Ruleset) -> str:
    who = "Whoever forfeits"
    if ruleset.last_top_card == "loses":
        who = f"Whoever forfeits, or is left with {last_card(ruleset)} alone,"
    if ruleset.settle == "places":
        rest = "each of the rest gets the mean of the other places, rounded up"
        return f"{who} gets the points of the last place; those who are out keep their places, and {rest}."
    amount = _NO_WINNER.get(ruleset.settle, "1 point")
    if ruleset.settle in ("pairwise", "winner_collects", "better_collect", "difference", "loser_only"):
        return f"{who} pays every other player {amount}."
    return f"{who} scores minus {amount}, the others nothing."


_NO_WINNER = {
    **dict.fromkeys(SETTLED_BY_PENALTIES, "the penalty points of the whole hand"),
    "difference": "what d would cost were it all cards of the whole hand",
}


def bonuses(ruleset: Ruleset) -> list[str]:
    """Return the points that come on top of the settlement."""
    return _bonuses(ruleset.bonuses) if ruleset.bonuses else []


def _bonuses(bonuses: Bonuses) -> list[str]:
    return [
        f"A play that nobody beat earns its player a bonus: four of a kind {bonuses.quads}, "
        f"a straight flush {bonuses.straight_flush}, four twos {bonuses.four_twos}; "
        f"times {bonuses.final_times} if it ends the deal.",
        f"The winner gets {bonuses.winner} more, or {bonuses.winner_per_two} for every two in the last play.",
    ]


def session(ruleset: Ruleset) -> list[str]:
    """Return when a session ends."""
    ends = []
    end = ruleset.session
    if end.deals is not None:
        ends.append(f"after {counted(end.deals, 'deal')}")
    if end.target is not None:
        ends.append(f"when a score reaches {end.target}")
    if end.chips is not None:
        ends.append(f"when a player has lost {end.chips} chips, a point being a chip")
    first = ", whichever comes first" if len(ends) > 1 else ""
    return [f"A session ends {listed(ends, 'or')}{first}."]
