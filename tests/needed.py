"""Programs and privileges that tests need: without them, tests are skipped, or fail in CI."""

import os
import shutil
from typing import NoReturn

import pytest


def require(tool: str, path: str | None = None, hint: str = "") -> str:
    """Return the path of a program, looked up in ``path`` or else where a shell would."""
    found = shutil.which(tool, path=path)
    return found if found is not None else leave_out(f"{tool} is not installed{hint}")


def leave_out(reason: str) -> NoReturn:
    """Skip the test; fail it if ``CI=true``."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{reason}, and CI needs it", pytrace=False)
    pytest.skip(f"left out: {reason}")
