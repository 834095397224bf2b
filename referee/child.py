"""The first moment of a child process: it ties itself to the life of its parent and then becomes its command.

It is run as a program, ``child.py PARENT COMMAND…``, for each child anew: it loads next to nothing.
"""

import os
import sys

PR_SET_PDEATHSIG = 1
"""Of Linux' prctl: which signal a process gets when its parent ends."""

SIGKILL = 9
"""On Linux; the module ``signal`` would take a third of what this program costs."""


def tied(*command: str) -> list[str]:
    """Return the command line of a process that ends when the thread that starts it does, however it ends.

    Only Linux knows how: elsewhere it is the command alone.
    """
    if sys.platform != "linux":
        return list(command)
    # Without site-packages and what the environment asks for: this interpreter is there for a moment only.
    return [sys.executable, "-I", "-S", __file__, str(os.getpid()), *command]


def become(parent: int, command: list[str]) -> None:
    """Become ``command``, which ends when the process ``parent`` does."""
    import ctypes

    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, SIGKILL)
    if os.getppid() != parent:  # it ended before it was tied to
        sys.exit(1)
    try:
        os.execvp(command[0], command)  # noqa: S606 no shell is meant
    except OSError as error:
        sys.exit(f"cannot run {command[0]}: {error.strerror}")


if __name__ == "__main__":
    become(int(sys.argv[1]), sys.argv[2:])
