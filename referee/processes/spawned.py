"""Processes that run functions of this program, as ``multiprocessing`` starts them."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context, resource_tracker
from multiprocessing.context import SpawnContext

from referee.processes.environment import SAFE_PATH
from referee.processes.interrupts import handling, send

ALONE = "this process alone"
"""The value of PYTHONSAFEPATH that a process does not hand on."""


@contextmanager
def starting() -> Iterator[SpawnContext]:
    """Yield the context in which processes are to be started in the block.

    They never see Ctrl-C, and import nothing from the current folder; whoever starts them ends them.
    """
    with _safe_path(), _interrupts_held():
        yield get_context("spawn")  # a copy of a process that has threads may hang


def usable_cores() -> int:
    """Return on how many cores this process may run."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def let_children_import() -> None:
    """Let the children of this process, which was started so, import what is beside them."""
    if os.environ.get(SAFE_PATH) == ALONE:
        del os.environ[SAFE_PATH]


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Let processes started in the block never see Ctrl-C: this process takes it at the end of the block, and
    ends them.
    """
    came: list[int] = []
    with handling([signal.SIGINT], lambda number, _: came.append(number)), _unseen_by_children():
        yield
    if came:
        send(signal.SIGINT)


@contextmanager
def _unseen_by_children() -> Iterator[None]:
    if sys.platform == "win32":
        yield
        return
    resource_tracker.ensure_running()  # it lets signals through when it is started
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


@contextmanager
def _safe_path() -> Iterator[None]:
    """Let processes started in the block import nothing from the current folder, not even at first."""
    before = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = before or ALONE
    try:
        yield
    finally:
        del os.environ[SAFE_PATH]
        if before:
            os.environ[SAFE_PATH] = before
