"""What all tests share: how many run at once, which stay together, and how long examples may take."""

import os
from pathlib import PurePath
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

SHARING = {
    "test_doctor_servers",
    "test_fuzz_stream",
    "test_interleaving",
    "test_server_tls",
    "test_storm",
    "test_verify",
}
"""Files with fixtures that are made once for all their tests."""

# Bots that tests start keep no logs in the folders of whoever runs them.
os.environ["ARENA_BOT_LOG"] = "off"

# How long an example takes says how busy the machine is. In CI the same examples are drawn each time, so that
# a change fails for what it changes.
settings.register_profile(
    "tests",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="CI" in os.environ,
)
settings.load_profile("tests")


def pytest_xdist_auto_num_workers() -> int:
    """Return one process more than cores: some tests mostly wait for processes of their own."""
    return (os.cpu_count() or 1) + 1


class Together(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """Each test goes where there is room, but tests that share what is dear to make stay in one process.

    These are the tests of ``SHARING``, and those of the sample bots, which are built in their own folders.
    They come first.
    """

    def _split_scope(self, nodeid: str) -> str:
        path = PurePath(nodeid.partition("::")[0])
        if "sample_bots" in path.parts:
            return "sample_bots"
        return path.stem if path.stem in SHARING else nodeid


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Together:
    """Return how tests are handed to processes; the plugin's own groups do nothing with pytest 9.2."""
    return Together(config, log)
