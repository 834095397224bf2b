"""What a deal's cards and plays are worth, and how that becomes points."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import groupby, pairwise
from math import prod
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_args

from annotated_types import Interval

from referee.cards import JOKER, RANK_SETS, STANDARD_RANKS
from referee.errors import Problem
from referee.reading.validation import Refused, first_of, short
from referee.ruleset.annotations import (
    CONFIG,
    LARGEST,
    Fields,
    Flag,
    Points,
    Positive,
    Step,
    Whole,
    distinct,
    null_by_name,
    whole_or_all,
)
from referee.ruleset.axes.dealing import MOST_RESTOCKS, most_cards
from referee.ruleset.axes.kinds import showdown
from referee.ruleset.axes.pack import MOST_RANKS, cards_held, pack_size, ranks_held, rising
from referee.ruleset.axes.sequences import rank_hint
from referee.ruleset.axes.session import MAX_DEALS
from referee.ruleset.axes.turns import last_card
from referee.ruleset.axis import Axis, Numbers, Section, squashed
from referee.ruleset.words import bare, counted, listed, number, weakest_first

if TYPE_CHECKING:
    from referee.ruleset.model import Ruleset

HonourName = Literal["quads", "straight_flush", "twos", "top_card"]

HONOURS: tuple[HonourName, ...] = get_args(HonourName)
"""What ``honours_left`` and ``final_honours`` may list."""

HONOUR_KINDS = ("quads", "straight_flush", "royal_flush", "straight_flush_plus_two")
"""The kinds of plays that decide with settle ``loser_only``, in rulesets that play them."""

MOST_POINTS = (2**31 - 1) // MAX_DEALS
"""The most points, up or down, that a deal may come to: a session of ``MAX_DEALS`` then fits into 32 bits."""

SETTLED_BY_PENALTIES = ("penalty", "pairwise", "winner_collects", "better_collect", "winner_scores")
"""The settlements that count penalty points."""

_EACH_PAYS_EACH = ("pairwise", "winner_collects", "better_collect", "difference")
_BRACKETS = 4
"""How many brackets learners are told of."""


def _card_points(value: object, before: Fields) -> tuple[int, ...]:
    if not isinstance(value, Mapping):
        raise ValueError(f"must be an object, not {short(value)}")
    ranks: Sequence[str] = before.get("ranks", ())
    if ranks and before.get("jokers"):
        value = {JOKER: value.get(ranks[-1]), **value}  # as much as a two unless it is given
        ranks = (*ranks, JOKER)
    unknown = [rank for rank in value if ranks and rank not in ranks]
    wrong = first_of(
        unknown,
        lambda rank: [Problem("", f"has the unknown entry {short(rank)}{rank_hint(str(rank), ranks)}")],
    )
    missing = [rank for rank in ranks if rank not in value]
    if missing:
        wrong.append(Problem("", f"must have the points of every rank, and lacks {' '.join(missing)}"))
    wrong += [
        Problem(f".{rank}", f"must be a whole number from {-LARGEST} to {LARGEST}, not {short(value[rank])}")
        for rank in ranks
        if rank in value and not (type(value[rank]) is int and -LARGEST <= value[rank] <= LARGEST)
    ]
    if wrong:
        raise Refused(*wrong)
    return tuple(value[rank] for rank in ranks)


def _rising(value: "Sequence[Bracket]", _: Fields) -> "Sequence[Bracket]":
    starts = [bracket.start for bracket in value]
    numbers = [LARGEST + 1 if start == "all" else start for start in starts]
    if any(later <= earlier for earlier, later in pairwise(numbers)):
        raise ValueError(f"must rise by 'from', 'all' being the last, not {starts}")
    return value


def _each_once(value: "Sequence[Honour]", _: Fields) -> "Sequence[Honour]":
    distinct([entry.honour for entry in value], _)
    return value


_points = {"type": "integer", "minimum": -LARGEST, "maximum": LARGEST}
_CARD_POINTS = {
    "type": "object",
    "additionalProperties": _points,
    "propertyNames": {"enum": [*sorted({rank for ranks in RANK_SETS for rank in ranks}), JOKER]},
    "minProperties": len(STANDARD_RANKS),
}


@dataclass(frozen=True, slots=True)
class Bracket:
    """What a number of cards left costs: a factor, or a fixed amount instead of the points."""

    __pydantic_config__: ClassVar = CONFIG

    start: Annotated[int | Literal["all"], whole_or_all(LARGEST)]
    """The fewest cards left that the bracket applies to, or ``all``: those of a seat that has played none
    (``from`` in the object)."""
    times: Positive | None = None
    """The factor on the card points; None if ``points`` is given."""
    points: Points | None = None
    """The fixed amount; None if ``times`` is given."""

    def __post_init__(self) -> None:
        if (self.times is None) == (self.points is None):
            raise ValueError("must hold 'from' and either 'times' or 'points'")


@dataclass(frozen=True, slots=True)
class Honour:
    """What an honour does to penalty points: a factor, or points on top."""

    __pydantic_config__: ClassVar = CONFIG

    honour: HonourName
    """``quads``, ``straight_flush``, ``twos`` (any number of them) or ``top_card`` (the highest card)."""
    times: Annotated[Whole, Interval(ge=2, le=LARGEST)] | None = None
    """The factor; None if ``points`` is given."""
    points: Positive | None = None
    """The points on top; None if ``times`` is given."""

    def __post_init__(self) -> None:
        if (self.times is None) == (self.points is None):
            raise ValueError("must hold 'honour' and either 'times' or 'points'")


@dataclass(frozen=True, slots=True)
class Bonuses:
    """Points for plays that nobody beat and for the winner."""

    __pydantic_config__: ClassVar = CONFIG

    quads: Points
    """For four of a kind (bare or with a card) that nobody beat."""
    straight_flush: Points
    """For a straight flush of any form that nobody beat."""
    four_twos: Points
    """For four twos that nobody beat, instead of ``quads``."""
    final_times: Points
    """Factor on the three bonuses above if the play ends the deal."""
    winner: Points
    """For the winner, unless the final play holds twos."""
    winner_per_two: Points
    """For the winner, for every two in the final play, instead of ``winner``."""


_Honours = Annotated[tuple[Honour, ...], Step(_each_once, "after")]


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Scoring:
    """The fields on penalty points, their settlement and bonuses."""

    __slots__ = ()

    card_points: Annotated[tuple[int, ...], Step(_card_points, "instead", _CARD_POINTS)]
    """Points for each card left, by rank position in ``ranks``; the last are those of a joker, if any."""
    multipliers: Annotated[tuple[Bracket, ...], Step(_rising, "after")]
    """Brackets by cards left, rising; the highest that applies counts."""
    multiplier_for: Literal["all", "leader"]
    """Whom brackets apply to: ``all``, or only the ``leader`` of the deal."""
    double_per_two_left: Flag
    """Whether every two left in a hand doubles its penalty."""
    honours_left: _Honours
    """What honours left in a hand do to its penalty, each counted once."""
    final_twos: Literal["none", "double_if_all", "double_each"]
    """``none``, ``double_if_all`` if the winning play is all twos, or ``double_each`` for every two in it."""
    final_honours: _Honours
    """What honours in the winning play do to the penalties of the others, or to the winner's fixed point."""
    settle: Literal[
        "penalty",
        "pairwise",
        "winner_collects",
        "better_collect",
        "winner_scores",
        "fixed",
        "places",
        "loser_only",
        "difference",
        "last_loses",
        "wins",
    ]
    """How penalties become points, such as ``penalty`` or ``pairwise``."""
    place_points: tuple[Points, ...]
    """With settle ``places``: points by order of going out, one for each seat; else empty."""
    bonuses: Annotated[Bonuses | None, null_by_name]
    """Points on top of the settlement; None for none."""

    @property
    def counts_penalties(self) -> bool:
        """Whether the settlement counts penalty points."""
        return self.settle in SETTLED_BY_PENALTIES


def _last_play_counts(ruleset: "Ruleset") -> bool:
    """Return whether the winning play may change what the settlement counts."""
    return ruleset.counts_penalties or ruleset.settle == "fixed"


def _settled_card_points(ruleset: "Ruleset") -> tuple[int, ...]:
    """Return 1 for all if cards count alike; ranks that the packs lack get the next lower one's points."""
    brackets = _settled_brackets(ruleset)
    fixed = [bracket.start for bracket in brackets if bracket.points is not None]
    is_fixed = len(fixed) == len(brackets) and fixed[:1] == [1] and ruleset.multiplier_for == "all"
    if not ruleset.counts_penalties or is_fixed:
        return (1,) * len(ruleset.rank_names)
    held, points = ranks_held(ruleset), list(ruleset.card_points)
    first = next((place for place, rank in enumerate(ruleset.ranks) if rank in held), 0)
    for place, rank in enumerate(ruleset.ranks):
        if rank not in held:
            points[place] = points[max(place - 1, first)]
    return tuple(points)


def _encode_card_points(ruleset: "Ruleset") -> Numbers:
    points = dict(enumerate(ruleset.card_points))
    joker = points.pop(len(ruleset.ranks), 0)
    ranks = [(f"card_points.{place}", squashed(points.get(place, 0))) for place in range(MOST_RANKS)]
    return [*ranks, ("card_points.joker", squashed(joker))]


def _settled_brackets(ruleset: "Ruleset") -> tuple[Bracket, ...]:
    """Return the brackets that a hand can reach and that change what the one before it says."""
    counts = ruleset.counts_penalties or ruleset.settle == "difference"
    brackets, last = [], Bracket(1, 1)
    for bracket in ruleset.multipliers if counts else ():
        if bracket.start == "all":
            brackets.append(bracket)
        elif bracket.start <= most_cards(ruleset) and bracket != replace(last, start=bracket.start):
            brackets.append(last := bracket)
    return tuple(brackets)


def _bracket_conflicts(ruleset: "Ruleset") -> Iterator[str]:
    if ruleset.settle == "difference" and any(bracket.start == "all" for bracket in ruleset.multipliers):
        yield "cannot have from: all with settle: difference, where differences count"


def _encode_brackets(ruleset: "Ruleset") -> Numbers:
    by_cards = [bracket for bracket in ruleset.multipliers if bracket.start != "all"]
    whole = [bracket for bracket in ruleset.multipliers if bracket.start == "all"]
    for place in range(_BRACKETS):
        bracket = by_cards[place] if place < len(by_cards) else None
        start = bracket.start if bracket and bracket.start != "all" else 0
        yield f"multipliers.{place}.from", min(start / 13, 1)
        yield from _worth(f"multipliers.{place}", bracket)
    yield from _worth("multipliers.all", whole[0] if whole else None)


def _worth(name: str, bracket: Bracket | Honour | None) -> Numbers:
    yield f"{name}.times", squashed(bracket.times or 0) if bracket else 0
    yield f"{name}.points", squashed(bracket.points or 0) if bracket else 0


def _honour_axis(field: str, needs: "Callable[[Ruleset], bool]") -> Axis:
    """Return what there is to know about honours left, or in the winning play."""

    def settled(ruleset: "Ruleset") -> tuple[Honour, ...]:
        held = [entry for entry in getattr(ruleset, field) if _twos(ruleset) or entry.honour != "twos"]
        return tuple(sorted(held, key=lambda entry: HONOURS.index(entry.honour)))

    def conflicts(ruleset: "Ruleset") -> Iterator[str]:
        for entry in getattr(ruleset, field):
            kinds = _KINDS_OF_HONOURS.get(entry.honour, ())
            if kinds and not {*kinds} & {*ruleset.plays}:
                yield f"has {entry.honour}, which needs {' or '.join(kinds)} in plays"

    def encode(ruleset: "Ruleset") -> Numbers:
        entries = {entry.honour: entry for entry in getattr(ruleset, field)}
        for honour in HONOURS:
            yield from _worth(f"{field}.{honour}", entries.get(honour))

    return Axis(off=(), needs=needs, settled=settled, conflicts=conflicts, encode=encode)


def _twos(ruleset: "Ruleset") -> int:
    """Return how many twos the packs have."""
    return cards_held(ruleset, ruleset.ranks[-1])


_KINDS_OF_HONOURS = {
    "quads": ("quads", "bare_quads"),
    "straight_flush": ("straight_flush", "straight_flush_plus_two"),
}
"""The kinds of plays of which a ruleset needs one for an honour."""


def _place_conflicts(ruleset: "Ruleset") -> Iterator[str]:
    count = ruleset.players if ruleset.settle == "places" else 0
    numbers = len(ruleset.place_points)
    if numbers != count:
        yield f"must have {count} numbers with settle: {ruleset.settle}, not {numbers}"


def _settled_bonuses(ruleset: "Ruleset") -> Bonuses | None:
    """Return bonuses with 0 for what cannot be earned, None if nothing can."""
    bonuses, twos = ruleset.bonuses, _twos(ruleset)
    if bonuses is None:
        return None
    quads, flushes = ({*ruleset.plays} & {*kinds} for kinds in _KINDS_OF_HONOURS.values())
    earned = {
        "quads": quads,
        "straight_flush": flushes,
        "four_twos": quads and twos > 3,
        "winner_per_two": twos,
    }
    bonuses = replace(bonuses, **{name: 0 for name, is_earned in earned.items() if not is_earned})
    if not (bonuses.quads or bonuses.four_twos or bonuses.straight_flush):
        bonuses = replace(bonuses, final_times=1)
    return None if bonuses == Bonuses(0, 0, 0, 1, 0, 0) else bonuses


AXES = {
    "card_points": Axis(
        settled=_settled_card_points,
        encode=_encode_card_points,
        written=lambda ruleset: dict(zip(ruleset.rank_names, ruleset.card_points, strict=True)),
    ),
    "multipliers": Axis(settled=_settled_brackets, conflicts=_bracket_conflicts, encode=_encode_brackets),
    "multiplier_for": Axis(
        "all",
        idle=lambda ruleset: not ruleset.multipliers,
        words={"leader": "This applies only to whoever led the deal."},
    ),
    "double_per_two_left": Axis(
        False,
        idle=lambda ruleset: not (ruleset.counts_penalties and _twos(ruleset)),
        words={True: "Every two left in a hand doubles its points."},
    ),
    "honours_left": _honour_axis("honours_left", lambda ruleset: ruleset.counts_penalties),
    "final_twos": Axis("none", idle=lambda ruleset: not (_last_play_counts(ruleset) and _twos(ruleset))),
    "final_honours": _honour_axis("final_honours", _last_play_counts),
    "settle": Axis(
        settled=lambda ruleset: (
            "wins"
            if ruleset.settle == "fixed" and ruleset.final_twos == "none" and not ruleset.final_honours
            else ruleset.settle
        ),
        conflicts=lambda ruleset: (
            ["last_loses needs deal_ends: last_holder"]
            if ruleset.settle == "last_loses" and ruleset.deal_ends != "last_holder"
            else []
        ),
        words={
            "penalty": "The losers score minus their penalty points, the winner 0.",
            "pairwise": "Every two players settle the difference of their penalty points, so all points sum "
            "to 0.",
            "winner_collects": "Every loser pays the penalty points to the winner.",
            "better_collect": "Of every two players, who has more penalty points pays them all to the other; "
            "all points sum to 0.",
            "winner_scores": "The winner scores the sum of all penalty points, the others nothing.",
        },
        brief={
            "penalty": "cards left count against their holder",
            "pairwise": "every two settle the difference of their cards left",
            "winner_collects": "losers pay the winner for their cards left",
            "better_collect": "players pay everybody with fewer points for their cards left",
            "winner_scores": "the winner scores the cards that the others hold",
            "fixed": "one point for the winner",
            "wins": "one point for the winner",
            "last_loses": "one point off for the last",
            "places": "points by place",
            "loser_only": "one loser pays the winner",
            "difference": "every two settle the difference of their numbers of cards",
        },
    ),
    "place_points": Axis(
        off=(),
        needs=lambda ruleset: ruleset.settle == "places",
        conflicts=_place_conflicts,
        encode=lambda ruleset: [
            (f"place_points.{place}", squashed(points))
            for place, points in enumerate((*ruleset.place_points, *[0] * 8)[:8])
        ],
    ),
    "bonuses": Axis(
        settled=_settled_bonuses,
        encode=lambda ruleset: [
            (f"bonuses.{field.name}", squashed(getattr(ruleset.bonuses, field.name, 0)))
            for field in fields(Bonuses)
        ],
    ),
}


def most_points(ruleset: "Ruleset") -> int:
    """Return an upper bound on the absolute value of a seat's points in a deal; it need not be reached."""
    together = 1 if ruleset.partners == "none" else 2
    return together * (_settled_bound(ruleset) + _bonus_bound(ruleset))


def excess(ruleset: "Ruleset") -> Iterator[Problem]:
    """Yield a problem if points could exceed ``MOST_POINTS``; it names the field that adds most."""
    most = most_points(ruleset)
    if most > MOST_POINTS:
        bound = f"must be less: a deal could come to {most} points, and a score holds {MOST_POINTS} a deal"
        rest = {field: most_points(replace(ruleset, **{field: off})) for field, off in _NOTHING.items()}
        yield Problem(min(rest, key=rest.__getitem__), bound)


_NOTHING: Mapping[str, Any] = {
    "card_points": (1,),
    "multipliers": (),
    "honours_left": (),
    "final_honours": (),
    "instant_win_penalty": None,
    "place_points": (0,),
    "bonuses": None,
}
"""The fields that make points large, and a value with which each adds nothing."""


def _settled_bound(ruleset: "Ruleset") -> int:
    if ruleset.settle == "places":
        return max(map(abs, ruleset.place_points))
    doublings = 4 * ruleset.decks  # every two doubles once, in a hand or in the last play
    doubled = ruleset.double_per_two_left or ruleset.final_twos != "none"
    players, honours = ruleset.players, (*ruleset.honours_left, *ruleset.final_honours)
    a_card = max(1, *map(abs, ruleset.card_points))  # some settlements count cards or deals, not points
    times = max((bracket.times or 1 for bracket in ruleset.multipliers), default=1)
    amount = max((abs(bracket.points or 0) for bracket in ruleset.multipliers), default=0)
    most = pack_size(ruleset) * a_card * times + players * amount
    # All factors on all points is more than there can be.
    most += players * sum(entry.points or 0 for entry in honours)
    most = most * prod(entry.times or 1 for entry in honours) << (doublings if doubled else 0)
    most = max(most, players * (ruleset.instant_win_penalty or 0))
    return most * (players if ruleset.settle in _EACH_PAYS_EACH else 1)


def _bonus_bound(ruleset: "Ruleset") -> int:
    bonuses = ruleset.bonuses
    if bonuses is None:
        return 0
    plays = pack_size(ruleset) // 4 * (1 + (MOST_RESTOCKS if ruleset.restock else 0))
    a_play = max(abs(bonuses.quads), abs(bonuses.straight_flush), abs(bonuses.four_twos))
    winner = max(abs(bonuses.winner), abs(bonuses.winner_per_two) * 4 * ruleset.decks)
    return a_play * (plays + abs(bonuses.final_times)) + winner


def _card_words(ruleset: "Ruleset") -> Iterator[str]:
    if not ruleset.counts_penalties:
        return
    pairs = zip(ruleset.rank_names, ruleset.card_points, strict=True)
    same = [(points, [rank for rank, _ in part]) for points, part in groupby(pairs, key=lambda pair: pair[1])]
    spans = [(f"{ranks[0]} to {ranks[-1]}" if len(ranks) > 1 else ranks[0], points) for points, ranks in same]
    if len(spans) == 1:
        each = counted(ruleset.card_points[0], "penalty point")
        yield f"When a deal ends, every card left in a hand counts {each}."
    else:
        by_rank = ", ".join(f"{span}: {points}" for span, points in spans)
        yield f"When a deal ends, the cards left in a hand count penalty points by rank ({by_rank})."


def _brackets(ruleset: "Ruleset") -> Iterator[str]:
    parts = [f"{cards} cards left {_cost(bracket)}" for cards, bracket in _spans(ruleset)]
    parts += [
        f"all cards of a player who has played none {_cost(bracket)}"
        for bracket in ruleset.multipliers
        if bracket.start == "all"
    ]
    if parts and ruleset.counts_penalties:
        yield f"Of these, {listed(parts)}."


def _spans(ruleset: "Ruleset") -> Iterator[tuple[str, Bracket]]:
    """Yield each bracket by a number of cards, with the numbers that it applies to."""
    starts = [bracket.start for bracket in ruleset.multipliers]
    for bracket, following in zip(ruleset.multipliers, (*starts[1:], "all"), strict=False):
        if bracket.start == "all":
            return
        if following == "all":
            yield f"{bracket.start} or more", bracket
        else:
            last = following - 1
            yield str(last) if bracket.start == last else f"{bracket.start} to {last}", bracket


def _cost(bracket: Bracket) -> str:
    return f"cost {bracket.points} in all" if bracket.times is None else f"count {_fold(bracket.times)}"


def _fold(times: int) -> str:
    return {1: "once", 2: "double", 3: "triple"}.get(times, f"{number(times)}fold")


def _honours_left(ruleset: "Ruleset") -> Iterator[str]:
    for entry in ruleset.honours_left:
        more = counted(entry.points or 0, "point")
        effect = f"counts {_fold(entry.times)}" if entry.times else f"costs {more} more"
        yield f"A hand with {_honour(ruleset, entry.honour)} left {effect}."


def _last_play(ruleset: "Ruleset") -> Iterator[str]:
    fixed = ruleset.settle == "fixed"
    what = "the winner's point" if fixed else "the others' points"
    if ruleset.final_twos != "none":
        each = ruleset.final_twos == "double_each"
        play = "Every two in the play" if each else "A play of nothing but twos"
        yield f"{play} that ends the deal doubles {what}."
    what = what if fixed else "the points of each of the others"
    for entry in ruleset.final_honours:
        effect = f"adds {counted(entry.points or 0, 'point')} to {what}"
        if entry.times:
            effect = f"multiplies {what} by {number(entry.times)}"
        yield f"A play with {_honour(ruleset, entry.honour)} that ends the deal {effect}."


def _honour(ruleset: "Ruleset", honour: str) -> str:
    return {
        "quads": "four of a kind",
        "straight_flush": "a straight flush",
        "twos": "one or more twos",
        "top_card": rising(ruleset)[-1],
    }[honour]


def _settlement(ruleset: "Ruleset") -> Iterator[str]:
    """Yield how points come about where no penalty points are counted; the others have their words."""
    settle = ruleset.settle
    if settle == "places":
        points = listed([str(points) for points in ruleset.place_points])
        if ruleset.deal_ends == "last_holder":
            yield f"In the order of going out the players score {points}."
            return
        yield f"The winner, and then the others from the fewest cards left to the most, score {points}."
        yield (
            "Of several with as many cards, each shows the best play that can be made of them, most cards "
            "first, then the highest; the longer play, and of equal length the stronger, is first."
        )
        yield from showdown(ruleset)
    elif settle in ("fixed", "wins"):
        yield "The winner scores 1 point, the others nothing."
    elif settle == "last_loses":
        yield "The last to hold cards scores -1, the others nothing."
    elif settle == "loser_only":
        order = (*ruleset.five_card_order, "straight_flush_plus_two")
        played = {*ruleset.plays, "royal_flush"} & {*HONOUR_KINDS}
        honours = weakest_first([bare(kind) for kind in order if kind in played])
        card = f"of the highest {'joker, ' * (ruleset.jokers > 0)}two or ace"
        highest = f"of the highest honour ({honours}); if there is none, {card}" if honours else card
        rest = "if none, of the most cards; if tied, of the highest card"
        yield f"One player pays the winner 1 point: the holder {highest}; {rest}."
    elif settle == "difference":
        costs = [
            f"{bracket.points} points where d is {span}"
            if bracket.times is None
            else f"{bracket.times} times d where d is {span}"
            for span, bracket in _spans(ruleset)
        ]
        d = f": d points, but {listed(costs)}" if costs else ", one point a card"
        yield f"Every two players settle the difference d of their numbers of cards left{d}."


def _liability(ruleset: "Ruleset") -> Iterator[str]:
    if ruleset.guard == "liable":
        liable = "Whoever is liable for ignoring the precaution"
        yield f"{liable} takes the points of all losers, who then have none."
    if ruleset.partners != "none":
        own = "what both come to by these rules" + (" and by bonuses" if ruleset.bonuses else "")
        yield f"Each of two partners then scores the sum of {own}, except in a deal that nobody wins."


def _no_winner(ruleset: "Ruleset") -> Iterator[str]:
    who = "Whoever forfeits"
    if ruleset.last_top_card == "loses":
        who = f"Whoever forfeits, or is left with {last_card(ruleset)} alone,"
    amount = "the penalty points of the whole hand" if ruleset.counts_penalties else "1 point"
    if ruleset.settle == "difference":
        amount = "what d would cost were it all cards of the whole hand"
    if ruleset.settle == "places":
        rest = "each of the rest gets the mean of the other places, rounded up"
        yield f"{who} gets the points of the last place; those who are out keep their places, and {rest}."
    elif ruleset.settle in (*_EACH_PAYS_EACH, "loser_only"):
        yield f"{who} pays every other player {amount}."
    else:
        yield f"{who} scores minus {amount}, the others nothing."


def _bonuses(ruleset: "Ruleset") -> Iterator[str]:
    if bonuses := ruleset.bonuses:
        yield (
            f"A play that nobody beat earns its player a bonus: four of a kind {bonuses.quads}, "
            f"a straight flush {bonuses.straight_flush}, four twos {bonuses.four_twos}; "
            f"times {bonuses.final_times} if it ends the deal."
        )
        twos = f"{bonuses.winner_per_two} for every two in the last play"
        yield f"The winner gets {bonuses.winner} more, or {twos}."


SECTIONS = {
    "Points": Section(
        (
            *(_card_words, _brackets, _settlement, "multiplier_for", "double_per_two_left"),
            *(_honours_left, _last_play, "settle", _liability, _no_winner),
        ),
        ("settle",),
    ),
    "Bonuses": Section(
        (_bonuses,), (lambda ruleset: ["bonuses for strong plays"] if ruleset.bonuses else [],)
    ),
}
