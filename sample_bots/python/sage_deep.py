"""Sage with a second for each decision, if the clock allows."""

from referee.bot import main
from referee.sage.bot import SageBot, milliseconds


class SageDeep(SageBot):
    """Plays one session."""

    level_ms = milliseconds(1000)


if __name__ == "__main__":
    main(SageDeep, max_sessions=1)
