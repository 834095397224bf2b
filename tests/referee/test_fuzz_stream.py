"""Fuzzing a real server with valid and mutated messages: every call ends as it should, and it plays on."""

import asyncio
import contextlib
import random
from collections.abc import Iterator
from itertools import count
from typing import Any

import grpc
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from referee.matches.journal import EntryKind
from referee.matches.match import Limits
from referee.protocol.requests import match_request
from referee.service.server import ServerOptions
from referee.v1 import bots_pb2
from referee.worker.v1alpha1 import worker_pb2
from tests.examples import examples
from tests.referee.hostile import status_of
from tests.referee.support import (
    LEGAL_PLAYS,
    WORKER_TOKEN,
    ListJournal,
    WireBot,
    check_records,
    lowest,
    match_spec,
    play_match,
    referee,
    sdk_bots,
)

U32, I32 = st.integers(0, 2**32 - 1), st.integers(-(2**31), 2**31 - 1)
SMALL = st.integers(0, 8)
TOKENS = st.sampled_from(["bot-1", "bot-2", "bot-9", "nobody", "", "bot-", "x" * 600])

HOSTS = (f"127.2.{number >> 8}.{number & 255}" for number in count(1))
"""Each call comes from a host of its own, since a single host with so many would be kept out."""

capabilities = st.builds(
    bots_pb2.Capabilities,
    turn_kinds=st.lists(SMALL | I32, max_size=6),
    max_seats=st.none() | SMALL | U32,
    max_packs=st.none() | SMALL | U32,
    max_card=st.integers(0, 60) | I32,
)
hellos = st.builds(
    bots_pb2.Hello,
    protocol_version=st.just(1) | U32,
    sdk=st.text(max_size=200),
    max_sessions=SMALL | U32,
    capabilities=st.none() | capabilities,
    wants=st.none() | st.builds(bots_pb2.Wants, legal_plays=st.booleans(), hands=st.booleans()),
)
moves = st.builds(
    bots_pb2.Move,
    session=SMALL | U32,
    sequence=SMALL | U32,
    cards=st.lists(st.integers(1, 52) | I32, max_size=14),
    passes=st.booleans(),
)
requests = st.builds(
    bots_pb2.PlayRequest,
    hello=st.none() | hellos,
    moves=st.lists(moves, max_size=6),
    goodbye=st.none() | st.builds(bots_pb2.Goodbye),
    pong=st.none() | st.builds(bots_pb2.Pong, id=SMALL | U32),
    capacity=st.none() | st.builds(bots_pb2.Capacity, max_sessions=SMALL | U32),
)
good_hello = st.builds(
    bots_pb2.PlayRequest,
    hello=st.builds(bots_pb2.Hello, protocol_version=st.just(1)),
)


@st.composite
def mutated(draw: st.DrawFn, messages: st.SearchStrategy[Any]) -> bytes:
    """Draw the bytes of a message, perhaps with some of them changed, removed or inserted."""
    data = bytearray(draw(messages).SerializeToString())
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(data)))
        data[at : at + draw(st.integers(0, 2))] = draw(st.binary(max_size=2))
    return bytes(data)


match_requests = st.builds(
    lambda fields: worker_pb2.RunMatchRequest(**fields),
    st.fixed_dictionaries(
        {
            "match_id": st.sampled_from(["m", "", "x" * 1000]),
            "ruleset": st.sampled_from(["", "{}", "[]", "null", '{"name": 3}', '{"name": "x", "players": 3}'])
            | st.text(max_size=30),
            "bots": st.lists(
                st.builds(worker_pb2.MatchBot, version_id=st.integers(-5, 5), name=st.text(max_size=5)),
                max_size=5,
            ),
            "sessions": st.lists(
                st.builds(
                    worker_pb2.MatchSession,
                    number=SMALL,
                    seating=st.lists(U32, max_size=5),
                    seed=st.binary(max_size=33),
                ),
                max_size=3,
            ),
            "deals": U32,
        }
    ),
)


def changed_match(field: str, value: object) -> worker_pb2.RunMatchRequest:
    request = match_request(match_spec((91, 92, 93, 94), match_id="changed", limits=Limits(join_seconds=1)))
    setattr(request, field, value)
    return request


def changed_clock(clock: str, seconds: int, nanos: int) -> worker_pb2.RunMatchRequest:
    request = changed_match("round", 1)
    duration = request.join if clock == "join" else getattr(request.limits, clock)
    duration.seconds, duration.nanos = seconds, nanos
    return request


changed_matches = st.builds(changed_match, st.sampled_from(["deals", "round", "table"]), U32) | st.builds(
    changed_clock,
    st.sampled_from(["join", "decision", "bank", "increment", "credit"]),
    st.integers(-2, 2) | st.integers(-(2**63), 2**63 - 1),
    I32,
)


class Server:
    """A referee whose event loop is driven by the test."""

    def __init__(self, runner: asyncio.Runner) -> None:
        self.runner = runner
        self.journal = ListJournal()
        self.context = referee(options=ServerOptions(drain_seconds=0, journal=self.journal))
        self.address = runner.run(self.context.__aenter__())


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """Run a referee that all examples share."""
    with asyncio.Runner() as runner:
        server = Server(runner)
        yield server
        runner.run(server.context.__aexit__(None, None, None))


PATIENCE = 2.0
"""Seconds after which a call that has not ended is broken off."""
CHECKS = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
many = examples(150, suppress_health_check=CHECKS)


@many
@given(TOKENS, st.lists(good_hello, max_size=1), st.lists(mutated(requests)))
def test_stream_when_messages_are_anything_then_it_ends_with_a_reason(
    server: Server,
    caplog: pytest.LogCaptureFixture,
    token: str,
    first: list[bots_pb2.PlayRequest],
    rest: list[bytes],
) -> None:
    entries = server.journal.entries
    before = len(entries)
    opening = [request.SerializeToString() for request in first]
    goodbye = bots_pb2.PlayRequest(goodbye=bots_pb2.Goodbye()).SerializeToString()
    messages = [*opening, *rest, goodbye]
    status = server.runner.run(
        status_of(server.address, "Play", messages, token, end=False, source=next(HOSTS))
    )
    ends = [entry.kind for entry in entries[before:] if entry.kind in (EntryKind.LEFT, EntryKind.LOST)]
    if status is grpc.StatusCode.OK:
        assert ends == [EntryKind.LEFT]
    else:
        assert EntryKind.LEFT not in ends
        assert status not in (grpc.StatusCode.UNKNOWN, grpc.StatusCode.INTERNAL)
    assert not [record for record in caplog.records if record.exc_info]


@many
@given(mutated(match_requests | changed_matches), st.sampled_from(["RunMatch", "WatchMatch", "GetStatus"]))
def test_call_when_its_message_is_anything_then_it_ends_with_a_reason(
    server: Server, caplog: pytest.LogCaptureFixture, data: bytes, call: str
) -> None:
    asked = status_of(server.address, call, [data], WORKER_TOKEN, source=next(HOSTS))
    ended = asyncio.wait_for(asked, PATIENCE)
    with contextlib.suppress(TimeoutError):  # a match that waits for its bots for hours is all right
        assert server.runner.run(ended) not in (grpc.StatusCode.UNKNOWN, grpc.StatusCode.INTERNAL)
    assert not [record for record in caplog.records if record.exc_info]


@examples(10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 2**32))
def test_match_when_one_bot_answers_at_random_then_it_is_played_and_its_records_stand(
    server: Server, caplog: pytest.LogCaptureFixture, seed: int
) -> None:
    rng = random.Random(seed)

    async def play() -> None:
        spec = match_spec(
            sessions=2, deals=1, limits=Limits(decision_ms=60_000, join_seconds=20, faults=1000)
        )
        async with sdk_bots(server.address, dict.fromkeys((1, 2, 3), lowest)):
            running = asyncio.create_task(play_match(server.address, spec))
            playing = asyncio.create_task(_answer_at_random(server.address, rng))
            results = await running
            playing.cancel()
            await asyncio.gather(playing, return_exceptions=True)
        for result in results:
            check_records(spec, result)
        assert len(results) == 2

    server.runner.run(play())
    assert not [record for record in caplog.records if record.exc_info]


async def _answer_at_random(address: str, rng: random.Random) -> None:
    async with WireBot(address, 4, wants=LEGAL_PLAYS) as bot:
        while True:
            turn = await bot.next("turn")
            for _ in range(rng.randrange(3)):
                await bot.move(turn, sequence=rng.randrange(9), session=rng.randrange(9))
            plays = [list(play.cards) for play in turn.legal_plays]
            anything = [rng.randrange(-3, 60) for _ in range(rng.randrange(6))]
            await bot.move(turn, rng.choice([*plays, anything, []]), passes=rng.random() < 0.3)


def test_server_when_all_that_is_over_then_it_plays_a_match(server: Server) -> None:
    async def play() -> None:
        async with sdk_bots(server.address, dict.fromkeys((1, 2, 3, 4), lowest)):
            (result,) = await play_match(server.address, match_spec())
            assert result.faults == (0, 0, 0, 0)

    server.runner.run(play())
