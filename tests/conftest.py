"""Settings for all tests: how they are distributed and ordered, their environment, and hypothesis."""

import gc
import logging
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

from arena.host.logs import OURS
from tests.examples import SWEEP
from tests.installing import installed, light, published  # noqa: F401 fixtures of several files

gc.disable()  # nearly all that is loaded stays, and collecting takes a quarter of the start

os.environ["ARENA_HOUSE_BOTS"] = "0"
os.environ["ARENA_WEB_LISTEN"] = ""  # many arenas at once cannot all have the default port
os.environ["ARENA_WEB_KEPT_SECONDS"] = "0"  # a test sees at once what it has changed

SHARING = {
    "test_authors",
    "test_doctor_servers",
    "test_fuzz_stream",
    "test_rating_rebuild",
    "test_reading",
    "test_server_tls",
    "test_tampered_databases",
    "test_verify",
    "test_wheel",
}
"""Files with fixtures that are created once for all their tests."""

FOLDERS = ("sample_bots", "browser")
"""Folders with fixtures that are created once for all their tests."""

LONGEST = (
    "test_storm",
    "sample_bots",
    "test_compiled",
    "test_servers",
    "test_readme",
    "test_wheel",
    "test_referees",
    "test_continuous_running",
    "test_killed",
    "test_doctor_servers",
    "test_worker",
    "test_outages",
    "test_servers_operations",
    "test_crashes",
    "test_fuzzed",
    "test_verify",
    "browser",
    "test_cli_demo",
    "test_cli_widths",
    "test_compare",
    "test_metrics",
    "test_testmatches",
    "test_logs",
    "test_check",
    "test_fuzz_stream",
    "test_history_cost",
    "test_roles",
    "test_doors",
    "test_process",
    "test_cli_play",
    "test_batches",
    "test_bot_logs",
    "test_pairing_round_robin",
)
"""The files and folders whose tests take longest.

They are started first, so that no process is left with one of them while the others are idle.
"""

# Where the shell forbids bytecode files, each of the many processes would compile everything again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# When tests run in the background, signals may be ignored, also by the processes that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

# Bots that tests start do not keep logs in the user's folders.
os.environ["ARENA_BOT_LOG"] = "off"

# How long an example takes depends on how busy the machine is, so there is no deadline. In CI the same
# examples are drawn each time, so that a change fails only for what it changes.
for profile, count in {"tests": 20, SWEEP: 100}.items():
    settings.register_profile(
        profile,
        max_examples=count,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
        derandomize="CI" in os.environ,
    )
settings.load_profile("tests")


@pytest.fixture(autouse=True)
def logging_left_alone() -> Iterator[None]:
    """Undo changes that commands running in this process make to logging."""
    root = logging.getLogger()
    loggers = [root, *map(logging.getLogger, OURS)]
    handlers, levels = root.handlers[:], [logger.level for logger in loggers]
    yield
    for handler in root.handlers[:]:
        if handler not in handlers:
            root.removeHandler(handler)
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)
    logging.captureWarnings(False)


def pytest_xdist_auto_num_workers() -> int:
    """Return two more than the number of cores, since some tests mostly wait for processes of their own."""
    return (os.cpu_count() or 1) + 2


class Together(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """Distributes tests to free processes, but keeps tests that share expensive fixtures in one process.

    These are the tests of ``SHARING`` and ``FOLDERS``, which build bots or start a browser once.
    """

    def _split_scope(self, nodeid: str) -> str:
        place = _place(PurePath(nodeid.partition("::")[0]))
        return place if place in FOLDERS or place in SHARING else nodeid


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Together:
    """Return the scheduler that distributes tests; the plugin's own groups do not work with pytest 9.2."""
    config.option.loadscopereorder = False  # in the order of ``LONGEST``, not by the number of tests
    return Together(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    """Enable garbage collection from here on, except for everything loaded so far."""
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests that take longest first."""
    rank = {place: number for number, place in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(_place(item.path), len(rank)))


def _place(path: PurePath) -> str:
    """Return a file's name, or the folder that it shares."""
    return next((folder for folder in FOLDERS if folder in path.parts), path.stem)
