"""Leagues as TOML: what is accepted, and what is refused, naming its table and field."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from arena.errors import SpecError
from arena.leagues.applying import Change, changes
from arena.leagues.spec import load_league, make_league
from tests.arena.leagues import winter

TOML = """\
name = "winter"
start = 2026-12-01T18:00:00+02:00
interval_hours = 168
seasons = 10
versions_per_owner = 2

[tournament]
format = "swiss"
ruleset = "chinese"
rounds = 3

[[divisions]]
name = "first"
size = 8

[[divisions]]
name = "second"
size = 8
promoted = 2

[qualification]
promoted = 1
tournament = { rounds = 5 }
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "winter.toml"


def test_file_when_right_then_it_is_read(file: Path) -> None:
    file.write_text(TOML)
    league = load_league(file)
    assert league.start == datetime(2026, 12, 1, 16, tzinfo=UTC)
    assert league.interval == timedelta(weeks=1)
    assert [(one.name, one.size, one.promoted) for one in league.levels] == [
        ("first", 8, 0),
        ("second", 8, 2),
        ("qualification", None, 1),
    ]
    asked = league.tournament_of(2, 7, ["a/b@1"])
    assert (asked.name, asked.format, asked.rounds) == ("winter-7-qualification", "swiss", 5)
    assert league.tournament_of(0, 7, []).rounds == 3


def test_league_when_stored_and_read_again_then_it_is_the_same(file: Path) -> None:
    file.write_text(TOML)
    league = load_league(file)
    assert make_league(league.to_object()) == league
    assert changes(league.to_object(), make_league(league.to_object()).to_object()) == []


@pytest.mark.parametrize("line", ["versions_per_owner = 1", "allow_same_owner = true"])
def test_league_when_owners_cannot_meet_or_may_then_every_format_is_taken(file: Path, line: str) -> None:
    file.write_text(TOML.replace("versions_per_owner = 2", line).replace('"swiss"', '"round-robin"'))
    league = load_league(file)
    asked = league.tournament_of(0, 1, [])
    assert asked.allow_same_owner == league.allow_same_owner == line.startswith("allow")
    assert make_league(league.to_object()) == league


def test_ruleset_when_it_is_a_file_then_it_becomes_part_of_the_league(file: Path) -> None:
    (file.parent / "house.toml").write_text(
        'name = "house"\nextends = "chinese"\nplayers = 3\nhand_size = 17\n'
    )
    file.write_text(TOML.replace('"chinese"', '"house.toml"'))
    league = load_league(file)
    (file.parent / "house.toml").unlink()
    assert make_league(league.to_object()) == league


@pytest.mark.parametrize(
    ("old", "new", "field", "reason"),
    [
        ("interval_hours", "interval_hour", "interval_hour", "did you mean 'interval_hours'?"),
        (
            "interval_hours = 168",
            "interval_hours = 0",
            "interval_hours",
            "must be a number of hours from 0.01 to 100000, not 0",
        ),
        (
            "interval_hours = 168",
            "interval_hours = nan",
            "interval_hours",
            "must be a number of hours from 0.01 to 100000, not nan",
        ),
        ("interval_hours = 168", "", "interval_hours", "missing"),
        ("+02:00", "", "start", "2026-12-01T18:00:00 has no zone"),
        (
            "T18:00:00+02:00",
            "",
            "start",
            "must be a time with its zone, as 2026-12-01T18:00:00Z, not 2026-12-01",
        ),
        ("seasons = 10", "seasons = 0", "seasons", "must be a whole number from 1 to 9999, not 0"),
        (
            "versions_per_owner = 2",
            "versions_per_owner = true",
            "versions_per_owner",
            "must be a whole number from 1 to 10000, not true",
        ),
        ("seasons = 10", "allow_same_owner = 1", "allow_same_owner", "must be true or false, not 1"),
        ('"swiss"', '"knockout"', "tournament.rounds", "a knockout has as many rounds as it needs"),
        ('"swiss"', '"round-robin"', "allow_same_owner", "in a round-robin, as first plays it, bots of one"),
        ("{ rounds = 5 }", '{ format = "gauntlet" }', "allow_same_owner", "as qualification plays it"),
        (
            "rounds = 3",
            "rounds = 3\nallow_same_owner = true",
            "tournament.allow_same_owner",
            "the league sets it",
        ),
        ('name = "winter"', 'name = "Winter"', "name", "'Winter' is not a name"),
        ('name = "winter"', f'name = "{"w" * 22}"', "name", "too long by"),
        ('"second"', '"first"', "divisions.first.name", "is the name of two divisions"),
        ('"second"', '"qualification"', "divisions.qualification.name", "is the name of the level below"),
        ('"second"', f'"{"s" * 30}"', f"divisions.{'s' * 30}.name", "too long by"),
        ('"first"\nsize = 8', '"first"', "divisions.first.size", "missing"),
        ('"first"\nsize = 8', '"first"\nsize = 3', "divisions.first.size", "3 are too few for a table of 4"),
        ('"first"\n', '"first"\npromoted = 1\n', "divisions.first.promoted", "no division is above"),
        (
            "promoted = 2",
            "promoted = 9",
            "divisions.second.promoted",
            "9 are promoted to first and 0 from it",
        ),
        ("promoted = 2", "promoted = 8", "qualification.promoted", "1 are promoted to second and 8 from it"),
        ("promoted = 2", "promote = 2", "divisions.second.promote", "did you mean 'promoted'?"),
        ("promoted = 1", "", "qualification.promoted", "missing"),
        ('"swiss"', '"swis"', "tournament.format", "not 'swis'; did you mean 'swiss'?"),
        ('"chinese"', '"chines"', "tournament.ruleset", "chines"),
        ('"chinese"', '"none.toml"', "tournament.ruleset", "none.toml"),
        ('"chinese"', '"~nobody-here/x.toml"', "tournament.ruleset", "home folder not found"),
        ("rounds = 3", "", "tournament.rounds", "a Swiss tournament needs a number of rounds"),
        ("rounds = 3", 'rounds = 3\nname = "x"', "tournament.name", "the league sets it"),
        (
            "rounds = 5",
            "rounds = 0",
            "qualification.tournament.rounds",
            "must be a whole number from 1 to 10000, not 0",
        ),
        ("rounds = 5", "round = 5", "qualification.tournament.round", "did you mean 'rounds'?"),
        (
            "tournament = { rounds = 5 }",
            "tournament = 5",
            "qualification.tournament",
            "must be a table, not 5",
        ),
        (
            "rounds = 3",
            "rounds = 3\noptions = { advance = 1 }",
            "tournament.options.advance",
            "no such option",
        ),
        ("[[divisions]]", "[divisions]", "", "is not TOML"),
    ],
)
def test_file_when_wrong_then_file_table_and_field_are_named(
    file: Path, old: str, new: str, field: str, reason: str
) -> None:
    assert old in TOML
    file.write_text(TOML.replace(old, new))
    with pytest.raises(SpecError) as error:
        load_league(file)
    where = re.sub(r"\.toml:\d+: ", ".toml: ", error.value.field)
    assert where == (f"{file}: {field}" if field else str(file))
    assert reason in error.value.reason
    assert "\n" not in str(error.value)


PROMOTED = "qualification.promoted: 7 are promoted to second and 2 from it, but it has 8 places"


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (
            {"seasons = 10": "seasons = 0"},
            ["seasons: must be a whole number from 1 to 9999, not 0", PROMOTED],
        ),
        (
            {"{ rounds = 5 }": '{ name = "x" }'},
            ["qualification.tournament.name: the league sets it", PROMOTED],
        ),
        (
            {"rounds = 5": "rounds = 0"},
            [
                PROMOTED,
                "qualification.tournament.rounds: must be a whole number from 1 to 10000, not 0",
            ],
        ),
        ({'"first"\nsize = 8': '"first"\nsize = "8"'}, ["divisions.first.size: must be a whole number"]),
    ],
    ids=["a field", "a division's tournament", "a tournament as a whole", "a division"],
)
def test_file_when_divisions_do_not_agree_either_then_all_is_told_at_once(
    file: Path, wrong: dict[str, str], told: list[str]
) -> None:
    text = TOML.replace("promoted = 1", "promoted = 7")
    for right, given in wrong.items():
        assert right in text
        text = text.replace(right, given)
    file.write_text(text)
    with pytest.raises(SpecError) as error:
        load_league(file)
    found = [re.sub(r"^.*\.toml:\d+: ", "", str(problem)) for problem in error.value.problems]
    assert len(found) == len(told)
    assert all(one.startswith(begin) for one, begin in zip(found, told, strict=True)), found


def test_file_when_it_is_not_there_then_that_is_said(file: Path) -> None:
    with pytest.raises(SpecError, match=r"winter\.toml: cannot be read: No such file"):
        load_league(file)


@pytest.mark.parametrize(
    "values", [{"divisions": 5}, {"divisions": []}, {"divisions": [5]}, {"tournament": 5}]
)
def test_league_when_a_table_is_something_else_then_it_is_refused(values: dict[str, object]) -> None:
    with pytest.raises(SpecError):
        winter(**values)


def test_lowest_division_when_there_is_no_qualification_then_it_takes_everyone() -> None:
    with pytest.raises(
        SpecError, match=r"divisions\.only\.size: the lowest division .*: leave its size out, or"
    ):
        winter(divisions=[{"name": "only", "size": 4}], qualification=None)
    assert winter(divisions=[{"name": "only"}], qualification=None).levels[0].size is None


def test_changes_when_tables_differ_then_each_field_has_its_path() -> None:
    before = winter()
    divisions = [{"name": "top", "size": 4}, {"name": "second", "size": 8, "promoted": 1}]
    after = winter(divisions=divisions, interval_hours=24)
    assert changes(before.to_object(), after.to_object()) == [
        Change("interval_hours", 168, 24),
        Change("divisions", ["first", "second"], ["top", "second"]),
        Change("divisions.top.size", None, 4),
        Change("divisions.second.size", 4, 8),
        Change("divisions.first.size", 4, None),
    ]


def test_file_when_several_tables_are_wrong_then_each_problem_names_file_table_and_field(file: Path) -> None:
    wrong = TOML.replace("2026-12-01T18:00:00+02:00", "2026-12-01").replace("promoted = 2", "promote = 2")
    file.write_text(wrong.replace("seasons = 10", "seasons = 0"))
    with pytest.raises(SpecError) as caught:
        load_league(file)
    assert list(map(str, caught.value.problems)) == [
        f"{file}:19: divisions.second.promote: is not a field; did you mean 'promoted'?",
        f"{file}:2: start: must be a time with its zone, as 2026-12-01T18:00:00Z, not 2026-12-01",
        f"{file}:4: seasons: must be a whole number from 1 to 9999, not 0",
    ]


def test_file_when_it_and_its_tournaments_are_wrong_then_both_are_told(file: Path) -> None:
    wrong = TOML.replace("seasons = 10", "seasons = 0").replace("rounds = 3", "roundz = 3\ndeals = 0")
    file.write_text(wrong.replace('ruleset = "chinese"\n', 'ruleset = "chines"\n'))
    with pytest.raises(SpecError) as caught:
        load_league(file)
    assert [problem.field for problem in caught.value.problems] == [
        f"{file}:4: seasons",
        f"{file}:10: tournament.roundz",
        f"{file}:9: tournament.ruleset",
        f"{file}:11: tournament.deals",
    ]


def test_file_when_tournaments_of_several_divisions_are_wrong_then_each_is_told_once(file: Path) -> None:
    wrong = TOML.replace("rounds = 3", "rounds = 3\ndeals = 0").replace("{ rounds = 5 }", "{ sesions = 5 }")
    file.write_text(wrong)
    with pytest.raises(SpecError) as caught:
        load_league(file)
    assert [problem.field for problem in caught.value.problems] == [
        f"{file}:11: tournament.deals",
        f"{file}:24: qualification.tournament.sesions",
    ]
