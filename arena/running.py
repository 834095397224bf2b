"""What a running ``arena up`` leaves in its data folder, so that commands there look where it listens."""

import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from arena.files import write_private

LOCK = "up.lock"
"""File in the data folder that ``arena up`` has locked as long as it runs."""

SERVED = "up.json"
"""File in the data folder with the settings by which it is reached."""

REFEREE_TLS = (
    "tls_certificate",
    "tls_key",
    "tls_client_ca",
    "tls_ca",
    "tls_client_certificate",
    "tls_client_key",
)
WEB_TLS = ("web_certificate", "web_key")

TOGETHER = (
    ("listen", "local_referees", "referees", "referee_ids", *REFEREE_TLS),
    ("web_listen", "web_url", *WEB_TLS),
)
"""The settings that are left there; of each group none is used where somebody names one of them."""


@contextmanager
def left_in(folder: Path, served: Mapping[str, str]) -> Iterator[None]:
    """Leave the settings by which this process is reached in its folder, until the end of the block.

    The block must be within the lock: what an earlier process left that was killed is overwritten.
    """
    file = folder / SERVED
    with suppress(OSError):  # without it, commands need the settings that this process was given
        file.unlink(missing_ok=True)
        write_private(file, json.dumps(served))
    try:
        yield
    finally:
        with suppress(OSError):
            file.unlink(missing_ok=True)


def found_in(folder: Path, named: Iterable[str]) -> dict[str, str]:
    """Return the settings that a running ``arena up`` has left in its folder.

    Those are left out that do not go with what is ``named`` otherwise. What a process left that was killed
    is not read.
    """
    try:
        text = (folder / SERVED).read_text("utf-8")
        left = json.loads(text) if is_running(folder) else {}
    except (OSError, ValueError):
        return {}
    if not isinstance(left, dict):
        return {}
    others = set(named)
    return {
        name: left[name]
        for group in TOGETHER
        if others.isdisjoint(group)
        for name in group
        if isinstance(left.get(name), str)
    }


def is_running(folder: Path) -> bool:
    """Return whether ``arena up`` has the folder; asked by trying for a moment to share the lock.

    Raise OSError, FileNotFoundError if it has never run there.
    """
    opened = os.open(folder / LOCK, os.O_RDONLY)
    try:
        fcntl.flock(opened, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(opened)
    return False
