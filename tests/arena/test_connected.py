"""Which bots of a continuous tournament are connected, according to the referees."""

import asyncio
from pathlib import Path

from arena.host.settings import load_settings
from arena.play.choosing import Referees
from tests.arena.ports import deaf_address
from tests.referee.support import WORKER_TOKEN, WireBot, referee


async def test_connected_when_several_referees_are_asked_then_bots_of_any_of_them_are_there(
    tmp_path: Path,
) -> None:
    with deaf_address() as nobody:
        async with referee() as first, referee() as second:
            values = {"data": tmp_path, "worker_token": WORKER_TOKEN, "referees": [nobody, first, second]}
            connected = Referees(load_settings(values)).connected
            async with WireBot(first, 1, max_sessions=1), WireBot(second, 2, max_sessions=1):
                assert await asyncio.to_thread(connected, [1, 2, 3]) == {1, 2}
            assert await asyncio.to_thread(connected, []) == set()
