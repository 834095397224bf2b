"""Builds that are made once on a machine: every checkout of the same sources takes them from a cache."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from pathlib import Path

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bigtwo-arena"
MOST = 4
"""How many builds with a name stay in the cache."""


def digest(files: Iterable[Path], root: Path, *others: str) -> str:
    """Return what changes with the files' contents and paths below ``root``, and with other texts."""
    parts = sha256(repr(others).encode())
    for path in sorted(files):
        parts.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return parts.hexdigest()


def have(folder: Path, name: str, key: str, outputs: Sequence[str], build: Callable[[], object]) -> None:
    """Have in ``folder`` the outputs, files or folders, that ``build`` makes of the sources with this key.

    They are copied from the cache if any checkout has built them, and to it if not.
    """
    CACHE.mkdir(parents=True, exist_ok=True)
    mark = folder / Path(outputs[0]).parts[0] / f".{name}"
    with (CACHE / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests in several processes ask for it
        if mark.is_file() and mark.read_text() == key:
            return
        mark.unlink(missing_ok=True)
        stored = CACHE / f"{name}-{key}"
        if stored.is_dir():
            _copy(stored, folder, outputs)
        else:
            build()
            with tempfile.TemporaryDirectory(dir=CACHE) as new:
                _copy(folder, Path(new) / "made", outputs)
                (Path(new) / "made").rename(stored)
        stored.touch()
        mark.write_text(key)
        for old in sorted(CACHE.glob(f"{name}-*"), key=lambda path: path.stat().st_mtime)[:-MOST]:
            shutil.rmtree(old)


def _copy(source: Path, to: Path, outputs: Sequence[str]) -> None:
    for output in outputs:
        target = to / output
        target.parent.mkdir(parents=True, exist_ok=True)
        if (source / output).is_dir():
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(source / output, target, symlinks=True)
        else:
            shutil.copy2(source / output, target)
