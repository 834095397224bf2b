"""Tests for rulesets from presets, objects and files."""

import dataclasses
import json
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.cards import LECTIO_RANKS, STANDARD_RANKS
from referee.deals.session import Session
from referee.errors import RulesetError
from referee.rules.plays import compile_ruleset
from referee.ruleset import Bonuses, Bracket, Ruleset, SessionEnd, load_ruleset, load_ruleset_file
from referee.ruleset.axes import AXES, SECTIONS
from referee.ruleset.model import FIELD_NAMES
from referee.ruleset.reading import read_ruleset
from referee.ruleset.straights import ORDER_NAMES, straight_order
from tests.examples import examples
from tests.referee.strategies import ruleset_fields, rulesets

HONOURS = [{"honour": "quads", "times": 2}, {"honour": "twos", "points": 10}]
BONUSES = [field.name for field in dataclasses.fields(Bonuses)]

ORDERS = {
    "two_low": "A2345 23456 34567 45678 56789 6789T 789TJ 89TJQ 9TJQK TJQKA",
    "wheel_high": "23456 34567 45678 56789 6789T 789TJ 89TJQ 9TJQK TJQKA A2345",
    "six_high_wheel_next": "34567 45678 56789 6789T 789TJ 89TJQ 9TJQK TJQKA A2345 23456",
    "six_high_wheel_low": "A2345 34567 45678 56789 6789T 789TJ 89TJQ 9TJQK TJQKA 23456",
    "no_wheel": "23456 34567 45678 56789 6789T 789TJ 89TJQ 9TJQK TJQKA",
    "two_high": "23456 34567 45678 56789 6789T 789TJ 89TJQ 9TJQK TJQKA JQKA2",
    "two_high_wheel_low": "A2345 23456 34567 45678 56789 6789T 789TJ 89TJQ 9TJQK TJQKA JQKA2",
    "by_ranks": "34567 45678 56789 6789T 789TJ 89TJQ 9TJQK TJQKA 23456 A2345 JQKA2",
    "by_ranks_no_wheel": "34567 45678 56789 6789T 789TJ 89TJQ 9TJQK TJQKA 23456 JQKA2",
    "three_to_two": "34567 45678 56789 6789T 789TJ 89TJQ 9TJQK TJQKA JQKA2",
    "indonesia": "34567 45678 56789 6789T 789TJ 89TJQ 9TJQK TJQKA A2345=23456",
    "hong_kong": "34567 45678 56789 6789T 789TJ 89TJQ 9TJQK TJQKA 23456 A2345",
    "wheel_second": "23456 34567 45678 56789 6789T 789TJ 89TJQ 9TJQK A2345 TJQKA",
    "two_ranks_high": "34567 45678 56789 6789T 789TJ 89TJQ 9TJQK TJQKA A2345=23456",
    "wrap_around": "JQKA2 QKA23 KA234 A2345 23456 34567 45678 56789 6789T 789TJ 89TJQ 9TJQK TJQKA",
    "no_two": "34567 45678 56789 6789T 789TJ 89TJQ 9TJQK TJQKA",
}
"""Every order in full, weakest first."""


@pytest.mark.parametrize("name", ORDER_NAMES)
def test_ladder_in_standard_ranks_is_as_written_out(name: str) -> None:
    written = [[" ".join(sequence) for sequence in level.split("=")] for level in ORDERS[name].split()]
    assert [list(level) for level in straight_order(name, STANDARD_RANKS)] == written


def test_ladder_in_lectio_ranks_follows_the_same_pattern() -> None:
    levels = straight_order("wheel_second", LECTIO_RANKS)
    assert len(levels) == 12
    assert levels[0] == ("2 3 4 5 6",)
    assert levels[-3:] == (("11 12 13 14 15",), ("1 2 3 4 5",), ("12 13 14 15 1",))
    assert straight_order("two_high", LECTIO_RANKS)[-1] == ("13 14 15 1 2",)


def test_load_ruleset_by_name_and_by_object_with_only_that_name_are_the_same() -> None:
    assert load_ruleset({"name": "hong-kong"}) == load_ruleset("hong-kong")


def test_import_of_the_sdk_leaves_pydantic_to_the_first_ruleset() -> None:
    loads = "import sys, referee.bot as bot; assert 'pydantic' not in sys.modules"
    subprocess.run([sys.executable, "-c", loads], check=True)


def test_load_ruleset_of_nothing_is_the_default_preset() -> None:
    assert load_ruleset({}) == load_ruleset("chinese")
    assert load_ruleset({"extends": "gamesky"}) == load_ruleset("gamesky")


def test_load_ruleset_with_extends_takes_the_rest_from_that_preset() -> None:
    ruleset = load_ruleset({"extends": "indonesia", "name": "ours", "version": 3, "players": 3})
    assert (ruleset.label, ruleset.players, ruleset.pass_locks) == ("ours@3", 3, True)
    assert ruleset.session == SessionEnd(10, None, None)


def test_load_ruleset_with_a_name_and_another_field_extends_the_default() -> None:
    ruleset = load_ruleset({"name": "ours", "version": 2})
    assert (ruleset.label, ruleset.dragon) == ("ours@2", "none")


@pytest.mark.parametrize(
    ("fields", "label"),
    [
        ({}, "chinese@1"),
        ({"extends": "hong-kong", "announce_at": 0}, "hong-kong@1"),
        ({"pass_locks": True}, "chinese-variant@1"),
        ({"extends": "hong-kong", "version": 2}, "hong-kong-variant@2"),
    ],
)
def test_rules_that_no_name_is_given_have_a_presets_only_if_they_are_it(
    fields: dict[str, Any], label: str
) -> None:
    ruleset = load_ruleset(fields)
    assert ruleset.label == label
    assert load_ruleset(ruleset.to_object()) == ruleset


def test_to_object_has_every_field_as_json_and_loads_again() -> None:
    resolved = load_ruleset("indonesia").to_object()
    assert tuple(resolved) == FIELD_NAMES
    assert resolved["straights"] == [list(level) for level in straight_order("indonesia", STANDARD_RANKS)]
    assert resolved["multipliers"] == [{"from": 11, "times": 2}, {"from": 13, "times": 3}]
    assert resolved["session"] == {"deals": 10, "target": None, "chips": None}
    assert load_ruleset(json.loads(json.dumps(resolved))) == load_ruleset("indonesia")


@given(rulesets())
def test_to_object_of_any_ruleset_loads_as_the_same_ruleset(ruleset: Ruleset) -> None:
    again = load_ruleset(json.loads(json.dumps(ruleset.to_object())))
    assert again == ruleset
    assert again.hash == ruleset.hash


def test_hash_covers_the_name_and_what_differs_from_the_default_preset() -> None:
    ruleset = load_ruleset({"name": "house", "decks": 2, "card_points": dict.fromkeys("3456789TJQKA2", 2)})
    points = ",".join(f'"{rank}":2' for rank in sorted("3456789TJQKA2"))
    content = f'{{"card_points":{{{points}}},"decks":2,"name":"house"}}'
    assert ruleset.hash == sha256(content.encode()).hexdigest()
    assert load_ruleset("chinese").hash == sha256(b'{"name":"chinese"}').hexdigest()


def test_hash_differs_when_any_field_differs() -> None:
    assert load_ruleset({"kinds_compete": False}).hash != load_ruleset("chinese").hash
    assert load_ruleset({"version": 2}).hash != load_ruleset("chinese").hash
    assert len(load_ruleset("chinese").hash) == 64


def test_first_lead_that_names_the_lowest_card_is_the_same_ruleset() -> None:
    named = {"name": "a", "first_lead": "3S"}
    assert load_ruleset(named).first_lead == "3S"
    lowest = load_ruleset({**named, "suits": ["S", "C", "D", "H"]})
    assert lowest == load_ruleset({"name": "a", "suits": ["S", "C", "D", "H"]})


def test_card_points_of_a_joker_are_those_of_a_two_unless_they_are_given() -> None:
    indonesia = load_ruleset({"extends": "indonesia", "jokers": 1}).to_object()
    assert indonesia["card_points"] == dict.fromkeys("3456789TJQKA", 1) | {"2": 5, "joker": 5}
    given = {**dict.fromkeys("3456789TJQKA2", 1), "joker": 9}
    assert load_ruleset({"jokers": 2, "card_points": given}).to_object()["card_points"] == given


def test_removed_cards_in_any_order_are_the_same_ruleset() -> None:
    one, other = (
        load_ruleset({"name": "short", "hand_size": 12, "removed_cards": cards})
        for cards in (["4D", "3S", "3C"], ["3C", "3S", "4D"])
    )
    assert one.hash == other.hash
    assert one.removed_cards == ("3C", "3S", "4D")


NO_TWOS: dict[str, Any] = {"removed_cards": ["2D", "2C", "2H", "2S"], "hand_size": 12}
RUNS: dict[str, Any] = {"plays": ["single", "run", "pair_run"], "five_card_order": []}

IDLE: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"players": 4}, {"hand_size": "all"}),
    ({"leftover": "to_lowest"}, {"leftover_shown": True}),
    ({}, {"leftover": "stock"}),
    ({"leftover": "stock", "draw_on_pass": "one"}, {"draw_on_pass": "as_needed"}),
    ({"hand_size": 3}, {"redeal_four_twos": True}),
    ({"hand_size": 12}, {"dragon": "wins"}),
    ({"hand_size": 11}, {"instant_wins": ["six_pairs", "five_pairs_and_triple"]}),
    ({"hand_size": 11, "instant_wins": ["four_twos"]}, {"dragon": "wins", "instant_wins_compete": False}),
    (
        {"instant_wins": ["four_twos", "six_pairs"], "instant_wins_compete": False},
        {"instant_wins": ["six_pairs", "four_twos"]},
    ),
    ({"extends": "lectio"}, {"instant_wins": ["dragon_without_two"], "instant_win_penalty": 5}),
    ({}, {"instant_win_penalty": 26}),
    ({"dragon": "wins", "settle": "wins"}, {"instant_win_penalty": 26}),
    ({"settle": "fixed"}, {"honours_left": HONOURS}),
    ({"settle": "difference"}, {"final_honours": HONOURS}),
    (
        {"honours_left": HONOURS, "final_honours": HONOURS},
        {"honours_left": HONOURS[::-1], "final_honours": HONOURS[::-1]},
    ),
    ({"players": 2}, {"direction": "clockwise"}),
    ({"players": 2}, {"direction": "alternating"}),
    ({"players": 2}, {"pass_locks": True}),
    ({"players": 2}, {"deal_ends": "last_holder"}),
    ({"players": 2}, {"guard": "liable"}),
    ({"settle": "wins"}, {"guard": "liable"}),
    ({}, {"lowest_lead_every": 7}),
    ({}, {"lead": "loser", "lowest_lead_every": 1}),
    ({"lead": "winner"}, {"lowest_lead_every": 1000}),
    (
        {},
        {"plays": ["pair", "single", "triple", "straight", "flush", "full_house", "quads", "straight_flush"]},
    ),
    ({"straights": [["A 2 3 4 5", "2 3 4 5 6"]]}, {"straights": [["2 3 4 5 6", "A 2 3 4 5"]]}),
    ({"hand_size": 12, "removed_cards": ["3D", "3H"]}, {"first_lead": "3C"}),
    ({"plays": ["single"], "five_card_order": []}, {"lead_includes_lowest": "alone"}),
    ({"straights": "three_to_two"}, {"straight_suit_of": "highest"}),
    ({"plays": ["single", "flush"], "five_card_order": ["flush"]}, {"straights": "wrap_around"}),
    ({"plays": ["single", "flush"], "five_card_order": ["flush"]}, {"kinds_compete": False}),
    ({"bombs": ["flush", "full_house", "quads", "straight_flush"]}, {"kinds_compete": False}),
    ({"plays": ["single", "quads"], "five_card_order": ["quads"]}, {"flush_order": "ranks_then_suit"}),
    ({"bombs": ["quads", "flush"]}, {"bombs": ["flush", "quads"], "bomb_order": ["quads", "flush"]}),
    (
        {"bombs": ["quads", "flush"], "bombs_beat": "twos"},
        {
            "bombs": ["flush", "quads"],
            "bombs_beat": {"quads": ["2 2", "2 2 2", "2"], "flush": ["2", "2 2", "2 2 2"]},
        },
    ),
    ({"equal_suits": True}, {"straight_suit_of": "highest", "flush_order": "top_then_suit"}),
    ({}, {"two_pair_order": "ranks_then_suit", "run_order": "no_two", "run_from": 4, "pair_run_from": 3}),
    (
        {"plays": ["single", "run"], "five_card_order": [], "run_order": "no_two"},
        {"straight_suit_of": "highest"},
    ),
    (
        {"plays": ["single", "run", "flush"], "five_card_order": ["flush"], "run_from": 6},
        {"run_from": 5},
    ),
    (
        {"plays": ["single", "triple_run"], "five_card_order": [], "run_order": "indonesia"},
        {"run_order": "two_ranks_high"},
    ),
    ({"settle": "loser_only"}, {"card_points": dict.fromkeys(STANDARD_RANKS, 3)}),
    ({"settle": "fixed"}, {"multipliers": [], "multiplier_for": "leader", "double_per_two_left": True}),
    ({"settle": "difference"}, {"final_twos": "double_each"}),
    ({"multipliers": [{"from": 1, "points": 4}]}, {"card_points": dict.fromkeys(STANDARD_RANKS, 3)}),
    ({"hand_size": 12}, {"multipliers": [{"from": 10, "times": 2}]}),
    ({"multipliers": []}, {"multipliers": [{"from": 5, "times": 1}], "multiplier_for": "leader"}),
    ({"hand_size": 12}, {"dragon": "wins", "instant_win_penalty": 30}),
    (
        {"final_honours": [{"honour": "quads", "times": 2}, {"honour": "twos", "points": 3}]},
        {"final_honours": [{"honour": "twos", "points": 3}, {"honour": "quads", "times": 2}]},
    ),
    ({}, {"bonuses": dict.fromkeys(BONUSES, 0)}),
    (NO_TWOS, {"double_per_two_left": True, "final_twos": "double_each", "straights": "no_wheel"}),
    (
        NO_TWOS,
        {
            "honours_left": [{"honour": "twos", "times": 2}],
            "bonuses": dict.fromkeys(BONUSES, 0) | {"winner_per_two": 3},
        },
    ),
    (NO_TWOS, {"card_points": dict.fromkeys(STANDARD_RANKS, 1) | {"2": 5}}),
    (NO_TWOS | {"dragon": "wins"}, {"instant_wins": ["dragon_without_two"]}),
    (
        {"removed_cards": ["2D"], "hand_size": 12, "bonuses": dict.fromkeys(BONUSES, 1)},
        {"bonuses": dict.fromkeys(BONUSES, 1) | {"four_twos": 9}},
    ),
    (NO_TWOS | RUNS, {"run_order": "three_to_two"}),
    ({"plays": ["single", "run"], "five_card_order": []}, {"run_order": "A 2 3-9 T"}),
    ({"session": {"deals": 1000}}, {"session": {"deals": 2000}}),
]
"""Fields of a ruleset, and others that then make no difference."""


@pytest.mark.parametrize(("fields", "idle"), IDLE)
def test_rulesets_that_differ_in_what_has_no_effect_are_the_same(
    fields: dict[str, Any], idle: dict[str, Any]
) -> None:
    assert load_ruleset(fields | idle) == load_ruleset(fields)


@pytest.mark.parametrize(
    "fields",
    [{"straight_suit_of": "highest"}, {"run_order": "no_two"}, {"run_from": 4}, {"pair_run_from": 3}],
)
def test_rulesets_that_differ_in_what_has_an_effect_on_runs_are_not_the_same(fields: dict[str, Any]) -> None:
    runs = {"plays": ["single", "run", "pair_run"], "five_card_order": []}
    assert load_ruleset(runs | fields) != load_ruleset(runs)


@examples(100)
@given(ruleset_fields(most_players=5, most_cards=7), st.integers(0, 2**32))
def test_ruleset_as_loaded_plays_as_it_was_written(fields: dict[str, Any], seed: int) -> None:
    written = read_ruleset({**load_ruleset("chinese").to_object(), **fields})
    assert played(load_ruleset(fields), seed) == played(written, seed)


def played(ruleset: Ruleset, seed: int) -> list[object]:
    """Return what happened in two deals of random play, in which the same choices are the same."""
    rules, rng = compile_ruleset(ruleset), Random(seed)
    session, happened = Session(rules, seed.to_bytes(32, "big"), 2), list[object]()
    while not session.over:
        deal = session.next_deal()
        while not deal.over:
            seat = deal.owing()[0]
            deal.act(seat, rng.choice(sorted([code & rules.full for code in deal.choices(seat)])))
        happened += [deal.dealer, deal.leader, deal.log, deal.end, deal.out, deal.points]
        session.close_deal()
    return happened


def test_fields_of_a_preset_that_lost_what_they_need_are_off_unless_they_are_given() -> None:
    ruleset = load_ruleset({"extends": "hong-kong-relatives-3", "leftover": "unused"})
    assert (ruleset.leftover, ruleset.draw_on_pass) == ("unused", "none")
    assert not load_ruleset({"extends": "gamesky", "bombs": []}).bombs_out_of_turn
    assert load_ruleset({"extends": "tien-len-frame", "bombs": ["bare_quads"]}).bombs_beat == "any"
    assert load_ruleset({"extends": "online-hk", "settle": "wins"}).final_honours == ()
    assert load_ruleset({"first_lead": "random"}).lead_includes_lowest is False
    with pytest.raises(RulesetError, match="bombs_out_of_turn: needs bombs"):
        load_ruleset({"extends": "gamesky", "bombs": [], "bombs_out_of_turn": True})


def test_fields_that_are_idle_in_a_preset_are_back_where_they_have_an_effect() -> None:
    assert load_ruleset("choi-dai-di").hand_size == 13
    assert load_ruleset({"extends": "choi-dai-di", "players": 6}).hand_size == "all"
    assert load_ruleset("pusoy-dos").multipliers == ()
    assert load_ruleset({"extends": "pusoy-dos", "settle": "penalty"}).multipliers == (
        Bracket(10, 2, None),
        Bracket(13, 3, None),
    )


def test_brackets_may_hold_fixed_amounts() -> None:
    ruleset = load_ruleset({"multipliers": [{"from": 8, "times": 2}, {"from": 11, "points": 30}]})
    assert ruleset.multipliers == (Bracket(8, 2, None), Bracket(11, None, 30))


def test_session_that_is_given_replaces_all_of_the_inherited_one() -> None:
    assert load_ruleset({"session": {"target": 49}}).session == SessionEnd(None, 49, None)


def test_bonuses_may_be_switched_off_by_name_since_toml_has_no_null() -> None:
    assert load_ruleset({"extends": "indonesia", "bonuses": "none"}).bonuses is None


def test_load_ruleset_file_extends_a_preset(tmp_path: Path) -> None:
    file = tmp_path / "my.toml"
    file.write_text('name = "mine"\nextends = "taiwan"\nplayers = 3\nstraights = "two_high"\n')
    ruleset = load_ruleset_file(file)
    assert (ruleset.name, ruleset.players, ruleset.settle) == ("mine", 3, "loser_only")
    assert ruleset.straights == straight_order("two_high", STANDARD_RANKS)


@pytest.mark.parametrize("content", [b"name = ", b"\xff\xfe", b"a = 1\na = 2", b"x = " + b"[" * 5000])
def test_load_ruleset_file_that_is_no_toml_names_the_file(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "my.toml"
    file.write_bytes(content)
    with pytest.raises(RulesetError, match=r"my\.toml: is not TOML") as caught:
        load_ruleset_file(file)
    assert "\n" not in str(caught.value)


def test_load_ruleset_file_that_cannot_be_read_names_the_file(tmp_path: Path) -> None:
    for path in (tmp_path / "none.toml", tmp_path):
        with pytest.raises(RulesetError, match="cannot be read") as caught:
            load_ruleset_file(path)
        assert caught.value.field == str(path)


@given(st.sampled_from(ORDER_NAMES), st.sampled_from([STANDARD_RANKS, LECTIO_RANKS]))
def test_every_ladder_has_distinct_sequences_of_its_ranks(name: str, ranks: tuple[str, ...]) -> None:
    sequences = [sequence.split() for level in straight_order(name, ranks) for sequence in level]
    assert all(len(set(sequence)) == 5 and set(sequence) <= set(ranks) for sequence in sequences)
    assert len({frozenset(sequence) for sequence in sequences}) == len(sequences)


def test_registry_of_axes_names_fields_in_their_order_and_sections_name_axes_with_words() -> None:
    assert [name for name in FIELD_NAMES if name in AXES] == [*AXES]
    others = {field for axis in AXES.values() for _, field, _ in axis.never}
    assert others <= {*FIELD_NAMES}
    for section in SECTIONS.values():
        assert all(AXES[part].words for part in section.words if isinstance(part, str))
        assert all(AXES[part].brief for part in section.brief if isinstance(part, str))
