"""The committed vectors: the code answers them, independent rules too, and planted faults do not."""

import json
import os
import subprocess
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from referee.cli.vectors import FolderTaken, export
from referee.deals.session import direction
from referee.ruleset import load_ruleset
from referee.vectors import vector_files
from tests.compiled import PURE, ROOT
from tests.referee.slow_rules import SlowRules, read
from tests.vectors.files import canonical
from tests.vectors.made import FILES
from tests.vectors.mutants import SOME
from tests.vectors.run import failures

NAMES = [file.name for file in FILES]


def _file(name: str) -> Any:
    return json.loads(vector_files()[f"{name}.json"])


def _slow_rules() -> dict[str, SlowRules]:
    rulesets = _file("rulesets")["rulesets"]
    return {name: SlowRules(load_ruleset(ruleset)) for name, ruleset in rulesets.items()}


@pytest.mark.parametrize("name", NAMES)
def test_vectors_when_the_code_answers_them_then_all_are_right(name: str) -> None:
    assert list(failures(name)) == []


@pytest.mark.parametrize("name", [*NAMES, "rulesets", "index"])
def test_file_when_it_is_read_then_it_follows_its_schema(name: str) -> None:
    schema, file = _file(f"{name}.schema"), _file(name)
    Draft202012Validator.check_schema(schema)
    if "vectors" in file:  # of many, some: the validator takes its time
        file["vectors"] = file["vectors"][:: max(1, len(file["vectors"]) // 60)]
    Draft202012Validator(schema).validate(file)


def test_sessions_when_a_deal_has_ended_then_it_could_end_so() -> None:
    rulesets = {name: load_ruleset(ruleset) for name, ruleset in _file("rulesets")["rulesets"].items()}
    for vector in _file("session")["vectors"]:
        ruleset, last = rulesets[vector["input"]["ruleset"]], vector["input"]["last"]
        if last is None:
            continue
        step = "clockwise" if direction(ruleset, last["deal"]) == 1 else "anticlockwise"
        assert last["direction"] == step
        assert last["deal"] <= (ruleset.session.deals or 1000)
        empty = {seat for seat, hand in enumerate(last["left"]) if not hand}
        assert empty == {*last["out"]}
        assert (last["culprit"] is None) == bool(last["out"])
        if last["end"] == "last_top_card":
            assert len(last["left"][last["culprit"]].split()) == 1
        if ruleset.settle in ("pairwise", "winner_collects"):
            assert sum(last["scores"]) == 0
        elif ruleset.settle == "penalty" and ruleset.bonuses is None:
            assert max(last["scores"]) <= 0 > min(last["scores"])


def test_ids_when_they_are_computed_from_the_questions_then_they_agree_and_differ() -> None:
    vectors = [(name, vector) for name in NAMES for vector in _file(name)["vectors"]]
    ids = [f"{name}-{sha256(canonical(one['input']).encode()).hexdigest()[:10]}" for name, one in vectors]
    assert ids == [one["id"] for _, one in vectors]
    assert len({*ids}) == len(ids)


def test_index_when_it_is_read_then_it_has_every_file() -> None:
    files = vector_files()
    for entry in _file("index")["files"]:
        assert entry["sha256"] == sha256(files[f"{entry['name']}.json"]).hexdigest()
        assert entry["vectors"] == len(_file(entry["name"])["vectors"])
    listed = [entry["name"] for entry in _file("index")["files"]]
    assert {
        f"{name}{end}" for name in (*listed, "rulesets", "index") for end in (".json", ".schema.json")
    } == {*files}


def test_rulesets_when_they_are_loaded_then_they_are_resolved() -> None:
    rulesets = _file("rulesets")["rulesets"]
    assert all(load_ruleset(ruleset).to_object() == ruleset for ruleset in rulesets.values())
    named = {vector["input"].get("ruleset") for name in NAMES for vector in _file(name)["vectors"]} - {None}
    assert named <= {*rulesets}


def test_comparisons_when_slow_rules_answer_them_then_they_agree() -> None:
    rules = _slow_rules()
    for vector in _file("compare")["vectors"]:
        slow = rules[vector["input"]["ruleset"]]
        a, b = read(vector["input"]["a"]), read(vector["input"]["b"])
        kinds = slow.kind(a), slow.kind(b)
        beats = all(kinds) and slow.beats(a, b)
        assert vector["expected"] == {"a": kinds[0], "b": kinds[1], "beats": beats}, vector["id"]


def test_legal_plays_when_nothing_but_the_table_bears_on_a_turn_then_slow_rules_agree() -> None:
    rules = _slow_rules()
    for vector in _file("legal")["vectors"]:
        given = vector["input"]
        slow = rules[given["ruleset"]]
        hand, table = read(given["hand"]), given["table"] and read(given["table"])
        restricted = given["must_include"] or given["next_has_one"] or given["last_trick_player_is_self"]
        if restricted or len(hand) > 8 or (len(hand) == 1 and slow.ruleset.last_top_card == "cannot_win"):
            continue
        plays = {tuple(sorted(play)) for play in slow.plays(hand) if not table or slow.beats(play, table)}
        assert {tuple(sorted(read(play))) for play in vector["expected"]["plays"]} == plays, vector["id"]
        assert vector["expected"]["pass"] is (table is not None)


def test_faults_when_some_are_planted_then_each_fails_a_vector() -> None:
    # Only what is not compiled can be planted.
    command = [str(PURE), "-m", "tests.vectors.mutants", *map(str, SOME)]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def test_export_when_the_folder_is_new_then_all_files_are_written_and_never_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "my" / "vectors"
    export(folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == vector_files()
    assert capsys.readouterr().out.startswith(f"{folder}: ")
    with pytest.raises(FolderTaken, match="nothing is overwritten"):
        export(folder)
