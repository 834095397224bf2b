"""The tools that the sample bots of other languages are built with."""

import os
import shutil

import pytest


def require(tool: str) -> str:
    """The path of a program. A test that misses it is left out; in CI (``CI=true``) it fails."""
    path = shutil.which(tool)
    if path is not None:
        return path
    if os.environ.get("CI") == "true":
        pytest.fail(f"{tool} is not installed, and CI needs it", pytrace=False)
    pytest.skip(f"left out: {tool} is not installed")
