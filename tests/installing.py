"""Virtual environments as users make them: with the library for authors alone, or with the whole arena."""

import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Sequence
from importlib.metadata import distribution
from pathlib import Path
from typing import NamedTuple

import pytest
from packaging.requirements import Requirement

from tests.tied import tied

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = {"arena": ROOT, "referee": ROOT / "referee"}
"""The packages, each a distribution, and the folders with their ``pyproject.toml``."""


class Published(NamedTuple):
    """What ``hatchling build`` makes of one distribution from the checkout."""

    wheel: Path
    sdist: Path


class Installed(NamedTuple):
    """A virtual environment with wheels and their dependencies, and an empty folder to work in."""

    programs: Path
    folder: Path

    def run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment, without anything that the tests' environment could add to it."""
        with self.start(program, *arguments) as process:
            out, err = process.communicate()
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def start(self, program: str, *arguments: str) -> subprocess.Popen[str]:
        """Start a program of the environment."""
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


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Published]:
    found = {}
    for package, source in PACKAGES.items():
        folder = tmp_path_factory.mktemp(package)
        build(source, folder, "wheel", "sdist")
        found[package] = Published(next(folder.glob("*.whl")), next(folder.glob("*.tar.gz")))
    return found


@pytest.fixture(scope="session")
def installed(published: dict[str, Published], tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return install(tmp_path_factory.mktemp("installed"), [built.wheel for built in published.values()])


@pytest.fixture(scope="session")
def light(published: dict[str, Published], tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Install only the light distribution, built from its sdist."""
    folder = tmp_path_factory.mktemp("light")
    wheel = wheel_of(published["referee"].sdist, folder)
    packages = folder / "dependencies"
    packages.mkdir()
    for name in dependencies("bigtwo-bot"):
        link(name, packages)
    return install(folder / "environment", [wheel], packages)


def dependencies(name: str) -> set[str]:
    """Return the distributions that one requires, directly or indirectly, without any extras."""
    found: set[str] = set()
    wanted = [name]
    while wanted:
        for text in distribution(wanted.pop()).requires or ():
            one = Requirement(text)
            if (one.marker is None or one.marker.evaluate({"extra": ""})) and one.name.lower() not in found:
                found.add(one.name.lower())
                wanted.append(one.name)
    return found


def link(name: str, folder: Path) -> None:
    """Fill a folder with what one distribution of this environment has installed, and nothing of others."""
    for file in distribution(name).files or ():
        target = folder / file
        if file.parts[0] not in ("..", "__pycache__") and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(Path(str(file.locate())))


def install(folder: Path, given: Sequence[object], dependencies: Path | None = None) -> Installed:
    """Install what is given to ``pip install``, in an environment of its own.

    Dependencies are in a folder, by default that of the tests' own environment.
    """
    venv.create(folder)
    python = folder / "bin" / "python"
    pip = tied(sys.executable, "-m", "pip", "--quiet", "--isolated", "--no-cache-dir", "--python", python)
    subprocess.run([*pip, "install", "--no-deps", *map(str, given)], check=True)
    packages = sysconfig.get_path("purelib", "venv", {"base": str(folder)})
    # The dependencies are those of the tests. The .pth file in their folder leads to this checkout; it is
    # ignored.
    Path(packages, "dependencies.pth").write_text(str(dependencies or sysconfig.get_path("purelib")))
    work = folder / "work"
    work.mkdir()
    return Installed(folder / "bin", work)


def wheel_of(sdist: Path, folder: Path) -> Path:
    """Return the wheel built from an sdist, inside a folder."""
    subprocess.run(tied("tar", "-xzf", sdist), cwd=folder, check=True)
    (source,) = folder.glob("bigtwo_*")
    build(source, folder / "again", "wheel")
    (wheel,) = (folder / "again").iterdir()
    return wheel
