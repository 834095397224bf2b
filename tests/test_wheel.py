"""What is published: a wheel and an sdist, and the arena as it is where only the wheel is installed."""

import os
import re
import signal
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple
from urllib.request import urlopen
from zipfile import ZipFile

import pytest

from arena.cli.demo import BOTS
from tests.tied import tied

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("arena", "referee")


class Published(NamedTuple):
    """What ``hatchling build`` makes of the checkout."""

    wheel: Path
    sdist: Path


class Installed(NamedTuple):
    """A virtual environment with the wheel and its dependencies, and an empty folder to work in."""

    programs: Path
    folder: Path

    def run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment, without what the tests' environment could add to it."""
        with self.start(program, *arguments) as process:
            out, err = process.communicate()
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def start(self, program: str, *arguments: str) -> subprocess.Popen[str]:
        """Start one."""
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("ARENA_", "PYTHON", "VIRTUAL_ENV"))
        }
        return subprocess.Popen(
            tied(self.programs / program, *arguments),
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


def build(source: Path, into: Path, *targets: str) -> None:
    options = [option for target in targets for option in ("--target", target)]
    command = tied(sys.executable, "-m", "hatchling", "build", "--directory", into, *options)
    subprocess.run(command, cwd=source, check=True, capture_output=True)


def files_in(wheel: Path) -> set[str]:
    with ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Published:
    folder = tmp_path_factory.mktemp("published")
    build(ROOT, folder, "wheel", "sdist")
    return Published(next(folder.glob("*.whl")), next(folder.glob("*.tar.gz")))


@pytest.fixture(scope="module")
def installed(published: Published, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder)
    python = folder / "bin" / "python"
    pip = tied(sys.executable, "-m", "pip", "--quiet", "--python", python)
    subprocess.run([*pip, "install", "--no-index", "--no-deps", published.wheel], check=True)
    packages = sysconfig.get_path("purelib", "venv", {"base": str(folder)})
    # The dependencies are those of the tests; a .pth in their folder, to this checkout, is not followed.
    Path(packages, "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    work = folder / "work"
    work.mkdir()
    return Installed(folder / "bin", work)


def test_wheel_when_built_then_it_holds_every_file_of_the_packages(published: Published) -> None:
    there = {str(path.relative_to(ROOT)) for package in PACKAGES for path in files_of(ROOT / package)}
    there |= {f"arena/sample_bots/{path.name}" for path in (ROOT / "sample_bots" / "python").glob("*.py")}
    ours = {name for name in files_in(published.wheel) if name.startswith(PACKAGES)}
    assert ours == there


def files_of(package: Path) -> Iterator[Path]:
    return (path for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def test_sdist_when_a_wheel_is_built_from_it_then_it_is_the_same(
    published: Published, tmp_path: Path
) -> None:
    subprocess.run(tied("tar", "-xzf", published.sdist), cwd=tmp_path, check=True)
    (source,) = tmp_path.iterdir()
    build(source, tmp_path / "again", "wheel")
    (again,) = (tmp_path / "again").iterdir()
    assert files_in(again) == files_in(published.wheel)
    assert (source / "sample_bots" / "python" / "greedy.py").is_file()


def test_installed_packages_when_loaded_then_they_are_not_those_of_the_checkout(installed: Installed) -> None:
    show = "import arena, referee; print(arena.__file__, referee.__file__)"
    places = installed.run("python", "-c", show).stdout.split()
    assert [Path(place).is_relative_to(installed.programs.parent) for place in places] == [True, True]


@pytest.mark.parametrize(
    ("arguments", "shown"), [(["--version"], "arena "), (["rules", "list"], "chinese@1")], ids=" ".join
)
def test_installed_arena_when_asked_then_it_answers(
    installed: Installed, arguments: list[str], shown: str
) -> None:
    done = installed.run("arena", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert shown in done.stdout


def test_installed_demo_runs_three_tournaments_verifies_every_deal_and_serves_its_pages(
    installed: Installed,
) -> None:
    with installed.start("arena", "demo", "--web") as process:
        assert process.stdout is not None
        shown = "".join(takewhile(lambda line: not line.startswith("Ctrl-C"), process.stdout))
        for found in re.findall(r"^(?:Look at it|The longest deal): (\S+)$", shown, re.MULTILINE):
            with urlopen(found, timeout=60) as page:  # the address is one that the demo printed
                assert b"<main" in page.read()
        process.send_signal(signal.SIGINT)
        rest, err = process.communicate()
    out = shown + rest
    assert (process.returncode, err) == (0, ""), out
    assert out.count("deals follow from it") == 3
    assert "The longest deal: " in out
    pids = re.findall(r"process (\d+)", out)
    assert len(pids) == len(BOTS)
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
    boards = out.split("tables of 4")[1:]
    assert boards
    for board in boards:
        ranked = re.findall(r"(\S+/\S+)@1", board)[: len(BOTS)]
        assert {"bob/random", "fay/random"} == set(ranked[-2:])
