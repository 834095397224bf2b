"""Bots with mistakes in handling their stream: how it begins, breaks and ends."""

import asyncio
import contextlib
import signal
from collections.abc import Iterable
from typing import Any

import grpc

from referee.protocol.reasons import Failure, Reason, read_failure
from referee.v1 import bots_pb2
from tests.referee.good_bots import GoodBot, Requests, RulesBot

# The opening


class NoHello(GoodBot):
    async def open(self, call: Any, token: str) -> None:
        await call.write(bots_pb2.PlayRequest(moves=[bots_pb2.Move(passes=True)]))


class WaitsForHeaders(GoodBot):
    """Waits for the response headers of the call before it sends anything."""

    async def open(self, call: Any, token: str) -> None:
        await call.initial_metadata()
        await super().open(call, token)


class WrongToken(GoodBot):
    def metadata(self, token: str) -> tuple[tuple[str, str], ...]:
        return super().metadata(token + "x")


class NoToken(GoodBot):
    def metadata(self, token: str) -> tuple[tuple[str, str], ...]:
        return ()


class WrongVersion(GoodBot):
    version = 2


class Hasty(GoodBot):
    """Does not wait for the welcome."""

    async def open(self, call: Any, token: str) -> None:
        await super().open(call, token)
        await call.write(bots_pb2.PlayRequest(pong=bots_pb2.Pong(id=1)))


class Nameless(GoodBot):
    sdk = ""


class Absentee(GoodBot):
    async def run(self, address: str, token: str) -> None:
        """Never connect."""


class Babbler(GoodBot):
    """Sends bytes that are not a message."""

    async def stream(self, address: str, token: str) -> None:
        async with grpc.aio.insecure_channel(address) as channel:
            play: Any = channel.stream_stream("/referee.v1.BotService/Play", bytes, bytes)
            call = play(metadata=self.metadata(token))
            await call.write(b"\xff\xff\xff\xff nonsense")
            await call.read()


class Doubled(GoodBot):
    """Opens a second stream in addition to the first."""

    async def open(self, call: Any, token: str) -> None:
        await super().open(call, token)
        if self.attempts == 1:
            self.attempts = 2
            with contextlib.suppress(grpc.aio.AioRpcError):
                await self.stream(self.address, token)

    async def run(self, address: str, token: str) -> None:
        self.address = address
        await super().run(address, token)


class Chatterbox(GoodBot):
    async def leave(self, call: Any) -> None:
        while True:
            await asyncio.sleep(0.15)
            await call.write(bots_pb2.PlayRequest())


# Pings


class NoPongs(GoodBot):
    def pong(self, response: bots_pb2.PlayResponse) -> Requests:
        return ()


class WrongPong(GoodBot):
    def pong(self, response: bots_pb2.PlayResponse) -> Requests:
        yield bots_pb2.PlayRequest(pong=bots_pb2.Pong(id=response.ping.id + 1))


class PongsTwice(GoodBot):
    def pong(self, response: bots_pb2.PlayResponse) -> Requests:
        yield from super().pong(response)
        yield from super().pong(response)


class EvenPongs(GoodBot):
    """Answers only every second ping, counted over all its streams."""

    pings = 0

    def pong(self, response: bots_pb2.PlayResponse) -> Requests:
        self.pings += 1
        return super().pong(response) if self.pings % 2 else ()


class NoZero(GoodBot):
    def pong(self, response: bots_pb2.PlayResponse) -> Requests:
        return super().pong(response) if response.ping.id else ()


class EventsFirst(GoodBot):
    """Does not look for a ping in a message with events."""

    def pong(self, response: bots_pb2.PlayResponse) -> Requests:
        return () if response.events else super().pong(response)


class NewPings(GoodBot):
    """Regards a ping with an id that it has seen before as answered."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[int] = set()

    def pong(self, response: bots_pb2.PlayResponse) -> Requests:
        if response.ping.id not in self.seen:
            self.seen.add(response.ping.id)
            yield from super().pong(response)


# The connection


class LeavesWhenClosing(GoodBot):
    """Breaks off its stream when the referee announces that it is about to close."""

    def respond(self, response: bots_pb2.PlayResponse) -> Requests:
        if response.HasField("closing"):
            raise ValueError("the referee closes")
        return super().respond(response)


class Sociable(GoodBot):
    """Plays only if it can reach all referees of the arena."""

    def respond(self, response: bots_pb2.PlayResponse) -> Requests:
        if any(referee.address.endswith(":1") for referee in response.welcome.referees):
            raise ValueError("a referee is out of reach")
        return super().respond(response)


class OneShot(GoodBot):
    async def run(self, address: str, token: str) -> None:
        await self.stream(address, token)


class KeepsOldHands(RulesBot):
    """Does not rebuild a session when it is resumed."""

    def take(self, event: bots_pb2.Event) -> Iterable[bots_pb2.Move]:
        kind = event.WhichOneof("event")
        if kind == "session_started" and event.session_started.session in self.seats:
            return ()
        if kind == "deal_started" and self.seats[event.deal_started.session].deal == event.deal_started.deal:
            return ()
        return super().take(event)

    async def stream(self, address: str, token: str) -> None:
        await GoodBot.stream(self, address, token)


class AnswersOnce(GoodBot):
    """Remembers, across streams, which turns it has answered."""

    def __init__(self) -> None:
        super().__init__()
        self.answered: set[tuple[int, int]] = set()

    def take(self, event: bots_pb2.Event) -> Iterable[bots_pb2.Move]:
        for move in super().take(event):
            if (move.session, move.sequence) not in self.answered:
                self.answered.add((move.session, move.sequence))
                yield move


class LateAnswers(GoodBot):
    """Answers on the new stream what it was asked on the old one."""

    def __init__(self) -> None:
        super().__init__()
        self.last: list[bots_pb2.PlayRequest] = []

    def respond(self, response: bots_pb2.PlayResponse) -> Requests:
        if response.HasField("welcome"):
            return self.last
        self.last = [*self.last, *super().respond(response)]
        return self.last[-1:]


class Proud(GoodBot):
    """Regards every end of a stream except UNAVAILABLE as final."""

    def gives_up(self, failure: Failure) -> bool:
        return failure.status is not grpc.StatusCode.UNAVAILABLE


class LeavesAtTheEnd(GoodBot):
    """Leaves when a stream ends with OK."""

    async def stream(self, address: str, token: str) -> None:
        await super().stream(address, token)
        self.leaving.set()


class Impatient(GoodBot):
    """Gives up if it is not let in at the first attempt."""

    def gives_up(self, failure: Failure) -> bool:
        return self.attempts > 0


class Storming(GoodBot):
    def wait(self) -> float:
        return 0.001


class NoPatience(GoodBot):
    """Comes back sooner than it was told to."""

    async def stream(self, address: str, token: str) -> None:
        try:
            await super().stream(address, token)
        except grpc.aio.AioRpcError as error:
            if read_failure(error).final:
                raise


class Hurrying(GoodBot):
    """Waits less with each attempt."""

    def wait(self) -> float:
        return 0.6 * float(0.7**self.attempts)


class Forgetful(GoodBot):
    """Presents its token only on its first stream."""

    opened = 0

    def metadata(self, token: str) -> tuple[tuple[str, str], ...]:
        self.opened += 1
        return super().metadata(token if self.opened == 1 else "")


# Leaving


class Stubborn(GoodBot):
    """Keeps trying for ever."""

    def gives_up(self, failure: Failure) -> bool:
        return False


class KnownReasons(GoodBot):
    """Tries again after reasons that it does not know."""

    def gives_up(self, failure: Failure) -> bool:
        return failure.final and failure.reason in set(Reason)


class Deaf(GoodBot):
    """Does not leave on SIGTERM."""

    def listen(self) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)


class Rude(GoodBot):
    """Ends on SIGTERM without a goodbye."""

    def listen(self) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


class EveryAddress(GoodBot):
    """Opens a stream to each address listed in a welcome, although it is already connected to one of them."""

    async def run(self, address: str, token: str) -> None:
        self.token = token
        self.streams: dict[str, asyncio.Task[None] | None] = {address: None}
        await super().run(address, token)

    def respond(self, response: bots_pb2.PlayResponse) -> Requests:
        for address in [referee.address for referee in response.welcome.referees]:
            if address not in self.streams:
                self.streams[address] = asyncio.create_task(super().run(address, self.token))
        yield from super().respond(response)
