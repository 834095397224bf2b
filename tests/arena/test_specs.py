"""Tournament specs: what is accepted, and what is refused, naming the field."""

from pathlib import Path
from typing import Any

import pytest

from arena.core.specs import TournamentSpec, load_spec, make_spec
from arena.errors import SpecError
from referee.errors import RulesetError

BOTS = ["ann/greedy", "bob/greedy@2", "cy/random", "dee/random"]
CUP = {"name": "cup", "format": "swiss", "rounds": 3, "ruleset": "chinese", "entrants": BOTS}

FILE = """
name = "cup"
format = "round-robin"
ruleset = "house.toml"
entrants = ["ann/greedy", "bob/greedy@2", "cy/random", "dee/random"]
sessions = 2
bank_ms = 60000
increment_ms = 100
credit_ms = 150
ask_forced = true
require_check = true
duplicate = true

[options]
cut = 1
"""


def test_spec_when_little_is_given_then_the_rest_has_defaults() -> None:
    spec = make_spec(CUP)
    assert spec == TournamentSpec(
        name="cup", format="swiss", ruleset="chinese", entrants=tuple(BOTS), rounds=3
    )
    assert (spec.sessions, spec.deals, spec.decision_ms, spec.join_seconds, spec.faults) == (
        4,
        None,
        1000,
        30,
        10,
    )
    assert (spec.bank_ms, spec.increment_ms, spec.credit_ms) == (0, 0, 100)
    assert (spec.ask_forced, spec.require_check, spec.duplicate, spec.options) == (False, False, False, {})
    assert not spec.allow_same_owner


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"name": "The Cup"},
            "name: 'The Cup' is not a name: 1 to 39 of a-z, 0-9 and -, not beginning with -",
        ),
        ({"name": 7}, "name: 7 is not a name: 1 to 39 of a-z, 0-9 and -, not beginning with -"),
        (
            {"format": "cup"},
            "format: must be one of round-robin, swiss, gauntlet, knockout, continuous, not 'cup'",
        ),
        ({"rounds": 0}, "rounds: must be a whole number from 1 to 10000, not 0"),
        ({"sessions": True}, "sessions: must be a whole number from 1 to 10000, not true"),
        ({"deals": "ten"}, "deals: must be a whole number from 1 to 1000, not 'ten'"),
        ({"sessions": None}, "sessions: must be a whole number from 1 to 10000, not null"),
        ({"entrants": "ann/greedy"}, "entrants: must be a list of texts, not 'ann/greedy'"),
        ({"entrants": ["ann/greedy", 3]}, "entrants[1]: must be a text, not 3"),
        ({"entrants": ["ann/greedy", "ann/greedy"]}, "entrants: ann/greedy is listed 2 times"),
        ({"ruleset": 5}, "ruleset: must be a preset's name, a TOML file or a table of fields, not 5"),
        ({"bank_ms": -1}, "bank_ms: must be a whole number from 0 to 86400000, not -1"),
        ({"credit_ms": 60_001}, "credit_ms: must be a whole number from 0 to 60000, not 60001"),
        ({"credit_ms": None}, "credit_ms: must be a whole number from 0 to 60000, not null"),
        ({"increment_ms": 5}, "increment_ms: there is no bank to add it to: bank_ms is 0"),
        (
            {"decision_ms": 99},
            "decision_ms: must be at least 100 in a rated tournament, not 99 (or set rated = false)",
        ),
        (
            {"credit_ms": 99, "join_seconds": 9, "faults": 2},
            "credit_ms: must be at least 100 in a rated tournament, not 99 (or set rated = false); "
            "join_seconds: must be at least 10 in a rated tournament, not 9 (or set rated = false); "
            "faults: must be at least 3 in a rated tournament, not 2 (or set rated = false)",
        ),
        (
            {"deals": 5, "sessions": 2, "match_seconds": 109},
            "match_seconds: must be at least 110 in a rated tournament, not 109 (or set rated = false)",
        ),
        (
            {"deals": 5, "bank_ms": 4999},
            "bank_ms: must be at least 5000 in a rated tournament, not 4999 (or set rated = false)",
        ),
        (
            {"deals": 5, "bank_ms": 2499, "increment_ms": 50},
            "bank_ms: must be at least 2500 in a rated tournament, not 2499 (or set rated = false)",
        ),
        (
            {"deals": 5, "bank_ms": 99, "increment_ms": 1000},
            "bank_ms: must be at least 100 in a rated tournament, not 99 (or set rated = false)",
        ),
        ({"ask_forced": 1}, "ask_forced: must be true or false, not 1"),
        ({"allow_same_owner": "no"}, "allow_same_owner: must be true or false, not 'no'"),
        ({"require_check": "yes"}, "require_check: must be true or false, not 'yes'"),
        ({"duplicate": None}, "duplicate: must be true or false, not null"),
        ({"options": "cut"}, "options: must be a table, not 'cut'"),
        ({"options": {"cut": {1}}}, "options: may contain only text, numbers, lists and tables"),
        (
            {"options": {"cut": float("nan")}},
            "options: may contain only text, numbers, lists and tables",
        ),
        ({"sesions": 5}, "sesions: is not a field of a tournament; did you mean 'sessions'?"),
    ],
)
def test_field_when_it_is_wrong_then_one_line_names_it(change: dict[str, object], message: str) -> None:
    with pytest.raises(SpecError) as caught:
        make_spec(CUP | change)
    assert str(caught.value) == message


def test_field_when_nothing_is_like_it_then_all_are_named() -> None:
    with pytest.raises(
        SpecError, match="zzz: is not a field of a tournament; valid fields: name, format, ruleset, entrants"
    ):
        make_spec(CUP | {"zzz": 1})


@pytest.mark.parametrize("field", ["name", "format", "ruleset"])
def test_field_when_it_is_missing_then_it_is_named(field: str) -> None:
    with pytest.raises(SpecError, match=f"^{field}: is missing$"):
        make_spec({name: value for name, value in CUP.items() if name != field})


def test_file_when_it_names_a_ruleset_file_then_that_is_beside_it(tmp_path: Path) -> None:
    (tmp_path / "house.toml").write_text('name = "house"\nextends = "hong-kong"\nhand_size = 12')
    (tmp_path / "cup.toml").write_text(FILE)
    spec = load_spec(tmp_path / "cup.toml")
    assert spec.sessions == 2
    assert (spec.bank_ms, spec.increment_ms, spec.credit_ms) == (60_000, 100, 150)
    assert (spec.ask_forced, spec.require_check, spec.duplicate) == (True, True, True)
    assert spec.options == {"cut": 1}
    assert isinstance(spec.ruleset, dict)
    assert (spec.ruleset["name"], spec.ruleset["hand_size"]) == ("house", 12)


def test_file_when_its_ruleset_file_is_missing_or_wrong_then_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "cup.toml").write_text(FILE)
    with pytest.raises(RulesetError, match=r"house.toml: cannot be read"):
        load_spec(tmp_path / "cup.toml")
    (tmp_path / "house.toml").write_text('name = "house"\nhand_sizes = 12')
    with pytest.raises(RulesetError, match=r"/house.toml:2: hand_sizes: is not a field of a ruleset; did"):
        load_spec(tmp_path / "cup.toml")


def test_file_when_its_ruleset_is_in_the_home_of_nobody_then_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "cup.toml").write_text(FILE.replace("house.toml", "~nobody-here/house.toml"))
    message = r"cup.toml:4: ruleset: ~nobody-here/house.toml: home folder not found$"
    with pytest.raises(SpecError, match=message):
        load_spec(tmp_path / "cup.toml")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"name = ", "is not TOML"),
        (b"\xff", "is not TOML"),
        (b"name = " + 9999 * b"[", "is not TOML"),
        (b'name = "cup"', "cup.toml: format: is missing"),
    ],
)
def test_file_when_it_is_wrong_then_one_line_names_it(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "cup.toml").write_bytes(content)
    with pytest.raises(SpecError, match=message) as caught:
        load_spec(tmp_path / "cup.toml")
    assert "\n" not in str(caught.value)


def test_file_when_it_is_not_there_then_one_line_names_it(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"cup.toml: cannot be read: No such file"):
        load_spec(tmp_path / "cup.toml")


def test_file_when_several_fields_are_wrong_then_each_has_a_problem_that_names_the_file(
    tmp_path: Path,
) -> None:
    file = tmp_path / "cup.toml"
    file.write_text(
        'name = "cup"\nformat = "swis"\nentrants = ["a/b"]\nruleset = { players = 9, dealr = "winner" }\n'
        "deals = 2026-12-01\nsesions = 3\n"
    )
    with pytest.raises(SpecError) as caught:
        load_spec(file)
    assert list(map(str, caught.value.problems)) == [
        f"{file}:{told}"
        for told in (
            "6: sesions: is not a field of a tournament; did you mean 'sessions'?",
            "2: format: must be one of round-robin, swiss, gauntlet, knockout, continuous, not 'swis'; "
            "did you mean 'swiss'?",
            "4: ruleset.dealr: is not a field of a ruleset; did you mean 'dealer'?",
            "4: ruleset.players: must be a whole number from 2 to 8, not 9",
            "5: deals: must be a whole number from 1 to 1000, not 2026-12-01",
        )
    ]


@pytest.mark.parametrize(
    "fields",
    [
        {"decision_ms": 100, "credit_ms": 100, "join_seconds": 10, "faults": 3},
        {"deals": 5, "sessions": 2, "match_seconds": 110},
        {"deals": 5, "bank_ms": 100, "increment_ms": 100},
        {"duplicate": True, "bank_ms": 1000, "match_seconds": 62},
        {"rated": False, "decision_ms": 1, "credit_ms": 0, "join_seconds": 1, "faults": 1, "bank_ms": 1},
        {"rated": False, "join_seconds": 1, "match_seconds": 2},
    ],
)
def test_spec_when_it_grants_as_much_as_rated_play_must_then_it_is_accepted(fields: dict[str, Any]) -> None:
    assert make_spec(CUP | fields).model_dump(include={*fields}) == fields
