"""Bots on the wire that each make one mistake, for tests of the check."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Iterable
from typing import Any

import grpc

from referee.errors import RulesetError
from referee.protocol.reasons import Failure, Reason, read_failure
from referee.v1 import bots_pb2, bots_pb2_grpc
from tests.referee.good_bots import GoodBot, Requests, RulesBot, Seat

# The opening


class NoHello(GoodBot):
    async def open(self, call: Any, token: str) -> None:
        await call.write(bots_pb2.PlayRequest(moves=[bots_pb2.Move(passes=True)]))


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
        """Never connects."""


class Babbler(GoodBot):
    """Sends bytes that are no message."""

    async def stream(self, address: str, token: str) -> None:
        async with grpc.aio.insecure_channel(address) as channel:
            play: Any = channel.stream_stream("/referee.v1.BotService/Play", bytes, bytes)
            call = play(metadata=self.metadata(token))
            await call.write(b"\xff\xff\xff\xff nonsense")
            await call.read()


class Doubled(GoodBot):
    """Opens a second stream beside the first."""

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


# Single turns


class Passive(GoodBot):
    def move(self, turn: bots_pb2.Turn) -> bots_pb2.Move:
        return bots_pb2.Move(session=turn.session, sequence=turn.sequence, passes=True)


class Mute(GoodBot):
    def take(self, event: bots_pb2.Event) -> Iterable[bots_pb2.Move]:
        return ()


class Thief(GoodBot):
    """Plays a card that it does not hold, whatever is asked."""

    def pick(self, turn: bots_pb2.Turn) -> Iterable[Any]:
        return [52]


class Both(GoodBot):
    """Names cards and passes."""

    def move(self, turn: bots_pb2.Turn) -> bots_pb2.Move:
        move = super().move(turn)
        move.passes = True
        return move


class Heedless(RulesBot):
    """Does not look at a field that limits what it may play; of the fewest cards it plays the strongest."""

    unseen = ""

    def codes(self, seat: Seat, turn: bots_pb2.Turn) -> list[int]:
        bare = bots_pb2.Turn()
        bare.CopyFrom(turn)
        bare.ClearField(self.unseen)  # type: ignore[arg-type]
        full = seat.rules.full
        return sorted(seat.legal(bare), key=lambda code: ((code & full).bit_count(), -code))


class LeadsAnything(Heedless):
    unseen = "must_include"


class NoGuard(Heedless):
    """Plays its weakest single, which the guard forbids."""

    unseen = "next_has_one"

    def codes(self, seat: Seat, turn: bots_pb2.Turn) -> list[int]:
        full = seat.rules.full
        return sorted(super().codes(seat, turn), key=lambda code: ((code & full).bit_count(), code))


class NoBan(Heedless):
    unseen = "top_card_banned"


class Unforced(GoodBot):
    """Thinks that it is never asked where it can only pass."""

    def move(self, turn: bots_pb2.Turn) -> bots_pb2.Move:
        if not turn.legal_plays:
            raise ValueError("nothing to choose")
        return super().move(turn)


class OwnPlaysOnly(RulesBot):
    """Takes cards out of its hand when it answers, instead of when it is told of the action."""

    class knows(Seat):
        def own(self, played: int, drawn: int) -> None:
            super().own(0, drawn)

    def decide(self, seat: Seat, turn: bots_pb2.Turn) -> bots_pb2.Move:
        move = super().decide(seat, turn)
        Seat.own(seat, seat.cards.mask(move.cards), 0)
        return move


class OwnExchangeOnly(RulesBot):
    class knows(Seat):
        def exchanged(self, action: bots_pb2.Action, card: int) -> None:
            if action.seat == self.seat:
                super().exchanged(action, card)


class NoExchange(RulesBot):
    """Passes where it must return a card."""

    def codes(self, seat: Seat, turn: bots_pb2.Turn) -> list[int]:
        return [] if turn.kind == bots_pb2.TURN_KIND_EXCHANGE else seat.legal(turn)


class Repeats(GoodBot):
    """Plays its last play again where it may beat it."""

    def pick(self, turn: bots_pb2.Turn) -> Iterable[Any]:
        return turn.to_beat if turn.kind == bots_pb2.TURN_KIND_BEAT_OWN else super().pick(turn)


class BombsAnything(RulesBot):
    """Plays any cards where it is asked for a bomb."""

    def codes(self, seat: Seat, turn: bots_pb2.Turn) -> list[int]:
        if turn.kind == bots_pb2.TURN_KIND_BOMB:
            return seat.rules.list_plays(seat.hand)
        return seat.legal(turn)


class NoDraws(RulesBot):
    class knows(Seat):
        def own(self, played: int, drawn: int) -> None:
            super().own(played, 0)


# Rules


class OneCopy(RulesBot):
    """Holds its cards as a set."""

    class knows(Seat):
        def deal_started(self, started: bots_pb2.DealStarted) -> None:
            single = bots_pb2.DealStarted()
            single.CopyFrom(started)
            single.hand[:] = sorted(set(started.hand))
            super().deal_started(single)


class NoTiles(RulesBot):
    class knows(Seat):
        def deal_started(self, started: bots_pb2.DealStarted) -> None:
            if max(started.hand) > 52:
                raise ValueError("no such card")
            super().deal_started(started)


class FourSeats(RulesBot):
    def start(self, started: bots_pb2.SessionStarted) -> None:
        _, _, _, _ = started.seats
        super().start(started)


class Clockwise(RulesBot):
    class knows(Seat):
        def deal_started(self, started: bots_pb2.DealStarted) -> None:
            if started.direction != bots_pb2.DIRECTION_CLOCKWISE:
                raise ValueError("no such direction")
            super().deal_started(started)


class NoLeftover(RulesBot):
    class knows(Seat):
        def deal_started(self, started: bots_pb2.DealStarted) -> None:
            if len(set(started.hand_sizes)) > 1:
                raise ValueError("hands differ")
            super().deal_started(started)


class FirstOut(RulesBot):
    class knows(Seat):
        def deal_ended(self, ended: bots_pb2.DealEnded) -> None:
            if len(ended.out) > 1:
                raise ValueError("only one can go out")
            super().deal_ended(ended)


class ChineseOnly(RulesBot):
    """Plays by rules of its own, whatever the session's are."""

    def start(self, started: bots_pb2.SessionStarted) -> None:
        chinese = bots_pb2.SessionStarted()
        chinese.CopyFrom(started)
        chinese.ruleset = '{"name": "chinese"}'
        super().start(chinese)


# Sessions and messages


class FirstDeal(RulesBot):
    class knows(Seat):
        def deal_started(self, started: bots_pb2.DealStarted) -> None:
            if started.deal == 1:
                super().deal_started(started)


class FirstTurn(GoodBot):
    """Answers one turn of a message."""

    def respond(self, response: bots_pb2.PlayResponse) -> Requests:
        moves = [move for event in response.events for move in self.take(event)]
        if moves:
            yield bots_pb2.PlayRequest(moves=moves[:1])


class OneRuleset(RulesBot):
    """Takes the first ruleset for all sessions."""

    first = ""

    def start(self, started: bots_pb2.SessionStarted) -> None:
        self.first = self.first or started.ruleset
        same = bots_pb2.SessionStarted()
        same.CopyFrom(started)
        same.ruleset = self.first
        super().start(same)


class KeepsHandles(RulesBot):
    def start(self, started: bots_pb2.SessionStarted) -> None:
        if started.session not in self.seats:
            super().start(started)


class NeedsATurn(RulesBot):
    """Expects a turn in every deal."""

    def take(self, event: bots_pb2.Event) -> Iterable[bots_pb2.Move]:
        if event.HasField("deal_ended") and len(event.deal_ended.actions) == len(event.deal_ended.out):
            raise ValueError("nobody asked")
        return super().take(event)


class NeedsScores(GoodBot):
    def take(self, event: bots_pb2.Event) -> Iterable[bots_pb2.Move]:
        if event.HasField("session_ended"):
            max(event.session_ended.scores)
        return super().take(event)


class NoForfeits(GoodBot):
    def take(self, event: bots_pb2.Event) -> Iterable[bots_pb2.Move]:
        if event.HasField("session_ended") and event.session_ended.reason == bots_pb2.SESSION_END_FORFEIT:
            raise ValueError("not expected")
        return super().take(event)


class NoSeatZero(GoodBot):
    """Takes seat 0 for none."""

    def take(self, event: bots_pb2.Event) -> Iterable[bots_pb2.Move]:
        ended = event.session_ended
        if ended.reason == bots_pb2.SESSION_END_FORFEIT and not ended.forfeited_by:
            raise ValueError("forfeited by nobody")
        return super().take(event)


class ShortNumbers(GoodBot):
    def move(self, turn: bots_pb2.Turn) -> bots_pb2.Move:
        move = super().move(turn)
        move.session &= 0xFFFF
        return move


class Counting(GoodBot):
    """Counts turns itself, instead of repeating the sequence."""

    def __init__(self) -> None:
        super().__init__()
        self.turns = 0

    def move(self, turn: bots_pb2.Turn) -> bots_pb2.Move:
        self.turns += 1
        move = super().move(turn)
        move.sequence = self.turns
        return move


class Twice(GoodBot):
    def respond(self, response: bots_pb2.PlayResponse) -> Requests:
        for request in super().respond(response):
            yield request
            yield request


class NeedsBatches(RulesBot):
    """Expects a deal's start and the turn in one message."""

    def respond(self, response: bots_pb2.PlayResponse) -> Requests:
        kinds = {event.WhichOneof("event") for event in response.events}
        if "session_started" in kinds and "turn" not in kinds:
            raise ValueError("no turn")
        return super().respond(response)


class FewEvents(GoodBot):
    def respond(self, response: bots_pb2.PlayResponse) -> Requests:
        if len(response.events) > 256:
            raise ValueError("too many events")
        return super().respond(response)


class SmallMessages(GoodBot):
    options = (("grpc.max_receive_message_length", 500_000),)


class OwnSessions(GoodBot):
    """Falls over notices for sessions that it does not play."""

    def take(self, event: bots_pb2.Event) -> Iterable[bots_pb2.Move]:
        if event.HasField("notice") and event.notice.session > 100_000:
            raise KeyError(event.notice.session)
        return super().take(event)


class Waits(GoodBot):
    """Answers a message when the next one comes."""

    def __init__(self) -> None:
        super().__init__()
        self.due: list[bots_pb2.PlayRequest] = []

    def respond(self, response: bots_pb2.PlayResponse) -> Requests:
        due, self.due = self.due, list(super().respond(response))
        return due


class NoEmpty(GoodBot):
    def take(self, event: bots_pb2.Event) -> Iterable[bots_pb2.Move]:
        if event.WhichOneof("event") is None:
            raise ValueError("unknown event")
        return super().take(event)


class NoBank(GoodBot):
    def move(self, turn: bots_pb2.Turn) -> bots_pb2.Move:
        if turn.bank_ms:
            raise ValueError("unknown clock")
        return super().move(turn)


class Slow(GoodBot):
    async def stream(self, address: str, token: str) -> None:
        async with grpc.aio.insecure_channel(address) as channel:
            stub: Any = bots_pb2_grpc.BotServiceStub(channel)
            call = stub.Play(None, metadata=self.metadata(token))
            await self.open(call, token)
            async for response in call:
                for request in self.respond(response):
                    await asyncio.sleep(0.7)
                    await call.write(request)


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
    """Answers every second ping of its life."""

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
    """Takes a ping whose id it has seen for answered."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[int] = set()

    def pong(self, response: bots_pb2.PlayResponse) -> Requests:
        if response.ping.id not in self.seen:
            self.seen.add(response.ping.id)
            yield from super().pong(response)


# The future


class Strict(GoodBot):
    """Refuses what it does not know."""

    def respond(self, response: bots_pb2.PlayResponse) -> Requests:
        known = bots_pb2.PlayResponse()
        known.CopyFrom(response)
        known.DiscardUnknownFields()  # type: ignore[attr-defined, unused-ignore]
        if known.ByteSize() != response.ByteSize():
            raise ValueError("unknown fields")
        return super().respond(response)


class KnownKinds(GoodBot):
    """Looks up the names of enums."""

    def take(self, event: bots_pb2.Event) -> Iterable[bots_pb2.Move]:
        match event.WhichOneof("event"):
            case "fault":
                bots_pb2.FaultKind.Name(event.fault.kind)
            case "notice":
                bots_pb2.NoticeCode.Name(event.notice.code)
            case "turn":
                for action in event.turn.actions:
                    bots_pb2.ActionKind.Name(action.kind)
        return super().take(event)


class PlaysUnknown(GoodBot):
    """Plays at a turn of unknown kind though it could pass."""

    def move(self, turn: bots_pb2.Turn) -> bots_pb2.Move:
        turn.kind = bots_pb2.TURN_KIND_PLAY
        return super().move(turn)


class PassesUnknown(GoodBot):
    """Passes at every turn of unknown kind."""

    def move(self, turn: bots_pb2.Turn) -> bots_pb2.Move:
        if turn.kind in bots_pb2.TurnKind.values():
            return super().move(turn)
        return bots_pb2.Move(session=turn.session, sequence=turn.sequence, passes=True)


class PackedOnly(GoodBot):
    """Reads lists only where they are packed, by a decoder of its own."""

    async def stream(self, address: str, token: str) -> None:
        async with grpc.aio.insecure_channel(address) as channel:
            serialize = bots_pb2.PlayRequest.SerializeToString
            play: Any = channel.stream_stream("/referee.v1.BotService/Play", serialize, bytes)
            call = play(metadata=self.metadata(token))
            await self.open(call, token)
            async for data in call:
                response = bots_pb2.PlayResponse.FromString(data)
                if response.SerializeToString() != data:
                    raise ValueError("not packed")
                for request in self.respond(response):
                    await call.write(request)


class ReadsAll(RulesBot):
    """Falls over a ruleset it cannot read."""

    def unreadable(self, started: bots_pb2.SessionStarted, error: RulesetError) -> None:
        raise error


class StrictRules(ReadsAll):
    """Asks for the list, and falls over a ruleset it cannot read all the same."""

    lists = True


# The connection


class LeavesWhenClosing(GoodBot):
    """Breaks its stream off when the referee is about to close."""

    def respond(self, response: bots_pb2.PlayResponse) -> Requests:
        if response.HasField("closing"):
            raise ValueError("the referee closes")
        return super().respond(response)


class Sociable(GoodBot):
    """Plays only where it can reach all referees of the arena."""

    def respond(self, response: bots_pb2.PlayResponse) -> Requests:
        if any(referee.address.endswith(":1") for referee in response.welcome.referees):
            raise ValueError("a referee is out of reach")
        return super().respond(response)


class OneShot(GoodBot):
    async def run(self, address: str, token: str) -> None:
        await self.stream(address, token)


class KeepsOldHands(RulesBot):
    """Does not rebuild a session that it was resumed in."""

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
    """Remembers across streams what it answered."""

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
    """Takes any end of a stream but UNAVAILABLE for final."""

    def gives_up(self, failure: Failure) -> bool:
        return failure.status is not grpc.StatusCode.UNAVAILABLE


class LeavesAtTheEnd(GoodBot):
    """Takes a stream that ends with OK for the end of all."""

    async def stream(self, address: str, token: str) -> None:
        await super().stream(address, token)
        self.leaving.set()


class Impatient(GoodBot):
    """Gives up when it is not let in at once."""

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
    """Waits less from attempt to attempt."""

    def wait(self) -> float:
        return 0.6 * float(0.7**self.attempts)


class Forgetful(GoodBot):
    """Shows another token with its second stream."""

    opened = 0

    def metadata(self, token: str) -> tuple[tuple[str, str], ...]:
        self.opened += 1
        return super().metadata(token if self.opened == 1 else "")


# Leaving


class Stubborn(GoodBot):
    """Tries for ever."""

    def gives_up(self, failure: Failure) -> bool:
        return False


class KnownReasons(GoodBot):
    """Tries again after what it does not know."""

    def gives_up(self, failure: Failure) -> bool:
        return failure.final and failure.reason in set(Reason)


class Deaf(GoodBot):
    """Does not leave at SIGTERM."""

    def listen(self) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)


class Rude(GoodBot):
    """Ends at SIGTERM without a goodbye."""

    def listen(self) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


class EveryAddress(GoodBot):
    """Opens a stream to each address that a welcome lists, though it is connected to one of them."""

    async def run(self, address: str, token: str) -> None:
        self.token = token
        self.streams: dict[str, asyncio.Task[None] | None] = {address: None}
        await super().run(address, token)

    def respond(self, response: bots_pb2.PlayResponse) -> Requests:
        for address in [referee.address for referee in response.welcome.referees]:
            if address not in self.streams:
                self.streams[address] = asyncio.create_task(super().run(address, self.token))
        yield from super().respond(response)


def main(name: str) -> None:
    """Run a bot of this module as a program."""
    bot: GoodBot = globals()[name]()

    async def play() -> None:
        if isinstance(bot, (Deaf, Rude)):
            bot.listen()
        else:
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, bot.leaving.set)
        await bot.run(os.environ["ARENA_REFEREE"], os.environ["ARENA_TOKEN"])

    try:
        asyncio.run(play())
    except grpc.aio.AioRpcError as error:
        sys.exit(str(error.details()))
