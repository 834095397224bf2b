"""Folders in which nothing can be written: for root without its privileges, and on full disks."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from arena.cli.local import arena_command
from tests.arena.cli import Result
from tests.needed import leave_out
from tests.tied import tied
from tests.waiting import DEADLINE

POWERLESS = ("setpriv", "--inh-caps=-all", "--bounding-set=-all")
"""Command that starts a root process to which file permissions apply."""


def run_powerless(*arguments: object) -> Result:
    """Run ``arena`` in a process that respects the modes of files and folders."""
    command = [*(POWERLESS if os.geteuid() == 0 else ()), *arena_command(*map(str, arguments))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return Result(done.returncode, done.stdout, done.stderr)


MOUNTERS = (("unshare", "--mount"), ("unshare", "--map-root-user", "--mount"))
"""Commands that start a process with mounts of its own, as root and as any other user."""


@cache
def mounter() -> Sequence[str] | None:
    """Return a command that starts a process with mounts of its own; None if none works here."""
    if shutil.which("unshare") is None:
        return None
    mount = ("sh", "-c", "mount -t tmpfs -o size=64k tmpfs /mnt")
    trials = ((one, subprocess.run([*one, *mount], capture_output=True, check=False)) for one in MOUNTERS)
    return next((one for one, done in trials if done.returncode == 0), None)


def run_on_full_disk(data: Path, *arguments: str) -> Result:
    """Run ``arena`` on a copy of a data folder, on a full disk of its own."""
    done = subprocess.run(
        _on_full_disk(data, *arguments), capture_output=True, text=True, check=False, timeout=DEADLINE
    )
    return Result(done.returncode, done.stdout, done.stderr)


def first_line_on_full_disk(data: Path, *arguments: str) -> str:
    """Return the first line that a command prints on standard error on a full disk, and stop it."""
    with subprocess.Popen(
        tied(*_on_full_disk(data, *arguments)), stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stderr is not None
        line = running.stderr.readline()
        running.terminate()
        return line


def run_with_small_disk(module: str, folder: Path) -> list[str]:
    """Run a program of the tests, given a disk of 256 KiB and a folder; return the lines printed."""
    (folder / "disk").mkdir()
    start = mounter() or leave_out("no file system can be mounted here")
    script = 'mount -t tmpfs -o size=256k tmpfs "$1/disk" && exec "$2" -m "$3" "$1/disk" "$1"'
    command = tied(*start, "sh", "-c", script, "sh", str(folder), sys.executable, module)
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=DEADLINE)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def _on_full_disk(data: Path, *arguments: str) -> list[str]:
    script = (
        'disk=$(mktemp -d) && mount -t tmpfs -o size=4m tmpfs "$disk" && cp -r "$1" "$disk/data" && shift && '
        '{ dd if=/dev/zero of="$disk/fill" bs=1k 2>/dev/null; cd "$disk" && exec "$@"; }'
    )
    command = arena_command("--data", "data", *arguments)
    start = mounter() or leave_out("no file system can be mounted here")
    return [*start, "sh", "-c", script, "sh", str(data), *command]
