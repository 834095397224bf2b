"""A bot that decides nothing as long as the file given to it exists."""

import sys
import time
from pathlib import Path

from referee.bot import Play, Turn, main

HOLD = Path(sys.argv[1])


def choose(turn: Turn) -> Play | None:
    while HOLD.exists():
        time.sleep(0.02)
    return turn.legal[0] if turn.legal else None


if __name__ == "__main__":
    main(choose)
