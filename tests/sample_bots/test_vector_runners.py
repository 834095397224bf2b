"""The runners of docs/vectors.md do what the page says, in all six languages."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.needed import leave_out, require
from tests.sample_bots.toolchain import SAMPLES, run_in

PAGE = Path(__file__).parents[2] / "docs/vectors.md"
VECTORS = [
    {"id": "t-1", "input": {"b": [1, 2], "a": "é"}, "expected": {"a": "é", "b": [1, 2]}},
    {"id": "t-2", "input": {"cards": "3D 3C"}, "expected": {"cards": "3D 3H"}},
    {"id": "t-3", "input": [1, 2], "expected": [2, 1]},
    {"id": "t-4", "input": None, "expected": None},
]
"""The runners of the page answer with the question, so the second and the third fail."""


def _written(folder: Path, language: str, name: str) -> Path:
    """Write the page's runner in a language to a file."""
    (program,) = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(program, encoding="utf-8")
    return path


def _python(folder: Path) -> Sequence[str]:
    return [sys.executable, str(_written(folder, "python", "run.py"))]


def _go(folder: Path) -> Sequence[str]:
    path = _written(folder, "go", "run.go")
    run_in(folder, require("go"), "build", "-o", "run", str(path))
    return [str(folder / "run")]


def _typescript(folder: Path) -> Sequence[str]:
    modules = SAMPLES / "typescript/node_modules"
    path = _written(folder, "typescript", "run.mts")
    options = ("--strict", "--noUncheckedIndexedAccess", "--module", "nodenext", "--target", "es2022")
    types = ("--types", "node", "--typeRoots", str(modules / "@types"))
    run_in(folder, str(modules / ".bin/tsc"), *options, *types, str(path))
    return [require("node"), str(path.with_suffix(".mjs"))]


def _rust(folder: Path) -> Sequence[str]:
    _written(folder, "rust", "src/main.rs")
    package = (
        '[package]\nname = "run"\nversion = "1.0.0"\nedition = "2021"\n[dependencies]\nserde_json = "1"\n'
    )
    (folder / "Cargo.toml").write_text(package)
    run_in(folder, require("cargo"), "build", "--quiet", "--jobs", "1")
    return [str(folder / "target/debug/run")]


def _java(folder: Path) -> Sequence[str]:
    path = _written(folder, "java", "Run.java")
    (gson,) = (SAMPLES / "java/target/lib").glob("gson-*.jar")
    return [require("java"), "-cp", str(gson), str(path)]


def _cpp(folder: Path) -> Sequence[str]:
    if not Path("/usr/include/nlohmann/json.hpp").exists():
        leave_out("nlohmann-json3-dev is not installed")
    path = _written(folder, "cpp", "run.cpp")
    run_in(folder, require("g++"), "-std=c++17", "-Wall", "-Wextra", "-Werror", "-o", "run", str(path))
    return [str(folder / "run")]


RUNNERS: dict[str, Callable[[Path], Sequence[str]]] = {
    "python": _python,
    "go": _go,
    "typescript": _typescript,
    "rust": _rust,
    "java": _java,
    "cpp": _cpp,
}


@pytest.mark.parametrize("language", RUNNERS)
def test_runner_when_vectors_are_answered_otherwise_then_it_names_them_and_fails(
    language: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if needed := {"typescript": "node", "java": "java_bot"}.get(language):
        request.getfixturevalue(needed)  # brings the compiler, or Gson
    file = tmp_path / "vectors.json"
    file.write_text(json.dumps({"vectors": VECTORS}), encoding="utf-8")
    command = RUNNERS[language](tmp_path)
    done = subprocess.run([*command, str(file)], capture_output=True, encoding="utf-8", timeout=120)
    assert done.returncode == 1, done.stderr
    *lines, last = done.stdout.splitlines()
    assert [line.split()[0].strip('"') for line in lines] == ["t-2", "t-3"]
    assert last == "2 of 4 failed"
    file.write_text(json.dumps({"vectors": [VECTORS[0], VECTORS[3]]}), encoding="utf-8")
    assert subprocess.run([*command, str(file)], capture_output=True, timeout=120).returncode == 0
