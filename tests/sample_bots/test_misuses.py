"""Tests of programs that print and exit in a turn; what else goes wrong there, each client has tests for."""

import shutil
import sys
from pathlib import Path

import pytest

from referee.check import check
from tests.sample_bots.toolchain import SAMPLES, run_in

PRINTED = 100_000
"""How many characters each turn prints on standard output, and on standard error: more than a pipe holds."""

PYTHON = f"""
import itertools, sys
from referee.bot import main
turns = itertools.count(1)
def choose(turn):
    for stream in (sys.stdout, sys.stderr):
        print("x" * {PRINTED}, file=stream)
    return turn.legal[0] if next(turns) != 2 else sys.exit(3)
main(choose)
"""

GO = f"""
package main
import ("fmt"; "os"; "strings"; "bigtwo-arena/sample-bot/client")
type strategy struct{{}}
var turns int
func NewPlanner(*client.Session) client.Strategy {{ return strategy{{}} }}
func (strategy) Choose(turn client.Turn) client.Cards {{
    for _, file := range []*os.File{{os.Stdout, os.Stderr}} {{
        fmt.Fprintln(file, strings.Repeat("x", {PRINTED}))
    }}
    if turns++; turns == 2 {{ os.Exit(3) }}
    return turn.Legal[0]
}}
"""

JAVASCRIPT = f"""
import {{ writeSync }} from "node:fs";
let turns = 0;
export const planner = () => (turn) => {{
  for (const file of [1, 2]) writeSync(file, "x".repeat({PRINTED}) + "\\n");
  if (++turns === 2) process.exit(3);
  return turn.legalPlays[0].cards;
}};
"""


@pytest.fixture
def python(tmp_path: Path) -> list[str]:
    """Return the command of the program in Python."""
    file = tmp_path / "bot.py"
    file.write_text(PYTHON)
    return [sys.executable, str(file)]


@pytest.fixture
def golang(tmp_path: Path, go: str) -> list[str]:
    """Return the command of the program in Go: the sample bot with another strategy."""
    folder = tmp_path / "go"
    shutil.copytree(SAMPLES / "go", folder, ignore=shutil.ignore_patterns("strategy*.go", "plan.go"))
    (folder / "strategy.go").write_text(GO)
    run_in(folder, go, "build", "-o", "bot", ".")
    return [str(folder / "bot")]


@pytest.fixture
def typescript(tmp_path: Path, node: str) -> list[str]:
    """Return the command of the program in TypeScript: the built sample bot with another strategy."""
    folder, built = tmp_path / "typescript", SAMPLES / "typescript"
    shutil.copytree(built / "dist" / "src", folder / "dist" / "src")
    shutil.copy(built / "package.json", folder)
    (folder / "node_modules").symlink_to(built / "node_modules")
    (folder / "dist" / "src" / "strategy.js").write_text(JAVASCRIPT)
    return [node, str(folder / "dist" / "src" / "main.js")]


@pytest.mark.parametrize("language", ["python", "golang", "typescript"])
async def test_check_when_a_program_prints_and_exits_in_a_turn_then_it_says_so_and_starts_it_again(
    language: str, request: pytest.FixtureRequest
) -> None:
    command = request.getfixturevalue(language)
    report = await check(command=command, scenarios=["TURN-01", "TURN-04", "PING-01"])
    assert [result.outcome for result in report.results] == ["passed", "failed", "passed"]
    assert report.results[1].reason.endswith("the bot's stream ended, and its process ended with status 3")
