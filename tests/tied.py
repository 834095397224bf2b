"""Processes that tests start, tied to the life of the tests."""

from pathlib import Path

from referee.processes import child


def tied(*command: str | Path) -> list[str]:
    """Return the command line of a process that ends when the thread that starts it ends, however it ends.

    A test that takes too long ends its whole process at once, with no time to stop what it has started.
    """
    return child.tied(*map(str, command))
