"""A pool for tests of queries, played once and copied for each test."""

from collections.abc import Iterator
from pathlib import Path
from time import monotonic

from arena.host.settings import Settings
from arena.results.luck.references import weigh_due
from arena.results.strength.fitting import fit_due
from arena.store.storage import Storage, open_storage
from tests.arena.fakes import Clock
from tests.arena.random_play import play_randomly
from tests.arena.world import World

DAY = 86_400.0


def play_pool(file: Path) -> None:
    """Make a pool of eight bots with strengths, and a ninth that joined a day after the fit."""
    with Storage(f"sqlite:///{file}") as storage:
        world = World(storage, Clock())
        world.finish(world.tournament(8).id, play_randomly)
        fit_due(storage, world.clock())
        world.clock.move(DAY)
        names = [*(f"owner-{number % 4}/bot-{number}@1" for number in range(5)), *world.register(1)]
        world.finish(world.tournament_of(names, name="later").id, play_randomly)
        weigh_due(storage, world.clock, monotonic, seconds=600)


def open_pool(settings: Settings, played: bytes) -> Iterator[World]:
    """Open a copy of the pool, a day after its first tournament."""
    (settings.data / "arena.db").write_bytes(played)
    with open_storage(settings) as storage:
        world = World(storage, Clock())
        world.clock.move(DAY)
        yield world
