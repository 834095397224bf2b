"""Tests for what rulesets may not contain, and for how they are refused."""

from itertools import combinations
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.cards import LECTIO_RANKS, STANDARD_RANKS
from referee.errors import RulesetError
from referee.ruleset import Ruleset, load_ruleset, load_ruleset_file, preset_names
from referee.ruleset.axes.kinds import KINDS
from referee.ruleset.model import FIELD_NAMES

BONUSES = {
    "quads": 20,
    "straight_flush": 40,
    "four_twos": 80,
    "final_times": 2,
    "winner": 5,
    "winner_per_two": 10,
}
FIVE = ["straight", "flush", "full_house", "quads", "straight_flush"]
QUADS = {"bombs": ["quads"]}
RUNS = {"plays": ["single", *FIVE, "pair_run"]}
LAST = {"deal_ends": "last_holder"}
HONOURS = [{"honour": "quads", "times": 2}, {"honour": "twos", "points": 10}]
MANY = {"plays": ["single", "pair_run"], "five_card_order": [], "players": 2}
FIVES = [[" ".join(five)] for five in combinations(STANDARD_RANKS, 5)]

CONTRADICTIONS: list[tuple[dict[str, Any], str, str]] = [
    ({"hand_size": 14}, "hand_size", "4 hands of 14 need 56 cards, not 52"),
    ({"players": 5}, "players", "65 cards, not 52; a hand_size of at most 10, or 'all', would do"),
    ({"extends": "only-a-game-8", "decks": 1}, "decks", "8 hands of 13 need 104 cards, not 52"),
    ({"extends": "chinese-3", "players": 2}, "players", "to_lowest needs fewer cards left over"),
    ({"draw_on_pass": "one"}, "draw_on_pass", "needs leftover: stock"),
    (
        {"leftover": "to_lowest", "players": 3, "hand_size": 16},
        "leftover",
        "fewer cards left over than players",
    ),
    ({"leftover": "to_lowest", "players": 2}, "leftover", "not 26 with 2 players"),
    ({"restock": True}, "restock", "needs draw_on_pass"),
    ({"bombs": ["bare_quads"]}, "bombs", "bare_quads, which plays lacks"),
    ({"bombs": ["royal_flush"]}, "bombs", "royal_flush, which five_card_order lacks"),
    ({"bombs": ["quads"], "bomb_order": ["straight_flush"]}, "bomb_order", "each once"),
    ({"bomb_order": ["quads"]}, "bomb_order", "each once"),
    ({"bombs": ["quads", "flush"], "bomb_order": ["quads"]}, "bomb_order", "each once"),
    ({"bombs_out_of_turn": True}, "bombs_out_of_turn", "needs bombs"),
    ({"equal_suits": True, "last_top_card": "loses"}, "last_cards", "as no card is the highest"),
    ({"bombs": ["A A A", "triple"]}, "bombs", "has A A A, which triple includes"),
    ({"bombs": ["A A A A"]}, "bombs", "has A A A A, which plays lacks"),
    (RUNS | {"bombs": ["pair_run 4", "pair_run 3"]}, "bombs", "longer runs of pairs after shorter ones"),
    ({"bombs_beat": {"quads": ["2"]}}, "bombs_beat", "has quads, which bombs lacks"),
    (QUADS | {"bombs_beat": {"quads": ["quads"]}}, "bombs_beat", "a stronger quads beats it anyway"),
    (
        QUADS | {"bombs_beat": {"quads": ["flush"]}},
        "bombs_beat",
        "quads has flush, with which it is compared",
    ),
    (
        {"bombs": ["A A A"], "bombs_beat": {"A A A": ["triple"]}},
        "bombs_beat",
        "A A A has triple, with which it is compared by strength",
    ),
    (
        {"bombs": ["quads", "A A A"], "bombs_beat": {"quads": ["triple"], "A A A": ["quads", "2"]}},
        "bombs_beat",
        "lets A A A and quads beat each other",
    ),
    (
        RUNS | {"bombs": ["pair_run 3"], "pair_run_from": 3, "bombs_beat": {"pair_run 3": ["pair_run"]}},
        "bombs_beat",
        "pair_run 3 has pair_run, of which it names every run",
    ),
    (
        {"plays": ["single"], "five_card_order": [], "bombs": ["single"], "bombs_beat": "twos"},
        "bombs_beat",
        "leaves single nothing to beat",
    ),
    (
        QUADS | {"removed_cards": ["2D", "2C", "2H"], "hand_size": 12, "bombs_beat": {"quads": ["2 2"]}},
        "bombs_beat",
        "has 2 2, but the pack has only 1 of that rank",
    ),
    (QUADS | {"bombs_beat": {"quads": ["2 2 2 2"]}}, "bombs_beat", "quads has 2 2 2 2, which plays lacks"),
    (QUADS | {"bombs_beat": {"quads": ["pair_run"]}}, "bombs_beat", "pair_run, which plays lacks"),
    (RUNS | QUADS | {"bombs_beat": {"quads": ["pair_run 3"]}}, "bombs_beat", "which bombs lacks"),
    (
        {"bombs": ["quads", "flush"], "bombs_beat": {"quads": ["flush"]}},
        "bombs_beat",
        "quads has flush, a bomb that beats any play",
    ),
    (
        {"bombs": ["quads", "pair"], "bombs_beat": {"quads": ["2 2"]}},
        "bombs_beat",
        "quads has 2 2, a bomb that beats any play",
    ),
    (
        {"bombs": ["quads", "flush"], "bombs_beat": {"quads": ["2"]}, "bomb_order": ["quads", "flush"]},
        "bomb_order",
        "the kinds of bombs that beat any play, each once",
    ),
    (
        {"plays": ["single", *FIVE, "straight_flush_plus_two"]},
        "plays",
        "cannot have both straight_flush and straight_flush_plus_two",
    ),
    ({"plays": ["single", "pair"]}, "five_card_order", "which plays lacks"),
    (
        {"plays": ["single", *FIVE[:4]]},
        "five_card_order",
        'has straight_flush, which plays lacks; write five_card_order = ["straight", "flush", "full_house", '
        '"quads"]',
    ),
    (
        {"five_card_order": FIVE[:4]},
        "five_card_order",
        "lacks straight_flush, which plays has; write all five-card kinds of plays, weakest first",
    ),
    (
        {"plays": ["single", "flush"], "five_card_order": ["flush", "royal_flush"]},
        "five_card_order",
        "royal_flush, which needs straight_flush",
    ),
    ({"plays": ["pair", *FIVE]}, "plays", "must have single"),
    ({"plays": ["single", *FIVE, "dragon"], "hand_size": 12}, "plays", "at least 13 cards"),
    ({"plays": ["single", *FIVE, "dragon"], "players": 2, "hand_size": 21}, "plays", "they can have 21"),
    (
        {"extends": "hong-kong-relatives-3", "plays": ["single", *FIVE, "dragon"]},
        "plays",
        "they can have 26",
    ),
    ({"plays": ["single", *FIVE, "dragon"], "dragon": "wins"}, "plays", "cannot be played with dragon: wins"),
    (
        {"name": "hong-kong", "pass_locks": True},
        "name",
        "is a preset's: give rules that differ from hong-kong",
    ),
    ({"name": "hong-kong", "version": 2}, "name", "is a preset's"),
    ({"name": "ours; mine", "players": 3}, "name", "none of them ; or @"),
    ({"name": "ours@2", "players": 3}, "name", "none of them ; or @"),
    (
        {"straights": [["A 2 3 4 5"]], "removed_cards": ["2D", "2C", "2H", "2S"], "hand_size": 12},
        "straights",
        "has no sequence",
    ),
    (
        {
            "plays": ["single", "triple_run"],
            "five_card_order": [],
            "removed_cards": [rank + suit for rank in "468TQA2" for suit in "DC"],
            "hand_size": 9,
        },
        "plays",
        "has triple_run, but the pack lacks ranks for one",
    ),
    (
        QUADS | {"bombs_beat": {"quads": ["2S"]}, "equal_suits": True},
        "bombs_beat",
        "all cards of a rank are equal",
    ),
    (QUADS | {"bombs_beat": {"quads": ["RJ"]}}, "bombs_beat", "has RJ, which is not in the pack"),
    (
        {"plays": ["single", "bare_two_pair", "pair_run"], "five_card_order": []},
        "plays",
        "four cards may be both",
    ),
    (
        {"plays": ["single", "suited_run", "straight_flush_plus_two"], "five_card_order": []},
        "plays",
        "cannot have both suited_run and straight_flush_plus_two",
    ),
    (
        {"settle": "places", "place_points": [3, 2, 1, 0], "guard": "liable"},
        "guard",
        "cannot be liable with settle: places",
    ),
    ({"run_order": "A 2 3-9 3-T"}, "run_order", "an order in words such as 'A 2 3-T J'"),
    ({"run_order": "two_lo"}, "run_order", "did you mean 'two_low'"),
    (
        {"plays": ["single", "pair_run"], "five_card_order": [], "players": 2, "hand_size": 26},
        "hand_size",
        "the plays of a hand of 26 cards could be about 2.6 MiB",
    ),
    ({"straights": []}, "straights", "has no sequence"),
    (
        {"extends": "taiwan-latta", "plays": ["single", "run", "straight_flush_plus_two"]},
        "plays",
        "cannot have both run and straight_flush_plus_two",
    ),
    ({"plays": ["single", "two_pair"]}, "five_card_order", "lacks two_pair, which plays has"),
    ({"straights": FIVES[:61]}, "straights", "at most 60 sequences, not 61"),
    (
        MANY | {"hand_size": 27, "decks": 2},
        "hand_size",
        "have 27 cards, and 26 are the most with pair_run",
    ),
    (MANY | {"hand_size": "all", "decks": 2}, "hand_size", "a hand could have 52 cards"),
    (
        MANY | {"players": 3, "hand_size": 26, "decks": 2, "exchange": "loser_to_winner"},
        "hand_size",
        "27 cards",
    ),
    (
        MANY | {"hand_size": 7, "leftover": "stock", "draw_on_pass": "one"},
        "hand_size",
        "a hand could have 45 cards with what it draws",
    ),
    ({"settle": "last_loses"}, "settle", "needs deal_ends: last_holder"),
    ({"after_out": "next_leads"}, "after_out", "needs deal_ends: last_holder"),
    (
        {"settle": "difference", "multipliers": [{"from": "all", "times": 2}]},
        "multipliers",
        "cannot have from: all with settle: difference",
    ),
    ({"partners": "opposite", "players": 3}, "partners", "opposite needs four players"),
    (
        {"partners": "opposite", "multipliers": [{"from": 1, "times": 25_000}]},
        "multipliers",
        "2600000 points",
    ),
    ({"last_cards": "2"}, "last_cards", "needs last_top_card: cannot_win or loses"),
    (
        {"first_lead": "random", "lead_includes_lowest": True},
        "lead_includes_lowest",
        "must be false with first_lead: random",
    ),
    (LAST | {"dragon": "wins"}, "dragon", "last_holder"),
    (LAST | {"instant_wins": ["six_pairs"]}, "instant_wins", "last_holder"),
    ({"instant_wins": ["four_twos"], "redeal_four_twos": True}, "instant_wins", "redeal_four_twos"),
    ({"instant_wins": ["five_pairs_and_triple", "six_pairs"]}, "instant_wins", "not as the stronger"),
    (
        {"instant_wins": ["six_pairs", "five_pairs_and_triple"], "instant_wins_compete": False},
        "instant_wins",
        "not as the stronger",
    ),
    (
        {"honours_left": HONOURS, "plays": ["single", "straight"], "five_card_order": ["straight"]},
        "honours_left",
        "has quads, which needs quads or bare_quads in plays",
    ),
    (LAST | {"last_top_card": "loses"}, "last_top_card", "last_holder"),
    (LAST | {"guard": "liable"}, "guard", "last_holder"),
    (LAST | {"settle": "places", "place_points": [5, 3]}, "place_points", "must have 4 numbers"),
    ({"place_points": [1]}, "place_points", "must have 0 numbers"),
    (
        {"redeal_four_twos": True, "removed_cards": ["2C"], "hand_size": 12},
        "redeal_four_twos",
        "some of which are removed",
    ),
    ({"removed_cards": ["3C"]}, "removed_cards", "need 52 cards, not 51"),
    (
        {
            "removed_cards": ["4D", "4C", "4H", "4S"],
            "jokers": 2,
            "hand_size": 12,
            "plays": ["single", "dragon"],
        },
        "plays",
        "every 4 is removed",
    ),
    ({"decks": 4, "players": 3, "hand_size": "all"}, "hand_size", "70 cards for a player"),
    (
        {"jokers": 1, "bombs": ["joker joker"]},
        "bombs",
        "has joker joker, but the pack has only 1 of that rank",
    ),
    (
        {"removed_cards": ["3C", "3H"], "hand_size": 12, "bombs": ["3 3 3"]},
        "bombs",
        "has 3 3 3, but the pack has only 2 of that rank",
    ),
    (
        {"card_points": dict.fromkeys(STANDARD_RANKS, 20000)},
        "card_points",
        "a score holds 2147483 a deal",
    ),
    ({"multipliers": [{"from": 1, "times": 50_000}]}, "multipliers", "2600000 points"),
    ({"multipliers": [{"from": 1, "points": -600_000}]}, "multipliers", "a score holds"),
    ({"settle": "pairwise", "multipliers": [{"from": 1, "times": 12_500}]}, "multipliers", "2600000"),
    ({"double_per_two_left": True, "multipliers": [{"from": 1, "times": 3_000}]}, "multipliers", "2496000"),
    ({"bonuses": BONUSES | {"quads": 150_000}}, "bonuses", "a score holds"),
    ({"dragon": "wins", "instant_win_penalty": 600_000}, "instant_win_penalty", "2400000 points"),
    ({"honours_left": [{"honour": "quads", "times": 20_000}]}, "honours_left", "a score holds"),
    ({"final_honours": [{"honour": "quads", "points": 600_000}]}, "final_honours", "a score holds"),
    ({"bonuses": BONUSES | {"final_times": -30_000}}, "bonuses", "a score holds"),
    (
        {
            "bonuses": BONUSES | {"four_twos": 20_000},
            "leftover": "stock",
            "draw_on_pass": "one",
            "restock": True,
        },
        "bonuses",
        "a score holds",
    ),
]


@pytest.mark.parametrize(("fields", "field", "reason"), CONTRADICTIONS)
def test_contradiction_is_refused_with_field_and_reason(
    fields: dict[str, Any], field: str, reason: str
) -> None:
    with pytest.raises(RulesetError) as caught:
        load_ruleset(fields)
    assert caught.value.field == field
    assert reason in caught.value.reason


@pytest.mark.parametrize(
    "fields",
    [
        {"card_points": dict.fromkeys(STANDARD_RANKS, 10000)},
        {"multipliers": [{"from": 1, "times": 40_000}]},
        {"bonuses": BONUSES | {"four_twos": 100_000}},
        LAST | {"settle": "places", "place_points": [1_000_000, 0, 0, -1_000_000]},
    ],
)
def test_large_points_that_still_fit_a_score_are_no_contradiction(fields: dict[str, Any]) -> None:
    load_ruleset(fields)


BAD_VALUES: list[tuple[dict[str, Any], str, str]] = [
    ({"players": True}, "players", "a whole number from 2 to 8, not true"),
    ({"players": 4.0}, "players", "not 4.0"),
    ({"players": 9}, "players", "from 2 to 8"),
    ({"players": "4"}, "players", "whole number"),
    ({"decks": 5}, "decks", "from 1 to 4"),
    ({"jokers": 3}, "jokers", "from 0 to 2"),
    ({"removed_cards": ["3C", "1H"]}, "removed_cards", "has '1H' is not a card"),
    ({"removed_cards": ["3C", "3H", "3C"]}, "removed_cards", "has '3C' twice"),
    ({"removed_cards": ["RJ"]}, "removed_cards", "set 'jokers' instead"),
    ({"card_points": {**dict.fromkeys(STANDARD_RANKS, 1), "joker": 2}}, "card_points", "'joker'"),
    ({"version": 0}, "version", "from 1"),
    ({"hand_size": "ALL"}, "hand_size", "or 'all', not 'ALL'"),
    ({"hand_size": 0}, "hand_size", "from 1"),
    ({"hand_size": float("nan")}, "hand_size", "not nan"),
    ({"announce_at": 3}, "announce_at", "from 0 to 2"),
    ({"last_cards": "twos"}, "last_cards", "'top', a rank such as '2' or a suit such as 'S', not 'twos'"),
    ({"last_cards": "15"}, "last_cards", "not '15'"),
    ({"first_lead": "3"}, "first_lead", "'random' or a card such as '3S', not '3'"),
    ({"first_lead": "15D"}, "first_lead", "not '15D'"),
    ({"first_lead": 3}, "first_lead", "not 3"),
    ({"lead_includes_lowest": "never"}, "lead_includes_lowest", "true, false or 'alone', not 'never'"),
    ({"lead_includes_lowest": 1}, "lead_includes_lowest", "not 1"),
    ({"lowest_lead_every": -1}, "lowest_lead_every", "from 0"),
    ({"bombs": ["pair_run 2"]}, "bombs[0]", "pair_run N for runs of N or more pairs (3 to 13)"),
    ({"bombs": ["pair_run 14"]}, "bombs[0]", "(3 to 13)"),
    ({"bombs": ["A"]}, "bombs[0]", "or ranks such as 'A A A', not 'A'"),
    ({"bombs": ["A K"]}, "bombs[0]", "not 'A K'"),
    ({"bombs": ["15 15"]}, "bombs[0]", "not '15 15'"),
    ({"bombs": ["quad"]}, "bombs[0]", "did you mean 'quads'?"),
    ({"bombs_beat": "two"}, "bombs_beat", "must be 'any', 'twos', or an object"),
    ({"bombs": ["quads"], "bombs_beat": {"quads": "2"}}, "bombs_beat", "a list of what 'quads' beats"),
    ({"bombs": ["quads"], "bombs_beat": {"quads": []}}, "bombs_beat", "a list of what 'quads' beats"),
    ({"bombs": ["quads"], "bombs_beat": {"quads": ["X"]}}, "bombs_beat", "not 'X'"),
    ({"run_from": 2}, "run_from", "from 3 to 12"),
    ({"pair_run_from": 1}, "pair_run_from", "from 2 to 12"),
    ({"run_order": "two_lo"}, "run_order", "did you mean 'two_low'?"),
    ({"restock": 1}, "restock", "true or false, not 1"),
    ({"beat_own": "yes"}, "beat_own", "true or false"),
    ({"dealer": "winer"}, "dealer", "did you mean 'winner'?"),
    ({"settle": None}, "settle", "must be one of penalty, pairwise"),
    ({"name": "", "version": 2}, "name", "1 to 80 printable characters"),
    ({"name": "a\nb", "version": 2}, "name", "printable"),
    ({"name": "\ud800", "version": 2}, "name", "printable"),
    ({"name": 7, "version": 2}, "name", "must be a text"),
    ({"ranks": ["3", "4"]}, "ranks", "must be a list of texts"),
    ({"ranks": list(LECTIO_RANKS)}, "straights", "'A', which is not a rank"),
    ({"suits": ["D", "C", "H"]}, "suits", "each of D C H S once"),
    ({"suits": ["D", "C", "H", "D"]}, "suits", "has 'D' twice"),
    ({"suits": "DCHS"}, "suits", "must be a list"),
    ({"plays": ["single", "single"]}, "plays", "has 'single' twice"),
    ({"plays": ["single", "fulhouse"]}, "plays", "did you mean 'full_house'?"),
    ({"plays": ["single", "royal_flush"]}, "plays", "must be one of single"),
    ({"plays": ["single", ["pair"]]}, "plays", "not ['pair']"),
    ({"five_card_order": [*FIVE, "straight"]}, "five_card_order", "has 'straight' twice"),
    ({"straights": "two_lo"}, "straights", "did you mean 'two_low'?"),
    ({"straights": [["3 4 5 6 7"], []]}, "straights", "level without sequences"),
    ({"straights": [["3 4 5 6"]]}, "straights", "five different ranks"),
    ({"straights": [["3 4 5 6 6"]]}, "straights", "five different ranks"),
    ({"straights": [["3 4 5 6 10"]]}, "straights", "'10', which is not a rank; did you mean 'T'?"),
    ({"straights": [["3 4 5 6 7"], ["7 6 5 4 3"]]}, "straights", "twice"),
    ({"straights": ["3 4 5 6 7"]}, "straights", "must be a list"),
    ({"straights": [[3]]}, "straights", "five different ranks"),
    ({"straights": {}}, "straights", "must be a list"),
    (
        {"card_points": {"3": 1}},
        "card_points",
        "must have the points of every rank, and lacks 4 5 6 7 8 9 T J Q K A 2",
    ),
    ({"card_points": {"10": 1}}, "card_points", "has the unknown entry '10'; did you mean 'T'?"),
    ({"card_points": 1}, "card_points", "must be an object"),
    ({"multipliers": [{"from": 13, "times": 3}, {"from": 10, "times": 2}]}, "multipliers", "must rise"),
    ({"multipliers": [{"from": 10, "times": 3}, {"from": 10, "times": 2}]}, "multipliers", "must rise"),
    ({"multipliers": [{"from": 10}]}, "multipliers[0]", "either 'times' or 'points'"),
    ({"multipliers": [{"from": 10, "times": 2, "points": 3}]}, "multipliers[0]", "either"),
    ({"multipliers": [{"from": 10, "tims": 2}]}, "multipliers[0]", "did you mean 'times'?"),
    ({"multipliers": [{"from": "none", "times": 2}]}, "multipliers[0].from", "or 'all', not 'none'"),
    (
        {"multipliers": [{"from": "all", "times": 2}, {"from": 10, "times": 2}]},
        "multipliers",
        "must rise by 'from', 'all' being the last",
    ),
    ({"multipliers": [{"from": 10, "times": 2.5}]}, "multipliers[0].times", "whole number"),
    ({"honours_left": [{"honour": "quads"}]}, "honours_left[0]", "either 'times' or 'points'"),
    ({"honours_left": [{"honour": "quads", "times": 1}]}, "honours_left[0].times", "from 2"),
    ({"honours_left": [{"honour": "quad", "times": 2}]}, "honours_left[0].honour", "did you mean 'quads'?"),
    ({"final_honours": [HONOURS[0]] * 2}, "final_honours", "has 'quads' twice"),
    ({"instant_win_penalty": 0}, "instant_win_penalty", "from 1"),
    ({"place_points": [True]}, "place_points[0]", "whole number"),
    (
        {"bonuses": {"quads": 20}},
        "bonuses",
        "lacks straight_flush, four_twos, final_times, winner, winner_per_two",
    ),
    ({"bonuses": BONUSES | {"winner": None}}, "bonuses.winner", "whole number"),
    ({"bonuses": []}, "bonuses", "must be an object"),
    ({"session": {}}, "session", "at least one of deals, target and chips"),
    ({"session": {"deals": None}}, "session", "at least one"),
    ({"session": {"deals": 0}}, "session.deals", "from 1"),
    ({"session": {"target": 0}}, "session.target", "must not be 0"),
    ({"session": {"chips": -1}}, "session.chips", "from 1"),
    ({"session": {"rounds": 3}}, "session", "unknown entry 'rounds'"),
    ({"session": {"deals": 10**4999}}, "session.deals", "digits"),
    ({"playrs": 3}, "playrs", "did you mean 'players'?"),
    ({"": 3}, "", "is not a field"),
    ({"extends": "hong-kongs"}, "extends", "did you mean 'hong-kong'?"),
    ({"extends": None}, "extends", "must be a preset's name, not null"),
    ({"name": "hongkong"}, "name", "did you mean 'hong-kong'?"),
]


@pytest.mark.parametrize(("fields", "field", "reason"), BAD_VALUES)
def test_bad_value_is_refused_with_field_and_reason(fields: dict[str, Any], field: str, reason: str) -> None:
    with pytest.raises(RulesetError) as caught:
        load_ruleset(fields)
    assert caught.value.field == field
    assert reason in caught.value.reason
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("source", [None, 3, [], ["chinese"], True, 1.5])
def test_what_is_neither_name_nor_object_is_refused(source: Any) -> None:
    with pytest.raises(RulesetError, match="ruleset: must be a preset's name or an object"):
        load_ruleset(source)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (
            "pusoydos",
            "no preset is called 'pusoydos'; did you mean 'pusoy-dos'? `arena rules list` shows all ",
        ),
        ("xyz", "no preset is called 'xyz'; `arena rules list` shows all "),
    ],
)
def test_unknown_preset_is_refused_with_the_nearest_name(name: str, reason: str) -> None:
    with pytest.raises(RulesetError) as caught:
        load_ruleset(name)
    assert caught.value.reason == f"{reason}{len(preset_names())}"


def test_ranks_of_lectio_need_straights_and_card_points_in_them() -> None:
    fields = {"ranks": list(LECTIO_RANKS), "straights": "two_low"}
    with pytest.raises(RulesetError, match="card_points: has the unknown entry 'T'"):
        load_ruleset(fields)
    load_ruleset(fields | {"card_points": dict.fromkeys(LECTIO_RANKS, 1)})


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(FIVE),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def refusal(source: Any) -> RulesetError | None:
    try:
        load_ruleset(source)
    except RulesetError as error:
        return error
    return None


@given(st.dictionaries(st.sampled_from((*FIELD_NAMES, "extends")) | st.text(), json_values))
def test_any_json_object_is_a_ruleset_or_a_one_line_error(fields: dict[str, Any]) -> None:
    error = refusal(fields)
    assert error is None or len(str(error).splitlines()) == 1


@given(json_values)
def test_any_json_value_is_a_ruleset_or_a_one_line_error(value: Any) -> None:
    error = refusal(value)
    assert error is None or len(str(error).splitlines()) == 1


def test_all_that_is_wrong_with_a_ruleset_is_reported_at_once() -> None:
    error = refusal(
        {
            "playrs": 3,
            "settle": "pairwize",
            "players": "4",
            "plays": ["single", "fulhouse", "pear"],
            "session": {"deals": 0, "chip": 1},
        }
    )
    assert error is not None
    assert [(problem.field, problem.reason.partition(", not ")[0]) for problem in error.problems] == [
        ("session", "has the unknown entry 'chip'; did you mean 'chips'?"),
        ("playrs", "is not a field of a ruleset; did you mean 'players'?"),
        ("players", "must be a whole number from 2 to 8"),
        ("plays", f"must be one of {', '.join(KINDS)}"),
        ("plays", f"must be one of {', '.join(KINDS)}"),
        ("settle", f"must be one of {', '.join(get_args(get_type_hints(Ruleset)['settle']))}"),
        ("session.deals", "must be a whole number from 1 to 1000000"),
    ]


def test_all_contradictions_are_reported_at_once() -> None:
    error = refusal({"restock": True, "last_cards": "2", "bombs_out_of_turn": True})
    assert error is not None
    assert [problem.field for problem in error.problems] == ["restock", "bombs_out_of_turn", "last_cards"]


def test_ruleset_file_names_the_file_at_each_problem(tmp_path: Path) -> None:
    file = tmp_path / "house.toml"
    file.write_text("players = 2026-12-01\nhand_sizes = 12\n")
    with pytest.raises(RulesetError) as caught:
        load_ruleset_file(file)
    assert list(map(str, caught.value.problems)) == [
        f"{file}:2: hand_sizes: is not a field of a ruleset; did you mean 'hand_size'?",
        f"{file}:1: players: must be a whole number from 2 to 8, not 2026-12-01",
    ]
