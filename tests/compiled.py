"""The compiled build, in an environment of its own in ``.cache``, and tests that run with it.

``python -m tests.compiled`` builds it if its sources have changed, and prints its Python; arguments are those
of pytest, which then runs there. That environment has the compiled wheel and, behind it, the packages of
this one and the checkout: so tests, benchmarks and the arena come from here, and ``referee`` from the wheel.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from importlib.metadata import version
from pathlib import Path
from typing import NoReturn

from tests.builds import digest, have
from tests.tied import tied

ROOT = Path(__file__).resolve().parents[1]
PURE = ROOT / ".venv" / "bin" / "python"
"""The Python with the checkout, in which nothing is compiled."""
FOLDER = ROOT / ".cache" / "compiled"
WHEEL = ROOT / ".cache" / "wheel"
COMPILED = FOLDER / "bin" / "python"
"""The Python with the compiled wheel; see ``build``."""
SWITCH = "HATCH_BUILD_HOOK_ENABLE_CUSTOM"
SHIFTS = ROOT / "tests" / "shifts.py"
"""A module of the tests that is compiled as those of the wheel are."""


def environment() -> dict[str, str]:
    """Return the environment in which ``referee`` is that of the wheel, wherever a process is started."""
    return {**os.environ, "PYTHONSAFEPATH": "1"}


def missing() -> str:
    """Return what is not installed that compiling needs; nothing if all is there."""
    headers = Path(sysconfig.get_path("include"), "Python.h")
    lacks = [] if shutil.which("gcc") or shutil.which("cc") else ["a C compiler"]
    return " and ".join([*lacks, *([] if headers.exists() else [f"{headers}"])])


def build() -> None:
    """Build the wheel, and make the environment of ``COMPILED``, unless there is one of the same sources."""
    FOLDER.parent.mkdir(exist_ok=True)
    sources = [*(ROOT / "referee").rglob("*.py"), ROOT / "referee" / "pyproject.toml", SHIFTS]
    key = digest(sources, ROOT, sys.version, version("mypy"))
    with (FOLDER.parent / "compiled.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests in several processes ask for it
        built = FOLDER / "built"
        if built.is_file() and built.read_text() == key:
            return
        have(FOLDER.parent, "wheel", key, ["wheel"], _compile)
        shutil.rmtree(FOLDER, ignore_errors=True)
        venv.create(FOLDER)
        pip = tied(PURE, "-m", "pip", "--quiet", "--isolated", "--python", COMPILED, "install", "--no-index")
        _run([*pip, "--no-deps", *map(str, WHEEL.glob("*.whl"))], cwd=ROOT)
        packages, others = (
            Path(sysconfig.get_path("purelib", "venv", {"base": str(base)}))
            for base in (FOLDER, ROOT / ".venv")
        )
        (packages / "behind.pth").write_text(f"{others}\n{ROOT}\n")
        for file in WHEEL.glob(f"{SHIFTS.stem}*"):
            shutil.copy(file, packages)
        built.write_text(key)


def _compile() -> None:
    """Make what the environment is made of: the wheel, and the compiled module of the tests."""
    shutil.rmtree(WHEEL, ignore_errors=True)
    command = tied(PURE, "-m", "hatchling", "build", "--target", "wheel", "--directory", WHEEL)
    _run(command, cwd=ROOT / "referee", env={**os.environ, SWITCH: "true"})
    mypyc = tied(PURE.parent / "mypyc", "--config-file=", shutil.copy(SHIFTS, WHEEL))
    _run(mypyc, cwd=WHEEL, env={**os.environ, "MYPYPATH": str(ROOT)})


def _run(command: list[str], *, cwd: Path, env: dict[str, str] | None = None) -> None:
    done = subprocess.run(command, cwd=cwd, env=env, check=False, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


def _main(arguments: list[str]) -> NoReturn:
    if lacks := missing():
        print(f"left out, as {lacks} is not installed: tests of the compiled build", file=sys.stderr)
        sys.exit(os.environ.get("CI") == "true")
    build()
    if not arguments:
        print(COMPILED)
        sys.exit()
    # The checkout is behind the wheel, and nothing may put it in front.
    options = ["-m", "pytest", "-p", "no:schemathesis", "-o", "pythonpath=", "--import-mode", "append"]
    os.chdir(ROOT)
    os.execve(COMPILED, [str(COMPILED), *options, *arguments], environment())


if __name__ == "__main__":
    _main(sys.argv[1:])
