"""Hypothesis strategies for rulesets, hands and plays."""

import dataclasses
from collections.abc import Sequence
from typing import Any, Literal, get_args, get_origin, get_type_hints

from hypothesis import assume
from hypothesis import strategies as st

from referee.cards import LECTIO_RANKS, STANDARD_RANKS
from referee.errors import RulesetError
from referee.rules.plays import Rules
from referee.ruleset import Bonuses, Ruleset, load_ruleset
from referee.ruleset.axes.bombs import kind_of
from referee.ruleset.axes.dealing import INSTANT_WINS, cards_needed
from referee.ruleset.axes.kinds import FIVE_CARD_KINDS, KINDS
from referee.ruleset.axes.scoring import SETTLED_BY_PENALTIES
from referee.ruleset.axes.sequences import MANY
from referee.ruleset.straights import ORDER_NAMES

Fields = dict[str, Any]
EQUAL = {"pair": 2, "triple": 3, "bare_quads": 4}


@st.composite
def ruleset_fields(draw: st.DrawFn, *, most_players: int = 8, most_cards: int = 20) -> Fields:
    """Draw the fields of rulesets with every axis free; contradictions are discarded.

    ``most_cards`` bounds ``hand_size``: larger hands make listings, and deals, slow.
    """
    fields = draw(_cards(most_players, most_cards))
    fields |= draw(_combinations(fields))
    fields |= draw(_course(fields))
    fields |= draw(_scoring(fields))
    try:
        load_ruleset(fields)
    except RulesetError:
        assume(False)
    return fields


def rulesets(*, most_players: int = 8, most_cards: int = 20) -> st.SearchStrategy[Ruleset]:
    """Draw rulesets as ``ruleset_fields`` does their fields."""
    return ruleset_fields(most_players=most_players, most_cards=most_cards).map(load_ruleset)


@st.composite
def drawing_rulesets(draw: st.DrawFn) -> Ruleset:
    """Draw rulesets of up to four seats in which cards are drawn from a stock at passes."""
    fields = draw(_cards(4, 5).filter(lambda fields: fields["leftover"] == "stock"))
    fields |= draw(_combinations(fields, [kind for kind in KINDS if kind not in MANY]))
    fields |= draw(_course(fields)) | {"session": {"deals": 1}}
    fields |= {
        "draw_on_pass": draw(st.sampled_from(["one", "as_needed"])),
        "restock": draw(st.booleans()),
        "exchange": "none",
        "dragon": "none",
        "instant_wins": [],
        "instant_wins_compete": True,
        "redeal_four_twos": False,
    }
    return _loaded(fields)


@st.composite
def combination_rulesets(draw: st.DrawFn) -> Ruleset:
    """Draw rulesets that differ only in cards and combinations."""
    fields = draw(_cards(2, 13)) | {"leftover": "unused", "hand_size": 17}
    cards = 4 * len(fields["ranks"]) - len(fields["removed_cards"]) + fields["jokers"]
    assume(cards * fields["decks"] >= 2 * 17)
    return _loaded(fields | draw(_combinations(fields)))


def _loaded(fields: Fields) -> Ruleset:
    """Return the ruleset of these fields; a contradiction discards them."""
    try:
        return load_ruleset(fields)
    except RulesetError:
        assume(False)
        raise


@st.composite
def hands(draw: st.DrawFn, rules: Rules, *, most: int = 11) -> int:
    """Draw hands as masks: neighbouring ranks and few suits, so that they contain combinations."""
    masks = [mask for mask in rules.rank_masks if mask]
    first, length = draw(st.integers(0, len(masks) - 1)), draw(st.integers(2, 7))
    ranks = sum({masks[(first + step) % len(masks)] for step in range(length)})
    suits = sum(draw(st.lists(st.sampled_from(rules.suit_masks), min_size=1, unique=True)))
    suits |= rules.tops & ~rules.twos
    bits = [bit for bit in range(rules.width) if (ranks & suits or ranks) & 1 << bit]
    size = draw(st.integers(max(min(most, len(bits)) // 2, 1), min(most, len(bits))))
    chosen = draw(st.lists(st.sampled_from(bits), min_size=size, max_size=size, unique=True))
    return rules.mask([bit // rules.decks for bit in chosen])


@st.composite
def _cards(draw: st.DrawFn, most_players: int, most_cards: int) -> Fields:
    ranks = draw(st.sampled_from([STANDARD_RANKS, LECTIO_RANKS]))
    decks, jokers = draw(st.sampled_from([1, 1, 2, 2, 3, 4])), draw(st.sampled_from([0, 0, 1, 2]))
    suits = draw(st.permutations(["D", "C", "H", "S"]))
    removed = draw(st.just([]) | _some([rank + suit for rank in ranks for suit in suits]))
    players = draw(st.integers(2, most_players))
    partners = draw(st.sampled_from(["none", "opposite"])) if players == 4 else "none"
    cards = (len(ranks) * 4 - len(removed) + jokers) * decks
    assume(cards >= players)
    sizes: list[int | str] = list(range(1, min(cards // players, most_cards) + 1))
    if cards // players <= most_cards:
        sizes.append("all")
    hand_size = draw(st.sampled_from(sizes))
    over = 0 if hand_size == "all" else cards - players * int(hand_size)
    return {
        "name": "drawn",
        "ranks": ranks,
        "decks": decks,
        "jokers": jokers,
        "removed_cards": removed,
        "players": players,
        "partners": partners,
        "hand_size": hand_size,
        "leftover": draw(st.sampled_from(["unused", "stock", "to_lowest"][: 3 if over < players else 2])),
        "suits": suits,
        "equal_suits": draw(st.booleans()),
        "straights": draw(st.sampled_from(ORDER_NAMES) | _ladders(ranks)),
        "card_points": dict(
            zip([*ranks, *["joker"][:jokers]], draw(_numbers(len(ranks) + (jokers > 0), 0, 13)), strict=True)
        ),
    }


@st.composite
def _ladders(draw: st.DrawFn, ranks: tuple[str, ...]) -> list[list[str]]:
    sequence = st.lists(st.sampled_from(ranks), min_size=5, max_size=5, unique=True)
    drawn = draw(st.lists(sequence, min_size=1, max_size=8, unique_by=frozenset))
    levels: list[list[str]] = [[]]
    for ranks_of_one in drawn:
        new_level = draw(st.booleans())
        if new_level and levels[-1]:
            levels.append([])
        levels[-1].append(" ".join(ranks_of_one))
    return levels


@st.composite
def _combinations(draw: st.DrawFn, fields: Fields, kinds: Sequence[str] = KINDS) -> Fields:
    off = draw(_some(kinds[1:]))
    plays = [kind for kind in kinds if kind not in off]
    size = fields["hand_size"]
    if (
        fields["removed_cards"]
        or size == "all"
        or not len(fields["ranks"]) <= size <= 20
        or fields["leftover"] != "unused"
    ):
        plays = [kind for kind in plays if kind != "dragon"]
    if {"straight_flush", "straight_flush_plus_two"} <= set(plays):
        plays.remove(draw(st.sampled_from(["straight_flush", "straight_flush_plus_two"])))
    if {"run", "suited_run"} & set(plays) and "straight_flush_plus_two" in plays:
        plays.remove("straight_flush_plus_two")
    royal = ["royal_flush"] if "straight_flush" in plays and draw(st.booleans()) else []
    ranks = [*fields["ranks"], *["joker"][: fields["jokers"]]]
    bombs = draw(_bombs([*plays[1:], *royal], ranks))
    beat = draw(_bombs_beat(bombs, [*plays, *royal], ranks))
    free = [bomb for bomb in bombs if beat == "any" or (beat != "twos" and bomb not in beat)]
    return {
        "plays": draw(st.permutations(plays)),
        "five_card_order": draw(st.permutations([kind for kind in FIVE_CARD_KINDS if kind in plays] + royal)),
        "kinds_compete": draw(st.booleans()),
        "straight_suit_of": draw(st.sampled_from(CHOICES["straight_suit_of"])),
        "flush_order": draw(st.sampled_from(CHOICES["flush_order"])),
        "bombs": bombs,
        "bombs_beat": beat,
        "bomb_order": draw(st.just([]) | st.permutations(free).map(_short_runs_first)),
        "two_pair_order": draw(st.sampled_from(CHOICES["two_pair_order"])),
        "run_order": draw(st.sampled_from([*ORDER_NAMES, "2 3-T A J", "3-9 A=2 T"])),
        "run_from": draw(st.integers(3, 6)),
        "pair_run_from": 3 if "bare_two_pair" in plays else draw(st.integers(2, 3)),
    }


@st.composite
def _instant_wins(draw: st.DrawFn, fields: Fields, four_twos: bool) -> list[str]:
    size, ranks = fields["hand_size"], len(fields["ranks"])
    held = [win for win in INSTANT_WINS if size == "all" or cards_needed(win, ranks) <= size]
    wins = draw(_some([win for win in held if win != "four_twos" or four_twos]))
    pairs = [win for win in wins if win in ("six_pairs", "five_pairs_and_triple")]
    if len(pairs) == 2:
        wins.remove(draw(st.sampled_from(pairs)))
    return wins


@st.composite
def _bombs(draw: st.DrawFn, kinds: Sequence[str], ranks: Sequence[str]) -> list[str]:
    bombs = draw(_some(kinds))
    equal = [kind for kind in EQUAL if kind in kinds and kind not in bombs]
    chosen = [" ".join([rank] * EQUAL[kind]) for kind in equal for rank in ranks]
    bombs += draw(st.just([]) | st.lists(st.sampled_from(chosen), max_size=3, unique=True)) if chosen else []
    if "pair_run" in kinds:
        bombs += draw(st.just([]) | _some(["pair_run 3", "pair_run 4", "pair_run 5"]))
    return _short_runs_first(draw(st.permutations(bombs)))


@st.composite
def _bombs_beat(draw: st.DrawFn, bombs: Sequence[str], kinds: Sequence[str], ranks: Sequence[str]) -> Any:
    beat = draw(st.sampled_from(["any", "twos", "listed"]))
    if beat != "listed" or not bombs:
        return beat if bombs else "any"
    limited = draw(st.lists(st.sampled_from(bombs), min_size=1, unique=True))
    equal = {"single": 1} | EQUAL
    chosen = [" ".join([rank] * equal[kind]) for kind in equal if kind in kinds for rank in ranks[-3:]]
    targets = sorted(
        {*chosen, *[rank + "S" for rank in ranks[-3:] if rank != "joker"], *kinds, *limited}
        - ({*bombs} - {*limited})
    )
    others = {bomb: [name for name in targets if not _is_compared(name, bomb)] for bomb in limited}
    return {
        bomb: draw(st.lists(st.sampled_from(names), min_size=1, max_size=4, unique=True))
        for bomb, names in others.items()
    }


def _is_compared(name: str, bomb: str) -> bool:
    """Return whether the list of a bomb may not have this, or not if kinds of five cards compete."""
    kinds = {kind_of(name), kind_of(bomb)}
    return (
        (len(kinds) == 1 and kinds != {"pair_run"})
        or name == bomb
        or kinds <= {*FIVE_CARD_KINDS, "royal_flush"}
    )


def _short_runs_first(bombs: Sequence[str]) -> list[str]:
    runs = iter(sorted(bomb for bomb in bombs if bomb.startswith("pair_run")))
    return [next(runs) if bomb.startswith("pair_run") else bomb for bomb in bombs]


@st.composite
def _course(draw: st.DrawFn, fields: Fields) -> Fields:
    names = ["dealer", "direction", "lead", "deal_ends", "dragon", "guard", "last_top_card"]
    flags = ["redeal_four_twos", "pass_locks", "beat_own", "leftover_shown"]
    course: Fields = {name: draw(st.sampled_from(CHOICES[name])) for name in names}
    last_holder = course["deal_ends"] == "last_holder"
    if last_holder:
        for name, refused in (("dragon", "wins"), ("guard", "liable"), ("last_top_card", "loses")):
            course[name] = draw(st.sampled_from([value for value in CHOICES[name] if value != refused]))
    if "dragon" in fields["plays"]:
        course["dragon"] = "none"
    course |= {name: draw(st.booleans()) for name in flags}
    may_draw = fields["leftover"] == "stock" and not set(MANY) & set(fields["plays"])
    draws = draw(st.sampled_from(CHOICES["draw_on_pass"])) if may_draw else "none"
    if fields["equal_suits"] and not fields["jokers"]:
        course["last_top_card"] = "allowed"
    last_cards = st.sampled_from(["top", *fields["ranks"][-2:], "D", "S"])
    cards = [rank + suit for rank in fields["ranks"] for suit in "DCHS"]
    cards = [card for card in cards if card not in fields["removed_cards"]]
    two = fields["ranks"][-1]
    whole = not any(card[:-1] == two for card in fields["removed_cards"])
    course["redeal_four_twos"] &= whole
    wins = draw(_instant_wins(fields, whole and not course["redeal_four_twos"])) if not last_holder else []
    first_lead = draw(st.sampled_from(["lowest", "random"]) | st.sampled_from(cards))
    several = len(wins) + (course["dragon"] == "wins") > 1
    return course | {
        "after_out": draw(st.sampled_from(CHOICES["after_out"])) if last_holder else "beatable",
        "instant_wins": wins,
        "instant_wins_compete": draw(st.booleans()) or not several or "six_pairs" in wins,
        "draw_on_pass": draws,
        "restock": draws != "none" and draw(st.booleans()),
        "exchange": draw(st.sampled_from(CHOICES["exchange"])),
        "bombs_out_of_turn": bool(fields["bombs"]) and draw(st.booleans()),
        "last_cards": "top" if course["last_top_card"] == "allowed" else draw(last_cards),
        "first_lead": first_lead,
        "lead_includes_lowest": first_lead != "random" and draw(st.sampled_from([False, True, "alone"])),
        "lowest_lead_every": draw(st.integers(0, 3)),
        "announce_at": draw(st.integers(0, 2)),
    }


@st.composite
def _scoring(draw: st.DrawFn, fields: Fields) -> Fields:
    settle = draw(st.sampled_from(CHOICES["settle"]))
    by_penalties = settle in SETTLED_BY_PENALTIES
    at_once = bool(fields["instant_wins"]) or fields["dragon"] == "wins"
    honours = _honours(fields["plays"])
    brackets: list[Fields] = [
        {"from": start, draw(st.sampled_from(["times", "points"])): draw(st.integers(1, 50))}
        for start in sorted(draw(st.sets(st.integers(1, 20), max_size=3)))
    ]
    if settle != "difference" and draw(st.booleans()):
        brackets.append({"from": "all", "times": draw(st.integers(1, 5))})
    return {
        "multipliers": brackets,
        "multiplier_for": draw(st.sampled_from(CHOICES["multiplier_for"])),
        "double_per_two_left": draw(st.booleans()),
        "honours_left": draw(honours) if by_penalties else [],
        "final_honours": draw(honours) if by_penalties or settle == "fixed" else [],
        "instant_win_penalty": draw(st.none() | st.integers(1, 50)) if by_penalties and at_once else None,
        "final_twos": draw(st.sampled_from(CHOICES["final_twos"])),
        "settle": settle,
        "place_points": draw(_numbers(fields["players"], -5, 5)) if settle == "places" else [],
        "bonuses": draw(st.none() | st.fixed_dictionaries({name: st.integers(0, 80) for name in _BONUSES})),
        "session": {
            "deals": draw(st.integers(1, 4)),
            "target": draw(st.none() | st.sampled_from([-50, 49])),
            "chips": draw(st.none() | st.integers(20, 149)),
        },
    }


@st.composite
def _honours(draw: st.DrawFn, plays: Sequence[str]) -> list[Fields]:
    possible = ["twos", "top_card"]
    possible += ["quads"] if {"quads", "bare_quads"} & {*plays} else []
    possible += ["straight_flush"] if {"straight_flush", "straight_flush_plus_two"} & {*plays} else []
    effects = st.sampled_from([("times", 2), ("times", 3), ("points", 1), ("points", 20)])
    return [{"honour": honour, **dict([draw(effects)])} for honour in draw(_some(possible))]


CHOICES = {
    name: get_args(hint) for name, hint in get_type_hints(Ruleset).items() if get_origin(hint) is Literal
}
"""The fields whose value is one of a few names, and these names."""

_BONUSES = [field.name for field in dataclasses.fields(Bonuses)]


def _some(names: Sequence[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(names), unique=True) if names else st.just([])


def _numbers(count: int, low: int, high: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(low, high), min_size=count, max_size=count)
