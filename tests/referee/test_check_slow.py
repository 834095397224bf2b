"""Tests for the check of slow bots: they are warned, and the check comes to an end."""

import asyncio
import sys
import time
from dataclasses import replace

import pytest

from referee.check import SCENARIOS, Scenario, check, run
from referee.check.desk import Desk
from referee.check.outcome import Slow, Unfinished
from referee.check.stream import Switchboard
from tests.waiting import DEADLINE


async def test_check_when_a_bot_is_only_slow_then_it_is_warned_also_after_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An answer that it still owes from the scenario before is not a mistake in the next one."""
    chosen = [replace(one, seconds=1.0) for one in SCENARIOS if one.code in ("SESS-02", "SESS-03")]
    monkeypatch.setattr(run, "SCENARIOS", tuple(chosen))
    think = "lambda turn: time.sleep(0.06) or (turn.legal[0] if turn.legal else None)"
    command = [sys.executable, "-c", f"import time\nfrom referee.bot import main\nmain({think})"]
    report = await check(command=command, timeout=DEADLINE)
    assert [(one.outcome, one.reason.partition(":")[0]) for one in report.results] == [
        ("warned", "the bot is slow")
    ] * 2


def desk() -> Desk:
    return Desk(Switchboard(), "me/mine@1", "token", None)


async def test_check_when_an_answer_of_an_earlier_scenario_comes_then_the_bot_is_alive() -> None:
    from referee.v1 import bots_pb2

    at = desk()
    session = at.session("chinese", 0)
    session.open(bots_pb2.PlayResponse())
    await at.tidy()
    late = bots_pb2.PlayRequest(moves=[bots_pb2.Move(session=session.handle, sequence=1)])
    assert list(at.answers([], late, bots_pb2.PlayResponse())) == []
    assert (at.strays, at.last_answer > 0) == ([], True)


@pytest.mark.parametrize(("slow", "seconds"), [(2, "0.3"), (3, "0.1")])
async def test_check_when_a_bot_was_slow_often_then_it_gets_less_time_and_is_told_so(
    slow: int, seconds: str
) -> None:
    at = desk()
    at.slow = ["SESS-01", "SESS-02", "SESS-03"][:slow]

    async def answers(at: Desk) -> None:
        at.answered += 4
        while True:
            at.last_answer = time.monotonic()
            await asyncio.sleep(0)

    each = "75" if slow == 2 else "25"
    said = f"the bot is slow: 4 turns in {seconds} s, about {each} ms each, and not finished"
    with pytest.raises(Slow, match=said) as error:
        await run._run(at, Scenario("RULES-01", "", "", answers, seconds=0.3), time.monotonic())
    less = "(a third of the time, as in SESS-01, SESS-02, SESS-03 it was slow too)"
    assert (less in str(error.value)) == (slow == 3)


async def test_check_when_a_bot_answers_nothing_more_then_it_has_all_the_time_and_fails() -> None:
    at = desk()
    at.slow = ["SESS-01", "SESS-02", "SESS-03"]
    silent = Scenario("CONN-01", "", "", lambda _: asyncio.sleep(DEADLINE), seconds=0.3)
    with pytest.raises(Unfinished, match=r"expected the bot to finish within 0.3 s; it did not"):
        await run._run(at, silent, time.monotonic())
