"""What all tests share: how many run at once, which stay together, and how long examples may take."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

TESTS = Path(__file__).parent

SHARING = {
    "test_doctor_servers",
    "test_fuzz_stream",
    "test_interleaving",
    "test_server_tls",
    "test_storm",
    "test_verify",
}
"""Files with fixtures that are made once for all their tests."""

# How long an example takes says how busy the machine is.
settings.register_profile("tests", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tests")


def pytest_xdist_auto_num_workers() -> int:
    """One process more than cores: some tests wait for processes of their own most of the time."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep tests of one file together that share what is dear to make.

    These are the fixtures of a module, and the sample bots, which are built in their own folders.
    """
    for item in items:
        if group := _group(item):
            item.add_marker(pytest.mark.xdist_group(group))


def _group(item: pytest.Item) -> str | None:
    folder = item.path.relative_to(TESTS).parts[0]
    if folder == "sample_bots":
        return folder
    return item.path.stem if item.path.stem in SHARING else None
