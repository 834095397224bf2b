"""Crashes at every commit, and many workers at once: the results are those of an undisturbed run."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from random import Random
from typing import NamedTuple

import pytest

from arena.host.settings import load_settings
from arena.results.ratings.rebuild import rebuild
from arena.store.storage import Storage, Transaction, open_storage
from tests.arena.fakes import Clock, play_at_once
from tests.arena.world import LEASE, World, results
from tests.examples import some


class Undisturbed(NamedTuple):
    """The results that all other runs must have, and the number of commits it takes to get them."""

    results: dict[str, list[tuple[object, ...]]]
    commits: int


class Killed(BaseException):
    """The death of a process, which nothing on the way catches."""


class CrashingStorage(Storage):
    """A database whose process is killed at chosen commits, just before or just after them."""

    def __init__(self, storage: Storage, dies: Callable[[], str]) -> None:
        vars(self).update(vars(storage))  # the same database
        self._dies = dies

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        when = self._dies()
        with super().write() as tx:
            yield tx
            if when == "before":
                raise Killed
        if when == "after":
            raise Killed


def run(world: World, storage: Storage, draw: Callable[[], int]) -> int:
    """Play a tournament to its end, dropping the messages after each death; return the number of deaths."""
    world.tournament(8, format="swiss", rounds=2, sessions=2, deals=1)
    deaths = 0
    while not world.status().ended:
        try:
            world.advance(1, storage=storage)
            while world.messages:
                world.play(world.messages.pop(draw() % len(world.messages)), play_at_once, storage)
                world.advance(1, storage=storage)
        except Killed:
            deaths += 1
            world.messages.clear()
        world.clock.move(LEASE.total_seconds() + 1)
    return deaths


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, empty_database: bytes) -> Undisturbed:
    """Play the tournament undisturbed."""
    commits: list[str] = []

    def count() -> str:
        commits.append("")
        return ""

    folder = tmp_path_factory.mktemp("undisturbed")
    (folder / "arena.db").write_bytes(empty_database)
    with open_storage(load_settings({"data": folder})) as storage:
        run(World(storage, Clock()), CrashingStorage(storage, count), lambda: 0)
        return Undisturbed(results(storage), len(commits))


def dying_at(place: int, when: str) -> Callable[[], str]:
    """Return a plan to die at one commit, counted from 0."""
    plan = [""] * place + [when]
    return lambda: plan.pop(0) if plan else ""


def test_crash_when_at_any_single_commit_then_the_results_are_the_same(
    make_world: Callable[[], World], undisturbed: Undisturbed
) -> None:
    expected, commits = undisturbed
    assert commits > 20
    deaths = [(place, when) for place in range(commits) for when in ("before", "after")]
    for place, when in some(deaths, 3):
        world = make_world()
        assert run(world, CrashingStorage(world.storage, dying_at(place, when)), lambda: 0) == 1
        assert results(world.storage) == expected, (place, when)
        assert rebuild(world.storage).problem is None, (place, when)


@pytest.mark.parametrize("seed", range(5))
def test_crash_when_again_and_again_then_the_results_are_the_same(
    make_world: Callable[[], World], undisturbed: Undisturbed, seed: int
) -> None:
    random = Random(seed)
    world = make_world()
    storage = CrashingStorage(world.storage, lambda: random.choice(["before", "after", "", "", "", ""]))
    deaths = run(world, storage, lambda: random.randrange(100))
    assert deaths > 3
    assert results(world.storage) == undisturbed.results
    assert rebuild(world.storage).problem is None


def test_advance_when_called_by_several_at_once_then_nothing_is_doubled(
    world: World, undisturbed: Undisturbed
) -> None:
    world.tournament(8, format="swiss", rounds=2, sessions=2, deals=1)
    threads = 4
    together = threading.Barrier(threads)

    def advance() -> None:
        together.wait()
        world.advance(1)

    def play(match_id: int) -> None:
        together.wait()
        world.play(match_id)

    with ThreadPoolExecutor(threads) as pool:
        while not world.status().ended:
            list(pool.map(lambda _: advance(), range(threads)))
            assert len(world.messages) == len(set(world.messages))
            twice, world.messages = world.messages * 2, []
            list(pool.map(play, twice))
    assert results(world.storage) == undisturbed.results
    assert rebuild(world.storage).problem is None


def test_match_when_all_messages_come_to_all_workers_then_each_session_is_stored_once(
    world: World,
) -> None:
    cup = world.tournament(16, sessions=4)
    with ThreadPoolExecutor(8) as pool:
        while not world.status().ended:
            world.advance(cup.id)
            messages, world.messages = world.messages * 3, []
            list(pool.map(world.play, messages))
    done = world.status()
    assert done.sessions_done == done.sessions_total == len(results(world.storage)["sessions"])
    assert rebuild(world.storage).problem is None
