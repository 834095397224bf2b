"""Running commands as a shell would, but in this process."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from referee.cli.app import run


class Result(NamedTuple):
    """How a command ended."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Arena = Callable[..., Result]


def make_arena(data: Path, capsys: pytest.CaptureFixture[str]) -> Arena:
    """Return ``arena --data <data>`` as a function of the arguments that follow."""

    def arena(*arguments: object) -> Result:
        capsys.readouterr()
        status = run(["--data", str(data), *map(str, arguments)])
        return Result(status, *capsys.readouterr())

    return arena


def assert_one_line(result: Result, status: int, *parts: str) -> None:
    """Assert that the command failed with one line on standard error with these parts, and no output."""
    assert result.status == status, result
    assert result.out == ""
    assert result.err.startswith("error: ")
    assert result.err.count("\n") == 1
    assert [part for part in parts if part not in result.err] == []
