"""Reading a whole ruleset object: every field's type and range, one reader a field.

What fields forbid each other is a matter for ``referee.ruleset.conflicts``.
"""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise

from referee.cards import RANK_SETS, SUITS
from referee.errors import RulesetError
from referee.ruleset.ladders import LADDER_NAMES, Ladder, ladder
from referee.ruleset.model import Bonuses, Bracket, Ruleset, SessionEnd
from referee.ruleset.values import choice, choices, flag, items, shown, suggestion, table, text, whole

FIVE_CARD_KINDS = ("straight", "flush", "full_house", "quads", "straight_flush")
"""The kinds of five cards, in the usual order."""

KINDS = ("single", "pair", "triple", *FIVE_CARD_KINDS, "bare_quads", "pair_run", "straight_flush_plus_two")
"""Every kind that ``plays`` may list."""

CHOICES = {
    "dealer": ("rotate", "winner", "loser"),
    "leftover": ("unused", "to_lowest", "stock"),
    "draw_on_pass": ("none", "one", "as_needed"),
    "exchange": ("none", "loser_to_winner"),
    "dragon": ("none", "wins"),
    "direction": ("clockwise", "anticlockwise", "alternating"),
    "lead": ("lowest", "winner", "loser"),
    "straight_suit_of": ("top", "highest"),
    "flush_order": ("suit_then_top", "top_then_suit", "ranks_then_suit"),
    "guard": ("none", "must", "liable"),
    "last_top_card": ("allowed", "cannot_win", "loses"),
    "deal_ends": ("first_out", "last_holder"),
    "multiplier_for": ("all", "leader"),
    "final_twos": ("none", "double_if_all", "double_each"),
    "settle": (
        "penalty",
        "pairwise",
        "winner_collects",
        "winner_scores",
        "fixed",
        "places",
        "loser_only",
        "difference",
        "last_loses",
        "wins",
    ),
}
"""The fields that hold one of a few names, and the names."""

_FLAGS = (
    "leftover_shown",
    "restock",
    "redeal_four_twos",
    "lead_includes_lowest",
    "kinds_compete",
    "bombs_out_of_turn",
    "pass_locks",
    "beat_own",
    "double_per_two_left",
)

_BONUSES = ("quads", "straight_flush", "four_twos", "final_times", "winner", "winner_per_two")


def read_ruleset(given: Mapping[str, object]) -> Ruleset:
    """Return the ruleset of a resolved object, its fields checked one by one.

    Raises RulesetError for an unknown field, for one that is missing, and for any value that is not
    of its field's type and range.
    """
    for name in given:
        if name not in FIELD_NAMES:
            hint = suggestion(str(name), FIELD_NAMES)
            raise RulesetError(shown(name).strip("'\""), f"is no field of a ruleset{hint}")
    for name in FIELD_NAMES:
        if name not in given:
            raise RulesetError(name, "is missing")
    values: dict[str, object] = {name: read(given[name]) for name, read in _READERS.items()}
    ranks = _ranks(given["ranks"])
    values["ranks"] = ranks
    values["straights"] = _straights(given["straights"], ranks)
    values["card_points"] = _card_points(given["card_points"], ranks)
    return Ruleset(**values)  # type: ignore[arg-type]


def _ranks(value: object) -> tuple[str, ...]:
    ranks = tuple(items("ranks", value))
    for known in RANK_SETS:
        if ranks == known:
            return known
    sets = " or ".join(" ".join(known) for known in RANK_SETS)
    raise RulesetError("ranks", f"must be a list of texts, {sets}, not {shown(value)}")


def _suits(value: object) -> tuple[str, ...]:
    suits = choices("suits", value, SUITS)
    if len(suits) != len(SUITS):
        raise RulesetError("suits", f"must hold each of {' '.join(SUITS)} once, not {shown(value)}")
    return suits


def _hand_size(value: object) -> int | str:
    if value == "all":
        return "all"
    if type(value) is not int or not 1 <= value <= 120:
        raise RulesetError("hand_size", f"must be a whole number from 1 to 120, or 'all', not {shown(value)}")
    return value


def _five_card_order(value: object) -> tuple[str, ...]:
    return choices("five_card_order", value, (*FIVE_CARD_KINDS, "royal_flush"))


def _bomb_kinds(field: str, value: object) -> tuple[str, ...]:
    return choices(field, value, (*KINDS, "royal_flush"))


def _straights(value: object, ranks: tuple[str, ...]) -> Ladder:
    if isinstance(value, str):
        return ladder(choice("straights", value, LADDER_NAMES), ranks)
    levels = tuple(_level(level, ranks) for level in items("straights", value))
    sets = [frozenset(sequence.split()) for level in levels for sequence in level]
    for level in levels:
        for sequence in level:
            if sets.count(frozenset(sequence.split())) > 1:
                raise RulesetError("straights", f"has the ranks {sequence} twice")
    return levels


def _level(value: object, ranks: tuple[str, ...]) -> tuple[str, ...]:
    level = tuple(_sequence(sequence, ranks) for sequence in items("straights", value))
    if not level:
        raise RulesetError("straights", "has a level without sequences")
    return level


def _sequence(value: object, ranks: tuple[str, ...]) -> str:
    parts = value.split() if isinstance(value, str) else []
    for part in parts:
        if part not in ranks:
            raise RulesetError("straights", f"{shown(value)} holds {shown(part)}, which is none of the ranks")
    if len(parts) != 5 or len(set(parts)) != 5:
        raise RulesetError(
            "straights", f"a sequence must be five different ranks in a text, not {shown(value)}"
        )
    return " ".join(parts)


def _card_points(value: object, ranks: tuple[str, ...]) -> tuple[int, ...]:
    points = table("card_points", value, ranks)
    return tuple(whole(f"card_points.{rank}", points[rank]) for rank in ranks)


def _multipliers(value: object) -> tuple[Bracket, ...]:
    given = items("multipliers", value)
    brackets = tuple(_bracket(f"multipliers[{index}]", item) for index, item in enumerate(given))
    starts = [bracket.start for bracket in brackets]
    if any(later <= earlier for earlier, later in pairwise(starts)):
        raise RulesetError("multipliers", f"must rise by 'from', not {starts}")
    return brackets


def _bracket(field: str, value: object) -> Bracket:
    entry = table(field, value, ("from",), ("times", "points"))
    if len(entry) != 2:
        raise RulesetError(field, f"must hold 'from' and either 'times' or 'points', not {shown(value)}")
    start = whole(f"{field}.from", entry["from"], 1)
    if "times" in entry:
        return Bracket(start, whole(f"{field}.times", entry["times"], 1), None)
    return Bracket(start, None, whole(f"{field}.points", entry["points"]))


def _place_points(value: object) -> tuple[int, ...]:
    given = items("place_points", value)
    return tuple(whole(f"place_points[{index}]", item) for index, item in enumerate(given))


def _bonuses(value: object) -> Bonuses | None:
    if value is None or value == "none":
        return None
    entries = table("bonuses", value, _BONUSES)
    return Bonuses(**{name: whole(f"bonuses.{name}", entries[name]) for name in _BONUSES})


def _session(value: object) -> SessionEnd:
    entries = table("session", value, (), ("deals", "target", "chips"))
    deals, target, chips = (entries.get(name) for name in ("deals", "target", "chips"))
    if deals is None and target is None and chips is None:
        raise RulesetError("session", "must have at least one of deals, target and chips")
    if target == 0:
        raise RulesetError("session.target", "must be above or below 0")
    return SessionEnd(
        None if deals is None else whole("session.deals", deals, 1),
        None if target is None else whole("session.target", target),
        None if chips is None else whole("session.chips", chips, 1),
    )


_READERS: dict[str, Callable[[object], object]] = {
    "name": partial(text, "name"),
    "version": partial(whole, "version", low=1),
    "decks": partial(whole, "decks", low=1, high=2),
    "suits": _suits,
    "players": partial(whole, "players", low=2, high=8),
    "hand_size": _hand_size,
    "lowest_lead_every": partial(whole, "lowest_lead_every", low=0),
    "plays": partial(choices, "plays", options=KINDS),
    "five_card_order": _five_card_order,
    "bombs": partial(_bomb_kinds, "bombs"),
    "bomb_pair_run": partial(whole, "bomb_pair_run", low=2),
    "bomb_order": partial(_bomb_kinds, "bomb_order"),
    "announce_at": partial(whole, "announce_at", low=0, high=2),
    "multipliers": _multipliers,
    "place_points": _place_points,
    "bonuses": _bonuses,
    "session": _session,
    **{name: partial(flag, name) for name in _FLAGS},
    **{name: partial(choice, name, options=options) for name, options in CHOICES.items()},
}
"""How each field is read that stands for itself; the others depend on the ranks."""

FIELD_NAMES = tuple(Ruleset.__dataclass_fields__)
"""Every field of a ruleset, in the order of the object."""
