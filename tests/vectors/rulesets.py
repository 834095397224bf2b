"""The rulesets of the vectors: presets, and variants of presets for values that no preset shows."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from referee.errors import RulesetError
from referee.rules.plays import Rules, compile_ruleset
from referee.ruleset import Ruleset, load_ruleset, preset_names
from referee.ruleset.straights import ORDER_NAMES

Fields = Mapping[str, object]

FIVE = ("straight", "flush", "full_house", "quads", "straight_flush")

COMBINING: Mapping[str, tuple[object, ...]] = {
    "suits": (["C", "D", "H", "S"], ["C", "S", "H", "D"], ["D", "C", "S", "H"]),
    "equal_suits": (True, False),
    "plays": (
        ["single", "pair", "triple", *FIVE],
        ["single", "pair", "triple", "two_pair", *FIVE],
        ["single", "pair", "triple", "bare_quads", *FIVE],
        ["single", "pair", "triple", *FIVE, "run", "pair_run", "triple_run"],
        ["single", "pair", "triple", *FIVE, "dragon"],
        ["single", "pair", *FIVE, "straight_flush_plus_two"],
        ["single", "pair", "run"],
        ["single", "pair", "suited_run"],
        ["single", "pair", "triple", *FIVE, "bare_quads", "pair_run"],
    ),
    "five_card_order": (
        ["straight", "flush", "full_house", "straight_flush", "quads"],
        ["flush", "straight", "full_house", "quads", "straight_flush"],
        ["straight", "full_house", "flush", "quads", "straight_flush"],
        [*FIVE, "royal_flush"],
        [*FIVE],
    ),
    "kinds_compete": (True, False),
    "two_pair_order": ("top_then_suit", "ranks_then_suit"),
    "straights": ORDER_NAMES,
    "straight_suit_of": ("top", "highest"),
    "flush_order": ("suit_then_top", "top_then_suit", "ranks_then_suit"),
    "run_order": ORDER_NAMES,
    "run_from": (3, 4, 5),
    "pair_run_from": (2, 3, 4),
    "bombs": (
        [],
        ["quads"],
        ["quads", "straight_flush"],
        ["straight_flush", "quads"],
        ["full_house", "quads"],
        ["bare_quads"],
        ["pair_run 3"],
        ["bare_quads", "pair_run 3"],
        ["2 2 2"],
    ),
    "bombs_beat": ("any", "twos"),
}
"""Fields that say what is a combination and what beats what, and values that a wrong reading may have."""

PACK = ("ranks", "decks", "jokers", "removed_cards")
"""Fields that say which cards there are."""

ALLOWING: Mapping[str, tuple[object, ...]] = {
    "lead_includes_lowest": (True, False, "alone"),
    "guard": ("none", "must"),
    "last_top_card": ("allowed", "cannot_win"),
    "last_cards": ("top", "2", "S"),
    "beat_own": (True, False),
}
"""Fields that bear on what is legal, beside those."""

PLAIN_POINTS = dict.fromkeys("3456789TJQKA2", 1)
HEAVY_POINTS = {**PLAIN_POINTS, "A": 2, "2": 5}
BONUSES = {
    "quads": 20,
    "straight_flush": 40,
    "four_twos": 80,
    "final_times": 2,
    "winner": 5,
    "winner_per_two": 10,
}
HONOURS = ("quads", "straight_flush", "twos", "top_card")

SETTLING: Mapping[str, tuple[object, ...]] = {
    "settle": (
        *("penalty", "pairwise", "winner_collects", "better_collect", "winner_scores"),
        *("fixed", "wins"),
        *("loser_only", "difference", "last_loses"),
    ),
    "multipliers": (
        [],
        *[[{"from": start, "times": 2}, {"from": 13, "times": 3}] for start in (9, 10, 11)],
        *[[{"from": 10, "times": 2}, {"from": start, "times": 3}] for start in (12, 14)],
        [{"from": 10, "times": 2}],
        [{"from": 10, "points": 30}],
        [{"from": 10, "times": 2}, {"from": "all", "times": 3}],
    ),
    "multiplier_for": ("all", "leader"),
    "card_points": (PLAIN_POINTS, HEAVY_POINTS),
    "double_per_two_left": (False, True),
    "honours_left": (
        [],
        *[[{"honour": name, "times": 2}] for name in HONOURS],
        [{"honour": "twos", "points": 7}],
    ),
    "final_twos": ("none", "double_if_all", "double_each"),
    "final_honours": (
        [],
        *[[{"honour": name, "times": 2}] for name in HONOURS],
        [{"honour": "quads", "points": 7}],
    ),
    "bonuses": ("none", BONUSES, {**BONUSES, "final_times": 1}, {**BONUSES, "winner_per_two": 5}),
    "guard": ("none", "liable"),
    "partners": ("none", "opposite"),
    "instant_win_penalty": ("none", 26),
    "place_points": ([5, 3, 1, 0], [3, 2, 1, 0]),
}
"""Fields that say what a deal scores."""

HELD = [
    *({"honour": name, "times": 2} for name in HONOURS[:2]),
    *({"honour": name, "points": points} for name, points in zip(HONOURS[2:], (7, 3), strict=True)),
]
SHOWN = [{"honour": name, "points": points} for name, points in zip(HONOURS, (3, 4, 5, 6), strict=True)]
LAST = {"deal_ends": "last_holder"}
ROYAL_ALONE: Fields = {
    "plays": ["single", "straight", "straight_flush"],
    "five_card_order": ["straight", "straight_flush", "royal_flush"],
    "straights": [["3 4 5 6 7"], ["9 T J Q K"]],
}
"""A royal flush is a play although its sequence is none."""

SCORING: tuple[tuple[str, Fields], ...] = (
    (
        "chinese",
        {"settle": "winner_collects", "honours_left": HELD},
    ),
    ("chinese", {"double_per_two_left": True, "card_points": HEAVY_POINTS, "multiplier_for": "leader"}),
    ("chinese", {"multipliers": [{"from": 10, "times": 2}, {"from": "all", "points": 40}]}),
    (
        "chinese",
        {"final_twos": "double_if_all", "final_honours": SHOWN},
    ),
    (
        "chinese",
        {"settle": "fixed", "final_honours": [{"honour": "quads", "times": 3}], "final_twos": "double_each"},
    ),
    (
        "chinese",
        {"settle": "difference", "multipliers": [{"from": 5, "times": 2}], "multiplier_for": "leader"},
    ),
    ("chinese", {"settle": "pairwise", "partners": "opposite"}),
    ("chinese", {"settle": "wins"}),
    ("chinese", {"settle": "better_collect"}),
    ("chinese", {"settle": "places", "place_points": [3, 1, -1, -3]}),
    ("chinese", {**ROYAL_ALONE, "honours_left": [{"honour": "straight_flush", "times": 2}]}),
    ("chinese", {"settle": "loser_only", "bombs": ["quads"]}),
    ("chinese", {**LAST, "settle": "places", "place_points": [5, 3, 1, 0]}),
    ("chinese", {**LAST, "settle": "last_loses", "after_out": "next_leads", "pass_locks": True}),
    ("chinese", {"last_top_card": "loses", "settle": "winner_collects"}),
    ("chinese", {"last_top_card": "loses", "last_cards": "2", "settle": "pairwise"}),
    ("chinese", {"dragon": "wins", "instant_wins": ["four_twos", "six_pairs"], "instant_win_penalty": 26}),
)
"""Presets and changed fields for what deals score."""

FOLLOWING: tuple[tuple[str, Fields], ...] = (
    ("chinese", {"hand_size": 6, "exchange": "loser_to_winner", "lead": "winner"}),
    ("hong-kong-relatives-3", {"hand_size": 5}),
    ("hong-kong-relatives-3", {"hand_size": 5, "draw_on_pass": "as_needed", "restock": True}),
    ("chinese-3", {"leftover_shown": False}),
    ("chinese", {"hand_size": 6, "decks": 2, "jokers": 2}),
    ("choi-dai-di", {"hand_size": 5, "pass_locks": True, "after_out": "next_leads"}),
    ("hong-kong-relatives-3", {"hand_size": 15, "draw_on_pass": "as_needed", "restock": True}),
)
"""Presets and changed fields for what bots follow."""

DEALT: tuple[tuple[str, Fields], ...] = (
    ("chinese", {"redeal_four_twos": True}),
    ("chinese", {"first_lead": "random", "lead_includes_lowest": False}),
    ("chinese", {"first_lead": "3S"}),
    ("chinese", {"removed_cards": ["3D", "2S"], "hand_size": "all"}),
    ("hong-kong", {"instant_wins": ["six_pairs", "five_pairs_and_triple"], "dragon": "none"}),
)
"""Presets and changed fields for what a seed deals."""

SUCCEEDING: tuple[tuple[str, Fields], ...] = (
    ("chinese", {"exchange": "loser_to_winner", "lead": "loser", "dealer": "loser"}),
    ("chinese", {"exchange": "loser_to_winner", "last_top_card": "loses", "lead": "winner"}),
    ("chinese", {"direction": "alternating", "dealer": "rotate", "lead": "winner", "lowest_lead_every": 3}),
    ("chinese-3", {"dealer": "rotate", "lead": "loser", "session": {"target": -30}}),
)
"""Presets and changed fields for what a deal leaves to the next."""

FOURS: Fields = {
    "plays": ["single", "pair", "triple", *FIVE, "bare_quads", "bare_two_pair"],
    "bombs": ["bare_quads"],
    "bombs_beat": {"bare_quads": ["bare_two_pair"]},
}
"""As in big2_PPOalgorithm: of four cards, four of a kind beat two pairs."""
LONG_RUNS: Fields = {"bombs": ["bare_quads", "pair_run 3"]}

VARIANTS: tuple[tuple[str, Fields], ...] = (
    ("chinese", {"equal_suits": True}),
    ("chinese", {"flush_order": "ranks_then_suit"}),
    ("chinese", {"decks": 2, "players": 8, "flush_order": "ranks_then_suit"}),
    ("chinese", {"jokers": 2}),
    ("chinese", {"decks": 2, "jokers": 1, "equal_suits": True}),
    ("chinese", {"removed_cards": ["3D", "2S"], "hand_size": 12}),
    ("chinese", {"decks": 3, "players": 8}),
    ("chinese", {"decks": 4, "players": 8}),
    ("chinese", ROYAL_ALONE),
    ("chinese", {"five_card_order": [*FIVE, "royal_flush"]}),
    ("chinese", {"five_card_order": [*FIVE, "royal_flush"], "straights": "three_to_two"}),
    *[("chinese", {"straights": name}) for name in ORDER_NAMES if name != "two_low"],
    ("chinese", {"straights": "hong_kong", "straight_suit_of": "highest"}),
    ("chinese", {"plays": ["single", "pair", "triple", "bare_quads", *FIVE]}),
    ("chinese", {"plays": ["single", "pair", *FIVE, "dragon"], "jokers": 1}),
    ("chinese", {"plays": ["single", "pair", "triple", "run"], "five_card_order": []}),
    ("chinese", {"bombs": ["quads", "straight_flush"]}),
    ("chinese", {"bombs": ["straight_flush", "quads"]}),
    ("chinese", {"bombs": ["2 2 2"]}),
    ("chinese", {"kinds_compete": False}),
    ("chinese", {"guard": "must"}),
    ("chinese", {"guard": "must", "equal_suits": True}),
    ("chinese", {"guard": "must", "beat_own": True}),
    ("chinese", {"guard": "must", "bombs": ["quads"]}),
    ("chinese", {"lead_includes_lowest": "alone"}),
    ("chinese", {"lead_includes_lowest": False}),
    ("chinese", {"last_top_card": "cannot_win", "last_cards": "2"}),
    ("chinese", {"last_top_card": "cannot_win", "last_cards": "S"}),
    ("chinese", {"last_top_card": "cannot_win", "equal_suits": True, "last_cards": "2"}),
    ("taiwan-two-pair", {"two_pair_order": "ranks_then_suit"}),
    ("chinese", {"bombs": ["quads", "2 2 2"], "bombs_beat": {"2 2 2": ["2 2"]}}),
    ("chinese", FOURS),
    ("chinese", {"plays": ["single", "pair", "run", "suited_run"], "five_card_order": []}),
    ("tien-len-frame", {"bombs_beat": {"bare_quads": ["2S", "2 2"], "pair_run 3": ["2"]}, **LONG_RUNS}),
    ("tien-len-frame", {"run_order": "2 3-T A J"}),
    ("shanghai", {"run_order": "three_to_two"}),
    ("shanghai", {"run_order": "no_two", "run_from": 4, "pair_run_from": 3}),
    ("tien-len-frame", {"bombs_beat": "twos"}),
    ("tien-len-frame", {"bombs_beat": "any"}),
    *SCORING,
    *FOLLOWING,
    *DEALT,
    *SUCCEEDING,
)
"""Presets and the fields that are changed."""


def label(preset: str, fields: Fields) -> str:
    """Return the name of a ruleset in the vectors."""
    return "/".join([preset, *(f"{name}={_said(value)}" for name, value in fields.items())])


def _said(value: object) -> str:
    if isinstance(value, Mapping):
        return "+".join(f"{key}-{_said(item)}" for key, item in value.items() if item != 1).replace(" ", "-")
    if isinstance(value, list):
        return "+".join(_said(item).replace(" ", "-") for item in value)
    return str(value).lower() if isinstance(value, bool) else str(value)


DRAGON = "chinese/plays=single+pair+straight+flush+full_house+quads+straight_flush+dragon/jokers=1"
TWO_PACKS = "chinese/hand_size=6/decks=2/jokers=2"
GUARDED_WITH_BOMBS = "chinese/guard=must/bombs=quads"


SCORED = (
    *(
        "chinese",
        "chinese-3",
        "chinese-stakes",
        "choi-dai-di",
        "hong-kong",
        "indonesia",
        "lectio",
        "only-a-game",
    ),
    *("online-hk", "pusoy-dos", "silicon-valley", "taiwan", "zheng-shangyou"),
    *(label(preset, fields) for preset, fields in SCORING),
)
"""The rulesets whose points the vectors show."""


@cache
def sources() -> dict[str, Fields]:
    """Return the rulesets of the vectors, by name, as objects that extend presets."""
    named: dict[str, Fields] = {name: {"extends": name} for name in preset_names()}
    return named | {label(preset, fields): {"extends": preset, **fields} for preset, fields in VARIANTS}


def distinct(fields: Iterable[str]) -> list[str]:
    """Return the names of rulesets that differ in one of these fields, of those that are equal the first."""
    first: dict[object, str] = {}
    for name in sources():
        ruleset = ruleset_named(name)
        first.setdefault(tuple(getattr(ruleset, field) for field in fields), name)
    return [*first.values()]


@cache
def rules_named(name: str) -> Rules:
    """Return the compiled rules of a name in the vectors."""
    return compile_ruleset(ruleset_named(name))


@cache
def ruleset_named(name: str) -> Ruleset:
    """Return the ruleset of a name in the vectors."""
    return load_ruleset(sources()[name])


def readings(name: str, axes: Mapping[str, tuple[object, ...]]) -> Iterator[tuple[str, Ruleset]]:
    """Yield the rulesets that a program has in mind if it is wrong in one field, each with the field.

    Of a variant of a preset, only the fields that it changes are in question.
    """
    source = sources()[name]
    own = {field: axes[field] for field in source if field in axes} if len(source) > 1 else axes
    seen = {load_ruleset(source).hash}
    for name, values in own.items():
        for value in values:
            try:
                other = load_ruleset({**source, name: value})
            except RulesetError:
                continue
            if other.hash not in seen:
                seen.add(other.hash)
                yield name, other
