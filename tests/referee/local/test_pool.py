"""Tests for sessions in several processes, and for finding bots in files."""

import os
import re
import select
import signal
from dataclasses import replace
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

import pytest

from referee.errors import ProgramError
from referee.local import pool
from referee.local.loading import load_file
from referee.local.pool import play_in_processes
from referee.local.programs import program
from referee.local.table import LocalTable, Setting
from referee.local.tally import Played, Thought
from referee.matches.match import SessionSpec
from tests.referee.local.bots import HIGHEST, LOWEST, bot_file, setting_of, some_sessions

DEADLINE = 60
"""Seconds after which a test gives up."""

DICE = "import random\ndef choose(turn):\n    return random.choice([*turn.legal] or [None])\n"


def play_here(setting: Setting, sessions: list[SessionSpec]) -> list[Played]:
    """Play sessions in the tests' own process."""
    return [*map(LocalTable(setting).play, sessions)]


def test_processes_when_they_play_then_all_is_as_in_one(tmp_path: Path) -> None:
    setting = setting_of([bot_file(tmp_path, "dice", DICE), bot_file(tmp_path, "lowest", LOWEST)])
    sessions = some_sessions(2, 2, 8)
    here = [replace(one.result, records=()) for one in play_here(setting, sessions)]
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
    assert [process.is_alive() for process in started] == [False] * 2


CODE = """
import os, pathlib
def wrong(at):
    if at == WHERE:
        WRONG
wrong("the file")
class Bot:
    def __init__(self):
        wrong("__init__")
    def choose(self, turn):
        wrong("choose")
        return turn.legal[0] if turn.legal else None
    def deal_ended(self, ended):
        wrong("deal_ended")
"""

WHERE = {
    "the file": "while its file was loaded",
    "__init__": r"in __init__, play/1/1/\d+",
    "choose": r"in play/1/1/\d+ deal 1: holding ([2-9TJQKA][DCHS] ?)+(, to beat .+)?",
    "deal_ended": r"in deal_ended, play/1/1/\d+ deal 1",
}
"""Where code of a bot runs, and how that is described."""


def wrong_at(folder: Path, where: str, wrong: str) -> Setting:
    """Return a setting with a bot ``wrong``, which does wrong at this place, and one that is right."""
    text = CODE.replace("WHERE", repr(where)).replace("WRONG", wrong)
    return setting_of([bot_file(folder, "lowest", LOWEST), bot_file(folder, "wrong", text)], decision_ms=1)


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("where", WHERE)
def test_processes_when_a_bot_ends_its_own_then_it_is_named_with_the_position(
    tmp_path: Path, where: str, jobs: int
) -> None:
    setting = wrong_at(tmp_path, where, "os._exit(3)")
    with pytest.raises(ProgramError) as caught:
        [*play_in_processes(setting, iter(some_sessions(2, 2, 8)), jobs, print)]
    assert re.fullmatch(
        rf"wrong: ended its process with status 3 after [\d.]+ s, {WHERE[where]}", str(caught.value)
    )


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("where", WHERE)
def test_processes_when_a_bot_does_not_answer_then_it_is_named_with_the_position_while_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, jobs: int
) -> None:
    for name in ("LOOK_SECONDS", "LONG_SECONDS", "STUCK_SECONDS"):
        monkeypatch.setattr(pool, name, 0.05)
    told = tmp_path / "told"
    setting = wrong_at(tmp_path, where, f"while not pathlib.Path({str(told)!r}).exists(): pass")
    lines: list[str] = []
    stuck: set[int] = set()

    def report(line: str) -> None:
        if line.startswith("wrong ") and 1 in stuck:
            lines.append(line)
            told.touch()

    def tick(thought: Thought) -> None:
        if thought.stuck:
            stuck.add(thought.stuck[0])

    assert len([*play_in_processes(setting, iter(some_sessions(2, 2, 1)), jobs, report, tick)]) == 2
    described = rf"wrong has not answered for \d+ s, {WHERE[where]}; Ctrl-C ends this"
    assert [line for line in lines if not re.fullmatch(described, line)] == []


def test_processes_when_no_session_ends_then_it_is_told_what_bots_have_thought(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "LOOK_SECONDS", 0.05)
    seen = tmp_path / "seen"
    waits = (
        "import pathlib\nturns = []\ndef choose(turn):\n    turns.append(turn)\n"
        f"    while len(turns) > 1 and not pathlib.Path({str(seen)!r}).exists(): pass\n"
        "    return turn.legal[0] if turn.legal else None\n"
    )
    setting = setting_of([bot_file(tmp_path, "waits", waits), bot_file(tmp_path, "lowest", LOWEST)])
    told: list[tuple[int, float]] = []

    def tick(thought: Thought) -> None:
        if thought.times[0][0]:  # it has decided once, and is waiting
            told.append(thought.times[0])
            seen.touch()

    assert len([*play_in_processes(setting, iter(some_sessions(2, 2, 1)), 1, print, tick)]) == 2
    assert told[0][0] == 1
    assert told[0][1] > 0


USES_PROCESSES = """
import multiprocessing
from dataclasses import dataclass
from referee.bot import main

@dataclass
class Question:
    plays: list

def first(question):
    return question.plays[0] if question.plays else None

pool = None
def choose(turn):
    global pool
    pool = pool or CONTEXT.Pool(1)
    return pool.apply(first, [Question([str(play) for play in turn.legal])])

if __name__ == "__main__":
    main(choose)
"""


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("context", ["multiprocessing", "multiprocessing.get_context('spawn')"])
def test_processes_when_bots_start_processes_then_they_play_as_in_the_arena(
    tmp_path: Path, context: str, jobs: int, capfd: pytest.CaptureFixture[str]
) -> None:
    text = USES_PROCESSES.replace("CONTEXT", context)
    setting = setting_of([bot_file(tmp_path, name, text) for name in ("mine", "theirs")])
    sessions = some_sessions(2, 2, 1)
    played = [*play_in_processes(setting, iter(sessions), jobs, print)]
    assert [one.failures for one in played] == [[], []]
    plain = play_here(setting_of([bot_file(tmp_path, name, LOWEST) for name in ("a", "b")]), sessions)
    by_number = sorted(played, key=lambda one: one.result.number)
    assert [one.result.points for one in by_number] == [one.result.points for one in plain]
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("jobs", [1, 2])
def test_processes_when_play_ends_then_what_bots_started_ends_too(tmp_path: Path, jobs: int) -> None:
    text = (
        "import subprocess, sys\n"
        "started = subprocess.Popen([sys.executable, '-c', 'while True: pass'])\n"
        f"open({str(tmp_path)!r} + f'/{{started.pid}}.pid', 'w').close()\n{LOWEST}"
    )
    setting = setting_of([bot_file(tmp_path, "starts", text), bot_file(tmp_path, "lowest", LOWEST)])
    playing = play_in_processes(setting, iter(some_sessions(2, 2, 8)), jobs, print)
    next(playing)
    started = [os.pidfd_open(int(path.stem)) for path in tmp_path.glob("*.pid")]
    assert len(started) in range(1, jobs + 1)
    playing.close()
    for process in started:
        assert select.select([process], [], [], DEADLINE)[0] == [process]
        os.close(process)


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
    [*play_in_processes(setting, iter(some_sessions(2, 2, 1)), 1, print)]
    out, err = capfd.readouterr()
    assert out == ""
    assert err.count("loaded") == 1
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
    found = [one.result.points for one in play_here(setting_of(files), sessions)]
    assert found == [one.result.points for one in play_here(setting_of(plain), sessions)]


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
        ("nowhere.py", "nowhere.py: file does not exist"),
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
