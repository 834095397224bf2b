"""The published JSON Schemas: they match the code, and real files, records and exports fit them."""

import json
import re
import tomllib
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from typer.main import get_command

from arena import schemas
from arena.cli.fields import REPEATED
from arena.cli.tournaments import app
from arena.core.specs import TournamentSpec, described, make_spec
from arena.errors import SpecError
from arena.leagues.spec import make_league
from referee.errors import RulesetError
from referee.records.random_play import random_records
from referee.rules.rulebook import rules_of
from referee.ruleset import load_ruleset, preset_names
from tests.arena.exported import lines_of, play_by_table
from tests.arena.world import World
from tests.referee.test_ruleset_refusals import BAD_VALUES

ROOT = Path(__file__).parents[2]


def published(name: str) -> Draft202012Validator:
    content = json.loads((ROOT / schemas.FOLDER / f"{name}.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(content)
    return Draft202012Validator(content)


def problems(name: str, value: object) -> list[str]:
    """Return the problems that a published schema finds in a value, converted to plain JSON."""
    plain = json.loads(json.dumps(value, default=str))
    return [f"{error.json_path}: {error.message}" for error in published(name).iter_errors(plain)]


def blocks(page: str) -> list[dict[str, Any]]:
    """Return the contents of the TOML files on a page of the documentation."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return [tomllib.loads(block) for block in re.findall(r"```toml\n(.*?)```", text, re.S)]


@pytest.mark.parametrize("name", schemas.DOCUMENTS)
def test_schema_when_generated_anew_then_it_is_the_one_published(name: str) -> None:
    content = json.loads((ROOT / schemas.FOLDER / f"{name}.schema.json").read_text(encoding="utf-8"))
    assert content == json.loads(json.dumps(schemas.document(name)))


@pytest.mark.parametrize("page", schemas.PAGES)
def test_table_of_keys_in_the_documentation_is_that_of_the_code(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert f"{schemas.PAGES[page]()}\n\n" in text


def test_options_of_the_command_are_the_fields_of_a_tournament() -> None:
    given = {option.name: option for option in get_command(app).commands["create"].params}  # type: ignore[attr-defined]
    own = [one for one in given if one not in ("file", "start", "as_json", "help")]
    assert own == list(TournamentSpec.model_fields)
    assert [given[name].help for name in own] == [described(TournamentSpec, name) for name in own]
    assert all(given[name].help for name in own)
    assert {flag for name in own for flag in given[name].opts} == {
        f"--{REPEATED[name][0].removeprefix('--') if name in REPEATED else name.replace('_', '-')}"
        for name in own
    }


@pytest.mark.parametrize("name", schemas.DOCUMENTS)
def test_schema_has_an_identity_a_title_and_an_example_that_fits_it(name: str) -> None:
    content = schemas.document(name)
    assert content["$id"] == f"urn:bigtwo-arena:schema:{name}"
    assert content["title"]
    assert [problems(name, example) for example in content["examples"]] == [[]]


@pytest.mark.parametrize("name", schemas.DOCUMENTS)
def test_every_field_of_a_schema_says_what_it_is(name: str) -> None:
    content = schemas.document(name)
    tables = [content, *content.get("$defs", {}).values()]
    fields = [(key, field) for table in tables for key, field in table.get("properties", {}).items()]
    assert [key for key, field in fields if "description" not in field and "$ref" not in field] == []


@pytest.mark.parametrize(
    ("name", "read"), [("tournament", make_spec), ("league", make_league), ("ruleset", load_ruleset)]
)
def test_example_is_what_the_code_reads(name: str, read: Callable[[Any], object]) -> None:
    for example in schemas.document(name)["examples"]:
        read(example)


@pytest.mark.parametrize("name", preset_names())
def test_ruleset_when_it_is_a_preset_then_it_fits(name: str) -> None:
    text = (files("referee") / "presets" / f"{name}.toml").read_text(encoding="utf-8")
    assert problems("ruleset", tomllib.loads(text)) == []
    assert problems("ruleset", load_ruleset(name).to_object()) == []


SEEN_BY_THE_CODE_ALONE = (
    *("name", "straights", "multipliers", "session", "session.target", "suits", "ranks"),
    *("removed_cards", "card_points", "last_cards", "first_lead"),
)
"""Fields that the code may refuse for reasons beyond JSON Schema: order, texts, other fields."""


@pytest.mark.parametrize(("fields", "field", "reason"), BAD_VALUES)
def test_ruleset_when_the_code_refuses_a_value_then_it_does_not_fit(
    fields: dict[str, Any], field: str, reason: str
) -> None:
    with pytest.raises(RulesetError):
        load_ruleset(fields)
    if field not in SEEN_BY_THE_CODE_ALONE and not any(
        word in reason for word in (" twice", "4.0", "digits", "(3 to 13)", "not '15 15'")
    ):
        assert problems("ruleset", fields)


def test_files_in_the_documentation_fit() -> None:
    assert [problems("ruleset", block) for block in blocks("rulesets.md")] == [[]]
    assert [problems("league", block) for block in blocks("leagues.md")] == [[]]


@pytest.mark.parametrize(
    "change",
    [
        {"format": "swis"},
        {"rounds": 0},
        {"ruleset": {"players": 9}},
        {"sesions": 1},
        {"faults": True},
        {"name": "A"},
    ],
)
def test_tournament_when_the_code_refuses_it_then_it_does_not_fit(change: dict[str, object]) -> None:
    asked = schemas.CUP | change
    with pytest.raises(SpecError):
        make_spec(asked)
    assert problems("tournament", asked)


@pytest.mark.parametrize(
    "change", [{"interval_hours": 0}, {"seasons": 0}, {"tournament": {"rounds": "x"}}, {"divisions": []}]
)
def test_league_when_the_code_refuses_it_then_it_does_not_fit(change: dict[str, object]) -> None:
    asked = schemas.WINTER | change
    with pytest.raises(SpecError):
        make_league(asked)
    assert problems("league", asked)


@pytest.mark.parametrize("preset", ["chinese", "hong-kong-relatives-3", "indonesia", "lectio", "gamesky"])
def test_record_of_random_play_fits(preset: str) -> None:
    for record in random_records(rules_of(preset), bytes(32), 3):
        assert problems("deal-record", record) == []
        assert problems("export-line", record) == []
        assert problems("deal-record", record | {"seed": "00"})


@pytest.mark.parametrize("more", [{}, {"duplicate": True, "deals": 1}])
def test_each_line_of_an_export_fits_and_fits_no_more_with_a_field_less(
    world: World, more: dict[str, object]
) -> None:
    world.finish(world.tournament(4, **more).id, play_by_table)
    validator = published("export-line")
    kinds = set()
    for line in map(json.loads, lines_of(world)):
        kinds.add(line.get("part"))
        assert list(validator.iter_errors(line)) == []
        assert not validator.is_valid({key: one for key, one in line.items() if key != "format"})
    assert kinds == {"head", "tournament", "event", "round", "match", "round_end", "end", None}
