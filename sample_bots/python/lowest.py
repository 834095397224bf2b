"""Always the lowest: the weakest legal play of the fewest cards; passes only when it must."""

from referee.bot import Play, Turn, main


def choose(turn: Turn) -> Play | None:
    return min(turn.legal, key=lambda play: (len(play), play.code), default=None)


if __name__ == "__main__":
    main(choose)
