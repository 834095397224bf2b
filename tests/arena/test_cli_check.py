"""``arena bot check``: a real check of a real bot, and what is stored of it."""

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from sqlmodel import select

import referee.check
from arena.cli.local import arena_command
from arena.host.settings import Settings
from arena.store.models import BotVersion
from arena.store.storage import Storage
from referee.cli.botcheck import write_report
from referee.errors import RefereeError
from tests.arena.cli import Arena, assert_one_line, make_arena
from tests.arena.running import SAMPLE_BOTS
from tests.tied import tied
from tests.waiting import DEADLINE, is_gone, wait_for, wait_for_line

GREEDY = ["--", sys.executable, str(SAMPLE_BOTS / "greedy.py")]


@pytest.fixture
def arena(migrated: Settings, capsys: pytest.CaptureFixture[str]) -> Arena:
    arena = make_arena(migrated.data, capsys)
    arena("bot", "register", "ann/greedy")
    return arena


def stored(storage: Storage) -> BotVersion:
    with storage.read() as tx:
        return tx.exec(select(BotVersion)).one()


def test_check_of_some_scenarios_is_shown_and_not_kept(arena: Arena, storage: Storage) -> None:
    result = arena("bot", "check", "ann/greedy", "--scenario", "PING-01", *GREEDY)
    assert result.status == 0
    assert "PING-01   passed" in result.out
    assert "The bot passes the scenarios asked for: 1 passed." in result.out
    assert stored(storage).check_report is None


def test_check_that_passes_is_kept(arena: Arena, storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    quick, codes = partial(referee.check.check), ["HELLO-01", "PING-01"]

    async def check(**asked: object) -> referee.check.Report:
        return await quick(**(asked | {"scenarios": codes}))  # type: ignore[arg-type]

    monkeypatch.setattr(referee.check, "check", check)
    few = tuple(one for one in referee.check.SCENARIOS if one.code in codes)
    monkeypatch.setattr(referee.check, "SCENARIOS", few)
    result = arena("bot", "check", "ann/greedy", "--json", *GREEDY)
    version = stored(storage)
    assert (result.status, result.json["passed"], result.json["bot"]) == (0, True, "ann/greedy@1")
    assert version.check_passed_at is not None
    assert {"output": "bigtwo-cli/1", **(version.check_report or {})} == result.json
    assert arena("bot", "list", "--json").json["bots"][0]["check_passed_at"] is not None


def test_check_with_a_report_writes_what_json_prints_and_only_that(arena: Arena, tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    file.write_text("of an earlier check")
    link = tmp_path / "link.json"
    link.symlink_to(file)
    asked = ("--report", link, "--scenario", "TURN-01", "--json")
    result = arena("bot", "check", "ann/greedy", *asked, *GREEDY)
    assert json.loads(file.read_text()) == result.json
    assert result.json["figures"]["turns"] == 1
    assert link.is_symlink()
    assert sorted(tmp_path.glob("*.json*")) == [link, file]


def test_check_with_a_report_that_cannot_be_written_is_refused_before_it_starts(
    arena: Arena, tmp_path: Path
) -> None:
    nowhere = tmp_path / "none" / "report.json"
    wrong = {
        nowhere: "does not exist",
        tmp_path: "is not a regular file",
        Path("/dev/null"): "is not a regular",
    }
    for file, why in wrong.items():
        refused = arena("bot", "check", "ann/greedy", "--report", file, "--", sys.executable, "-c", "0")
        assert_one_line(refused, 2, "--report", f"{file}", why)


def test_report_that_cannot_be_written_whole_leaves_the_earlier_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "report.json"
    file.write_text("of an earlier check")

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(RefereeError, match=f"^cannot write {file}: No space left on device$"):
        write_report(file, referee.check.Report("greedy", "", 1, ()))
    assert [one.read_text() for one in tmp_path.iterdir()] == ["of an earlier check"]


def test_check_that_fails_is_kept_and_ends_with_status_1(arena: Arena, storage: Storage) -> None:
    program = "import sys; sys.exit('no such model')"
    result = arena("bot", "check", "ann/greedy@1", "--", sys.executable, "-c", program)
    assert result.status == 1
    assert "HELLO-01  failed" in result.out
    assert "its process ended with status 1\n    | no such model\n" in result.out
    assert f"{len(referee.check.SCENARIOS) - 1} scenarios not run" in result.out
    assert max(map(len, result.out.splitlines())) <= 100
    version = stored(storage)
    assert version.check_passed_at is None
    assert version.check_report is not None
    assert version.check_report["passed"] is False


def test_check_without_a_command_waits_for_the_bot(arena: Arena, storage: Storage) -> None:
    result = arena("bot", "check", "ann/any", "--no-store", "--wait", 0.1, "--scenario", "HELLO-01")
    assert result.status == 1
    assert "start the bot with: ARENA_REFEREE=127.0.0.1:" in result.err
    assert "ARENA_TOKEN=" in result.err
    assert "expected the bot to connect" in result.out
    assert stored(storage).check_report is None


@pytest.mark.parametrize("name", ["any", "ann/", "Ann/bot", "ann/my bot", "ann/bot@0", "ann/bot@x", "a/b/c"])
def test_check_of_what_is_no_bots_name_is_refused_before_it_waits(arena: Arena, name: str) -> None:
    result = arena("bot", "check", name, "--no-store")
    assert_one_line(result, 1, "bot", f"{name!r} is neither owner/bot nor owner/bot@number")


def test_check_that_cannot_be_made_is_one_line(arena: Arena, tmp_path: Path) -> None:
    assert_one_line(arena("bot", "check", "ann/zoe", *GREEDY), 1, "no bot 'ann/zoe'")
    wrong = arena("bot", "check", "ann/greedy", "--scenario", "XX-01", *GREEDY)
    assert_one_line(wrong, 1, "scenarios", "XX-01")
    assert_one_line(arena("bot", "check", "ann/greedy", "--listen", "nowhere", *GREEDY), 1, "nowhere")
    log = tmp_path / "none" / "bot.log"
    assert_one_line(arena("bot", "check", "ann/greedy", "--log", log, *GREEDY), 2, "--log", str(log))
    absent = arena("bot", "check", "ann/greedy", "--", "/nowhere/bot")
    assert_one_line(absent, 2, "COMMAND", "program '/nowhere/bot' not found")
    script = tmp_path / "bot.sh"
    script.touch()
    refused = arena("bot", "check", "ann/greedy", "--", script)
    assert_one_line(refused, 2, "COMMAND", f"{script} is not executable", "chmod +x")
    refused = arena("bot", "check", "ann/greedy", "--", tmp_path)
    assert_one_line(refused, 2, "COMMAND", f"{tmp_path} is a folder, not a program")
    arena("bot", "revoke", "ann/greedy@1", "--yes")
    assert_one_line(arena("bot", "check", "ann/greedy@1", *GREEDY), 1, "the token of ann/greedy@1 is revoked")


@contextmanager
def checking(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Check a bot that thinks for ever, and yield the process of the check once the bot is thinking."""
    bot = tmp_path / "bot.py"
    bot.write_text(
        "import os, time\nfrom referee.bot import main\n"
        "main(lambda turn: print(f'process {os.getpid()} thinks', flush=True) or time.sleep(600))\n"
    )
    codes = ("--scenario", "HELLO-01", "--scenario", "TURN")
    files = ("--log", str(tmp_path / "bot.log"), "--report", str(tmp_path / "report.json"))
    command = ("bot", "check", "ann/bot", "--no-store", *codes, *files)
    with subprocess.Popen(
        tied(*arena_command(*command, "--", sys.executable, str(bot))),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        wait_for_line(process, tmp_path, "bot.log", " thinks\n")
        yield process


def bot_of(tmp_path: Path) -> int:
    """Return the process id of the bot that is being checked."""
    return int((tmp_path / "bot.log").read_text().partition("process ")[2].split()[0])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_check_when_a_signal_ends_it_then_it_tells_what_is_known_and_the_bot_is_ended(
    tmp_path: Path, number: signal.Signals
) -> None:
    with checking(tmp_path) as process:
        assert process.stdout is not None
        first = process.stdout.readline()  # before the end: each result is printed as it comes
        process.send_signal(number)
        out, err = process.communicate(timeout=DEADLINE)
    assert (process.returncode, err) == (128 + number, "")
    assert first == "HELLO-01  passed   Opens with a hello\n"
    assert "The check stopped here: it was interrupted.\n16 scenarios not run.\n" in out
    assert "The bot passes so far, but not all was tried" in out
    report = json.loads((tmp_path / "report.json").read_text())
    assert (report["passed"], report["stopped"]) == (False, "it was interrupted")
    assert report["sdk"].startswith("bigtwo-bot python")
    assert (report["counts"]["passed"], len(report["left_out"])) == (1, 16)
    with pytest.raises(ProcessLookupError):
        os.kill(bot_of(tmp_path), 0)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ties processes to each other")
def test_check_when_it_is_killed_then_the_bot_is_ended_too(tmp_path: Path) -> None:
    with checking(tmp_path) as process:
        process.kill()
    wait_for(lambda: is_gone(bot_of(tmp_path)))
