"""The processes of the bots: ``python -m benchmarks.timing.bots``, for ``benchmarks.timing.run``."""

import argparse
import asyncio
import json
import sys
import threading

from benchmarks.timing.opponent import Opponent
from benchmarks.timing.setting import Setting, token
from benchmarks.timing.spy import Spy
from benchmarks.timing.talking import talk
from referee.bot.client import BotClient


async def _opponents(bot: int, address: str, setting: Setting) -> None:
    """Run one opponent at every table."""
    async with asyncio.TaskGroup() as group:
        for table in range(setting.tables):
            opponent = Opponent(setting.opponents[bot], setting.think, setting.hasty)
            if setting.one_by_one:
                client = BotClient(opponent.decide, token(table, bot), setting.sessions)
                group.create_task(client.run([address]))
            else:
                group.create_task(talk(address, token(table, bot), setting.sessions, opponent.take))


async def _spy(address: str, setting: Setting) -> None:
    """Run the spy; once it reads a line, print what it believed."""
    spy = Spy(address, setting)
    loop, wanted = asyncio.get_running_loop(), asyncio.Event()

    def listen() -> None:
        sys.stdin.readline()
        loop.call_soon_threadsafe(wanted.set)

    threading.Thread(target=listen, daemon=True).start()
    async with asyncio.TaskGroup() as group:
        for table in range(setting.tables):
            group.create_task(talk(address, token(table, 0), setting.sessions, spy.stream()))
        await wanted.wait()
        print(json.dumps(spy.rows), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.timing.bots", description=__doc__)
    parser.add_argument("address", help="the referee's")
    parser.add_argument("setting", type=json.loads, help="in JSON")
    parser.add_argument("--opponent", type=int, metavar="BOT", help="be this bot; without it, the spy")
    options = parser.parse_args()
    setting = Setting(**options.setting)
    if options.opponent is None:
        asyncio.run(_spy(options.address, setting))
    else:
        asyncio.run(_opponents(options.opponent, options.address, setting))


if __name__ == "__main__":
    main()
