"""Tests for finding the lines of fields in a TOML file."""

from pathlib import Path

import pytest

from referee.errors import Problem
from referee.reading.toml import problems_in, read_toml

FILE = '''\
name = "winter"  # line 1

"quoted" = 1
a.b . c = 2
text = """
name = "not a field"
[nor.a.table]
"""
many = [
  "x",
]
[table]
inner = 1
[table.deeper]
last = 1
[[divisions]]
size = 4
name = "first"  # the highest
[divisions.more]
deep = 1
[[divisions]]
name = 'second'
size = 5
'''


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.toml"
    path.write_text(FILE)
    assert read_toml(path)["name"] == "winter"
    return path


COUNTED = {
    "many[0]": "many no. 1",
    "divisions[0]": "divisions no. 1",
    "divisions[0].size": "divisions no. 1.size",
    "divisions[1].size": "divisions no. 2.size",
    "divisions[1].missing": "divisions no. 2.missing",
    "missing[3].of": "missing no. 4.of",
}
"""Fields in lists, and how they are named to people."""


@pytest.mark.parametrize(
    ("field", "line"),
    [
        ("name", 1),
        ("quoted", 3),
        ("a.b.c", 4),
        ("text", 5),
        ("many", 9),
        ("many[0]", 9),
        ("table", 12),
        ("table.inner", 13),
        ("table.missing", 12),
        ("table.deeper.last", 15),
        ("divisions", 16),
        ("divisions[0]", 16),
        ("divisions[0].size", 17),
        ("divisions[1].size", 23),
        ("divisions[1].missing", 21),
        ("divisions.second.size", 23),
        ("divisions.second", 22),
    ],
)
def test_problem_when_its_field_or_the_table_around_it_is_there_then_it_has_the_line(
    file: Path, field: str, line: int
) -> None:
    [found] = problems_in(file, [Problem(field, "wrong")])
    assert found == Problem(f"{file}:{line}: {COUNTED.get(field, field)}", "wrong")


@pytest.mark.parametrize("field", ["missing", "nor.a", "missing[3].of", ""])
def test_problem_when_its_field_is_missing_then_it_has_no_line(file: Path, field: str) -> None:
    [found] = problems_in(file, [Problem(field, "wrong")])
    assert found == Problem(f"{file}: {COUNTED.get(field, field)}", "wrong")
