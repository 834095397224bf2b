"""The SDK for bots in Python: write ``choose(turn)``, hand it to ``main``.

    from referee.bot import Play, Turn, main

    def choose(turn: Turn) -> Play | None:
        return turn.legal[0] if turn.legal else None      # None passes

    if __name__ == "__main__":
        main(choose)

A bot is a function, or a class whose ``choose`` does the same; of a class, one object is made for each
session. A class with ``choose_many(turns)`` is asked for all open turns at once: of it, one object plays all
sessions. All of them may be coroutines. Connecting, batching, reconnecting and logging are the SDK's.
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
