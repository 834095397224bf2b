"""Tests for bots that answer many turns at once, or in coroutines."""

import asyncio
import logging
import sys
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from inspect import iscoroutinefunction
from pathlib import Path

import pytest

from referee.bot import Answer, Turn
from referee.check import check
from referee.check.desk import Desk
from referee.check.scenarios.pings import ping, pongs
from referee.check.scenarios.turns import FOUR, small
from referee.check.session import BotSession, due
from referee.v1 import bots_pb2
from tests.referee.support import lowest
from tests.referee.test_bot_stream import scripted
from tests.waiting import DEADLINE, until

MANY = """
class Mine:
    async def choose_many(self, turns):
        return [turn.legal[0] if turn.legal else None for turn in turns]
"""
WAITING = """
import asyncio
async def choose(turn):
    await asyncio.sleep(0)
    return turn.legal[0] if turn.legal else None
"""


def leading(desk: Desk, number: int) -> list[BotSession]:
    """Return sessions in which the bot leads."""
    return [desk.session(small(), 0, hands=FOUR) for _ in range(number)]


async def moves(desk: Desk, sessions: Sequence[BotSession]) -> dict[int, bots_pb2.Move]:
    """Return the bot's moves in these sessions, by session handle; a move is due in each of them."""
    found: dict[int, bots_pb2.Move] = {}
    while len(found) < len(sessions):
        found |= {move.session: move for move in (await desk.hear(due(sessions))).moves}
    return found


class Batches:
    """A bot that notes how many turns it was asked at once."""

    def __init__(self) -> None:
        self.asked: list[int] = []
        self.may_answer = threading.Event()

    def choose_many(self, turns: Sequence[Turn]) -> Sequence[Answer]:
        self.asked.append(len(turns))
        assert self.may_answer.wait(DEADLINE)
        return [lowest(turn) for turn in turns]


async def test_choose_many_when_turns_come_together_then_it_is_asked_once_for_all_of_them() -> None:
    bot = Batches()
    bot.may_answer.set()
    async with scripted(bot) as (desk, _, _):
        sessions = leading(desk, 8)
        desk.open(sessions)
        assert len(await moves(desk, sessions)) == 8
    assert bot.asked == [8]


async def test_choose_many_when_turns_come_while_it_thinks_then_they_are_its_next_ones_together() -> None:
    bot = Batches()
    async with scripted(bot) as (desk, _, _):
        sessions = leading(desk, 4)
        for one in sessions:
            desk.open([one])
            await until(lambda: bool(bot.asked))
        desk.send(ping(1))
        await pongs(desk, [1])  # so all of them have been read
        bot.may_answer.set()
        assert len(await moves(desk, sessions)) == 4
    assert bot.asked == [1, 3]


class Picky:
    """A bot that answers wrongly, or fails, in one of its sessions."""

    wrong: object = None

    def choose_many(self, turns: Sequence[Turn]) -> Sequence[Answer]:
        disliked = turns[0].session.rpartition("/")[0] + "/2"
        if isinstance(self.wrong, type) and any(turn.session == disliked for turn in turns):
            raise RuntimeError("not that one")
        return [self.wrong if turn.session == disliked else lowest(turn) for turn in turns]  # type: ignore[misc]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (7, "TypeError: choose_many returned int"),
        (ValueError("too hard"), "ValueError: too hard"),
        (RuntimeError, "RuntimeError: not that one"),
    ],
    ids=["type", "exception", "raised"],
)
async def test_choose_many_when_one_answer_fails_then_only_its_session_has_a_failure(
    wrong: object, said: str
) -> None:
    bot = Picky()
    bot.wrong = wrong
    async with scripted(bot) as (desk, _, _):
        sessions = leading(desk, 4)
        desk.open(sessions)
        found = await moves(desk, sessions)
    failures = [move.failure for move in found.values() if move.failure]
    assert len(failures) == 1
    assert failures[0].startswith(said)


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise ValueError("no text")


def raising(error: BaseException) -> Callable[[Turn], Answer]:
    def choose(turn: Turn) -> Answer:
        raise error

    return choose


def returning(answer: object) -> Callable[[Turn], Answer]:
    return lambda turn: answer  # type: ignore[return-value]


def endless(turn: Turn) -> Answer:
    return endless(turn)


async def cancelled(turn: Turn) -> Answer:
    stopped = asyncio.create_task(asyncio.sleep(DEADLINE))
    stopped.cancel()
    await stopped
    return None


async def late_and_wrong(turn: Turn) -> Answer:
    await asyncio.sleep(0)
    return 7  # type: ignore[return-value]


WRONG = "; a Play, text, list or None is expected"


@pytest.mark.parametrize(
    ("misuse", "said"),
    [
        (returning(7), f"TypeError: choose returned int{WRONG}"),
        (returning(b"3D"), f"TypeError: choose returned a bytes with int in it{WRONG}"),
        (returning(["3D", None]), f"TypeError: choose returned a list with NoneType in it{WRONG}"),
        (returning("no card"), "CardError: 'no' is not a card"),
        (returning("3D " * 100_000), "CardError: 3D is there more often than one pack has it"),
        (returning(None), ""),
        (returning(""), ""),
        (returning([]), ""),
        (raising(Unspeakable()), "Unspeakable: its text cannot be had: ValueError"),
        (raising(ValueError("long " * 5_000)), "ValueError: long long "),
        (raising(asyncio.CancelledError()), "CancelledError: "),
        (raising(ExceptionGroup("both", [ValueError("one")])), "ValueError: one"),
        (endless, "RecursionError: maximum recursion depth exceeded"),
        (cancelled, "CancelledError: ; test_bot_many.py, line "),
        (late_and_wrong, f"TypeError: choose returned int{WRONG}"),
    ],
)
async def test_bot_when_it_misuses_a_turn_then_that_turn_alone_fails_or_is_a_pass(
    misuse: Callable[[Turn], Answer | Awaitable[Answer]], said: str, caplog: pytest.LogCaptureFixture
) -> None:
    asked: Counter[str] = Counter()
    loud = caplog.at_level(logging.ERROR, logger="bot")

    def choose(turn: Turn) -> Answer | Awaitable[Answer]:
        asked[turn.session] += 1
        return misuse(turn) if asked.total() == 1 else lowest(turn)

    async def choose_async(turn: Turn) -> Answer:
        answer = choose(turn)
        return await answer if isinstance(answer, Awaitable) else answer

    with loud:
        async with scripted(choose_async if iscoroutinefunction(misuse) else choose) as (desk, _, _):
            first, second = leading(desk, 2)
            desk.open([first])
            [wrong] = (await moves(desk, [first])).values()
            desk.send(ping(5))
            assert (await desk.hear("a pong")).pong.id == 5
            out = bots_pb2.PlayResponse()
            second.open(out)
            first.reject(out, bots_pb2.FAULT_KIND_EXCEPTION, wrong)
            first.go_on(out)
            desk.send(out)
            right = await moves(desk, [first, second])
    assert (wrong.passes, wrong.failure[: len(said)], list(wrong.cards)) == (not said, said, [])
    assert len(wrong.failure) <= 1000
    assert [(move.failure, move.passes) for move in right.values()] == [("", False)] * 2
    assert [record.message.partition(":")[0] for record in caplog.records] == ["the bot failed"] * bool(said)


async def test_choose_many_when_answers_are_too_few_then_each_session_has_a_failure() -> None:
    class Short:
        def choose_many(self, turns: Sequence[Turn]) -> Sequence[Answer]:
            return []

    async with scripted(Short) as (desk, _, _):
        sessions = leading(desk, 2)
        desk.open(sessions)
        found = await moves(desk, sessions)
    expected = "TypeError: choose_many returned 0 answers; a list of 1 answers is expected"
    assert [move.failure for move in found.values()] == [expected] * 2


async def test_async_choose_when_one_waits_for_another_then_that_is_answered_meanwhile() -> None:
    second = asyncio.Event()
    seen: list[str] = []

    async def choose(turn: Turn) -> Answer:
        seen.append(turn.session)
        if len(seen) == 1:
            await second.wait()
        else:
            second.set()
        return lowest(turn)

    async with scripted(choose) as (desk, _, _):
        sessions = leading(desk, 2)
        desk.open(sessions)
        assert len(await moves(desk, sessions)) == 2
    assert len(seen) == 2


@pytest.mark.parametrize("text", [WAITING, MANY], ids=["async", "async many"])
async def test_bot_when_it_is_checked_as_a_program_then_it_passes(text: str, tmp_path: Path) -> None:
    file = tmp_path / "bot.py"
    file.write_text(text)
    command = [sys.executable, "-m", "referee", "bot", "run", str(file)]
    report = await check(command=command, scenarios=["TURN", "END"])
    assert report.passed, [one for one in report.results if one.reason]
