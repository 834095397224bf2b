"""Everything that the command line and the API can do, a page can do, or it is said why none does."""

import ast
from collections.abc import Mapping, Sequence
from pathlib import Path

import arena.web.pages
from arena.operations.all import OPERATIONS
from arena.web.doors import operations_in
from tests.arena.everywhere import commands
from tests.arena.web.capabilities import NOT_ON_PAGES, ON_PAGES, SHOWN
from tests.arena.web.test_roles import pages


def in_pages() -> set[str]:
    """Return the names that the code of pages takes from modules, such as those of operations."""
    files = Path(arena.web.pages.__path__[0]).glob("*.py")
    nodes = (node for file in files for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
    return {node.attr for node in nodes if isinstance(node, ast.Attribute)}


def of(places: Mapping[str, Sequence[str]]) -> set[str]:
    """Return the names of the commands, without options."""
    return {name.partition(" --")[0] for names in places.values() for name in names}


def test_command_when_there_is_one_then_a_page_does_the_same_or_it_is_said_why_none_does() -> None:
    assert of(ON_PAGES) | of(NOT_ON_PAGES) == {name for name, _ in commands()}
    assert of(ON_PAGES) & of(NOT_ON_PAGES) == set()


def test_page_when_it_does_what_a_command_does_then_it_is_there() -> None:
    there = {name.removeprefix("GET ") for name in pages() if name.startswith("GET ")}
    assert {*ON_PAGES, *SHOWN.values()} - there == set()


def test_operation_when_there_is_one_then_a_page_has_its_form_or_shows_its_answer() -> None:
    names, in_code = {one.name for module in OPERATIONS for one in operations_in(module)}, in_pages()
    assert names - in_code - {*SHOWN} == set()
    assert {*SHOWN} <= names
