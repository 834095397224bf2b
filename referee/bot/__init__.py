"""The SDK for bots in Python: write ``choose(turn)``, hand it to ``main``.

    from referee.bot import Play, Turn, main

    def choose(turn: Turn) -> Play | None:
        return turn.legal[0] if turn.legal else None      # None passes

    if __name__ == "__main__":
        main(choose)

A bot is a function, or a class whose ``choose`` does the same; of a class, one object is made for each
session. Connecting, batching, reconnecting and logging are the SDK's.
"""

from referee.bot.ended import EndedDeal, EndedSession
from referee.bot.program import main, run
from referee.bot.turn import Play, Turn
from referee.bot.view import Action

__all__ = ["Action", "EndedDeal", "EndedSession", "Play", "Turn", "main", "run"]
