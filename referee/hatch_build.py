"""Compiles the modules in which the time of a decision goes, for a wheel built with the switch for it.

Hatchling takes this hook only where ``HATCH_BUILD_HOOK_ENABLE_CUSTOM=true``; then mypyc makes C of the
modules, and the C compiler makes one shared library of all, with a small extension beside each module. The
sources stay in the wheel: what is served to authors is made from them, and so are the lines of tracebacks.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE = "referee"

LIBRARY = f"{PACKAGE}.compiled"
"""The shared library; mypyc adds ``__mypyc`` to its name."""

FOLDERS = ("deals", "helpers", "matches", "protocol", "reference", "rules", "sage")
COMPILED = (
    *("cards.py", "memo.py", "position.py", "worlds.py"),
    *("bot/seat.py", "bot/turn.py", "bot/view.py", "records/random_play.py", "service/dialogue.py"),
    *(f"{folder}/*.py" for folder in FOLDERS),
)
"""What is compiled, as patterns of paths in the package."""

INTERPRETED = {
    "matches/match.py": "pydantic makes its classes",
    "protocol/reasons.py": "grpc's stubs call a tuple what is none",
    "sage/bot.py": "a bot's methods are assigned in its class",
}
"""What is not compiled, though a pattern has it, and why. Packages' own modules never are."""


def modules(package: Path) -> list[str]:
    """Return the paths of the modules to compile, inside the package."""
    paths = {path.relative_to(package).as_posix() for pattern in COMPILED for path in package.glob(pattern)}
    return sorted(path for path in paths - INTERPRETED.keys() if not path.endswith("__init__.py"))


class Compiling(BuildHookInterface[Any]):
    """Adds the compiled modules to a wheel, whose tag then says for which Python and system it is."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the modules. An editable installation has none."""
        if version == "editable":
            return
        self._folder = TemporaryDirectory(prefix="bigtwo-bot-")
        folder = Path(self._folder.name)
        # In an sdist, the package's folder has another name.
        sources, built = folder / "sources", folder / "built"
        unneeded = shutil.ignore_patterns("starters", "sample_bots")
        shutil.copytree(self.root, sources / PACKAGE, ignore=unneeded)
        command = [sys.executable, "-P", __file__, str(built), *modules(Path(self.root))]
        subprocess.run(command, cwd=sources, check=True)  # the interpreter that runs this
        build_data["pure_python"], build_data["infer_tag"] = False, True
        for path in built.rglob("*.*"):
            # Hatchling puts the package's folder in front, as for all other files.
            build_data["force_include"][str(path)] = path.relative_to(built / PACKAGE).as_posix()

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was made on the way."""
        if version != "editable":
            self._folder.cleanup()


NARROW = re.compile(r"= -?\d+ (<<|>>) cpy_r")
"""A literal that C shifts by a variable, in 32 bits."""


def compile_modules(built: str, names: list[str]) -> None:
    """Compile modules of the package in the working directory, into a folder.

    Exits with what is wrong where mypyc would shift in 32 bits.
    """
    from mypyc.build import mypycify
    from setuptools import setup

    # What is not typed is no matter here: ``make check`` says so.
    flags = ["--config-file=", "--ignore-missing-imports", "--python-executable", sys.executable]
    paths = [f"{PACKAGE}/{name}" for name in names]
    extensions = mypycify([*flags, *paths], group_name=LIBRARY, opt_level="2", debug_level="0")
    if narrow := sorted({place for path in Path("build").rglob("*.c") for place in narrow_shifts(path)}):
        # Of 2.4.1: even ``i64(15) << n`` is 15 << n for the C compiler.
        sys.exit(f"shift a variable, not a literal, by an i64, in: {', '.join(narrow)}")
    arguments = ["--quiet", "build_ext", "--build-lib", built, "--build-temp", "objects"]
    setup(name=PACKAGE, ext_modules=extensions, script_args=arguments, packages=[])


def narrow_shifts(generated: Path) -> Iterator[str]:
    """Yield the functions of a file of C, made by mypyc, in which a literal is shifted in 32 bits."""
    function = ""
    with generated.open() as lines:
        for line in lines:
            if line.endswith(") {\n") and (named := re.search(r"CPyDef_(\w+)\(", line)):
                function = named[1]
            elif NARROW.search(line):
                yield function


if __name__ == "__main__":
    compile_modules(sys.argv[1], sys.argv[2:])
