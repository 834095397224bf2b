"""A bot that takes ten times as long for each decision as strict limits allow."""

import time

from referee.bot import Play, Turn, main


def choose(turn: Turn) -> Play | None:
    time.sleep(0.05)
    return turn.legal[0] if turn.legal else None


if __name__ == "__main__":
    main(choose)
