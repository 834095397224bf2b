"""The SDK for bots in Python: write ``choose(turn)``, hand it to ``main``.

    from referee.bot import Play, Turn, main

    def choose(turn: Turn) -> Play | None:
        return turn.legal[0] if turn.legal else None      # None passes

    if __name__ == "__main__":
        main(choose)

A bot is a function, or a class whose ``choose`` does the same and of which one object is made for each
session. A class with ``choose_many(turns)`` is asked for all open turns at once, and one object of it plays
all sessions. All these may be coroutines. The SDK does the connecting, batching, reconnecting and logging.
"""

from referee.bot.bots import Answer, Bot, Chooser, ManyChooser
from referee.bot.ended import EndedDeal, EndedSession
from referee.bot.program import main, run
from referee.bot.turn import Play, Turn
from referee.bot.view import Action

__all__ = [
    "Action",
    "Answer",
    "Bot",
    "Chooser",
    "EndedDeal",
    "EndedSession",
    "ManyChooser",
    "Play",
    "Turn",
    "main",
    "run",
]
