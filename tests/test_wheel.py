"""The wheels and sdists of the two distributions, and what works where only these are installed."""

import os
import re
import signal
import tomllib
from collections.abc import Iterator
from html import unescape
from importlib.metadata import version
from itertools import takewhile
from pathlib import Path
from urllib.request import urlopen
from zipfile import ZipFile

import pytest

from arena.cli.demo import BOTS
from arena.host.settings import load_settings
from arena.results.strength.fitting import fit_due
from arena.store.storage import migrate_storage, open_storage
from arena.store.watch import commit
from arena.web.app import make_app
from arena.web.serving import Server
from arena.web.wheel import make_wheel
from tests.arena.exported import play_by_table
from tests.arena.fakes import Clock
from tests.arena.given_keys import give_arena_key
from tests.arena.test_luck import weigh
from tests.arena.web.served import served, url_of
from tests.arena.world import World
from tests.installing import PACKAGES, ROOT, Installed, Published, dependencies, install, link, wheel_of

ADDRESS = "https://arena.example.org"
"""Where the served arena says that it is."""


def files_in(wheel: Path) -> set[str]:
    with ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.fixture
def served_arena(tmp_path: Path) -> Iterator[Server]:
    """Serve an empty arena, which was installed in editable mode."""
    settings = load_settings({"data": tmp_path / "arena", "web_url": ADDRESS})
    migrate_storage(settings)
    with open_storage(settings) as storage, served(make_app(settings, storage)) as server:
        yield server


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
    else:
        there |= {"arena/commit.txt"} if commit() else set()
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
    assert lacking.stderr.startswith(
        "error: `arena demo` comes with the whole arena: pip install bigtwo-arena"
    )
    lacking = light.run("arena", "--server", "https://arena.example.org", "leaderboard")
    assert (lacking.returncode, lacking.stderr.partition(":")[2].strip()[:16]) == (1, "`arena --server`")


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


def test_distributions_when_an_arena_serves_them_then_pip_installs_them_from_its_index(
    served_arena: Server, tmp_path: Path
) -> None:
    index = f"{url_of(served_arena)}/simple/"
    there = install(tmp_path / "environment", ["--index-url", index, "bigtwo-arena", "bigtwo-bot"])
    shown = there.run("arena", "--version")
    assert (shown.returncode, shown.stdout.split()[:2]) == (0, ["arena", version("bigtwo-arena")])
    place = there.run("python", "-c", "import arena; print(arena.__file__)").stdout.strip()
    assert Path(place).is_relative_to(there.programs.parent)


def test_distributions_when_an_arena_serves_them_then_its_guide_shows_the_lines_that_install_them(
    served_arena: Server, light: Installed, tmp_path: Path
) -> None:
    origin = url_of(served_arena)
    with urlopen(f"{origin}/guide", timeout=60) as answer:
        guide = answer.read().decode()
    lines = re.findall("<code>pip install (.*)</code>", guide)
    own, _, both = (line.replace(ADDRESS, origin).split() for line in lines)
    packages = light.programs.parents[1] / "dependencies"
    there = install(tmp_path / "light", own, packages)
    played = there.run("arena", "play", "greedy", "lowest", "--deals", "2", "--jobs", "1")
    assert (played.returncode, played.stderr) == (0, ""), played.stdout
    assert there.run("arena", "verify", "none.jsonl").stderr.endswith(
        "comes with the verifier: pip install bigtwo-verify, or the line for it on an arena's page /guide\n"
    )
    assert {*own} < {*both}
    there = install(tmp_path / "whole", both)
    shown = there.run("arena", "verify", "--help")
    assert (shown.returncode, shown.stderr) == (0, "")


@pytest.fixture
def played_arena(tmp_path: Path) -> Iterator[Server]:
    """Serve an arena in which a tournament was played."""
    settings = load_settings({"data": tmp_path / "arena", "web_url": ADDRESS})
    migrate_storage(settings)
    give_arena_key(settings)
    with open_storage(settings) as storage:
        world = World(storage, Clock())
        world.finish(world.tournament(5, sessions=2, rounds=2).id, play_by_table)
        weigh(world)
        fit_due(storage, world.clock())
        with served(make_app(settings, storage)) as server:
            yield server


def test_verifier_when_it_is_installed_as_a_page_says_then_it_checks_an_export_and_a_board_without_an_arena(
    played_arena: Server, tmp_path: Path
) -> None:
    origin = url_of(played_arena)

    def read(path: str) -> str:
        with urlopen(f"{origin}{path}", timeout=60) as answer:
            return str(answer.read().decode())

    packages = tmp_path / "dependencies"
    packages.mkdir()
    needed = {"cryptography", "numpy"}
    for name in dependencies("bigtwo-bot") | needed | {each for one in needed for each in dependencies(one)}:
        link(name, packages)
    pages = {"/tournaments/cup": "cup.jsonl", "/board": "board.json"}
    shown = [unescape(read(path)) for path in pages]
    [line] = {found for page in shown for found in re.findall("<code>pip install (.*)</code>", page)}
    there = install(tmp_path / "environment", line.replace(ADDRESS, origin).split(), packages)
    for page, name in zip(shown, pages.values(), strict=True):
        [path] = re.findall(f'curl -fo {name} "?{ADDRESS}([^\\s"]*)', page)
        assert f'href="{path}"' in page
        (there.folder / name).write_text(read(path))
    checked = there.run("arena", "verify", "board.json", "cup.jsonl", "--references")
    assert (checked.returncode, checked.stderr) == (0, ""), checked.stdout
    assert "board.json: ok: the board of chinese@1, tables of 4: all of 5 bots follows" in checked.stdout
    assert "cup.jsonl: ok: cup, finished: 2 rounds" in checked.stdout
    for name in ("arena", "sqlalchemy", "celery", "fastapi"):
        assert f"No module named '{name}'" in there.run("python", "-c", f"import {name}").stderr
    board = there.folder / "board.json"
    board.write_text(board.read_text().replace('"rating":15', '"rating":16'))
    assert there.run("arena", "verify", "board.json").returncode == 1


def test_verifier_when_it_is_installed_by_name_then_it_comes_from_the_index_of_the_arena(
    served_arena: Server, tmp_path: Path
) -> None:
    index = f"{url_of(served_arena)}/simple/"
    there = install(tmp_path / "environment", ["--index-url", index, "bigtwo-verify", "bigtwo-bot"])
    shown = there.run("arena", "verify", "--help")
    assert (shown.returncode, shown.stderr) == (0, "")


@pytest.mark.parametrize(("project", "package"), [("bigtwo-bot", "referee"), ("bigtwo-arena", "arena")])
def test_distribution_when_it_is_installed_then_the_wheel_made_of_it_is_that_which_was_installed(
    published: dict[str, Published], installed: Installed, project: str, package: str
) -> None:
    make = (
        "import sys; from arena.web.wheel import make_wheel; "
        "open(sys.argv[2], 'wb').write(make_wheel(sys.argv[1]).content)"
    )
    for name in ("first", "second"):
        done = installed.run("python", "-c", make, project, name)
        assert (done.returncode, done.stderr) == (0, "")
    first, second = installed.folder / "first", installed.folder / "second"
    assert first.read_bytes() == second.read_bytes()
    with ZipFile(first) as made, ZipFile(published[package].wheel) as built:
        assert {*made.namelist()} == {*built.namelist()}
        for name in made.namelist():
            if not name.endswith("/RECORD"):
                assert made.read(name) == built.read(name), name


def test_wheel_when_it_is_made_in_a_checkout_then_it_has_all_files_of_the_built_one(
    published: dict[str, Published], tmp_path: Path
) -> None:
    for package, project in (("referee", "bigtwo-bot"), ("arena", "bigtwo-arena")):
        made = tmp_path / f"{package}.whl"
        made.write_bytes(make_wheel(project).content)
        assert files_in(published[package].wheel) - files_in(made) == set()


def test_distributions_have_one_version_and_the_arena_asks_for_that_of_the_light_one() -> None:
    arena, light = (tomllib.loads((path / "pyproject.toml").read_text()) for path in PACKAGES.values())
    assert arena["project"]["version"] == light["project"]["version"]
    assert f"bigtwo-bot[referee]=={light['project']['version']}" in arena["project"]["dependencies"]
