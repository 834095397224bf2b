"""``arena bot practice``: real bots on a real referee, and what is left of it: nothing."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from arena.cli.local import arena_command
from arena.cli.practice import lines_now_and_then
from referee.samples import sample_bots
from tests.arena.cli import Arena, assert_one_line, make_arena
from tests.arena.running import SAMPLE_BOTS
from tests.arena.waiting import DEADLINE, wait_for_line
from tests.tied import tied

GREEDY = ["--", sys.executable, str(SAMPLE_BOTS / "greedy.py")]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have temporary folders made in a folder of the test's own."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def arena(tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> Arena:
    return make_arena(tmp_path / "arena", capsys)


def program(tmp_path: Path, choose: str) -> list[str]:
    """Return the command that starts a bot which chooses so."""
    bot = tmp_path / "bot.py"
    bot.write_text(f"from referee.bot import main\nmain(lambda turn: {choose})\n")
    return ["--", sys.executable, str(bot)]


def test_practice_when_a_bot_plays_then_its_deals_are_summed_up_and_nothing_is_left(
    arena: Arena, tmp_path: Path, folder: Path
) -> None:
    asked = ("bot", "practice", "--deals", 5, "--seed", "a", "--against", "random", "--against", "lowest")
    found = arena(*asked, "--json", *GREEDY)
    assert (found.status, found.err) == (0, "")
    summary = found.json
    assert (summary["ruleset"], summary["seed"]) == ("chinese@1", "a")
    assert (summary["deals"], summary["played"]) == (5, 20)
    assert [one["bot"] for one in summary["against"]] == [
        "opponent-1/random@1",
        "opponent-2/lowest@1",
        "opponent-3/random@1",
    ]
    assert summary["points"]["mean"] > 0
    assert summary["faults"] == {}
    assert summary["failures"] == 0
    assert summary["times"]["limit_ms"] == 1000
    assert list(folder.iterdir()) == []
    assert not (tmp_path / "arena").exists()


def test_practice_when_it_is_shown_then_people_can_read_it(arena: Arena) -> None:
    shown = arena("bot", "practice", "--deals", 3, "--ruleset", "chinese-2", *GREEDY)
    assert shown.status == 0
    assert shown.out.startswith("chinese-2@1: 3 deals, each from every seat: 6 played; the seed is ")
    for part in ("opponent-1/keeper@1", "wins: ", "faults: none", "ms are allowed"):
        assert part in shown.out


def test_practice_when_the_bot_makes_faults_then_their_reasons_are_shown(
    arena: Arena, tmp_path: Path
) -> None:
    shown = arena("bot", "practice", "--deals", 1, *program(tmp_path, "'3D 4D'"))
    assert shown.status == 0
    assert "(illegal " in shown.out
    [first] = [line for line in shown.out.splitlines() if line.startswith("  practice/1/1/1: illegal: ")][:1]
    assert re.search(r"; holding (\w\w ?)+, (to beat .*, )?answered 3D 4D, played ", first)


def test_practice_when_the_bots_own_code_fails_then_it_says_so_with_the_last_lines(
    arena: Arena, tmp_path: Path
) -> None:
    shown = arena("bot", "practice", "--deals", 1, *program(tmp_path, "1 / 0"))
    assert "your bot's own code failed " in shown.out
    assert "  | ZeroDivisionError: division by zero" in shown.out


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("", "my-bot ended with status 0, before it had connected"),
        ("import time; time.sleep(600)", "me/my-bot@1 did not connect within 2 s"),
    ],
    ids=["ends", "waits"],
)
def test_practice_when_the_bot_does_not_connect_then_one_line_says_why(
    arena: Arena, folder: Path, code: str, problem: str
) -> None:
    result = arena("bot", "practice", "--wait", 2, "--", sys.executable, "-c", code)
    assert_one_line(result, 1, problem)
    assert list(folder.iterdir()) == []


def test_practice_when_the_bot_dies_while_it_plays_then_its_last_line_says_why(
    arena: Arena, tmp_path: Path, folder: Path
) -> None:
    dying = "print('no memory', flush=True) or __import__('os')._exit(3)"
    result = arena("bot", "practice", *program(tmp_path, dying))
    assert result.status == 1
    assert result.err.endswith(
        "error: my-bot ended with status 3 while it played; its last line: no memory\n"
    )
    assert list(folder.iterdir()) == []


def test_practice_when_the_program_is_wrong_then_its_last_lines_are_told(
    arena: Arena, tmp_path: Path, folder: Path
) -> None:
    (tmp_path / "wrong.py").write_text("def choose(turn)\n    return None\n")
    result = arena("bot", "practice", "--", sys.executable, str(tmp_path / "wrong.py"))
    assert (result.status, result.out) == (1, "")
    assert 'wrong.py", line 1\n    def choose(turn)\n' in result.err
    assert result.err.endswith("error: my-bot: SyntaxError: expected ':'\n")


def test_practice_that_cannot_be_is_refused_before_anything_starts(arena: Arena) -> None:
    absent = arena("bot", "practice", "--", "/nowhere/bot")
    assert_one_line(absent, 2, "COMMAND", "there is no program '/nowhere/bot'")
    unknown = arena("bot", "practice", "--against", "gredy", *GREEDY)
    assert_one_line(unknown, 1, "no sample bot 'gredy'", "did you mean 'greedy'", ", ".join(sample_bots()))
    many = ["--against", "greedy"] * 4
    assert_one_line(arena("bot", "practice", *many, *GREEDY), 2, "--against", "4 bots for 3 seats")
    assert_one_line(arena("bot", "practice", "--ruleset", "chines", *GREEDY), 1, "chines")


def test_practice_when_it_is_interrupted_then_it_tells_what_was_played_and_leaves_nothing(
    tmp_path: Path,
) -> None:
    slow = "__import__('time').sleep(0.02) or (turn.legal[0] if turn.legal else None)"
    command = arena_command("bot", "practice", "--deals", "1000", "--json", *program(tmp_path, slow))
    folder = tmp_path / "temporary"
    folder.mkdir()
    with subprocess.Popen(
        tied(*command),
        env=os.environ | {"TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        wait_for_line(process, folder, "*/my-bot.log", "session practice/1/1/1 ")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=DEADLINE)
    assert (process.returncode, err) == (130, "")
    summary = json.loads(out)
    assert summary["interrupted"]
    assert summary["played"] < 4000
    assert list(folder.iterdir()) == []


def test_practice_in_a_log_then_it_tells_now_and_then_how_far_it_is() -> None:
    times = iter([0.0, 1.0, 10.0, 10.0, 15.0, 25.0, 25.0])
    told: list[str] = []
    progress = lines_now_and_then(40, told.append, lambda: next(times))
    for done in (1, 2, 3, 4):
        progress(done)
    assert told == ["practice: 2 of 40 sessions", "practice: 4 of 40 sessions"]
