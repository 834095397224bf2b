"""Sage: proves what can be proved, and plays the rest out in worlds consistent with what it has seen.

It thinks about a decision for a tenth of a second, or as long as ``ARENA_SAGE_MS`` says.
"""

from referee.bot import main
from referee.sage.bot import SageBot, milliseconds


class Sage(SageBot):
    """Plays one session."""

    level_ms = milliseconds(100)


if __name__ == "__main__":
    main(Sage, max_sessions=4)
