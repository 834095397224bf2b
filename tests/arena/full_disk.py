"""A program: two referees, one of which runs on a disk that becomes full. Run with the disk's folder.

Prints as JSON what a worker meets, in order: the refusal, where matches go, and what the referee reports.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from arena.host.settings import load_settings
from arena.play.choosing import REST_SECONDS, Referees
from referee.errors import NotBegun
from referee.net.client import referee_status
from referee.service import workers
from referee.service.begun import BegunAttempts
from referee.service.server import ServerOptions
from tests.referee.support import WORKER_TOKEN, lowest, match_spec, referee, sdk_bots

workers.PROBE_SECONDS = 0.01

SPEC = match_spec(sessions=40, deals=1)


@asynccontextmanager
async def referee_noting_in(folder: Path) -> AsyncIterator[str]:
    """Run a referee with four bots that notes its attempts in a folder; yield its address."""
    with BegunAttempts(folder / "begun.db") as begun:
        async with (
            referee(options=ServerOptions(drain_seconds=0, begun=begun)) as address,
            sdk_bots(address, dict.fromkeys((1, 2, 3, 4), lowest)),
        ):
            yield address


def fill(file: Path) -> None:
    """Fill a disk with a file."""
    with suppress(OSError), file.open("wb", buffering=0) as filling:
        while filling.write(bytes(512)):
            pass


def refusal(referees: Referees) -> str:
    """Return why a match cannot begin at the referee that it is given to; empty if it is played."""
    try:
        return "" if list(referees.run(0, SPEC)) else "no update"
    except NotBegun as error:
        return str(error)


async def meet(small: Path, other: Path) -> AsyncIterator[object]:
    """Yield what a worker meets."""
    seconds = 0.0
    async with referee_noting_in(small) as first, referee_noting_in(other) as second:
        values = {"data": other, "worker_token": WORKER_TOKEN, "referees": [first, second]}
        referees = Referees(load_settings(values), lambda: seconds)

        async def not_ready() -> str:
            return (await asyncio.to_thread(referee_status, first, WORKER_TOKEN)).not_ready

        async def chosen() -> list[int]:
            choices = [await asyncio.to_thread(referees.choose, route, SPEC) for route in range(2)]
            return [1 if choice == first else 2 for choice in choices]

        yield await chosen()
        await asyncio.to_thread(fill, small / "fill")
        yield (await asyncio.to_thread(refusal, referees)).removeprefix(f"referee {first} says ")
        yield await not_ready()
        yield await chosen()
        seconds += sum(REST_SECONDS)
        yield await chosen()
        (small / "fill").unlink()
        while await not_ready():
            pass
        seconds += sum(REST_SECONDS)
        yield await chosen()
        yield await asyncio.to_thread(refusal, referees)


async def main() -> None:
    """Print what a worker meets."""
    small = Path(sys.argv[1])
    async for item in meet(small, Path(sys.argv[2])):
        print(json.dumps(item))


if __name__ == "__main__":
    asyncio.run(main())
