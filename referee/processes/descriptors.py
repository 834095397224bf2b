"""How many files and connections this process may have open."""

import sys

WANTED = 65_536
"""As many as an arena of any size needs."""
RESERVE = 128
"""How many are kept for files, databases and threads, besides an eighth of all for connections that end."""


def limit() -> int:
    """Return how many descriptors this process may use; ``WANTED`` if there is no limit that matters."""
    if sys.platform == "win32":
        return WANTED
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return WANTED if soft == resource.RLIM_INFINITY else soft


def permitted() -> int:
    """Return to how many descriptors this process may raise its limit, at most ``WANTED``."""
    if sys.platform == "win32":
        return WANTED
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return WANTED if hard == resource.RLIM_INFINITY else min(WANTED, hard)


def raise_limit() -> None:
    """Let this process use as many descriptors as it is permitted, up to ``WANTED``.

    Systems start processes with 1,024, for the sake of programs that call select(2).
    """
    most = permitted()
    if sys.platform != "win32" and limit() < most:
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def room(most: int) -> int:
    """Return for how many connections there is room with at most this many descriptors."""
    return max(1, most - most // 8 - RESERVE)
