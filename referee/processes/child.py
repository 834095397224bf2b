"""The first moment of a child process: it ties itself to the life of its parent and then becomes its command.

It is run as a program, ``child.py PARENT COMMAND…``, once for each child, so it loads next to nothing.
"""

import os
import sys

PR_SET_PDEATHSIG = 1
"""The option of Linux's prctl that sets the signal a process gets when its parent ends."""

SIGKILL = 9
"""As on Linux; importing ``signal`` would take a third of this program's time."""


def tied(*command: str) -> list[str]:
    """Return the command line of a process that ends when the thread that starts it does, however that ends.

    Only Linux offers this: elsewhere it is the command alone.
    """
    if sys.platform != "linux":
        return list(command)
    # Without site-packages and the environment's settings: this interpreter lives only for a moment.
    return [sys.executable, "-I", "-S", __file__, str(os.getpid()), *command]


def become(parent: int, command: list[str]) -> None:
    """Become ``command``, which ends when the process ``parent`` does."""
    import ctypes

    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, SIGKILL)
    if os.getppid() != parent:  # it ended before this process was tied to it
        sys.exit(1)
    try:
        os.execvp(command[0], command)  # noqa: S606 no shell is meant
    except OSError as error:
        sys.exit(f"cannot run {command[0]}: {error.strerror}")


if __name__ == "__main__":
    become(int(sys.argv[1]), sys.argv[2:])
