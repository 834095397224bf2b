"""The wheels and sdists of the two distributions, and what works where only these are installed."""

import os
import re
import signal
import subprocess
import sys
import sysconfig
import tomllib
import venv
from collections.abc import Iterator
from importlib.metadata import distribution, version
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple
from urllib.request import urlopen
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

from arena.cli.demo import BOTS
from arena.host.settings import load_settings
from arena.store.storage import migrate_storage, open_storage
from arena.web.app import make_app
from arena.web.pages.links import wheel_url
from arena.web.serving import Server
from arena.web.wheel import make_wheel
from tests.arena.web.served import served, url_of
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


def files_in(wheel: Path) -> set[str]:
    with ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Published]:
    found = {}
    for package, source in PACKAGES.items():
        folder = tmp_path_factory.mktemp(package)
        build(source, folder, "wheel", "sdist")
        found[package] = Published(next(folder.glob("*.whl")), next(folder.glob("*.tar.gz")))
    return found


@pytest.fixture(scope="module")
def installed(published: dict[str, Published], tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return install(tmp_path_factory.mktemp("installed"), [one.wheel for one in published.values()])


@pytest.fixture(scope="module")
def light(published: dict[str, Published], tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Install only the light distribution, built from its sdist."""
    folder = tmp_path_factory.mktemp("light")
    wheel = wheel_of(published["referee"].sdist, folder)
    packages = folder / "dependencies"
    packages.mkdir()
    for name in dependencies("bigtwo-bot"):
        link(name, packages)
    return install(folder / "environment", [wheel], packages)


@pytest.fixture
def served_light(tmp_path: Path) -> Iterator[Server]:
    """Serve an empty arena, which was installed in editable mode."""
    settings = load_settings({"data": tmp_path / "arena"})
    migrate_storage(settings)
    with open_storage(settings) as storage, served(make_app(settings, storage)) as server:
        yield server


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


def install(folder: Path, wheels: list[Path], dependencies: Path | None = None, index: str = "") -> Installed:
    """Install wheels; their dependencies are in a folder, by default that of the tests' own environment.

    If there is an index, its light distribution is installed, too.
    """
    venv.create(folder)
    python = folder / "bin" / "python"
    pip = tied(sys.executable, "-m", "pip", "--quiet", "--isolated", "--no-cache-dir", "--python", python)
    named = ["--index-url", index, "bigtwo-bot"] if index else ["--no-index"]
    subprocess.run([*pip, "install", "--no-deps", *wheels, *named], check=True)
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


@pytest.mark.parametrize("package", PACKAGES)
def test_wheel_when_built_then_it_holds_every_file_of_its_package_alone(
    published: dict[str, Published], package: str
) -> None:
    there = {str(path.relative_to(ROOT)) for path in files_of(ROOT / package)}
    if package == "referee":
        there -= {f"referee/{name}" for name in ("LICENSE", "README.md", "hatch_build.py", "pyproject.toml")}
        base = {name for name in there if name.startswith("referee/starters/base/")}
        tests = {name for name in base if "/test/" in name or "/tests/" in name or name.endswith("_test.go")}
        there -= tests | {name for name in base if name.endswith("README.md")}
    ours = {name for name in files_in(published[package].wheel) if ".dist-info/" not in name}
    assert ours == there


def files_of(package: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(package, followlinks=True):
        folders[:] = [
            name for name in folders if name not in ("__pycache__", "build", "dist", "node_modules", "target")
        ]
        yield from (Path(folder, name) for name in names)


@pytest.mark.parametrize("package", PACKAGES)
def test_sdist_when_a_wheel_is_built_from_it_then_it_is_the_same(
    published: dict[str, Published], package: str, tmp_path: Path
) -> None:
    again = wheel_of(published[package].sdist, tmp_path)
    assert files_in(again) == files_in(published[package].wheel)


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
            with urlopen(found, timeout=60) as page:  # the demo printed this address itself
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


def test_light_installation_when_asked_then_it_answers_and_names_what_it_lacks(light: Installed) -> None:
    shown = light.run("arena", "--version")
    assert (shown.returncode, shown.stdout.startswith("arena "), shown.stderr) == (0, True, "")
    lacking = light.run("arena", "demo")
    assert (lacking.returncode, lacking.stdout) == (1, "")
    assert lacking.stderr == "error: `arena demo` comes with the whole arena: pip install bigtwo-arena\n"


def test_light_installation_depends_on_little() -> None:
    assert dependencies("bigtwo-bot") == {
        *("annotated-types", "googleapis-common-protos", "grpcio", "protobuf", "pydantic", "rich", "typer"),
        *("annotated-doc", "markdown-it-py", "mdurl", "pydantic-core", "pygments", "shellingham"),
        *("typing-extensions", "typing-inspection"),
    }


def test_light_installation_has_nothing_of_the_arena_and_bots_play_and_are_checked_in_it(
    light: Installed,
) -> None:
    for name in ("arena", "celery", "sqlalchemy", "cryptography", "uvloop", "numpy"):
        assert f"No module named '{name}'" in light.run("python", "-c", f"import {name}").stderr
    played = light.run("arena", "play", "greedy", "lowest", "--deals", "2", "--jobs", "1")
    assert (played.returncode, played.stderr) == (0, ""), played.stdout
    assert "again: arena play greedy lowest" in played.stdout
    checked = light.run("arena", "bot", "check", "greedy", "--scenario", "HELLO-01", "--scenario", "END-01")
    assert (checked.returncode, checked.stderr) == (0, ""), checked.stdout
    assert "passes" in checked.stdout


def test_light_distribution_when_an_arena_serves_it_then_pip_installs_it_from_there(
    served_light: Server, light: Installed, tmp_path: Path
) -> None:
    packages = light.programs.parents[1] / "dependencies"
    there = install(tmp_path / "environment", [], packages, f"{url_of(served_light)}/simple/")
    shown = there.run("arena", "bot", "--help")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "check" in shown.stdout
    played = there.run("arena", "play", "greedy", "lowest", "--deals", "2", "--jobs", "1")
    assert (played.returncode, played.stderr) == (0, ""), played.stdout
    named = f"{url_of(served_light)}{wheel_url()}"
    assert version("bigtwo-bot") in named
    with urlopen(named, timeout=60) as answer:
        assert answer.read() == make_wheel().content


def test_light_distribution_when_it_is_installed_then_the_wheel_made_of_it_is_that_which_was_installed(
    published: dict[str, Published], installed: Installed
) -> None:
    make = "import arena.web.wheel as made, sys; open(sys.argv[1], 'wb').write(made.make_wheel().content)"
    for name in ("one", "other"):
        done = installed.run("python", "-c", make, name)
        assert (done.returncode, done.stderr) == (0, "")
    one, other = installed.folder / "one", installed.folder / "other"
    assert one.read_bytes() == other.read_bytes()
    with ZipFile(one) as made, ZipFile(published["referee"].wheel) as built:
        assert {*made.namelist()} == {*built.namelist()}
        for name in made.namelist():
            if not name.endswith("/RECORD"):
                assert made.read(name) == built.read(name), name


def test_distributions_have_one_version_and_the_arena_asks_for_that_of_the_light_one() -> None:
    arena, light = (tomllib.loads((path / "pyproject.toml").read_text()) for path in PACKAGES.values())
    assert arena["project"]["version"] == light["project"]["version"]
    assert f"bigtwo-bot[referee]=={light['project']['version']}" in arena["project"]["dependencies"]
