"""Faults in the product's code, planted one at a time: tests must fail with each of them.

``python -m tests.faults`` plants those of the list, or only those with the given numbers; ``… choose`` fills
the list up with others by chance where the code of a fault has changed. The tests that are tried are those
that import the module, the most specific ones first.
"""

import ast
import json
import os
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
LIST = Path(__file__).with_suffix(".jsonl")
COUNT, SEED = 100, "faults of arena and referee"
GENERATED = ("referee/v1", "referee/worker", "referee/starters", "referee/hatch", "arena/store/migrations")
SLOW = {"browser", "sample_bots", "test_compiled", "test_doctor_servers", "test_outages", "test_readme"}
SLOW |= {"test_referees", "test_servers", "test_servers_operations", "test_storm", "test_wheel"}
"""Folders and files of tests that are not tried."""
MOST_FILES = 8
"""How many files of tests are tried."""
SECONDS = 900
"""A fault with which the tests take longer than this is caught, too."""

COMPARED = {
    ast.Lt: (" < ", " <= "),
    ast.LtE: (" <= ", " < "),
    ast.Gt: (" > ", " >= "),
    ast.GtE: (" >= ", " > "),
    ast.Eq: (" == ", " != "),
    ast.NotEq: (" != ", " == "),
    ast.In: (" in ", " not in "),
    ast.NotIn: (" not in ", " in "),
    ast.Is: (" is ", " is not "),
    ast.IsNot: (" is not ", " is "),
}
COMPUTED = {ast.Add: (" + ", " - "), ast.Sub: (" - ", " + "), ast.Mult: (" * ", " + ")}
LEFT_OUT = {"TYPE_CHECKING", "assert", "logger", "logging", "sleep", "super"}
"""Words of lines in which no fault is planted, as little depends on them or all does."""
JOINED = {ast.And: (" and ", " or "), ast.Or: (" or ", " and ")}


class Fault(NamedTuple):
    """A change in one place of a file."""

    path: str
    old: str
    """Lines that are in the file exactly once."""
    new: str


def _between(source: str, left: ast.expr, right: ast.expr, change: tuple[str, str]) -> str | None:
    """Return a line with the operator between two operands changed; None if they are on several lines."""
    if left.end_lineno != right.lineno or left.end_col_offset is None:
        return None
    line = source.splitlines()[right.lineno - 1]
    if not line.isascii():
        return None  # columns are counted in bytes
    operator = line[left.end_col_offset : right.col_offset]
    changed = operator.replace(*change)
    return line[: left.end_col_offset] + changed + line[right.col_offset :] if changed != operator else None


def _changes(source: str) -> Iterator[tuple[int, str]]:
    """Yield what could go wrong in a module: a line's number, and what stands there instead."""
    lines = source.splitlines()
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) or function.name == "__repr__":
            continue
        for node in ast.walk(function):
            changed = None
            match node:
                case ast.Compare(left=left, ops=[operator], comparators=[right]):
                    changed = _between(source, left, right, COMPARED[type(operator)])
                case ast.BinOp(left=left, op=operator, right=right) if type(operator) in COMPUTED:
                    changed = _between(source, left, right, COMPUTED[type(operator)])
                case ast.BoolOp(op=operator, values=[left, right]):
                    changed = _between(source, left, right, JOINED[type(operator)])
                case ast.Return(value=ast.Constant(value=bool(value))):
                    changed = lines[node.lineno - 1].replace(f"return {value}", f"return {not value}")
                case ast.If(test=test) if test.lineno == test.end_lineno == node.lineno:
                    line = lines[node.lineno - 1]
                    before, after = line[: test.col_offset], line[test.end_col_offset :]
                    changed = f"{before}not ({line[test.col_offset : test.end_col_offset]}){after}"
                case ast.Expr(value=ast.Call(func=ast.Attribute())) if node.lineno == node.end_lineno:
                    line = lines[node.lineno - 1]
                    changed = f"{line[: node.col_offset]}pass"
            if changed is not None and not LEFT_OUT & {*re.findall(r"\w+", lines[node.lineno - 1])}:  # type: ignore[attr-defined]
                yield node.lineno, changed  # type: ignore[attr-defined]


def _faults_of(path: Path) -> list[Fault]:
    """Return the faults that can be planted in a module, each with lines that are there only once."""
    source = path.read_text(encoding="utf-8")
    lines = source.splitlines(keepends=True)
    faults = []
    for number, changed in _changes(source):
        for first in range(number - 1, max(number - 4, -1), -1):  # with lines before it, if it is there twice
            old = "".join(lines[first:number])
            if source.count(old) == 1:
                new = "".join(lines[first : number - 1]) + changed + "\n"
                faults.append(Fault(path.relative_to(ROOT).as_posix(), old, new))
                break
    return [fault for fault in faults if _is_valid(source.replace(fault.old, fault.new))]


def _is_valid(source: str) -> bool:
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


def choose(kept: Sequence[Fault]) -> list[Fault]:
    """Fill the list up by chance: packages in turn, and at most one fault in a module."""
    rng = random.Random(f"{SEED} {len(kept)}")
    taken = {fault.path for fault in kept}
    paths = [path for name in ("arena", "referee") for path in sorted((ROOT / name).rglob("*.py"))]
    rooms: dict[str, list[Path]] = {}
    for path in paths:
        name = path.relative_to(ROOT).as_posix()
        if name not in taken and not name.startswith(GENERATED):
            rooms.setdefault("/".join(name.split("/")[:2]) if name.count("/") > 1 else name[:7], []).append(
                path
            )
    chosen = [*kept]
    while len(chosen) < COUNT:
        for room in sorted(rooms):
            rng.shuffle(rooms[room])
            while rooms[room] and len(chosen) < COUNT:
                if faults := _faults_of(rooms[room].pop()):
                    chosen.append(rng.choice(faults))
                    break
    return chosen


def read_list() -> list[Fault]:
    """Return the faults of the list."""
    return [Fault(**json.loads(line)) for line in LIST.read_text(encoding="utf-8").splitlines()]


def can_be_planted(fault: Fault) -> bool:
    """Return whether the code of a fault is still there, once."""
    path = ROOT / fault.path
    return path.exists() and path.read_text(encoding="utf-8").count(fault.old) == 1


def _weight(test: Path, stem: str, function: str, wanted: Mapping[str, int]) -> float:
    """Return how much a file of tests is about a function, by its name, words and imports."""
    names = [name for name in _imports(test) if name.startswith(("arena", "referee", "tests."))]
    text = test.read_text(encoding="utf-8")
    named = text.count(function) + text.count(function.replace("_", "-"))
    by_imports = sum(wanted.get(name, 0) for name in names) / (10 + len(names))
    return (stem in test.stem.split("_")) + by_imports + 0.05 * min(named, 10)


def _function_of(fault: Fault) -> str:
    """Return the name of the function in which a fault is, without underscores around it."""
    source = (ROOT / fault.path).read_text(encoding="utf-8")
    number = source[: source.index(fault.old) + len(fault.old)].count("\n")
    functions = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.lineno <= number <= (node.end_lineno or 0)
    ]
    return max(functions, key=lambda node: node.lineno).name.strip("_")


@cache
def _imports(test: Path) -> frozenset[str]:
    """Return the modules that a file of tests imports, itself or by other files of tests."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(test.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{one.name}" for one in node.names)}
        elif isinstance(node, ast.Import):
            names |= {one.name for one in node.names}
    return frozenset(names)


def tests_of(fault: Fault) -> list[str]:
    """Return the files of tests that import a fault's module, or one that does, the most specific first."""
    module = fault.path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    wanted = Counter({module: 4})
    for path in (path for name in ("arena", "referee") for path in (ROOT / name).rglob("*.py")):
        if module in _imports(path):
            wanted[".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")] += 1
    files = [
        file for file in sorted((ROOT / "tests").rglob("test_*.py")) if not SLOW & {*file.parts, file.stem}
    ]
    stem, function = module.rpartition(".")[2], _function_of(fault)
    weights = {file: _weight(file, stem, function, wanted) for file in files}
    best = sorted((file for file in weights if weights[file]), key=lambda file: -weights[file])
    return [file.relative_to(ROOT).as_posix() for file in best[:MOST_FILES]]


def caught(fault: Fault, folder: Path) -> str | None:
    """Plant a fault in a copy of the checkout; return the test that fails with it, or None."""
    path = folder / fault.path
    source = path.read_text(encoding="utf-8")
    path.write_text(source.replace(fault.old, fault.new), encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-qx",
        "-n0",
        "-p",
        "no:schemathesis",
        "-p",
        "no:cacheprovider",
    ]
    try:
        for file in tests_of(fault):
            done = subprocess.run(
                [*command, "--timeout", "120", file],
                cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS,
            )  # fmt: skip
            if done.returncode not in (0, 5):
                lines = done.stdout.splitlines()
                return next((line for line in lines if line.startswith(("FAILED", "ERROR"))), file)
    except subprocess.TimeoutExpired:
        return "a timeout"
    finally:
        path.write_text(source, encoding="utf-8")
    return None


def main(arguments: Sequence[str]) -> int:
    """Plant faults, and print what caught each; return how many were not caught or are gone."""
    if arguments == ["choose"]:
        kept = [fault for fault in read_list() if can_be_planted(fault)] if LIST.exists() else []
        lines = [json.dumps(fault._asdict(), ensure_ascii=False) for fault in choose(kept)]
        LIST.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return 0
    faults, missed = read_list(), 0
    with TemporaryDirectory() as temporary:
        files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
        copied = subprocess.run(
            ["tar", "--create", "--null", "--files-from=-"],
            cwd=ROOT,
            input=files,
            capture_output=True,
            check=True,
        )
        subprocess.run(["tar", "--extract"], cwd=temporary, input=copied.stdout, check=True)
        for number in map(int, arguments or range(len(faults))):
            fault = faults[number]
            by = caught(fault, Path(temporary)) if can_be_planted(fault) else None
            missed += by is None
            said = by or ("NOT CAUGHT" if can_be_planted(fault) else "GONE: choose another")
            print(f"{number}: {fault.path}: {fault.new.splitlines()[-1].strip()}: {said}", flush=True)
    return missed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
