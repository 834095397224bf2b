"""Tests for where a bot thinks, and where its event loop runs meanwhile."""

import asyncio
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from referee.bot.thinker import QUICK_ANSWERS, SLOW_SECONDS, HomeThinker
from referee.matches.match import Limits
from tests.referee.support import lowest, match_spec, play_match, referee, sdk_bots
from tests.tied import tied
from tests.waiting import DEADLINE

HERE = threading.get_ident


def run_at_home(network: Callable[[HomeThinker], Coroutine[Any, Any, None]]) -> None:
    """Run a coroutine in the event loop of a bot that thinks in this thread."""
    with asyncio.Runner() as runner:
        thinker = HomeThinker(runner.get_loop())
        task = runner.get_loop().create_task(network(thinker))
        task.add_done_callback(lambda _: thinker.pause())
        thinker.run(task.done)
        task.result()


async def done(thinker: HomeThinker, work: Callable[[], None]) -> None:
    """Hand in work, and wait until it is done."""
    finished = asyncio.Event()
    async with asyncio.timeout(DEADLINE):
        if not thinker.do(work, finished.set):
            await finished.wait()
    await asyncio.sleep(0)  # the loop moves, if it does, at its next iteration


async def until_here(thinker: HomeThinker, thread: int, tries: int) -> bool:
    """Do quick work until the event loop runs in the given thread; return whether it does."""
    for _ in range(tries):
        if HERE() == thread:
            return True
        await done(thinker, lambda: None)
    return HERE() == thread


def test_bot_when_it_is_quick_then_the_event_loop_moves_into_its_thread() -> None:
    home, threads = HERE(), set[int]()

    async def network(thinker: HomeThinker) -> None:
        assert HERE() != home
        await done(thinker, lambda: threads.add(HERE()))
        assert await until_here(thinker, home, 1000 * QUICK_ANSWERS)
        await done(thinker, lambda: threads.add(HERE()))

    run_at_home(network)
    assert threads == {home}


def test_bot_when_it_becomes_slow_then_the_event_loop_goes_on_in_another_thread() -> None:
    home, threads, thought = HERE(), set[int](), threading.Event()

    def think() -> None:
        threads.add(HERE())
        time.sleep(2 * SLOW_SECONDS)

    def think_until_told() -> None:
        threads.add(HERE())
        thought.wait(DEADLINE)

    async def network(thinker: HomeThinker) -> None:
        for _ in range(3):
            assert await until_here(thinker, home, 1000 * QUICK_ANSWERS)
            await done(thinker, think)
            assert HERE() != home
        finished = asyncio.Event()
        assert not thinker.do(think_until_told, finished.set)
        await asyncio.sleep(0.01)
        assert not finished.is_set()  # and yet the loop runs
        thought.set()
        async with asyncio.timeout(DEADLINE):
            await finished.wait()

    run_at_home(network)
    assert threads == {home}


def test_bot_when_the_event_loop_is_about_to_move_then_all_is_still_done_in_the_bots_thread() -> None:
    threads: list[int] = []

    async def network(thinker: HomeThinker) -> None:
        for _ in range(4):
            for _ in range(2 * QUICK_ANSWERS):  # the loop can move only while this coroutine waits
                thinker.do(lambda: threads.append(HERE()), lambda: None)
            await asyncio.sleep(0.01)
            await done(thinker, lambda: time.sleep(2 * SLOW_SECONDS))
        await done(thinker, lambda: None)

    run_at_home(network)
    assert threads == [HERE()] * 8 * QUICK_ANSWERS


def test_bot_when_what_it_does_fails_then_it_goes_on() -> None:
    home, count = HERE(), [0]

    def fail() -> None:
        count[0] += 1
        raise ValueError

    async def network(thinker: HomeThinker) -> None:
        await done(thinker, fail)
        assert await until_here(thinker, home, 1000 * QUICK_ANSWERS)
        await done(thinker, fail)

    run_at_home(network)
    assert count == [2]


HAS_CHILDREN = """
import multiprocessing, signal, sys, time
from referee.bot import run
asked = 0
def choose(turn):
    global asked
    asked += 1
    if asked in (1, int(sys.argv[2])):
        context = multiprocessing.get_context("fork")
        child = context.Process(target=time.sleep, args=(1000,), daemon=True)
        child.start()
        child.terminate()
        child.join(20)
        with context.Pool(1) as pool:
            found = pool.map(abs, [-3])
        print(child.exitcode, found, flush=True)
    return turn.legal[0] if turn.legal else None
run(choose, token="bot-4", addresses=[sys.argv[1]])
"""


async def test_bot_when_it_ends_children_of_its_own_then_they_end() -> None:
    spec = match_spec(sessions=4, deals=50, limits=Limits(decision_ms=60_000, join_seconds=20))
    async with referee() as address, sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)):
        playing = asyncio.create_task(play_match(address, spec))
        # The first while the event loop runs in another thread, the second while it runs in the bot's.
        command = tied(sys.executable, "-c", HAS_CHILDREN, address, str(4 * QUICK_ANSWERS))
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as bot:
            try:
                assert bot.stdout is not None
                for _ in range(2):
                    line = await asyncio.to_thread(bot.stdout.readline)
                    assert line == f"{-signal.SIGTERM} [3]\n"
            finally:
                bot.kill()
                playing.cancel()


NEVER_ENDS = """
import sys, time
from referee.bot import run
quick = int(sys.argv[2])
def choose(turn):
    global quick
    quick -= 1
    if quick < 0:
        print("thinks", flush=True)
        while True:
            time.sleep(0.01)
    return turn.legal[0] if turn.legal else None
run(choose, token="bot-4", addresses=[sys.argv[1]])
"""


@pytest.mark.parametrize("quick", [0, 4 * QUICK_ANSWERS])
async def test_bot_when_it_never_ends_a_thought_and_is_told_twice_to_leave_then_it_ends(quick: int) -> None:
    spec = match_spec(sessions=4, deals=50, limits=Limits(decision_ms=60_000, join_seconds=20))
    async with referee() as address, sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)):
        playing = asyncio.create_task(play_match(address, spec))
        command = tied(sys.executable, "-c", NEVER_ENDS, address, str(quick))
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as bot:
            try:
                assert bot.stdout is not None
                assert await asyncio.to_thread(bot.stdout.readline) == "thinks\n"
                bot.send_signal(signal.SIGTERM)
                await asyncio.sleep(0.1)  # otherwise the two may count as one
                bot.send_signal(signal.SIGTERM)
                _, errors = await asyncio.to_thread(bot.communicate, timeout=DEADLINE)
            finally:
                bot.kill()
                playing.cancel()
        assert (bot.returncode, "Traceback" in errors) == (0, False), errors
