"""``arena play``: bots given as files and as commands, what is reported of them, and what is refused."""

import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from arena.cli.local import arena_command
from referee.cli.playshow import Hopeless, now_and_then, show_report, slowest
from referee.cli.starting import bot_command
from referee.local.playing import PlayedSoFar
from referee.local.programs import program
from referee.local.report import Setting, report
from referee.local.tally import Fault, Played, Tally, Thought
from referee.matches.match import SessionResult
from tests.arena.cli import Arena, assert_one_line, make_arena
from tests.arena.running import SAMPLE_BOTS
from tests.arena.traps import Traps
from tests.tied import tied
from tests.waiting import DEADLINE, wait_for

HERE = ("--jobs", 1, "--seed", "a")


@pytest.fixture
def arena(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Arena:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    return make_arena(tmp_path / "arena", capsys)


def bot(folder: Path, choose: str, name: str = "my_bot") -> str:
    """Write a file with a bot that returns the expression ``choose``; return its path."""
    path = folder / f"{name}.py"
    path.write_text(f"def choose(turn):\n    return {choose}\n")
    return str(path)


def test_play_when_the_current_folder_is_somebody_elses_then_nothing_in_it_is_imported(
    tmp_path: Path,
) -> None:
    traps = Traps(tmp_path / "theirs")
    own = tmp_path / "sp ace"
    own.mkdir()
    (own / "beside.py").write_text("def pick(turn):\n    return turn.legal[0] if turn.legal else None\n")
    path = Path(bot(own, "beside.pick(turn)"))
    # What the bot starts has the path that Python gives it.
    starts = f"subprocess.run([sys.executable, {str(own / 'sub.py')!r}], check=True)"
    path.write_text(f"import beside, subprocess, sys\n{starts}\n{path.read_text()}")
    (own / "sub.py").write_text("import beside\n")
    for jobs in ("1", "2"):
        done = subprocess.run(
            tied(*arena_command("play", "../sp ace/my_bot.py", "lowest", "--deals", "2", "--jobs", jobs)),
            cwd=traps.folder,
            capture_output=True,
            text=True,
            timeout=DEADLINE,
        )
        assert (done.returncode, traps.sprung()) == (0, ""), done.stderr
        assert (
            f"play: my_bot runs {traps.folder}/../sp ace/my_bot.py, which may do all that you may"
            in done.stderr
        )


def test_bot_when_it_runs_from_a_folder_of_somebody_else_then_nothing_in_it_is_imported(
    tmp_path: Path,
) -> None:
    traps = Traps(tmp_path / "theirs")
    for command in (bot_command("my_bot.py"), program(bot(tmp_path, "None"), {}, tmp_path).command):
        assert command is not None
        done = subprocess.run(
            tied(*command), cwd=traps.folder, env={}, capture_output=True, text=True, timeout=DEADLINE
        )
        assert (done.returncode, "ARENA_TOKEN" in done.stderr, traps.sprung()) == (2, True, "")


def troubles(err: str) -> list[str]:
    """Return the lines other than the progress reports, which come every ten seconds."""
    return [line for line in err.splitlines() if not line.startswith("play: ")]


def test_play_when_bots_are_files_then_they_are_compared_and_nothing_is_left(
    arena: Arena, tmp_path: Path
) -> None:
    asked = ("play", bot(tmp_path, "turn.legal[-1] if turn.legal else None"), "greedy", "lowest")
    found = arena(*asked, "--deals", 30, *HERE, "--json")
    assert (found.status, troubles(found.err)) == (0, [])
    report = found.json
    assert [one["bot"] for one in report["bots"]] == ["my_bot", "greedy", "lowest"]
    assert (report["deals"], report["interrupted"]) == (30, False)
    assert sum(one["deals"] for one in report["bots"]) == 4 * report["played"]
    assert report["comparisons"][0]["sentence"].startswith("my_bot is worse than greedy: -")
    assert report["bots"][0]["times"]["decisions"] > 0
    again = arena(*report["command"].removeprefix("arena ").split(), "--jobs", 1, "--json").json
    assert [one["points"] for one in again["bots"]] == [one["points"] for one in report["bots"]]
    assert not (tmp_path / "arena").exists()


def test_play_when_the_seed_is_an_empty_text_then_it_is_that_text(arena: Arena) -> None:
    shown = arena("play", "greedy", "lowest", "--ruleset", "chinese-2", "--deals", 2, "--seed", "", "--json")
    assert (shown.status, shown.json["seed"]) == (0, "")
    again = arena(*shlex.split(shown.json["command"])[1:], "--json").json
    assert [bot["points"] for bot in again["bots"]] == [bot["points"] for bot in shown.json["bots"]]


def test_play_when_one_bot_is_named_then_sample_bots_sit_at_its_table_and_people_can_read_it(
    arena: Arena,
) -> None:
    shown = arena("play", "greedy", "--deals", 12, *HERE)
    assert shown.status == 0
    first, *lines = shown.out.splitlines()
    assert first.startswith("chinese@1: 12 deals, each in every seating that differs: 48 played in ")
    assert [line.split()[0] for line in lines if line.startswith(("greedy ", "keeper ", "pairs-first "))]
    assert "(the 2 ranges after ± hold together in 95 of 100 cases)" in lines
    assert lines[-1] == "again: arena play greedy --deals 12 --ruleset chinese --seed a --decision-ms 1000"


def test_play_when_a_bot_is_a_command_then_it_plays_over_the_network_as_it_does_here(
    arena: Arena, tmp_path: Path
) -> None:
    file = tmp_path / "program.py"
    file.write_text((SAMPLE_BOTS / "lowest.py").read_text())
    command = f"{sys.executable} {file}"
    asked = ("--ruleset", "chinese-3", "--deals", 4, "--seed", "a", "--json")
    there = arena("play", command, "greedy", *asked)
    assert (there.status, troubles(there.err)) == (0, [])
    here = arena("play", str(file), "greedy", *asked, "--jobs", 1).json
    assert [one["bot"] for one in there.json["bots"]] == [command, "greedy"]
    for known in ("points", "places", "deals", "faults"):
        assert [one[known] for one in there.json["bots"]] == [one[known] for one in here["bots"]]
    assert [one["times"]["decisions"] for one in there.json["bots"]] == [
        one["times"]["decisions"] for one in here["bots"]
    ]
    assert list((tmp_path / "temporary").iterdir()) == []


def test_play_when_a_command_makes_faults_or_dies_then_it_is_told(arena: Arena, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text("from referee.bot import main\nmain(lambda turn: 1 / 0)\n")
    asked = ("--ruleset", "chinese-2", "--deals", 2, "--seed", "a")
    shown = arena("play", f"{sys.executable} {wrong}", "greedy", *asked)
    assert shown.status == 0
    assert "(exception " in shown.out
    [told] = [line for line in shown.out.splitlines() if " times: play/1/" in line]
    assert "ZeroDivisionError: division by zero; wrong.py, line 2" in told
    wrong.write_text("import sys\nsys.exit('no memory')\n")
    dead = arena("play", f"{sys.executable} {wrong}", "greedy", *asked)
    assert_one_line(dead, 1, f"{wrong}: ended with status 1; its last line: no memory")


@pytest.mark.parametrize(
    ("choose", "error", "line"),
    [
        ("turn.hand[99]", "IndexError: tuple index out of range", "    return turn.hand[99]"),
        ("{}[len(turn.hand)]", "KeyError: ", "    return {}[len(turn.hand)]"),
        ("5", "TypeError: choose returned int; a Play, text, list or None is expected", ""),
    ],
)
def test_play_when_a_bots_code_fails_then_its_own_calls_are_shown_once(
    arena: Arena, tmp_path: Path, choose: str, error: str, line: str
) -> None:
    shown = arena("play", bot(tmp_path, choose), "greedy", "--deals", 1, *HERE)
    assert shown.status == 0
    [told] = [one for one in shown.out.splitlines() if f" times: {error}" in one]
    assert told.startswith("my_bot: ")
    assert "; play/1/1/1 deal 1: holding " in told
    trace = [one for one in shown.out.splitlines() if one.startswith("  | ")]
    assert [one for one in trace if line in one]
    assert [one for one in trace if "File " in one and "my_bot.py" not in one] == []
    assert sum(one.startswith(f"  | {error}") for one in trace) == 1
    assert "all of its " in shown.err
    assert f"decisions so far were faults; the first: {error}" in shown.err


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["gredy"], 1, ["gredy: is not a sample bot, Python file or program; did you mean 'greedy'?"]),
        (["nowhere.py", "greedy"], 1, ["nowhere.py: file does not exist"]),
        (["greedy", "--ruleset", "chines"], 1, ["chines"]),
        (["greedy", "--deals", "0"], 2, ["--deals"]),
        (["greedy", "--deals", "many"], 2, ["--deals"]),
        ([], 2, ["BOT"]),
        (["greedy", "--t1", "0.3"], 2, ["--t1", "is for a test: add --against"]),
        (["greedy", "--against", "keeper", "--t1", "-1"], 2, ["--t1", "must be more than t0, which is 0"]),
        (["greedy", "--against", "keepr"], 1, ["keepr", "did you mean 'keeper'"]),
        (["greedy", *["lowest"] * 4, "--against", "keeper"], 2, ["4 bots for 3 seats"]),
        (["greedy", "--against", "nowhere.py@v1"], 1, ["nowhere.py@v1: "]),
    ],
)
def test_play_that_cannot_be_is_refused_in_one_line(
    arena: Arena, arguments: list[str], status: int, words: list[str]
) -> None:
    assert_one_line(arena("play", *arguments), status, *words)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_play_when_it_is_interrupted_then_it_tells_what_was_played(tmp_path: Path, jobs: str) -> None:
    marks = tmp_path / "marks"
    touch = f"__import__('pathlib').Path({str(marks)!r}).touch()"  # a file left open would swallow the signal
    slow = f"({touch}, turn.legal[0] if turn.legal else None)[1]"
    command = arena_command("play", bot(tmp_path, slow), "--deals", "1000000", "--jobs", jobs, "--json")
    with subprocess.Popen(
        tied(*command), env=os.environ.copy(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        _until_it_plays(process, marks)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=DEADLINE)
    assert (process.returncode, troubles(err)) == (130, [])
    report = json.loads(out)
    assert report["interrupted"]
    assert report["deals"] < 1_000_000


def test_play_when_a_bot_stops_in_the_only_process_then_it_can_be_debugged(tmp_path: Path) -> None:
    stops = tmp_path / "my_bot.py"
    stops.write_text("def choose(turn):\n    breakpoint()\n    return None\n")
    command = arena_command("play", str(stops), "--ruleset", "chinese-2", "--deals", "1", "--jobs", "1")
    done = subprocess.run(
        tied(*command),
        input="import os\np 'asked at ' + turn.session\nos._exit(3)\n",
        capture_output=True,
        text=True,
        timeout=DEADLINE,
    )
    assert done.returncode == 1
    assert "'asked at play/1/1/1'" in done.stderr
    assert "error: my_bot: ended its process with status 3" in done.stderr


def test_play_when_no_deal_was_finished_then_it_shows_times_and_not_zeros(
    capsys: pytest.CaptureFixture[str],
) -> None:
    seating, again = (0, 1), "arena play slow.py"
    so_far = PlayedSoFar(Tally(2, 0.2), interrupted=130)
    asked = Setting("chinese-2@1", 2, ("slow", "greedy"), "a", again)
    show_report(report(asked, so_far, None, 2.0), 200)
    assert capsys.readouterr().out.splitlines() == [
        "chinese-2@1: interrupted after 2.0 s, before the first deal was finished in every seating",
        "",
        f"again: {again}",
    ]
    result = SessionResult(1, (3, -3), None, ("{}",), (0, 0))
    so_far.tally.add_unfinished(seating, Played(result, [[0.3, 0.3], [0.0001]]))
    show_report(report(asked, so_far, None, 2.0), 200)
    first, *rest = capsys.readouterr().out.splitlines()
    assert first.endswith("before the first deal was finished in every seating (1 played of those begun)")
    assert [line.split() for line in rest if line.startswith("slow ")] == [["slow", "2", "300", "300", "300"]]
    assert "slow: 2 decisions took longer than 200 ms; in an arena each would be a fault" in rest


def test_play_when_it_goes_on_then_it_names_who_is_slow_and_who_makes_only_faults() -> None:
    names, told = ("mine", "greedy"), list[str]()
    so_far = PlayedSoFar(Tally(2, 1.0))
    hopeless = Hopeless(so_far, names)
    fault = Fault(1, "exception", "…", "KeyError: 1")
    for number in range(1, 12):
        result = SessionResult(number, (0, 0), None, (), (0, 1))
        so_far.look((1, 0), Played(result, [[0.001], [0.25]], faults=[fault]))
        hopeless.look(told.append)
        assert len(told) == (number >= 10)
    assert told == [
        "mine: all of its 10 decisions so far were faults; the first: KeyError: 1. Ctrl-C ends this"
    ]
    assert slowest(so_far, names) == "; mine takes 250 ms a decision"
    so_far.thought = Thought([(2, 0.001), (12, 6.0)], None)
    assert slowest(so_far, names) == "; greedy takes 500 ms a decision"
    so_far.thought = Thought([(2, 0.001), (12, 6.0)], (0, 7.2))
    assert slowest(so_far, names) == "; mine has not answered for 7 s"
    assert slowest(PlayedSoFar(Tally(2, 1.0)), names) == ""


def _until_it_plays(process: "subprocess.Popen[str]", marks: Path) -> None:
    """Wait until the bot has decided something; fail if the process ends before that."""
    wait_for(lambda: marks.exists() or process.poll() is not None)
    assert process.poll() is None


def test_play_in_a_log_then_it_tells_now_and_then_how_far_it_is() -> None:
    times = iter([0.0, 1.0, 10.0, 10.0, 15.0, 25.0, 25.0])
    told: list[int] = []
    done = 0
    progress = now_and_then(lambda: told.append(done), lambda: next(times))
    for done in (1, 2, 3, 4):  # noqa: B007 the lambda reads it
        progress()
    assert told == [2, 4]


def test_play_against_an_older_bot_then_it_ends_when_it_is_known(arena: Arena, tmp_path: Path) -> None:
    worse = bot(tmp_path, "None if turn.can_pass else turn.legal[0]", "worse")
    asked = ("--against", worse, "--ruleset", "chinese-3", "--t1", 0.8, *HERE)
    shown = arena("play", "lowest", "greedy", *asked)
    assert (shown.status, troubles(shown.err)) == (0, [])
    assert shown.out.startswith("chinese-3@1, against greedy, greedy: ")
    assert "\nlowest is better than worse (alpha 0.05)\n" in shown.out
    report = arena("play", "lowest", "greedy", *asked, "--json").json
    assert [one["bot"] for one in report["bots"]] == ["lowest", "worse"]
    assert (report["panel"], report["comparisons"]) == (["greedy", "greedy"], [])
    found = report["finding"]
    assert (found["verdict"], found["deals_to_go"]) == ("better", 0)
    assert found["by_interval"] or found["llr"] >= found["bounds"]["high"]
    assert found["points"]["watched"]["low"] < found["points"]["fixed"]["low"] < found["points"]["mean"]
    again = arena(*report["command"].removeprefix("arena ").split(), "--jobs", 2, "--json").json
    assert again["finding"] == found
    compared = arena(
        "compare", worse, "lowest", "greedy", *asked[2:], "--seed", report["seed"], "--json"
    ).json
    assert compared["finding"] == found


def test_play_when_cards_are_exchanged_between_deals_then_sessions_have_several(
    arena: Arena, tmp_path: Path
) -> None:
    ruleset, saved = tmp_path / "given.toml", tmp_path / "all.jsonl"
    ruleset.write_text('extends = "chinese-3"\nname = "given"\nexchange = "loser_to_winner"\n')
    asked = ("play", "greedy", "lowest", "keeper", "--ruleset", ruleset, "--deals", 7, *HERE)
    report = arena(*asked, "--save", "all", saved, "--json").json
    assert (report["deals"], report["played"]) == (8, 24)
    assert [sum(one["places"]) for one in report["bots"]] == [24] * 3
    assert " --deals 8 " in report["command"]
    assert " --session 4 " in report["command"]
    records = [json.loads(line) for line in saved.read_text().splitlines()]
    assert [record["deal"] for record in records] == [1, 2, 3, 4] * 6
    exchanged = ["exchange" in record for record in records]
    assert exchanged == [False, True, True, True] * 6
    short = arena(*asked, "--session", 2, "--against", "random", "--save", "all", saved, "--json").json
    assert short["deals"] == 8
    assert len(saved.read_text().splitlines()) == short["played"]


def test_play_when_a_test_is_limited_then_it_says_what_is_known_so_far(arena: Arena) -> None:
    shown = arena("play", "greedy", "--against", "keeper", "--deals", 3, "--ruleset", "chinese-2", *HERE)
    assert "not known yet: greedy makes " in shown.out
    assert "95 % interval that holds while one watches: too few deals" in shown.out


def test_rewind_of_saved_deals_when_the_bot_is_the_same_or_another_then_it_is_told(
    arena: Arena, tmp_path: Path
) -> None:
    saved = tmp_path / "lost.jsonl"
    mine = bot(tmp_path, "turn.legal[0] if turn.legal else None")
    arena("play", mine, "greedy", "--ruleset", "chinese-2", "--deals", 12, "--save", "losses", saved, *HERE)
    same = arena("bot", "rewind", saved, mine, "--deal", 1, "--all", "--json").json
    assert same["answers"]
    assert all(one["then"] == one["now"] for one in same["answers"])
    first = same["answers"][0]
    asked = ("bot", "rewind", saved, "--deal", 1, "--seat", same["seat"])
    bot(tmp_path, "print('thinking') or turn.legal[-1]")
    shown = arena(*asked, "--turn", first["turn"], mine)
    assert (
        f"turn {first['turn']}: holding {first['hand']}, to beat {first['to_beat'] or 'nothing'}" in shown.out
    )
    assert f"played then: {first['then']}\nanswers now: {first['legal'][-1]}\n" in shown.out
    assert "thinking" in shown.err
    lowest = tmp_path / "program.py"
    lowest.write_text((SAMPLE_BOTS / "lowest.py").read_text())
    there = arena(*asked, "--all", "--json", "--", sys.executable, lowest)
    assert there.json["answers"] == same["answers"]
    leaving = arena(*asked, "--all", "--", sys.executable, "-c", "print('no memory')")
    assert_one_line(leaving, 1, "ended with status 0; its last line: no memory")
    assert_one_line(arena(*asked, mine), 2, "--turn", "specify a turn, or --all")
    assert_one_line(arena("bot", "rewind", saved, "--all", "greedy"), 1, "specify one with --deal")
    explain = ("bot", "explain", saved, "--deal", 1, "--seat", same["seat"], "--seconds", 0.1)
    priced = arena(*explain, "--json").json
    assert priced["seat"] == same["seat"]
    assert {one["turn"] for one in priced["decisions"]} <= {one["turn"] for one in same["answers"]}
    assert "\nan estimate: " in arena(*explain).out


def test_play_when_deals_cannot_be_saved_then_one_line_says_so(arena: Arena, tmp_path: Path) -> None:
    missing = arena("play", "greedy", "--save", "all", tmp_path / "no" / "deals.jsonl")
    assert_one_line(missing, 2, "--save", "cannot write", "No such file or directory")
    assert_one_line(arena("play", "greedy", "--save", "some", "deals.jsonl"), 2, "some")
