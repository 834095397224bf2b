"""Files of a running ``arena up`` in its data folder, by which commands find the addresses it listens on."""

import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from arena.host.files import write_private

LOCK = "up.lock"
"""The file in the data folder that ``arena up`` locks while it runs."""

SERVED = "up.json"
"""The file in the data folder with the settings by which ``arena up`` is reached."""

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
"""The settings in that file; if the user sets one of a group, none of the group is used."""


@contextmanager
def left_in(folder: Path, served: Mapping[str, str]) -> Iterator[None]:
    """Write the settings by which this process is reached into its folder, until the end of the block.

    The lock must be held: files left by an earlier process that was killed are overwritten.
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
    """Return the settings that a running ``arena up`` has written into its folder.

    Those that conflict with ``named`` settings are left out. A file left by a killed process is not read.
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
    """Return whether ``arena up`` runs in the folder, by trying for a moment to share its lock.

    Raise OSError; FileNotFoundError if it has never run there.
    """
    opened = os.open(folder / LOCK, os.O_RDONLY)
    try:
        fcntl.flock(opened, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(opened)
    return False
