"""Tests that the compiled build decides as the pure one does: both run, and what they print is compared."""

import subprocess
from pathlib import Path

import pytest

from tests.compiled import COMPILED, PURE, ROOT, build, environment, missing
from tests.needed import leave_out
from tests.tied import tied

pytestmark = pytest.mark.timeout(3600)  # for building the wheel on a busy machine
HOOK = ROOT / "referee" / "hatch_build.py"


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    if lacks := missing():
        leave_out(f"{lacks} is not installed")
    build()


def printed(python: Path, *arguments: str) -> list[str]:
    """Return the lines that a program prints, started where the checkout is."""
    command = tied(python, *arguments)
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def agree(pure: list[str], compiled: list[str]) -> None:
    """Check that two programs printed the same; only the first line that differs is shown."""
    assert next((pair for pair in zip(pure, compiled, strict=False) if pair[0] != pair[1]), None) is None
    assert len(pure) == len(compiled)


def test_shift_when_compiled_then_it_is_right_at_every_width() -> None:
    agree(printed(PURE, "-m", "tests.shifts"), printed(COMPILED, "-c", "import shifts; shifts.main()"))


@pytest.mark.parametrize("shift", ["15 << width", "i64(1) << width", "-1 >> width"])
def test_build_when_a_literal_would_be_shifted_in_32_bits_then_it_ends(shift: str, tmp_path: Path) -> None:
    module = tmp_path / "referee" / "narrow.py"
    module.parent.mkdir()
    lines = ("from mypy_extensions import i64", "def shifted(width: i64) -> i64:", f"    return {shift}")
    module.write_text("\n".join(lines))
    command = tied(PURE, "-P", HOOK, tmp_path / "built", "narrow.py")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.endswith("shift a variable, not a literal, by an i64, in: shifted\n")


def test_deals_when_compiled_then_every_decision_and_result_is_the_same() -> None:
    pure, compiled = (printed(python, "-m", "tests.decisions") for python in (PURE, COMPILED))
    assert (pure.pop(0), compiled.pop(0)) == ("pure Python", "compiled")
    agree(pure, compiled)


def test_wheel_for_authors_when_the_arena_is_compiled_then_it_is_pure() -> None:
    made = (
        "import io, zipfile, arena.web.wheel as made",
        "files = zipfile.ZipFile(io.BytesIO(made.make_wheel(made.LIGHT).content))",
        "print(*(name for name in files.namelist() if name.endswith(made.COMPILED)))",
        "print(*(files.read(name).decode() for name in files.namelist() if name.endswith('/WHEEL')))",
    )
    (compiled, *lines) = printed(COMPILED, "-c", "\n".join(made))
    assert compiled == ""
    assert {"Root-Is-Purelib: true", "Tag: py3-none-any"} <= {*lines}


def test_program_when_it_is_started_from_the_checkout_then_its_build_is_that_of_its_python() -> None:
    for python, its in ((PURE, "pure Python"), (COMPILED, "compiled")):
        shown = printed(python, "-m", "referee", "--version")
        assert [line.partition(" (")[2] for line in shown] == [f"{its})"]
