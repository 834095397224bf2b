"""Tests for sessions in several processes, and for finding bots in files."""

import os
import signal
from dataclasses import replace
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

import pytest

from referee.errors import ProgramError
from referee.local.loading import load_file
from referee.local.pool import Thought, play_here, play_in_processes
from referee.local.programs import program
from tests.referee.local.bots import HIGHEST, LOWEST, bot_file, setting_of, some_sessions

DICE = "import random\ndef choose(turn):\n    return random.choice([*turn.legal] or [None])\n"


def test_processes_when_they_play_then_all_is_as_in_one(tmp_path: Path) -> None:
    setting = setting_of([bot_file(tmp_path, "dice", DICE), bot_file(tmp_path, "lowest", LOWEST)])
    sessions = some_sessions(2, 2, 8)
    here = [replace(one.result, records=()) for one in play_here(setting, iter(sessions))]
    there = play_in_processes(setting, iter(sessions), 2, print)
    found = [replace(one.result, records=()) for one in there]
    assert sorted(found, key=lambda result: result.number) == here
    assert len(here) == len(sessions)


def test_processes_when_ctrl_c_comes_while_they_start_then_it_ends_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[SpawnProcess] = []

    def interrupted(process: SpawnProcess) -> None:
        start(process)
        started.append(process)
        os.kill(os.getpid(), signal.SIGINT)

    start = SpawnProcess.start
    monkeypatch.setattr(SpawnProcess, "start", interrupted)
    setting = setting_of([bot_file(tmp_path, "lowest", LOWEST)] * 2)
    with pytest.raises(KeyboardInterrupt):
        [*play_in_processes(setting, iter(some_sessions(2, 2, 8)), 2, print)]
    assert [process.exitcode for process in started] == [-signal.SIGTERM] * 2


def test_processes_when_a_bot_ends_its_own_then_it_is_named(tmp_path: Path) -> None:
    dying = bot_file(tmp_path, "dying", "import os\ndef choose(turn):\n    os._exit(3)\n")
    setting = setting_of([bot_file(tmp_path, "lowest", LOWEST), dying])
    with pytest.raises(ProgramError, match=r"dying: ended its process with status 3, in session \d+"):
        [*play_in_processes(setting, iter(some_sessions(2, 2, 8)), 2, print)]


def test_processes_when_no_session_ends_then_it_is_told_what_bots_have_thought(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    waits = (
        "import pathlib, time\nturns = []\ndef choose(turn):\n    turns.append(turn)\n"
        f"    while len(turns) > 1 and not pathlib.Path({str(seen)!r}).exists():\n        time.sleep(0.01)\n"
        "    return turn.legal[0] if turn.legal else None\n"
    )
    setting = setting_of([bot_file(tmp_path, "waits", waits), bot_file(tmp_path, "lowest", LOWEST)])
    told: list[tuple[int, float]] = []

    def tick(thought: Thought) -> None:
        if thought[0][0]:  # it has decided once, and is waiting
            told.append(thought[0])
            seen.touch()

    assert len([*play_in_processes(setting, iter(some_sessions(2, 2, 1)), 1, print, tick)]) == 2
    assert told[0][0] == 1
    assert told[0][1] > 0


def test_processes_when_a_bot_cannot_be_loaded_there_then_that_is_said(tmp_path: Path) -> None:
    text = f"import os\nif os.getpid() != {os.getpid()}:\n    raise OSError('elsewhere')\n{LOWEST}"
    setting = setting_of([bot_file(tmp_path, "shy", text), bot_file(tmp_path, "lowest", LOWEST)])
    with pytest.raises(ProgramError, match=r"shy.py: cannot be imported: OSError: elsewhere \(line 3\)"):
        [*play_in_processes(setting, iter(some_sessions(2, 2, 2)), 1, print)]


def test_play_when_a_bot_prints_then_results_are_not_disturbed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    loud = bot_file(
        tmp_path, "loud", f"print('loaded')\n{LOWEST}".replace("return", "print('asked'); return")
    )
    setting = setting_of([loud, bot_file(tmp_path, "lowest", LOWEST)])
    [*play_here(setting, iter(some_sessions(2, 2, 1)))]
    [*play_in_processes(setting, iter(some_sessions(2, 2, 1)), 1, print)]
    out, err = capfd.readouterr()
    assert out == ""
    assert err.count("loaded") == 2
    assert "asked" in err


def test_play_when_two_versions_import_modules_of_one_name_then_each_has_its_own(tmp_path: Path) -> None:
    text = "import helper\ndef choose(turn):\n    import later\n    return later.pick(helper.order(turn))\n"
    files = []
    for version, order in (("old", "[*plays]"), ("new", "[*plays][::-1]")):
        folder = tmp_path / version
        files.append(bot_file(folder, "bot", text))
        bot_file(folder, "helper", f"def order(turn):\n    plays = turn.legal\n    return {order}\n")
        bot_file(folder, "later", "def pick(plays):\n    return plays[0] if plays else None\n")
    plain = [bot_file(tmp_path / "plain", "old", LOWEST), bot_file(tmp_path / "plain", "new", HIGHEST)]
    sessions = some_sessions(2, 2, 6)
    found = [one.result.points for one in play_here(setting_of(files), iter(sessions))]
    assert found == [one.result.points for one in play_here(setting_of(plain), iter(sessions))]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("def chose(turn): ...\n", r"has no function choose\(turn\), and no class with a method choose"),
        ("class A:\n    choose = 1\nclass B:\n    choose = 1\n", "and 2 classes with a method choose"),
        (
            "import nowhere_at_all\n",
            r"cannot be imported: ModuleNotFoundError: .*nowhere_at_all.* \(line 1\)",
        ),
        ("def choose(turn)\n", "cannot be imported: SyntaxError: expected ':'"),
        ("\nexit(2)\n", r"cannot be imported: SystemExit: 2 \(line 2\)"),
    ],
    ids=["no choose", "two classes", "import", "syntax", "exits"],
)
def test_file_when_it_holds_no_bot_then_one_line_says_why(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(ProgramError, match=why) as caught:
        load_file(bot_file(tmp_path, "bot", text))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("end", ["main(choose)", "main(choose, max_sessions=4)"])
def test_file_when_it_calls_main_itself_then_the_bot_is_what_that_is_given(tmp_path: Path, end: str) -> None:
    text = f"from referee.bot import main\ndef choose(turn):\n    return 'mine'\n{end}\nraise OSError\n"
    found: Any = load_file(bot_file(tmp_path, "bot", text))
    assert found(None) == "mine"


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("gredy", "gredy: is not a sample bot, Python file or program; did you mean 'greedy'?"),
        ("nowhere.py", "nowhere.py: no such file"),
        (
            "/nowhere/bot --fast",
            "/nowhere/bot --fast: is not a sample bot, Python file or program; the sample bots are",
        ),
        ("'x", "'x: no closing quotation"),
        ("", "'': is not a sample bot"),
    ],
)
def test_program_when_there_is_none_then_one_line_says_so(tmp_path: Path, given: str, why: str) -> None:
    with pytest.raises(ProgramError) as caught:
        program(given, {"greedy": Path("greedy.py"), "keeper": Path("keeper.py")}, tmp_path)
    assert str(caught.value).startswith(why)
