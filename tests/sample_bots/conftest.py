"""The sample bots of other languages, each built once for all tests."""

import hashlib
from pathlib import Path

import pytest

from tests.sample_bots.toolchain import SAMPLES, require, run_in


@pytest.fixture(scope="session")
def go() -> str:
    """The path of Go."""
    return require("go")


@pytest.fixture(scope="session")
def go_bot(go: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bot in Go, built: a program."""
    path = tmp_path_factory.mktemp("go") / "sample-bot"
    run_in(SAMPLES / "go", go, "build", "-o", str(path), ".")
    return path


@pytest.fixture(scope="session")
def node() -> str:
    """The path of Node, with the bot's packages installed as the lock file says, and the bot built."""
    folder = SAMPLES / "typescript"
    path, npm = require("node"), require("npm")
    lock = hashlib.sha256((folder / "package-lock.json").read_bytes()).hexdigest()
    installed = folder / "node_modules" / ".installed"
    if not installed.exists() or installed.read_text() != lock:
        run_in(folder, npm, "ci")
        installed.write_text(lock)
    run_in(folder, npm, "run", "build")
    return path


@pytest.fixture(scope="session")
def typescript_bot(node: str) -> list[str]:
    """The command that starts the bot in TypeScript."""
    return [node, str(SAMPLES / "typescript" / "dist" / "src" / "main.js")]
