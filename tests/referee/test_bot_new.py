"""Tests for ``arena bot new``: what it writes works, and it says so only after checking."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from referee.cli.app import run
from referee.samples import PLACEHOLDER, starter
from tests.tied import tied
from tests.waiting import wait_for


def new(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = tied(sys.executable, "-m", "referee", "bot", "new", *map(str, arguments))
    return subprocess.run(command, capture_output=True, text=True)


def test_new_bot_in_python_is_tested_checked_and_named_in_its_readme(tmp_path: Path) -> None:
    folder = tmp_path / "my-bot"
    done = new(folder)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert done.stdout.splitlines()[-1].startswith("built, tested and checked in 9 scenarios: it works.")
    assert {path.name for path in folder.iterdir()} >= {"bot.py", "test_bot.py", "README.md", ".gitignore"}
    readme = (folder / "README.md").read_text()
    assert readme.startswith("# my-bot\n")
    assert PLACEHOLDER.decode() not in readme


def test_new_bot_when_the_folder_is_there_then_nothing_is_touched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "bot.py"
    mine.write_text("mine")
    assert run(["bot", "new", str(tmp_path)]) == 1
    assert "is there already, and nothing is overwritten" in capsys.readouterr().err
    assert [*tmp_path.iterdir()] == [mine]
    assert mine.read_text() == "mine"


def test_new_bot_when_it_could_not_be_registered_under_its_name_then_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["bot", "new", str(tmp_path / "My_Bot")]) == 1
    assert capsys.readouterr().err == (
        "error: 'My_Bot' cannot be registered as a bot's name: "
        "1 to 39 of a-z, 0-9 and -, not beginning with -; my-bot can be\n"
    )
    assert [*tmp_path.iterdir()] == []


def test_new_bot_when_the_language_is_not_installed_then_it_is_written_and_said_not_to_be_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    folder = tmp_path / "gopher"
    assert run(["bot", "new", str(folder), "--language", "go"]) == 1
    shown = capsys.readouterr()
    assert shown.err == f"error: {folder} is written, but not checked: go not found; see https://go.dev/dl\n"
    assert "it works" not in shown.out
    assert (folder / "strategy.go").is_file()


def test_new_bot_when_it_cannot_be_built_then_that_is_said_with_what_the_tool_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "go"
    tool.write_text("#!/bin/sh\necho no such module; exit 3\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    assert run(["bot", "new", str(tmp_path / "bot"), "--language", "go"]) == 1
    shown = capsys.readouterr()
    assert "  | no such module\n" in shown.err
    assert shown.err.endswith(
        f"is written, but not checked: `go test .` ended with status 3; to go on: cd {tmp_path / 'bot'} && "
        "go test . && go build -o bot . && arena bot check bot -- ./bot\n"
    )


def has_ended(group: int) -> bool:
    """Return whether no process of a group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


def test_new_bot_when_its_build_takes_too_long_then_all_of_it_ends_and_the_rest_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "go"
    tool.write_text(
        "#!/bin/sh\ncase $1 in test) exit 0;; esac\necho compiling\n"
        f"(echo $$; exec tail -f /dev/null) > {tmp_path}/pid"
    )
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    folder = tmp_path / "bot"
    assert run(["bot", "new", str(folder), "--language", "go", "--build-seconds", "1"]) == 1
    shown = capsys.readouterr()
    assert "  | compiling\n" in shown.err
    assert shown.err.endswith(
        f"{folder} is written, but not checked: `go build -o bot .` took longer than 1 s, which "
        f"--build-seconds changes; to go on: cd {folder} && go build -o bot . && "
        "arena bot check bot -- ./bot\n"
    )
    group = int((tmp_path / "pid").read_text())
    wait_for(lambda: has_ended(group))  # what was killed is there until its parent has noticed


def test_new_bot_when_its_language_is_unknown_then_protocol_and_check_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["bot", "new", str(tmp_path / "bot"), "--language", "COBOL"]) == 2
    told = capsys.readouterr().err
    assert "no starter for 'COBOL', only for python, cpp, go, java, rust, typescript; " in told
    assert "docs/protocol.md" in told
    assert "arena bot check" in told
    assert not (tmp_path / "bot").exists()


@pytest.mark.parametrize("language", ["python", "cpp", "go", "java", "rust", "typescript"])
def test_starter_has_the_files_of_its_language_and_no_tests_of_the_client(language: str) -> None:
    names = {*starter(language, "fox")}
    assert "README.md" in names
    wanted = {
        "python": {"bot.py", "test_bot.py"},
        "cpp": {
            "CMakeLists.txt",
            "proto/google/rpc/details.proto",
            "proto/referee/v1/bots.proto",
            "src/bot/main.cpp",
            "src/bot/planner.cpp",
            "src/bot/planner.h",
            "src/client/client.cpp",
            "src/client/client.h",
            "test/planner_test.cpp",
        },
        "go": {
            "go.mod",
            "go.sum",
            "main.go",
            "strategy.go",
            "strategy_test.go",
            "client/client.go",
            "referee/v1/bots.pb.go",
        },
        "java": {
            "pom.xml",
            "src/main/java/bigtwo/bot/Main.java",
            "src/main/java/bigtwo/bot/Planner.java",
            "src/main/java/bigtwo/client/Client.java",
            "src/main/proto/referee/v1/bots.proto",
            "src/test/java/bigtwo/bot/PlannerTest.java",
        },
        "rust": {
            "Cargo.lock",
            "Cargo.toml",
            "build.rs",
            "proto/referee/v1/bots.proto",
            "src/client/client.rs",
            "src/main.rs",
            "src/strategy.rs",
        },
        "typescript": {
            "package.json",
            "src/main.ts",
            "src/gen/referee/v1/bots_pb.ts",
            "test/strategy.test.ts",
        },
    }
    assert wanted[language] <= names
    assert not any(name.startswith("client/") and name.endswith("_test.go") for name in names)
