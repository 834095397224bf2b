"""The JSON Schemas of the public formats, and the tables of keys in the documentation.

``python -m arena.schemas`` writes both; with a folder, it writes only the schemas, and those there.
"""

import json
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.fields import FieldInfo

from arena.core import boards
from arena.core.boards import Board, BoardSigned
from arena.core.parts import PARTS, RoundPart, make_part
from arena.core.specs import TournamentSpec, described, tournament_schema
from arena.jsonvalues import to_json
from arena.leagues.spec import SET_BY_LEAGUE, Division, LeagueSpec, Qualification, league_schema
from referee.reading.docstrings import tell_fields
from referee.records.random_play import random_records
from referee.records.schema import record_schema
from referee.rules.rulebook import rules_of
from referee.ruleset import DEFAULT, preset_names
from referee.ruleset.reading import json_schema

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
FOLDER = Path("docs/schemas")


def ruleset_file() -> Schema:
    """Return the schema of ruleset files and of input for the rules tools: any fields, and ``extends``."""
    schema = _ruleset()
    del schema["required"]
    extends = {
        "enum": preset_names(),
        "default": DEFAULT,
        "description": "The preset that supplies the fields that are not given.",
    }
    schema["properties"] = {"extends": extends, **schema["properties"]}
    for name in ("bonuses", "instant_win_penalty"):
        schema["properties"][name]["anyOf"].append({"const": "none"})
    return schema


def resolved_ruleset() -> Schema:
    """Return the schema of rulesets in records and exports: all fields, with the straights written out."""
    schema = _ruleset()
    levels, _names = schema["properties"]["straights"].pop("anyOf")
    schema["properties"]["straights"] |= levels
    return schema


def _ruleset() -> Schema:
    schema = json_schema()
    for name in ("Bracket", "Honour"):
        schema["$defs"][name]["oneOf"] = [{"required": ["times"]}, {"required": ["points"]}]
    schema["$defs"]["SessionEnd"]["minProperties"] = 1
    return schema


def tournament_file() -> Schema:
    """Return the schema of what ``arena tournament create`` reads."""
    schema = _copy(tournament_schema())
    schema["properties"]["ruleset"] |= _preset_file_or("RulesetFile")
    return _with(schema, RulesetFile=ruleset_file())


def league_file() -> Schema:
    """Return the schema of what ``arena league apply`` reads."""
    schema, tournament = _copy(league_schema()), tournament_file()
    del tournament["required"]
    for name in SET_BY_LEAGUE:
        del tournament["properties"][name]
    tournament["description"] = "Some fields of a tournament."
    for table in (schema, schema["$defs"]["Division"], schema["$defs"]["Qualification"]):
        described = table["properties"]["tournament"]["description"]
        table["properties"]["tournament"] = {"$ref": "#/$defs/TournamentFields", "description": described}
    return _with(schema, TournamentFields=tournament)


def deal_record() -> Schema:
    """Return the schema of a deal record."""
    schema = _copy(record_schema())
    schema["properties"]["ruleset"] = {"$ref": "#/$defs/Ruleset"}
    return _with(schema, Ruleset=resolved_ruleset())


def export_line() -> Schema:
    """Return the schema of a line of an export: a part, or a deal record."""
    definitions = {kind.__name__: kind.model_json_schema() for kind in PARTS}
    definitions["HeadPart"]["properties"]["ruleset"] = {"$ref": "#/$defs/Ruleset"}
    lines = {"DealRecord": deal_record(), **definitions}
    schema = {
        "type": "object",
        "oneOf": [{"$ref": f"#/$defs/{name}"} for name in (*definitions, "DealRecord")],
    }
    return _with(schema, Ruleset=resolved_ruleset(), **lines)


def board_file() -> Schema:
    """Return the schema of boards' files."""
    schema = TypeAdapter(Board).json_schema()
    parts = (value for value in vars(boards).values() if is_dataclass(value) and isinstance(value, type))
    for part in parts:
        tell_fields(schema["$defs"].get(part.__name__, schema), part)
    return schema


def _board() -> object:
    """Return the board of a pool in which nothing counts yet."""
    board = Board(
        format="bigtwo-board/1",
        ruleset="chinese@1",
        ruleset_hash="0" * 64,
        table_size=4,
        reference="reference-1",
        reference_hash="0" * 64,
        baselines=(),
        tournaments=(),
        rounds=(),
        sums=(),
        fit=None,
        bots=(),
        signed=BoardSigned("0" * 64, "0" * 128, "0" * 64),
    )
    return to_json(board)


def _preset_file_or(definition: str) -> Schema:
    named = {"type": "string", "description": "A preset's name, or a TOML file beside this one."}
    return {"anyOf": [named, {"$ref": f"#/$defs/{definition}"}], "type": ["string", "object"]}


def _with(schema: Schema, **definitions: Schema) -> Schema:
    """Return a schema with more definitions; their own definitions become part of it."""
    own = dict(schema.pop("$defs", {}))
    for name, definition in definitions.items():
        own |= definition.pop("$defs", {})
        own[name] = definition
    return {**schema, "$defs": dict(sorted(own.items()))}


def _copy(schema: Schema) -> Schema:
    copied: Schema = json.loads(json.dumps(schema))
    return copied


def _plain(value: Any) -> Any:
    """Return a schema in readable form: without generated titles, and with descriptions on one line."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    plain = {key: _plain(item) for key, item in value.items() if key != "title" or not isinstance(item, str)}
    if isinstance(plain.get("description"), str):
        plain["description"] = " ".join(
            plain["description"].replace("``", "`").replace("None", "null").split()
        )
    return plain


HOUSE = {
    "extends": "hong-kong",
    "name": "our-house",
    "last_top_card": "allowed",
    "multipliers": [{"from": 8, "times": 2}, {"from": 10, "times": 3}, {"from": 13, "times": 4}],
}
CUP = {
    "name": "autumn",
    "format": "swiss",
    "ruleset": "hong-kong",
    "entrants": ["ann/greedy@2", "bob/pass", "cy/pass", "dee/x@4"],
    "rounds": 7,
    "sessions": 4,
}
WINTER = {
    "name": "winter",
    "start": "2026-12-01T18:00:00Z",
    "interval_hours": 168,
    "versions_per_owner": 2,
    "tournament": {"format": "swiss", "ruleset": "hong-kong", "rounds": 7},
    "divisions": [{"name": "first", "size": 16}, {"name": "second", "size": 16, "promoted": 3}],
    "qualification": {"promoted": 2, "tournament": {"rounds": 5}},
}


def _record() -> object:
    (record,) = random_records(rules_of(DEFAULT), bytes(32), 1)
    return record


def _round() -> object:
    tables = [[1, 4, 3, 2]]
    return make_part(RoundPart, round=1, state="open", tables=tables, byes=[], free=None, pool=[])


DOCUMENTS: Mapping[str, tuple[str, str, Callable[[], Schema], Callable[[], object]]] = {
    "ruleset": (
        "A ruleset",
        "A variant of Big Two, as in a TOML file or for the rules tools. docs/rulesets.md says which fields "
        "exclude each other.",
        ruleset_file,
        lambda: HOUSE,
    ),
    "tournament": (
        "A tournament's file",
        "What `arena tournament create` reads.",
        tournament_file,
        lambda: CUP,
    ),
    "league": ("A league's file", "What `arena league apply` reads.", league_file, lambda: WINTER),
    "deal-record": (
        "A deal record",
        "A finished deal: bigtwo-deal/1. See docs/formats.md.",
        deal_record,
        _record,
    ),
    "export-line": (
        "A line of an export",
        "One of the JSON lines of `arena export`: bigtwo-export/2. See docs/formats.md for their order.",
        export_line,
        _round,
    ),
    "board": (
        "The board of a pool",
        "What `arena rating export` writes, and `arena verify` checks: bigtwo-board/1. See docs/formats.md.",
        board_file,
        _board,
    ),
}
"""The schemas by name: title, description, and functions that return the schema and an example."""


def document(name: str) -> Schema:
    """Return a published schema."""
    title, description, make, example = DOCUMENTS[name]
    schema = _plain(make())
    schema.pop("description", None)
    head = {"$schema": DIALECT, "$id": f"urn:bigtwo-arena:schema:{name}", "title": title}
    return {**head, "description": description, "examples": [example()], **schema}


def write(folder: Path) -> None:
    """Write all schemas into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in DOCUMENTS:
        text = json.dumps(document(name), indent=2, ensure_ascii=False)
        (folder / f"{name}.schema.json").write_text(text + "\n", encoding="utf-8")


def tournament_keys() -> str:
    """Return the table of keys in docs/tournaments.md."""
    rows = _rows("", TournamentSpec)
    return "\n".join(["| key | default | |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows)])


def league_keys() -> str:
    """Return the table of keys in docs/leagues.md."""
    models = (("", LeagueSpec), ("divisions.", Division), ("qualification.", Qualification))
    rows = [row for prefix, model in models for row in _rows(prefix, model)]
    return "\n".join(["| key | default | |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows)])


def _rows(prefix: str, model: type[BaseModel]) -> list[tuple[str, str, str]]:
    return [
        (f"`{prefix}{name}`", _default(field), described(model, name))
        for name, field in model.model_fields.items()
    ]


def _default(field: FieldInfo) -> str:
    return json.dumps(field.default) if type(field.default) in (int, bool) else ""


PAGES = {"tournaments.md": tournament_keys, "leagues.md": league_keys}
"""Pages of the documentation with a table of keys."""

KEYS = re.compile(r"\| key \|.*?\n\n", re.S)
"""A table of keys in a page."""


def write_tables(docs: Path) -> None:
    """Write the tables of keys into the pages in a folder."""
    for name, table in PAGES.items():
        page = docs / name
        before, after = KEYS.split(page.read_text(encoding="utf-8"), maxsplit=1)
        page.write_text(f"{before}{table()}\n\n{after}", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) == 1:
        write_tables(FOLDER.parent)
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
