"""A referee, bots and a worker in one event loop, talking over real sockets."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

import grpc

from referee.bot import Play, Turn
from referee.bot.client import BotClient
from referee.matches.auth import BotIdentity, Scope
from referee.matches.journal import DealPage, DealQuery, Entry, EntryKind, LogEntry, LogQuery
from referee.matches.match import Limits, MatchBot, MatchSpec, SessionResult, SessionSpec
from referee.net.channel import async_channel
from referee.net.client import run_match
from referee.net.tls import ClientTls
from referee.protocol.reasons import MEANINGS, Reason, read_failure
from referee.records.record import full_record
from referee.records.replay import Replayer
from referee.ruleset import load_ruleset
from referee.service.server import ServerOptions, serve
from referee.v1 import bots_pb2, bots_pb2_grpc, spectators_pb2, spectators_pb2_grpc
from tests.waiting import DEADLINE

WORKER_TOKEN = "worker-token-of-tests"
SPECTATOR_TOKEN = "spectator-token"
ORGANISER_TOKEN = "organiser-token"
LIMITS = Limits(join_seconds=5)
LEGAL_PLAYS = bots_pb2.Wants(legal_plays=True)
"""Wants, for a hello."""


class Tokens:
    """An authenticator: bot n has the token ``bot-n``."""

    def bot(self, token: str) -> BotIdentity | None:
        number = token.removeprefix("bot-")
        return BotIdentity(int(number), f"owner/bot{number}@1") if number.isdigit() else None

    def __init__(self) -> None:
        self.worthless: set[int] = set()
        """Bots whose tokens have been revoked."""

    def scope(self, token: str) -> Scope | None:
        return _SCOPES.get(token)

    def revoked(self, bots: Collection[BotIdentity]) -> dict[int, str]:
        gone = self.worthless & {bot.version_id for bot in bots}
        return dict.fromkeys(gone, MEANINGS[Reason.TOKEN_REVOKED].text)


_SCOPES = {
    WORKER_TOKEN: Scope.WORKER,
    SPECTATOR_TOKEN: Scope.SPECTATOR,
    ORGANISER_TOKEN: Scope.ORGANISER,
}


def bearer(token: str) -> tuple[tuple[str, str], ...]:
    """Return the metadata of a call with this token, or none for an empty token."""
    return (("authorization", f"Bearer {token}"),) if token else ()


class ListJournal:
    """A journal that is a list."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def add(self, entry: Entry) -> None:
        self.entries.append(entry)

    def read(self, token: str, query: LogQuery) -> list[LogEntry]:
        return []

    def deals(self, token: str, query: DealQuery) -> DealPage:
        return DealPage((), None)

    def of(self, version_id: int, kind: EntryKind, code: str = "") -> list[Entry]:
        """Return the entries of this kind about a bot version, only those with this code if one is given."""
        return [
            entry
            for entry in self.entries
            if (entry.version_id, entry.kind) == (version_id, kind) and code in ("", entry.code)
        ]


OPTIONS = ServerOptions(drain_seconds=0)


@asynccontextmanager
async def referee(
    listen: str = "127.0.0.1:0",
    options: ServerOptions = OPTIONS,
    tokens: Tokens | None = None,
    *,
    stop: asyncio.Event | None = None,
    hurry: asyncio.Event | None = None,
) -> AsyncIterator[str]:
    """Run a referee, by default on a free port, until ``stop`` or the end of the block; yield its address."""
    stop = stop or asyncio.Event()
    ready: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(
        serve(listen, tokens or Tokens(), stop, options=options, hurry=hurry, on_ready=ready.set_result)
    )
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
async def sdk_bots(
    address: str, bots: dict[int, Any], max_sessions: int = 256, tls: ClientTls | None = None
) -> AsyncIterator[None]:
    """Run bots of the SDK, by number; ``max_sessions=0`` lets the referee decide."""
    clients = [BotClient(bot, f"bot-{number}", max_sessions, tls=tls) for number, bot in bots.items()]
    tasks = [asyncio.create_task(client.run([address])) for client in clients]
    try:
        yield
    finally:
        for client in clients:
            client.leave()
        async with asyncio.timeout(DEADLINE):
            await asyncio.gather(*tasks)


def lowest(turn: Turn) -> Play | None:
    """Choose the first legal play, or pass if there is none."""
    return turn.legal[0] if turn.legal else None


class WireBot:
    """A bot whose messages the tests write; it answers only pings, and without ``pongs`` not even those."""

    def __init__(
        self,
        address: str,
        number: int,
        *,
        token: str | None = None,
        pongs: bool = True,
        tls: ClientTls | None = None,
        **hello: Any,
    ) -> None:
        self._pongs = pongs
        self.pings: list[int] = []
        """Ids of the pings received."""
        self._writing = asyncio.Lock()
        self._responses: asyncio.Queue[bots_pb2.PlayResponse | BaseException] = asyncio.Queue()
        self._reader: asyncio.Task[None] | None = None
        # A connection of its own: otherwise the bots of a process would share one.
        self._channel = async_channel(address, tls, (("grpc.use_local_subchannel_pool", 1),))
        self._metadata = bearer(token or f"bot-{number}")
        self._call = self._open()
        self._hello = {"protocol_version": 1, "max_sessions": 256, **hello}
        self._events: list[bots_pb2.Event] = []
        self.welcome = bots_pb2.Welcome()
        self.seen: list[bots_pb2.Event] = []
        self.closing: bots_pb2.Closing | None = None
        """What the referee said about its end."""

    async def __aenter__(self) -> Self:
        await self.connect()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Break off the stream without a goodbye."""
        if self._reader is not None:
            self._reader.cancel()
        self._call.cancel()
        await self._channel.close(None)

    async def connect(self) -> None:
        """Say hello, again and again until the referee has noticed that this bot's earlier stream is gone."""
        async with asyncio.timeout(DEADLINE):
            while True:
                try:
                    await self.write(bots_pb2.PlayRequest(hello=bots_pb2.Hello(**self._hello)))
                    first = await self._call.read()
                    assert isinstance(first, bots_pb2.PlayResponse), "the stream ended"
                    self.welcome = first.welcome
                    self._reader = asyncio.create_task(self._receive())
                    return
                except grpc.aio.AioRpcError as error:
                    if read_failure(error).reason != Reason.ALREADY_CONNECTED:
                        raise
                    self._call = self._open()

    def _open(self) -> Any:
        stub: Any = bots_pb2_grpc.BotServiceStub(self._channel)
        return stub.Play(None, metadata=self._metadata)

    async def write(self, request: bots_pb2.PlayRequest) -> None:
        async with self._writing:
            await self._call.write(request)

    async def move(self, turn: bots_pb2.Turn, cards: Sequence[Any] = (), **fields: Any) -> None:
        """Answer a turn: with cards, or with a pass if there are none."""
        fields = {"session": turn.session, "sequence": turn.sequence, "passes": not cards, **fields}
        await self.write(bots_pb2.PlayRequest(moves=[bots_pb2.Move(cards=cards, **fields)]))

    async def next(self, kind: str, where: Callable[[Any], bool] = lambda event: True) -> Any:
        """Return the next event of a kind; it and those before it are kept in ``seen``."""
        async with asyncio.timeout(DEADLINE):
            while True:
                event = await self.next_event()
                self.seen.append(event)
                if event.WhichOneof("event") == kind and where(getattr(event, kind)):
                    return getattr(event, kind)

    async def next_event(self) -> bots_pb2.Event:
        """Return the next event of any kind."""
        while not self._events:
            self._events.extend((await self._read()).events)
        return self._events.pop(0)

    async def ended(self) -> grpc.aio.AioRpcError:
        """Return how the referee ended the stream."""
        async with asyncio.timeout(DEADLINE):
            while True:
                response = await self._responses.get()
                if isinstance(response, grpc.aio.AioRpcError):
                    return response
                assert not isinstance(response, BaseException), response

    async def _receive(self) -> None:
        try:
            while isinstance(response := await self._call.read(), bots_pb2.PlayResponse):
                if response.HasField("ping"):
                    self.pings.append(response.ping.id)
                if response.HasField("closing"):
                    self.closing = response.closing
                if response.HasField("ping") and self._pongs:
                    await self.write(bots_pb2.PlayRequest(pong=bots_pb2.Pong(id=response.ping.id)))
                self._responses.put_nowait(response)
            self._responses.put_nowait(AssertionError("the stream ended"))
        except (grpc.aio.AioRpcError, asyncio.InvalidStateError) as error:
            self._responses.put_nowait(error)

    async def _read(self) -> bots_pb2.PlayResponse:
        async with asyncio.timeout(DEADLINE):
            response = await self._responses.get()
        if isinstance(response, BaseException):
            raise response
        return response


def without_times(results: Sequence[SessionResult]) -> list[SessionResult]:
    """Return the results without signatures, and as if all decisions had taken the same time."""
    records = [[json.dumps(timeless(json.loads(one))) for one in result.records] for result in results]
    return [
        replace(result, records=tuple(kept), signed=None)
        for result, kept in zip(results, records, strict=True)
    ]


def timeless(record: dict[str, Any]) -> dict[str, Any]:
    """Return a deal record without the fields that depend on how long decisions took."""
    faults = [timeless(fault) for fault in record.get("faults", ())]
    kept = {name: value for name, value in record.items() if name not in ("ms", "credit_ms", "answers")}
    return kept | ({"faults": faults} if faults else {})


def match_spec(
    bots: Sequence[int] = (1, 2, 3, 4),
    *,
    sessions: int = 1,
    deals: int = 2,
    ruleset: str | Mapping[str, object] = "chinese",
    match_id: str = "m",
    limits: Limits = LIMITS,
) -> MatchSpec:
    """Return a match of bots by number; the seed of session n consists of the bytes n, n, n, …"""
    size = len(bots)
    seatings = [tuple((seat + number) % size for seat in range(size)) for number in range(sessions)]
    return MatchSpec(
        match_id=match_id,
        tournament="test",
        round=1,
        table=1,
        ruleset=load_ruleset(ruleset).to_object(),
        bots=tuple(MatchBot(bot, f"owner/bot{bot}@1") for bot in bots),
        sessions=tuple(
            SessionSpec(n + 1, seating, bytes([n + 1] * 32)) for n, seating in enumerate(seatings)
        ),
        deals=deals,
        commitment="00" * 32,
        limits=limits,
    )


async def play_match(
    address: str,
    spec: MatchSpec,
    started: asyncio.Event | None = None,
    tls: ClientTls | None = None,
    arrived: list[SessionResult] | None = None,
) -> list[SessionResult]:
    """Run a match as a worker does; return the results by session number.

    Set ``started`` once it runs; add results to ``arrived``, if that is given, as they arrive.
    """
    loop = asyncio.get_running_loop()

    def run() -> list[SessionResult]:
        results = [] if arrived is None else arrived
        for update in run_match(address, WORKER_TOKEN, spec, tls=tls):
            if started is not None:
                loop.call_soon_threadsafe(started.set)
            if isinstance(update, SessionResult):
                results.append(update)
        return results

    async with asyncio.timeout(3 * DEADLINE):
        return sorted(await asyncio.to_thread(run), key=lambda result: result.number)


@asynccontextmanager
async def watching(address: str, match_id: str = "m") -> AsyncIterator[Callable[[int], Awaitable[None]]]:
    """Watch a running match; yield a function that waits until it has seen this many more actions."""
    async with async_channel(address, None, (("grpc.use_local_subchannel_pool", 1),)) as channel:
        call = spectators_pb2_grpc.SpectatorServiceStub(channel).WatchMatch(
            spectators_pb2.WatchMatchRequest(match_id=match_id)
        )

        async def played(actions: int) -> None:
            async with asyncio.timeout(DEADLINE):
                while actions > 0:
                    response = await call.read()
                    assert isinstance(response, spectators_pb2.WatchMatchResponse), "the match is over"
                    actions -= sum(update.HasField("action") for update in response.updates)

        yield played


def full_records(spec: MatchSpec, result: SessionResult) -> list[dict[str, Any]]:
    """Return the complete records of a session."""
    names = [bot.name for bot in spec.bots]
    seating = next(session.seating for session in spec.sessions if session.number == result.number)
    return [
        full_record(
            json.loads(lean),
            ruleset=spec.ruleset,
            tournament=spec.tournament,
            round=spec.round,
            table=spec.table,
            session=result.number,
            seats=[names[bot] for bot in seating],
        )
        for lean in result.records
    ]


def check_records(spec: MatchSpec, result: SessionResult) -> None:
    """Assert that a session's records are right and complete, and sum to its points and faults."""
    replayer = Replayer()
    records = full_records(spec, result)
    for record in records:
        assert replayer.check(record).over
    assert [record["deal"] for record in records] == list(range(1, len(records) + 1))
    for seat, points in enumerate(result.points):
        assert points == sum(record["points"][seat] for record in records)
    faults = [fault["seat"] for record in records for fault in record.get("faults", ())]
    assert result.faults == tuple(faults.count(seat) for seat in range(len(result.points)))
