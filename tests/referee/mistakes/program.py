"""A bot with a mistake, as a program of its own."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable

import grpc

from tests.referee.good_bots import GoodBot
from tests.referee.mistakes.streams import Deaf, Rude


def main(make: Callable[[], GoodBot]) -> None:
    """Run a bot until it leaves."""
    bot = make()

    async def play() -> None:
        if isinstance(bot, (Deaf, Rude)):
            bot.listen()
        else:
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, bot.leaving.set)
        await bot.run(os.environ["ARENA_REFEREE"], os.environ["ARENA_TOKEN"])

    try:
        asyncio.run(play())
    except grpc.aio.AioRpcError as error:
        sys.exit(str(error.details()))
