"""The distributions, for authors, verifiers and those who run an arena, as wheels of the files that run here.

So people install the very version that the arena plays with, wherever the arena itself came from. The same
files make the same wheel, byte for byte.
"""

import ast
import os
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.metadata import Distribution, PackagePath, distribution, version
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from packaging.requirements import Requirement

import arena
import referee
from arena.store.watch import commit

LIGHT, VERIFY, WHOLE = "bigtwo-bot", "bigtwo-verify", "bigtwo-arena"
PACKAGES = {LIGHT: Path(referee.__file__).parent, WHOLE: Path(arena.__file__).parent}
"""The folders of the packages by the names of their distributions."""
PROJECTS = (LIGHT, VERIFY, WHOLE)
"""All distributions, the smallest first."""

VERIFIER = ("arena.cli.verify", "arena.trust.verify.boards")
"""The modules of the arena that ``bigtwo-verify`` has, with all that they import when they are loaded."""
NEEDED = frozenset({"cryptography", "numpy"})
"""What it needs of the arena's own requirements, besides the library for authors."""
INSIDE = "bigtwo_verify"
"""Its package. The arena's modules are inside it, so that it can be installed beside the whole arena."""
START = f'''"""``arena verify`` without an arena: the modules of an arena that it takes."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from {VERIFIER[0]} import verify

__all__ = ["verify"]
'''
"""What makes these modules importable: as in an arena, they are of the package ``arena``."""

FILE = 0o100644 << 16
"""What zip files say of a file that its owner may write and everybody may read."""

INFO = frozenset({"METADATA", "WHEEL", "entry_points.txt"})
"""Files of an installed distribution's own folder that came with its wheel; so did its licences."""

COMPILED = tuple(EXTENSION_SUFFIXES)
"""Ends of the names of compiled modules, which are not served: authors have other systems."""

NOT_OURS = frozenset({"__pycache__", "build", "dist", "node_modules"})
"""Folders of a checkout that hold what was built or downloaded."""

NOT_INSTALLED = frozenset({"LICENSE", "README.md", "hatch_build.py", "pyproject.toml"})
"""Files beside the package in a checkout."""


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel."""

    version: str
    requires_python: str
    content: bytes
    sha256: str
    """Of the content, in hexadecimal."""


@cache
def wheel_file(project: str) -> str:
    """Return the file name of a distribution's wheel; all have the version of the whole arena."""
    return f"{project.replace('-', '_')}-{version(WHOLE)}-py3-none-any.whl"


@cache
def make_wheel(project: str) -> Wheel:
    """Return a distribution's wheel; it is made once in the life of a process."""
    installed = distribution(WHOLE if project == VERIFY else project)
    files = _verifier(installed) if project == VERIFY else _installed(installed, PACKAGES[project])
    info = next(name.split("/")[0] for name in files if ".dist-info/" in name)
    record = f"{info}/RECORD"
    lines = [f"{name},sha256={_digest(content)},{len(content)}" for name, content in sorted(files.items())]
    files[record] = "".join(f"{line}\n" for line in (*lines, f"{record},,")).encode()
    content = zipped(files)
    needs = installed.metadata["Requires-Python"]
    return Wheel(installed.version, needs, content, sha256(content).hexdigest())


def _installed(installed: Distribution, package: Path) -> dict[str, bytes]:
    """Return the files of a distribution that is installed here, without its list of them."""
    listed = [path for path in installed.files or () if _came_with_wheel(path, package.name)]
    files = {path.as_posix(): Path(str(path.locate())).read_bytes() for path in listed}
    if f"{package.name}/__init__.py" not in files:
        files |= dict(_in_checkout(package))
        if package.name == arena.__name__ and (revision := commit()):
            files[f"{arena.__name__}/commit.txt"] = f"{revision}\n".encode()
    info = next(path.parts[0] for path in listed if path.parts[0].endswith(".dist-info"))
    files[f"{info}/WHEEL"] = _pure(files[f"{info}/WHEEL"])
    return files


def _verifier(whole: Distribution) -> dict[str, bytes]:
    """Return the files of ``bigtwo-verify``."""
    folder = PACKAGES[WHOLE].parent
    modules = {path.relative_to(folder).as_posix(): path.read_bytes() for path in _modules(folder)}
    requires = [text for text in whole.requires or () if Requirement(text).name in NEEDED]
    metadata = {
        "Metadata-Version": "2.4",
        "Name": VERIFY,
        "Version": whole.version,
        "Summary": "Check tournaments and boards of a Big Two arena from their files alone.",
        "License-Expression": whole.metadata["License-Expression"],
        "Requires-Python": whole.metadata["Requires-Python"],
    }
    lines = [f"{name}: {text}" for name, text in metadata.items()]
    lines += [f"Requires-Dist: {text}" for text in (f"{LIGHT}=={whole.version}", *sorted(requires))]
    info = f"{INSIDE}-{whole.version}.dist-info"
    return {
        f"{INSIDE}/__init__.py": START.encode(),
        **{f"{INSIDE}/{name}": content for name, content in modules.items()},
        f"{info}/METADATA": "".join(f"{line}\n" for line in lines).encode(),
        f"{info}/WHEEL": _pure(b"Wheel-Version: 1.0\nGenerator: bigtwo-arena"),
    }


def _modules(folder: Path) -> set[Path]:
    """Return the files of the modules of the arena that the verifier loads; ``folder`` holds the package."""
    files: set[Path] = set()
    waiting = [*VERIFIER]
    while waiting:
        path = folder.joinpath(*waiting.pop().split("."))
        file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        if file in files or not file.is_file():  # a name in a module
            continue
        files.add(file)
        waiting.append(".".join(path.relative_to(folder).parts[:-1]) or arena.__name__)
        for node in ast.parse(file.read_bytes()).body:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{arena.__name__}."):
                waiting += [f"{node.module}", *(f"{node.module}.{alias.name}" for alias in node.names)]
    return files


def _came_with_wheel(file: PackagePath, package: str) -> bool:
    """Return whether an installed file was in the wheel, and was not made by the installation."""
    first, *rest = file.parts
    if first.endswith(".dist-info"):
        return rest[0] == "licenses" or (len(rest) == 1 and rest[0] in INFO)
    return first == package and "__pycache__" not in rest and not file.name.endswith(COMPILED)


def _pure(content: bytes) -> bytes:
    """Return what a wheel says of itself, of one without compiled modules."""
    lines = [
        line for line in content.decode().splitlines() if not line.startswith(("Root-Is-Purelib", "Tag"))
    ]
    return "\n".join([*lines, "Root-Is-Purelib: true", "Tag: py3-none-any", ""]).encode()


def _in_checkout(package: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a package that was installed in editable mode, of which no list exists."""
    for folder, folders, names in os.walk(package, followlinks=True):
        folders[:] = [folder for folder in folders if folder not in NOT_OURS and not folder.startswith(".")]
        for path in (Path(folder, name) for name in names):
            if path.parent != package or path.name not in NOT_INSTALLED:
                yield path.relative_to(package.parent).as_posix(), path.read_bytes()


def _digest(content: bytes) -> str:
    return urlsafe_b64encode(sha256(content).digest()).decode().rstrip("=")


def zipped(files: Mapping[str, bytes]) -> bytes:
    """Return a zip file of these files, which depends on nothing but their names and contents."""
    whole = BytesIO()
    with ZipFile(whole, "w", ZIP_DEFLATED) as archive:
        for name, content in sorted(files.items(), key=lambda item: (".dist-info/" in item[0], item[0])):
            entry = ZipInfo(name)
            entry.compress_type, entry.external_attr = ZIP_DEFLATED, FILE
            archive.writestr(entry, content)
    return whole.getvalue()
