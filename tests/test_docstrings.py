"""Names in the docstrings of functions: each must be something that a reader can find."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
NAME = re.compile(r"``([a-z_][a-z0-9_]*)``")
GENERATED = ("_pb2", "migrations/versions", "referee/sample_bots")

Trees = dict[str, ast.Module]


def read_trees() -> Trees:
    paths = [path for top in ("arena", "referee") for path in sorted((ROOT / top).rglob("*.py"))]
    named = {str(path.relative_to(ROOT)): path for path in paths}
    return {
        name: ast.parse(path.read_text(encoding="utf-8"))
        for name, path in named.items()
        if not any(part in name for part in GENERATED)
    }


def names(node: ast.AST) -> Iterator[str]:
    """Yield the names that a piece of code uses: variables, attributes, parameters, imports."""
    for inner in ast.walk(node):
        match inner:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                yield name
            case ast.keyword(arg=str(name)):
                yield name
            case ast.Import() | ast.ImportFrom():
                for alias in inner.names:
                    yield from (alias.name.rpartition(".")[2], alias.asname or "")


def definitions(tree: ast.AST) -> Iterator[str]:
    """Yield what a module defines: functions, classes, and names in their bodies and its own."""
    yield from (
        name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in names(node)
    )
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        if isinstance(node, ast.ClassDef | ast.Module):
            for statement in node.body:
                if isinstance(statement, ast.Assign | ast.AnnAssign):
                    yield from names(statement)


def texts(tree: ast.AST) -> set[str]:
    """Return the strings in a module that are words: values that docstrings may name."""
    constants = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return {text for text in constants if isinstance(text, str)}


def unknown_names(trees: Trees) -> Iterator[str]:
    """Yield the names in docstrings that neither the function, its class, its module nor a definition has.

    Of names defined elsewhere, those with an underscore are known: other words would hide mistakes.
    """
    defined = {path: set(definitions(tree)) for path, tree in trees.items()}
    elsewhere = {name for each in defined.values() for name in each if "_" in name}
    axes = [tree for path, tree in trees.items() if path.startswith("referee/ruleset/axes/")]
    values = set().union(*map(texts, axes))

    def visit(path: str, node: ast.AST, outer: frozenset[str]) -> Iterator[str]:
        for child in ast.iter_child_nodes(node):
            inner = outer
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                inner = outer | {*names(child)}
                for name in NAME.findall(ast.get_docstring(child) or ""):
                    if name not in inner | known:
                        yield f"{path}:{child.lineno} {child.name}: {name}"
            elif isinstance(child, ast.ClassDef):
                inner = outer | {*names(child)}
            yield from visit(path, child, inner)

    for path, tree in trees.items():
        known = defined[path] | elsewhere | values | texts(tree)
        yield from visit(path, tree, frozenset())


def test_docstrings_when_they_name_something_then_it_is_there() -> None:
    assert list(unknown_names(read_trees())) == []


@pytest.mark.parametrize(
    ("code", "unknown"),
    [
        ('def room(reserved):\n    """Tell whether ``kept`` are reserved."""\n', ["a.py:1 room: kept"]),
        ('def room(kept):\n    """Tell whether ``kept`` are reserved."""\n', []),
        (
            'LIMIT = 1\ndef room():\n    """At most ``most``, not ``all``."""\n    return "all"\n',
            ["a.py:2 room: most"],
        ),
    ],
)
def test_docstring_when_it_names_no_parameter_then_the_check_says_where(
    code: str, unknown: list[str]
) -> None:
    assert list(unknown_names({"a.py": ast.parse(code)})) == unknown
