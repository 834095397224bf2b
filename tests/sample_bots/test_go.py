"""Tests for the sample bot in Go: its own tests, and its generated stubs."""

import re
import sys
from functools import partial
from pathlib import Path

from tests.sample_bots.toolchain import SAMPLES, run_in

FOLDER = SAMPLES / "go"
run = partial(run_in, FOLDER)


def test_sources_when_checked_then_they_are_formatted_and_vetted(go: str) -> None:
    assert run(str(Path(go).parent / "gofmt"), "-l", ".") == ""
    run(go, "vet", "./...")


def test_own_tests_when_run_then_they_pass(go: str) -> None:
    printed = run(go, "test", "./...")
    assert re.findall(r"^ok\s+(\S+)", printed, re.MULTILINE) == [
        "bigtwo-arena/sample-bot",
        "bigtwo-arena/sample-bot/client",
    ]


def test_stubs_when_generated_again_then_they_are_the_same(go: str, tmp_path: Path) -> None:
    run("./generate", str(tmp_path), PROTOC=f"{sys.executable} -m grpc_tools.protoc")
    assert stubs(tmp_path) == stubs(FOLDER), "the stubs do not match proto/: run sample_bots/go/generate"


def stubs(folder: Path) -> dict[str, str]:
    """Return the generated files by name, without the version of protoc in them."""
    found = {path.name: path.read_text() for path in (folder / "referee" / "v1").glob("*.go")}
    assert found
    return {name: re.sub(r"(?m)^//.*\bprotoc +v.*\n", "", text) for name, text in found.items()}
