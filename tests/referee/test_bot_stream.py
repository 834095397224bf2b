"""Tests for the SDK with a scripted referee: pings while it thinks, broken streams, leaving, its share."""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from referee.bot import Play, Turn
from referee.bot.bots import Bot
from referee.bot.client import BotClient
from referee.check.desk import Desk
from referee.check.scenarios.connection import resume, shutdown
from referee.check.scenarios.pings import ping, pongs
from referee.check.scenarios.turns import FOUR, small
from referee.check.session import BotSession, due, quiet
from referee.check.stream import Switchboard
from referee.protocol.reasons import Reason, Refused
from referee.v1 import bots_pb2
from tests.referee.support import lowest
from tests.waiting import DEADLINE, until


@asynccontextmanager
async def scripted(
    bot: Bot, max_sessions: int = 0, *, strict: bool = False
) -> AsyncIterator[tuple[Desk, BotClient, "asyncio.Task[None]"]]:
    """Run a referee's desk and a bot of the SDK that is welcome there; yield both, and the bot's task."""
    board = Switchboard()
    await board.listen("127.0.0.1:0")
    desk = Desk(board, "me/bot@1", "token", None, DEADLINE)
    client = BotClient(bot, "token", max_sessions, strict=strict)
    task = asyncio.create_task(client.run([board.address]))
    try:
        await desk.meet(DEADLINE)
        yield desk, client, task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await board.stop()


class Thoughtful:
    """A bot that answers only when it is allowed to."""

    def __init__(self) -> None:
        self.may_answer = threading.Event()
        self.thinking = 0
        """Number of decisions that it is thinking about."""
        self.most = 0
        """The largest number at the same time."""

    def choose(self, turn: Turn) -> Play | None:
        self.thinking += 1
        self.most = max(self.most, self.thinking)
        assert self.may_answer.wait(DEADLINE)
        self.thinking -= 1
        return lowest(turn)


async def move_of(desk: Desk, session: BotSession) -> bots_pb2.Move:
    """Return the bot's next move, which must answer the session's open turn."""
    (move,) = (await desk.hear(due([session]))).moves
    assert session.owes(move)
    return move


async def test_ping_when_the_first_turn_takes_long_then_it_is_answered_meanwhile() -> None:
    bot = Thoughtful()
    async with scripted(bot.choose) as (desk, _, _):
        session = desk.session(small(), 0, hands=FOUR)
        desk.open([session])
        await until(lambda: bot.thinking == 1)
        desk.send(ping(1), ping(2))
        await pongs(desk, [1, 2])
        assert bot.thinking == 1
        bot.may_answer.set()
        await move_of(desk, session)


async def test_ping_when_it_comes_with_turns_that_take_long_then_it_is_answered_before_them() -> None:
    bot = Thoughtful()
    async with scripted(bot.choose) as (desk, _, _):
        session, response = desk.session(small(), 0, hands=FOUR), ping(7)
        session.open(response)
        desk.send(response)
        await pongs(desk, [7])
        bot.may_answer.set()
        await move_of(desk, session)


async def test_reconnect_when_the_bot_still_thinks_then_it_finishes_that_before_it_thinks_anew() -> None:
    bot = Thoughtful()
    async with scripted(bot.choose) as (desk, _, _):
        session = desk.session(small(), 0, hands=FOUR)
        desk.open([session])
        await until(lambda: bot.thinking == 1)
        await desk.break_off()
        await desk.come_back()
        await resume(desk, [session])
        desk.send(ping(3))
        await pongs(desk, [3])  # so it has read the resumed turn, too
        assert bot.thinking == 1
        bot.may_answer.set()
        await move_of(desk, session)
        await desk.nothing(why="as the old stream's answer is worth nothing on the new one")
    assert bot.most == 1


async def test_turns_when_sessions_are_many_then_one_is_thought_about_at_a_time() -> None:
    bot = Thoughtful()
    bot.may_answer.set()
    async with scripted(bot.choose) as (desk, _, _):
        await desk.play([desk.session(small(), number % 4) for number in range(8)])
    assert bot.most == 1


async def test_session_when_it_cannot_be_read_then_it_is_played_by_default_and_ends_nothing_else(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with scripted(lowest) as (desk, _, task):
        unreadable = desk.session(small(), 0, hands=FOUR, others=quiet)
        response = bots_pb2.PlayResponse()
        unreadable.open(response)
        response.events[0].session_started.ruleset = '{"of_the_future": true}'
        desk.send(response)
        await desk.go_on([unreadable])
        await desk.play([desk.session(small(), 1)])
        assert not task.done()
    assert "cannot be read; its turns are answered by default" in caplog.text


async def test_session_when_an_event_of_it_cannot_be_read_then_it_goes_on_by_default() -> None:
    async with scripted(lowest) as (desk, _, task):
        session = desk.session(small(), 0, hands=FOUR, others=quiet)
        response = bots_pb2.PlayResponse()
        session.open(response)
        response.events[-1].turn.actions.add(kind=bots_pb2.ACTION_KIND_PLAY, seat=2, cards=[59])
        desk.send(response)
        await desk.go_on([session])
        assert not task.done()


async def test_message_when_it_cannot_be_read_then_the_bot_connects_again() -> None:
    async with scripted(lowest) as (desk, _, task):
        desk.send(b"\xff\xff\xff\xff nonsense")
        await desk.come_back()
        assert not task.done()


async def finishing(desk: Desk, client: BotClient) -> BotSession:
    """Open a session for a bot, tell it to stop, and see it ask for no more sessions."""
    session = desk.session(small(7), 0, others=quiet)
    desk.open([session])
    session.take(await move_of(desk, session))
    client.stop()
    request = await desk.hear("a capacity")
    assert request.HasField("capacity")
    assert request.capacity.max_sessions == 0
    response = bots_pb2.PlayResponse()
    session.go_on(response)
    desk.send(response)
    return session


async def goodbye(desk: Desk) -> None:
    """Wait for a goodbye."""
    assert desk.line is not None
    request = (await desk.line.receive(DEADLINE, "a goodbye")).request
    assert request.HasField("goodbye")


async def test_stop_when_a_session_is_open_then_it_is_finished_before_the_goodbye() -> None:
    async with scripted(lowest) as (desk, client, task):
        session = await finishing(desk, client)
        await desk.go_on([session])
        await goodbye(desk)
        async with asyncio.timeout(DEADLINE):
            await task


async def test_stop_when_it_comes_twice_then_the_bot_leaves_its_session() -> None:
    async with scripted(lowest) as (desk, client, task):
        session = await finishing(desk, client)
        await move_of(desk, session)
        client.stop()
        await goodbye(desk)
        async with asyncio.timeout(DEADLINE):
            await task


async def test_stop_when_the_stream_breaks_then_the_bot_comes_back_to_finish() -> None:
    async with scripted(lowest) as (desk, client, task):
        session = await finishing(desk, client)
        await desk.break_off()
        await desk.come_back()
        request = await desk.hear("a capacity")
        assert request.HasField("capacity")
        await resume(desk, [session])
        await desk.go_on([session])
        await goodbye(desk)
        async with asyncio.timeout(DEADLINE):
            await task


async def test_stop_when_the_referee_closes_with_the_session_open_then_the_bot_ends() -> None:
    async with scripted(lowest) as (desk, client, task):
        await finishing(desk, client)
        desk.send(shutdown(60))
        await desk.refuse(Refused(Reason.CLOSING, retry_seconds=60))
        async with asyncio.timeout(DEADLINE):
            await task


async def test_share_when_the_other_referee_is_out_of_reach_then_the_bot_asks_for_all_until_it_is_not(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, logger="bot")
    board = Switchboard("check-2")
    await board.listen("127.0.0.1:0")
    other = Desk(board, "me/bot@1", "token", None, DEADLINE)
    await board.stop()  # its port stays known, but nobody listens
    async with scripted(lowest, max_sessions=7) as (desk, _, _):
        referees = [desk.referee, other.referee]
        await desk.break_off()
        desk.greet(await desk.knock(), desk.hello, referees=referees, max_sessions=4)
        assert (await desk.hear("a capacity")).capacity.max_sessions == 7
        await board.listen(other.referee.address)
        other.greet(await other.knock(), desk.hello, referees=referees, max_sessions=3)
        assert (await desk.hear("a capacity")).capacity.max_sessions == 4
        await other.nothing(why="as its share is what the bot wants")
        await board.stop()
    told = [record.getMessage() for record in caplog.records]
    assert (
        sum(
            f"referee {other.referee.address} cannot be reached: nothing listens there" in text
            for text in told
        )
        == 1
    )


async def test_bot_when_why_it_reaches_nobody_changes_then_it_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def page(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    async def told(text: str) -> None:
        await until(lambda: text in caplog.text, lambda: caplog.text)

    server = await asyncio.start_server(page, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    server.close()
    await server.wait_closed()
    playing = asyncio.create_task(BotClient(lowest, "token").run([f"{host}:{port}"]))
    await told("nothing listens there")
    server = await asyncio.start_server(page, host, port)
    await told("something other than a referee answers there (is that the port of the pages?)")
    playing.cancel()
    await asyncio.wait([playing])
    server.close()
    for reason in ("nothing listens there", "something other than a referee answers there"):
        assert caplog.text.count(reason) == 1
