"""Greedy: plays as many cards as it can at every turn, and of these plays the weakest."""

from referee.bot import Play, Turn, main


def choose(turn: Turn) -> Play | None:
    return min(turn.legal, key=lambda play: (-len(play), play.code), default=None)


if __name__ == "__main__":
    main(choose)
