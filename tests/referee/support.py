"""A referee, bots and a worker in one event loop, over real sockets."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any

import grpc

from referee.auth import BotIdentity
from referee.bot.client import BotClient
from referee.client import BotSeat, Limits, MatchSpec, SessionResult, SessionSpec, run_match
from referee.ruleset import load_ruleset
from referee.server import serve
from referee.v1 import play_pb2, referee_pb2_grpc

WORKER_TOKEN = "worker-token"
LIMITS = Limits(join_ms=5000)
DEADLINE = 20.0
"""Seconds after which a test gives up on an event."""


class Tokens:
    """An authenticator: bot n has the token ``bot-n``."""

    def bot(self, token: str) -> BotIdentity | None:
        number = token.removeprefix("bot-")
        return BotIdentity(int(number), f"owner/bot{number}@1") if number.isdigit() else None

    def worker(self, token: str) -> bool:
        return token == WORKER_TOKEN


@asynccontextmanager
async def referee(listen: str = "127.0.0.1:0") -> AsyncIterator[str]:
    """A referee that listens on a free port; gives its address."""
    stop = asyncio.Event()
    ready: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(serve(listen, Tokens(), stop, on_ready=ready.set_result))
    either: list[asyncio.Future[Any]] = [task, ready]
    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        task.result()
    try:
        yield f"127.0.0.1:{ready.result()}"
    finally:
        stop.set()
        await task


@asynccontextmanager
async def sdk_bots(address: str, bots: dict[int, Any], max_sessions: int = 0) -> AsyncIterator[None]:
    """Bots of the SDK, by number."""
    clients = [BotClient(bot, f"bot-{number}", max_sessions) for number, bot in bots.items()]
    tasks = [asyncio.create_task(client.run([address])) for client in clients]
    try:
        yield
    finally:
        for client in clients:
            client.leave()
        async with asyncio.timeout(DEADLINE):
            await asyncio.gather(*tasks)


class WireBot:
    """A bot that writes its messages by hand."""

    def __init__(self, address: str, number: int, **hello: Any) -> None:
        self._channel = grpc.aio.insecure_channel(address)
        self._call = referee_pb2_grpc.RefereeServiceStub(self._channel).Play(None)
        self._hello = {"token": f"bot-{number}", "protocol_version": 1, **hello}
        self._events: list[play_pb2.Event] = []
        self.welcome = play_pb2.Welcome()
        self.seen: list[play_pb2.Event] = []

    async def __aenter__(self) -> "WireBot":
        await self.connect()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Breaks the stream off without a goodbye."""
        self._call.cancel()
        await self._channel.close(None)

    async def connect(self) -> None:
        """Says hello; again while the referee has not noticed that an earlier stream of this bot is gone."""
        async with asyncio.timeout(DEADLINE):
            while True:
                try:
                    await self.write(play_pb2.PlayRequest(hello=play_pb2.Hello(**self._hello)))
                    self.welcome = (await self._read()).welcome
                    return
                except grpc.aio.AioRpcError as error:
                    if error.code() is not grpc.StatusCode.ALREADY_EXISTS:
                        raise
                    self._call = referee_pb2_grpc.RefereeServiceStub(self._channel).Play(None)

    async def write(self, request: play_pb2.PlayRequest) -> None:
        await self._call.write(request)

    async def move(self, turn: play_pb2.Turn, cards: Sequence[Any] = (), **fields: Any) -> None:
        """Answers a turn: with cards, or a pass."""
        fields = {"session": turn.session, "sequence": turn.sequence, "passes": not cards, **fields}
        await self.write(play_pb2.PlayRequest(moves=[play_pb2.Move(cards=cards, **fields)]))

    async def next(self, kind: str, where: Callable[[Any], bool] = lambda event: True) -> Any:
        """The next event of a kind; others before it stay in ``seen``."""
        async with asyncio.timeout(DEADLINE):
            while True:
                event = await self.next_event()
                self.seen.append(event)
                if event.WhichOneof("event") == kind and where(getattr(event, kind)):
                    return getattr(event, kind)

    async def next_event(self) -> play_pb2.Event:
        """The next event, whatever it is."""
        while not self._events:
            self._events.extend((await self._read()).events)
        return self._events.pop(0)

    async def _read(self) -> play_pb2.PlayResponse:
        async with asyncio.timeout(DEADLINE):
            response = await self._call.read()
        assert isinstance(response, play_pb2.PlayResponse), "the stream ended"
        return response


def match_spec(
    bots: Sequence[int] = (1, 2, 3, 4),
    *,
    sessions: int = 1,
    deals: int = 2,
    ruleset: str | Mapping[str, object] = "chinese",
    match_id: str = "m",
    limits: Limits = LIMITS,
) -> MatchSpec:
    """A match of bots by number; session n has the seed n, n, n, …"""
    size = len(bots)
    seatings = [tuple((seat + number) % size for seat in range(size)) for number in range(sessions)]
    return MatchSpec(
        match_id=match_id,
        tournament="test",
        round=1,
        table=1,
        ruleset=load_ruleset(ruleset).to_object(),
        bots=tuple(BotSeat(bot, f"owner/bot{bot}@1") for bot in bots),
        sessions=tuple(
            SessionSpec(n + 1, seating, bytes([n + 1] * 32)) for n, seating in enumerate(seatings)
        ),
        deals=deals,
        commitment="00" * 32,
        limits=limits,
    )


async def play_match(
    address: str, spec: MatchSpec, started: asyncio.Event | None = None
) -> list[SessionResult]:
    """Runs a match as a worker does; gives the results by session number. Sets ``started`` once it runs."""
    loop = asyncio.get_running_loop()

    def run() -> list[SessionResult]:
        results = []
        for update in run_match(address, WORKER_TOKEN, spec):
            if started is not None:
                loop.call_soon_threadsafe(started.set)
            if isinstance(update, SessionResult):
                results.append(update)
        return results

    async with asyncio.timeout(3 * DEADLINE):
        return sorted(await asyncio.to_thread(run), key=lambda result: result.number)
