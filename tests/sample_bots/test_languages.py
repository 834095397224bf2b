"""A tournament of bots in all languages at one table, with the commands that authors and organisers type."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from sqlmodel import func, select

from arena.store.models import OpenDeal
from arena.store.storage import Storage
from tests.arena.cli import assert_one_line, make_arena
from tests.arena.ports import free_address
from tests.arena.running import running_arena
from tests.sample_bots.toolchain import SAMPLES, run_in
from tests.tied import tied
from tests.waiting import DEADLINE, wait_for

ARENA = (sys.executable, "-m", "arena")
ROUNDS, SESSIONS, DEALS = 2, 6, 15
TOURNAMENT = f"""
name = "languages"
format = "round-robin"
entrants = [@@ENTRANTS]
rounds = {ROUNDS}
sessions = {SESSIONS}
deals = {DEALS}
decision_ms = 20_000
bank_ms = 600_000
increment_ms = 100
ask_forced = true
require_check = true

[ruleset]
extends = "only-a-game-8"
name = "languages"
players = @@PLAYERS
"""


@pytest.fixture
def commands(
    cpp_bot: Path, go_bot: Path, java_bot: Path, rust_bot: Path, typescript_bot: list[str]
) -> dict[str, list[str]]:
    """Return the command that starts each bot version."""
    return {
        "ann/python@1": [sys.executable, str(SAMPLES / "python" / "keeper.py")],
        "bob/go@1": [str(go_bot)],
        "cy/typescript@1": typescript_bot,
        "dee/rust@1": [str(rust_bot)],
        "eve/java@1": [str(java_bot)],
        "fay/cpp@1": [str(cpp_bot)],
    }


@contextmanager
def started(command: Sequence[str], environment: Mapping[str, str], log: Path) -> Iterator[None]:
    """Run a bot, telling it to leave at the end, which it must do; its standard error goes to ``log``."""
    with (
        log.open("w") as file,
        subprocess.Popen(
            tied(*command), env=os.environ | environment, stdin=subprocess.DEVNULL, stderr=file
        ) as process,
    ):
        try:
            yield
            assert process.poll() is None, log.read_text()
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(DEADLINE) == 0, log.read_text()


def test_tournament_when_a_referee_dies_then_bots_in_all_languages_come_back_and_play_without_a_fault(
    commands: dict[str, list[str]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file, deals, whole = (tmp_path / name for name in ("languages.toml", "deals.jsonl", "whole.jsonl"))
    entrants = ", ".join(f'"{name.partition("@")[0]}"' for name in commands)
    file.write_text(TOURNAMENT.replace("@@ENTRANTS", entrants).replace("@@PLAYERS", str(len(commands))))
    address = free_address(2)
    elsewhere = address.replace("127.0.0.1", "localhost")  # unlike the referees' own spelling
    logs: list[Path] = []
    two_referees = {"listen": address, "referees": "", "local_referees": 2}
    with running_arena(tmp_path / "data", {}, **two_referees) as running, ExitStack() as bots:
        for variable, text in running.settings.environment().items():
            monkeypatch.setenv(variable, text)
        command_line = make_arena(tmp_path / "data", capsys)

        def arena(*arguments: object) -> str:
            result = command_line(*arguments)
            assert result.status == 0, result
            # They can fill a table in only one way, and bots may still be connecting at the start.
            assert all(line.startswith("warning: ") for line in result.err.splitlines()), result
            return result.out

        tokens = {name: arena("bot", "register", name.split("@")[0]).split()[-1] for name in commands}
        unchecked = command_line("tournament", "create", file)
        assert_one_line(
            unchecked, 1, f"entrants: ann/python@1 and {len(commands) - 1} others have not passed the check"
        )
        with ThreadPoolExecutor() as pool:
            for report in pool.map(lambda name: check(name, commands[name]), commands):
                assert "The bot passes" in report

        for number, (name, command) in enumerate(commands.items()):
            environment = {"ARENA_TOKEN": tokens[name], "ARENA_REFEREE": elsewhere}
            logs.append(tmp_path / f"bot-{number}.log")
            bots.enter_context(started(command, environment, logs[-1]))
        arena("tournament", "create", file)
        arena("tournament", "start", "languages")
        wait_for(lambda: sessions_in_progress(running.storage) > 0)
        for number in (1, 2):
            running.kill(f"referee{number}")
        arena("tournament", "watch", "languages")

        standings = arena("tournament", "standings", "languages", "--crosstable")
        ratings = arena("leaderboard", "--ruleset", "languages")
        for name, token in tokens.items():
            assert name in standings
            assert name in ratings
            assert arena("bot", "log", name, "--token", token, "--kind", "fault", "--json") == ""
        arena("export", "languages", "--deals", "--output", deals)
        arena("export", "languages", "--output", whole)
    for log in logs:
        assert len(re.findall(r"\bconnected\b", log.read_text())) >= 4, log.read_text()
        assert "not rated yet" in log.read_text()
        for told in ("session begins|languages begins: ", "has ended"):
            assert re.search(told, log.read_text()), log
    with deals.open() as lines:
        replayed = subprocess.run([*ARENA, "rules", "replay"], stdin=lines, capture_output=True, text=True)
    assert replayed.stderr == ""
    answers = [json.loads(line) for line in replayed.stdout.splitlines()]
    assert "ok: languages, finished: " in arena("verify", whole)
    parts = [json.loads(line) for line in whole.read_text().splitlines()]
    matches = [part for part in parts if part.get("part") == "match"]
    assert answers == [{"ok": True}] * sum(one["deals"] for match in matches for one in match["sessions"])
    assert [match["faults"] for match in matches] == [[0] * len(commands)] * ROUNDS
    assert any(session["attempts"] > 1 for match in matches for session in match["sessions"])


def sessions_in_progress(storage: Storage) -> int:
    """Return how many sessions have deals that were played while they go on."""
    with storage.read() as tx:
        return tx.exec(select(func.count()).select_from(OpenDeal)).one()


def check(name: str, command: Sequence[str]) -> str:
    """Check a bot version and store the result; return the report."""
    return run_in(SAMPLES, *ARENA, "bot", "check", name, "--", *command)
