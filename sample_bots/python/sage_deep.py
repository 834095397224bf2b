"""Sage with a second for a decision, as far as the time allowed goes."""

from referee.bot import main
from referee.sage.bot import SageBot, milliseconds


class SageDeep(SageBot):
    """Plays one session."""

    level_ms = milliseconds(1000)


if __name__ == "__main__":
    main(SageDeep, max_sessions=1)
