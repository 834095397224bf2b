"""Tests for ``arena bot doctor``: it prints a sentence for each thing that is right or wrong."""

import asyncio
import re
from datetime import UTC, datetime, timedelta

import grpc
import pytest

from referee.bot.diagnosis import Answer, check_token, compare_clocks, examine, judge_sessions
from referee.cli.app import run
from referee.errors import RefereeUnavailable
from referee.matches.journal import SEVERAL_OWED, EntryKind, LogEntry, LogQuery
from referee.net.client import read_log
from referee.net.failures import PAGES
from referee.net.tls import ClientTls
from referee.protocol.reasons import Failure, Reason
from tests.referee.support import lowest, referee, sdk_bots
from tests.referee.test_server_tls import World, options, world

__all__ = ["world"]


@pytest.mark.parametrize(
    ("token", "right", "said"),
    [
        ("bt_bot_abc", True, "is well-formed"),
        ("", False, "ARENA_TOKEN is not set; it is what `arena bot register` printed"),
        ("blah", False, "ARENA_TOKEN does not begin with bt_bot_, as every token of a bot does"),
        ("bt_bot_a\nb", False, "ARENA_TOKEN contains '\\n', which no token has"),
        ('"bt_bot_ab"', False, "ARENA_TOKEN is in quotes: leave them out"),
        (
            "bt_worker_x",
            False,
            "ARENA_TOKEN is a token of another kind (worker); a bot's begins with bt_bot_",
        ),
    ],
)
def test_token_when_its_form_is_looked_at_then_that_is_said(token: str, right: bool, said: str) -> None:
    assert check_token(token) == ("token", right, said)


async def test_examination_when_all_is_right_then_a_bot_that_plays_is_not_disturbed() -> None:
    async with referee() as address, sdk_bots(address, {1: lowest}):
        found = await examine([address], "bot-1", None)
    assert [(one.right, one.text) for one in found] == [
        (True, "can be reached, without TLS"),
        (True, "knows the token, which belongs to owner/bot1@1"),
        (True, "speaks version 1 of the protocol, as this SDK does"),
        (True, "agrees with the clock here to within 5 s"),
        (True, "noted no time-out of the bot in the last day"),
    ]


def asked(took: float, now: str | None) -> Answer:
    """Return an answer that came ``took`` seconds after a question asked at noon."""
    metadata = {} if now is None else {"now": now}
    failure = Failure(grpc.StatusCode.FAILED_PRECONDITION, "", Reason.PROTOCOL_VERSION, None, metadata)
    noon = datetime(2030, 1, 1, 12, tzinfo=UTC)
    return Answer(failure, noon, noon + timedelta(seconds=took))


@pytest.mark.parametrize(
    ("took", "now", "right", "said"),
    [
        (0.1, "2030-01-01T12:00:04+00:00", True, "agrees with the clock here"),
        (30, "2030-01-01T12:00:15+00:00", True, "agrees with the clock here"),
        (0.1, "2030-01-01T11:58:20+00:00", False, "the clock here is 100 s ahead of the referee's: set it"),
        (1, "2030-01-01T14:00:01+00:00", False, "the clock here is 2:00:00 behind the referee's: set it"),
        (1, None, True, "does not report its time"),
        (1, "2030-01-01T12:00:00", True, "does not report its time"),
        (1, "noon", True, "does not report its time"),
    ],
)
def test_clocks_when_they_are_apart_for_sure_then_that_is_wrong(
    took: float, now: str | None, right: bool, said: str
) -> None:
    found, text = compare_clocks(asked(took, now))
    assert found is right
    assert text.startswith(said)


def fault(code: str, text: str) -> LogEntry:
    at = datetime(2030, 1, 1, tzinfo=UTC)
    return LogEntry(1, at, "me/bot@1", "referee", EntryKind.FAULT, code, text, "cup/1/1/1", {})


def test_faults_when_several_answers_were_owed_then_there_are_too_many_sessions() -> None:
    late = "no answer within 1000 ms"
    found = list(
        judge_sessions(
            [
                fault("timeout", f"{late}: the bot owed 4 answers at once; {SEVERAL_OWED}"),
                fault("timeout", f"{late}: the bot owed 2 answers at once; {SEVERAL_OWED}"),
                fault("timeout", late),
                fault("illegal", "not in hand"),
            ]
        )
    )
    assert [right for right, _ in found] == [False, False]
    assert found[0][1].startswith(
        "2 of the bot's time-outs of the last day came while it owed several answers"
    )
    assert found[1][1].startswith(
        "1 of the bot's time-outs of the last day came while it owed one answer only"
    )


async def test_examination_when_the_token_is_of_nobody_then_that_is_said(world: World) -> None:
    async with referee(options=options(world)) as address:
        found = await examine([address], "nobody's", ClientTls(world.ours.certificate))
    assert [one.right for one in found] == [True, False]
    assert found[1].text.endswith(": does it belong to this arena, and to the bot's current version?")


async def test_referee_when_pages_are_served_there_then_the_doctor_and_the_log_say_so() -> None:
    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        _, found = await examine([address], "bt_bot_x", None)
        assert found == (address, False, PAGES)
        with pytest.raises(RefereeUnavailable, match=re.escape(PAGES)):
            await asyncio.to_thread(read_log, address, "bt_bot_x", LogQuery("me/x"))


def test_doctor_when_nobody_listens_then_it_says_so_and_exits_with_1(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_TOKEN", "bt_bot_x")
    assert run(["bot", "doctor", "--referee", "127.0.0.1:1"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "ok     token: is well-formed",
        "wrong  127.0.0.1:1: nothing listens there",
    ]


def test_doctor_when_nothing_is_right_then_each_thing_has_its_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ARENA_TOKEN", raising=False)
    assert run(["bot", "doctor", "--referee", "somewhere"]) == 1
    shown = capsys.readouterr().out.splitlines()
    assert [line.partition(": ")[0] for line in shown] == ["wrong  token", "wrong  ARENA_REFEREE"]
