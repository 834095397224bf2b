"""``arena compare``: which deals are played, how they become values, and real bots on a real referee."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from arena.cli.local import arena_command
from arena.compare.blocks import Blocks, Panel
from referee.matches.match import SessionResult, check_match
from referee.ruleset import load_ruleset
from tests.arena.cli import Arena, assert_one_line, make_arena
from tests.arena.running import SAMPLE_BOTS
from tests.arena.waiting import DEADLINE, wait_for_line
from tests.tied import tied

SLOW = "__import__('time').sleep(0.02) or (turn.legal[0] if turn.legal else None)"


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


def program(tmp_path: Path, choose: str) -> str:
    """Return the command, in one text, that starts a bot which chooses so."""
    bot = tmp_path / "bot.py"
    bot.write_text(f"from referee.bot import main\nmain(lambda turn: {choose})\n")
    return f"{sys.executable} {bot}"


def session(number: int, *points: int) -> SessionResult:
    return SessionResult(number, points, None, (), (0,) * len(points))


def panel_of(ruleset: str) -> Panel:
    rules = load_ruleset(ruleset)
    return Panel(rules, ("greedy",) * (rules.players - 1), "seed", 1000)


@pytest.mark.parametrize("ruleset", ["chinese-2", "chinese-3", "chinese", "lectio", "only-a-game-8"])
def test_block_when_it_is_planned_then_both_bots_play_its_deal_from_every_seat(ruleset: str) -> None:
    panel = panel_of(ruleset)
    first, second = (panel.match(arm, range(3, 5)) for arm in (0, 1))
    for match in (first, second):
        assert check_match(match, panel.players) == ""
        assert len(match.sessions) == 2 * panel.players
        for at in (0, panel.players):
            seats = [one.seating.index(0) for one in match.sessions[at : at + panel.players]]
            assert sorted(seats) == list(range(panel.players))
            assert len({one.seed for one in match.sessions[at : at + panel.players]}) == 1
    assert first.sessions == second.sessions
    assert len({one.seed for one in first.sessions}) == 2
    assert (first.bots[0], second.bots[0]) != (second.bots[0], first.bots[0])
    assert first.bots[1:] == second.bots[1:]
    assert [bot.version_id for bot in first.bots] == [1, *range(3, panel.players + 2)]


def test_block_when_its_sessions_are_there_then_its_value_is_the_mean_difference_over_the_seats() -> None:
    blocks = Blocks(2)
    assert list(blocks.add(0, session(1, 10, -10))) == []  # in seat 0
    assert list(blocks.add(0, session(2, 4, -4))) == []  # in seat 1
    assert list(blocks.add(1, session(2, 2, -2))) == []
    assert list(blocks.add(1, session(1, 14, -14))) == [pytest.approx((14 - 2) / 2 - (10 - 4) / 2)]


def test_blocks_when_a_later_one_is_finished_first_then_it_waits_for_its_turn() -> None:
    blocks = Blocks(2)
    for number, points in ((1, 0), (2, 0), (3, 0), (4, 0)):
        assert list(blocks.add(0, session(number, points, points))) == []
    assert list(blocks.add(1, session(3, 6, 0))) == []
    assert list(blocks.add(1, session(4, 0, 6))) == []
    assert list(blocks.add(1, session(1, 2, 0))) == []
    assert list(blocks.add(1, session(2, 0, 2))) == [2.0, 6.0]


def test_blocks_when_a_session_is_missing_then_the_block_is_left_out() -> None:
    blocks = Blocks(2)
    for arm in (0, 1):
        for number in (2, 3, 4):
            assert list(blocks.add(arm, session(number, arm, arm))) == []
    assert list(blocks.skip(2)) == [1.0]
    assert blocks.next == 2


def test_compare_when_a_bot_is_better_then_it_says_so_and_leaves_nothing(
    arena: Arena, tmp_path: Path, folder: Path
) -> None:
    greedy = f"{sys.executable} {SAMPLE_BOTS / 'greedy.py'}"
    found = arena("compare", "random", greedy, "--t1", 0.3, "--seed", "a", "--ruleset", "chinese-2", "--json")
    assert (found.status, found.err) == (0, "")
    summary = found.json
    assert (summary["verdict"], summary["interrupted"]) == ("better", False)
    assert summary["sentence"] == "B is better than A (alpha 0.05)"
    assert summary["llr"] >= summary["bounds"]["high"]
    assert summary["points"]["watched"]["low"] < summary["points"]["fixed"]["low"]
    assert summary["points"]["fixed"]["low"] < summary["points"]["mean"]
    assert (summary["blocks_to_go"], summary["faults"]) == (0, [0, 0])
    assert summary["sessions"] >= 4 * summary["blocks"]
    assert summary["against"] == ["keeper"]
    assert list(folder.iterdir()) == []
    assert not (tmp_path / "arena").exists()


def test_compare_when_the_bots_are_the_same_then_there_is_no_difference(arena: Arena) -> None:
    asked = ("compare", "greedy", "greedy", "--t1", 0.4, "--ruleset", "chinese-2", "--against", "lowest")
    found = arena(*asked)
    assert found.status == 0
    # ln(10 / 0.05) / ln(1 + 0.16) = 35.7
    assert found.out.endswith("no difference: B made as many points as A in each of 36 deals\n")
    assert "B makes +0.00 points a deal more than A, with the same cards" in found.out


def test_compare_when_chance_is_all_that_parts_the_bots_then_it_is_not_better(arena: Arena) -> None:
    found = arena(
        "compare", "random", "random", "--t1", 0.4, "--seed", "b", "--ruleset", "chinese-2", "--json"
    )
    assert found.json["verdict"] == "not-better"
    assert found.json["llr"] <= found.json["bounds"]["low"]
    assert found.json["points"]["deviation"] > 0


def test_compare_when_its_blocks_are_played_then_it_says_what_is_known(arena: Arena, tmp_path: Path) -> None:
    asked = ("--blocks", 3, "--ruleset", "chinese-3", "--against", "lowest")
    found = arena("compare", "greedy", program(tmp_path, "'3D 4D'"), *asked)
    assert found.status == 0
    assert "chinese-3@1, against lowest, lowest: 3 blocks, 18 deals played; the seed is " in found.out
    assert "95 % interval that holds while one watches: too few blocks" in found.out
    assert "3 blocks; expected to go: about " in found.out
    assert "not known yet: B makes -" in found.out
    assert "faults: 0 of A, " in found.out
    assert "  compare/1/2/" in found.out


@pytest.mark.parametrize(
    ("bots", "status", "words"),
    [
        (["gredy", "greedy"], 2, ["'A'", "no sample bot and no program: 'gredy'; did you mean 'greedy'"]),
        (
            ["greedy", "/nowhere/bot --fast"],
            2,
            ["'B'", "no sample bot and no program: '/nowhere/bot --fast'"],
        ),
        (["greedy", "'bot"], 2, ["'B'", "No closing quotation"]),
        (["greedy", ""], 2, ["'B'", "no sample bot and no program"]),
        (["greedy"], 2, ["B"]),
        (["greedy", "keeper", "--t0", 0.1], 2, ["--t1", "must be more than t0, which is 0.1"]),
        (["greedy", "keeper", "--alpha", 0.6], 2, ["--alpha"]),
        (["greedy", "keeper", "--beta", 0], 2, ["--beta"]),
        (["greedy", "keeper", "--t1", "nan"], 2, ["--t1"]),
        (["greedy", "keeper", "--blocks", 0], 2, ["--blocks"]),
        (["greedy", "keeper", "--against", "gredy"], 1, ["no sample bot 'gredy'", "did you mean 'greedy'"]),
        (["greedy", "keeper", *["--against", "greedy"] * 4], 2, ["--against", "4 bots for 3 seats"]),
        (["greedy", "keeper", "--ruleset", "chines"], 1, ["chines"]),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else None,
)
def test_compare_that_cannot_be_is_refused_in_one_line(
    arena: Arena, bots: list[object], status: int, words: list[str]
) -> None:
    assert_one_line(arena("compare", *bots), status, *words)


def test_compare_when_a_bots_program_fails_then_its_last_lines_say_why(arena: Arena, folder: Path) -> None:
    result = arena("compare", "greedy", f"{sys.executable} -c 'import no_such_thing'")
    assert (result.status, result.out) == (1, "")
    assert result.err.endswith("error: bot-b: ModuleNotFoundError: No module named 'no_such_thing'\n")
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("command", "number"),
    [("compare", signal.SIGINT), ("compare", signal.SIGTERM), ("bot practice", signal.SIGHUP)],
)  # Ctrl-C in practice: tests/arena/test_cli_practice.py
def test_rooms_when_a_signal_ends_them_then_nothing_is_left(
    tmp_path: Path, command: str, number: signal.Signals
) -> None:
    slow = program(tmp_path, SLOW)
    given = (
        ["greedy", slow, "--json"]
        if command == "compare"
        else ["--deals", "1000", "--json", "--", *slow.split()]
    )
    name = "bot-b" if command == "compare" else "my-bot"
    folder = tmp_path / "temporary"
    folder.mkdir()
    with subprocess.Popen(
        tied(*arena_command(*command.split(), *given)),
        env=os.environ | {"TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        wait_for_line(process, folder, f"*/{name}.log", "/1 ")
        process.send_signal(number)
        out, err = process.communicate(timeout=DEADLINE)
    assert (process.returncode, err) == (128 + number, "")
    assert list(folder.iterdir()) == []
    assert json.loads(out)["interrupted"]
    if command == "compare":
        assert json.loads(out)["verdict"] == "open"
