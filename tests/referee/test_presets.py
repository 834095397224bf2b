"""Tests for the presets: each has the rules that it is known for."""

from importlib.resources import files
from typing import Any

import pytest

from referee.cards import LECTIO_RANKS
from referee.ruleset import load_ruleset, pack_size, preset_names
from referee.ruleset.straights import straight_order

NAMES = [
    "chinese",
    "chinese-2",
    "chinese-3",
    "chinese-stakes",
    "choi-dai-di",
    "choi-dai-di-3",
    "choi-dai-di-5",
    "choi-dai-di-v1",
    "choi-dai-di-v2",
    "gamesky",
    "hong-kong",
    "hong-kong-relatives",
    "hong-kong-relatives-3",
    "hong-kong-simple",
    "indonesia",
    "lectio",
    "online-hk",
    "only-a-game",
    "only-a-game-2",
    "only-a-game-3",
    "only-a-game-8",
    "only-a-game-bombs",
    "pusoy-dos",
    "shanghai",
    "silicon-valley",
    "singapore",
    "taiwan",
    "taiwan-latta",
    "taiwan-two-pair",
    "tien-len-frame",
    "zheng-shangyou",
]

TIMES = [{"from": 10, "times": 2}, {"from": 13, "times": 3}]
SESSION = {"deals": None, "target": None, "chips": None}
ONLY_A_GAME: dict[str, Any] = {
    "dealer": "rotate",
    "direction": "clockwise",
    "lead": "lowest",
    "straights": "two_ranks_high",
    "straight_suit_of": "highest",
    "flush_order": "top_then_suit",
    "settle": "winner_scores",
    "final_twos": "double_each",
    "multipliers": [],
    "session": SESSION | {"target": 49},
    "hand_size": 13,
}
RELATIVES = ONLY_A_GAME | {
    "lead": "winner",
    "straights": "two_low",
    "straight_suit_of": "top",
    "flush_order": "ranks_then_suit",
}
CHOI: dict[str, Any] = {
    "hand_size": 13,
    "dealer": "rotate",
    "direction": "clockwise",
    "lead": "winner",
    "straights": "two_low",
    "flush_order": "top_then_suit",
    "deal_ends": "last_holder",
    "settle": "last_loses",
    "multipliers": [],
}
NO_TRIPLE_NO_FLUSH = ["single", "pair", "straight", "full_house", "quads"]

EXPECTED: dict[str, dict[str, Any]] = {
    "chinese": {
        "players": 4,
        "direction": "anticlockwise",
        "dealer": "winner",
        "suits": ["D", "C", "H", "S"],
        "straights": "two_low",
        "flush_order": "suit_then_top",
        "five_card_order": ["straight", "flush", "full_house", "quads", "straight_flush"],
        "lead": "lowest",
        "lead_includes_lowest": True,
        "multipliers": TIMES,
        "settle": "penalty",
    },
    "chinese-3": {"players": 3, "hand_size": 17, "leftover": "to_lowest", "leftover_shown": True},
    "chinese-2": {"players": 2, "hand_size": 17, "leftover": "unused"},
    "chinese-stakes": {"settle": "pairwise", "guard": "liable"},
    "gamesky": {
        "five_card_order": ["straight", "full_house", "quads", "straight_flush"],
        "kinds_compete": False,
        "bombs": ["quads", "straight_flush"],
        "bombs_out_of_turn": True,
        "multipliers": [{"from": 11, "times": 2}],
    },
    "hong-kong": {
        "flush_order": "top_then_suit",
        "straights": "hong_kong",
        "straight_suit_of": "highest",
        "dragon": "wins",
        "last_top_card": "cannot_win",
        "lead": "winner",
    },
    "hong-kong-simple": {"straights": "three_to_two", "flush_order": "top_then_suit"},
    "pusoy-dos": {"suits": ["C", "S", "H", "D"], "settle": "fixed", "final_twos": "double_each"},
    "indonesia": {
        "direction": "clockwise",
        "lead": "winner",
        "lowest_lead_every": 10,
        "session": SESSION | {"deals": 10},
        "pass_locks": True,
        "beat_own": True,
        "announce_at": 2,
        "straights": "indonesia",
        "straight_suit_of": "highest",
        "multipliers": [{"from": 11, "times": 2}, {"from": 13, "times": 3}],
    },
    "taiwan": {"suits": ["C", "D", "H", "S"], "bombs": ["quads", "straight_flush"], "settle": "loser_only"},
    "taiwan-latta": {
        "plays": [*NO_TRIPLE_NO_FLUSH, "straight_flush_plus_two"],
        "five_card_order": ["straight", "full_house", "quads"],
        "bombs": ["quads", "straight_flush_plus_two"],
    },
    "taiwan-two-pair": {
        "suits": ["C", "D", "H", "S"],
        "five_card_order": ["two_pair", "straight", "full_house", "quads", "straight_flush"],
        "kinds_compete": False,
        "straights": "six_high_wheel_low",
        "bombs": ["quads", "straight_flush"],
    },
    "singapore": {"plays": [*NO_TRIPLE_NO_FLUSH, "straight_flush"]},
    "only-a-game": ONLY_A_GAME,
    "only-a-game-2": ONLY_A_GAME | {"players": 2},
    "only-a-game-3": ONLY_A_GAME | {"players": 3},
    "only-a-game-8": ONLY_A_GAME | {"players": 8, "decks": 2},
    "only-a-game-bombs": ONLY_A_GAME | {"bombs": ["full_house", "quads", "pair_run 3"]},
    "hong-kong-relatives": RELATIVES,
    "hong-kong-relatives-3": RELATIVES | {"players": 3, "leftover": "stock", "draw_on_pass": "one"},
    "shanghai": {
        "plays": [
            *["single", "pair", "triple", "straight", "flush", "full_house", "quads", "straight_flush"],
            *["run", "pair_run", "triple_run", "triple_run_plus_pairs", "triple_plus_two_pairs"],
        ],
        "run_order": "two_low",
        "run_from": 3,
        "pair_run_from": 2,
    },
    "silicon-valley": {
        "direction": "clockwise",
        "lead": "winner",
        "lead_includes_lowest": True,
        "straights": "two_low",
        "flush_order": "top_then_suit",
        "settle": "penalty",
        "multipliers": [{"from": cards, "points": 10 * cards - 80} for cards in (11, 12, 13)],
    },
    "online-hk": {
        "lead": "winner",
        "straights": "three_to_two",
        "straight_suit_of": "top",
        "flush_order": "suit_then_top",
        "settle": "penalty",
        "multipliers": [{"from": 5, "times": 2}, {"from": 10, "times": 3}],
        "session": SESSION | {"target": -101},
    },
    "choi-dai-di": CHOI,
    "choi-dai-di-3": CHOI | {"players": 3, "hand_size": "all"},
    "choi-dai-di-5": CHOI | {"players": 5, "hand_size": "all"},
    "choi-dai-di-v1": CHOI | {"lead": "lowest"},
    "choi-dai-di-v2": CHOI | {"straights": "two_high"},
    "zheng-shangyou": {
        "jokers": 2,
        "hand_size": "all",
        "kinds_compete": False,
        "bombs": ["bare_quads"],
        "pass_locks": True,
        "settle": "wins",
    },
    "tien-len-frame": {
        "suits": ["S", "C", "D", "H"],
        "direction": "clockwise",
        "dealer": "loser",
        "lead": "winner",
        "run_order": "no_two",
        "pair_run_from": 3,
        "bombs_beat": {
            "bare_quads": ["2"],
            "pair_run 3": ["2"],
            "pair_run 4": ["2 2"],
            "pair_run 5": ["2 2 2"],
        },
        "pass_locks": True,
        "deal_ends": "last_holder",
        "settle": "last_loses",
    },
    "lectio": {
        "ranks": list(LECTIO_RANKS),
        "players": 5,
        "hand_size": 12,
        "settle": "pairwise",
        "straights": "two_low",
        "session": SESSION | {"deals": 5, "chips": 149},
    },
}


def test_preset_names_are_all_the_systems_and_the_default_first() -> None:
    assert preset_names() == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_preset_has_what_it_is_known_for(name: str) -> None:
    ruleset = load_ruleset(name)
    wanted = dict(EXPECTED[name])
    if "straights" in wanted:
        wanted["straights"] = [list(level) for level in straight_order(wanted["straights"], ruleset.ranks)]
    resolved = ruleset.to_object()
    assert {field: resolved[field] for field in wanted} == wanted


@pytest.mark.parametrize("name", NAMES)
def test_preset_carries_its_own_name_and_begins_with_a_line_about_it(name: str) -> None:
    assert load_ruleset(name).label == f"{name}@1"
    text = (files("referee") / "presets" / f"{name}.toml").read_text(encoding="utf-8")
    assert text.startswith("# ")
    assert text.count("#") == 1


def test_indonesia_has_its_card_points_and_bonuses() -> None:
    resolved = load_ruleset("indonesia").to_object()
    assert resolved["card_points"] == dict.fromkeys("3456789TJQKA", 1) | {"2": 5}
    assert resolved["bonuses"] == {
        "quads": 20,
        "straight_flush": 40,
        "four_twos": 80,
        "final_times": 2,
        "winner": 5,
        "winner_per_two": 10,
    }


def test_pack_size_counts_all_packs() -> None:
    names = ("chinese", "lectio", "only-a-game-8", "zheng-shangyou")
    assert [pack_size(load_ruleset(name)) for name in names] == [52, 60, 104, 54]
    assert pack_size(load_ruleset({"decks": 3, "jokers": 1, "removed_cards": ["3C", "3H"]})) == 153
