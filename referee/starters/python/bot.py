"""Your bot: ``choose`` answers every turn with one of ``turn.legal``, or with None for a pass."""

from referee.bot import Play, Turn, main


def choose(turn: Turn) -> Play | None:
    """Play as many cards as possible, and of these plays the weakest."""
    return min(turn.legal, key=lambda play: (-len(play), play.code), default=None)


if __name__ == "__main__":
    main(choose)
