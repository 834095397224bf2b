"""Waiting for what other threads and processes bring about."""

import time
from collections.abc import Callable

DEADLINE = 120.0
"""Seconds after which a test gives up."""


def wait_for(
    condition: Callable[[], object],
    *,
    meanwhile: Callable[[], object] = lambda: None,
    told: Callable[[], object] = lambda: "no more is known",
    seconds: float = DEADLINE,
) -> None:
    """Return as soon as the condition holds, with a call of ``meanwhile`` between looks.

    Fail after so many seconds, with what ``told`` returns.
    """
    began = time.monotonic()
    while not condition():
        waited = time.monotonic() - began
        assert waited < seconds, f"gave up waiting: {told()}"
        meanwhile()
        time.sleep(min(0.02 + waited / 50, 0.1))  # looking costs what those waited for could use
