"""Sage with a fiftieth of a second for each decision."""

from referee.bot import main
from referee.sage.bot import SageBot, milliseconds


class SageQuick(SageBot):
    """Plays one session."""

    level_ms = milliseconds(20)


if __name__ == "__main__":
    main(SageQuick, max_sessions=8)
