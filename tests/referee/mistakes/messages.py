"""Bots with mistakes in handling sessions and messages, of today or of a later version."""

import asyncio
from collections.abc import Iterable
from typing import Any

import grpc

from referee.errors import RulesetError
from referee.v1 import bots_pb2, bots_pb2_grpc
from tests.referee.good_bots import GoodBot, Requests, RulesBot, Seat

# Sessions and messages


class FirstDeal(RulesBot):
    class knows(Seat):
        def deal_started(self, started: bots_pb2.DealStarted) -> None:
            if started.deal == 1:
                super().deal_started(started)


class FirstTurn(GoodBot):
    """Answers only one turn of each message."""

    def respond(self, response: bots_pb2.PlayResponse) -> Requests:
        moves = [move for event in response.events for move in self.take(event)]
        if moves:
            yield bots_pb2.PlayRequest(moves=moves[:1])


class OneRuleset(RulesBot):
    """Uses the ruleset of the first session for all sessions."""

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
    """Mistakes seat 0 for no seat."""

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


class Unnumbered(GoodBot):
    """Does not say which turn it answers."""

    def move(self, turn: bots_pb2.Turn) -> bots_pb2.Move:
        move = super().move(turn)
        move.ClearField("sequence")
        return move


class Twice(GoodBot):
    def respond(self, response: bots_pb2.PlayResponse) -> Requests:
        for request in super().respond(response):
            yield request
            yield request


class NeedsBatches(RulesBot):
    """Expects a session's start and its first turn in one message."""

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
    """Fails on notices for sessions that it does not play."""

    def take(self, event: bots_pb2.Event) -> Iterable[bots_pb2.Move]:
        if event.HasField("notice") and event.notice.session > 100_000:
            raise KeyError(event.notice.session)
        return super().take(event)


class Waits(GoodBot):
    """Answers a message only when the next one comes."""

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
                    await self.answer(call, request)

    async def answer(self, call: Any, request: bots_pb2.PlayRequest) -> None:
        await asyncio.sleep(0.7)
        await call.write(request)


class Overworked(Slow):
    """Takes on more sessions than it has time for."""

    def hello(self) -> bots_pb2.PlayRequest:
        request = super().hello()
        request.hello.max_sessions = 40
        return request

    async def answer(self, call: Any, request: bots_pb2.PlayRequest) -> None:
        for move in request.moves:
            await asyncio.sleep(0.1)
            await call.write(bots_pb2.PlayRequest(moves=[move]))


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
    """Looks up the names of enum values, which fails for unknown ones."""

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
    """Plays at a turn of unknown kind although it could pass."""

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
    """Reads lists only if they are packed, with a decoder of its own."""

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
    """Fails on a ruleset that it cannot read."""

    def unreadable(self, started: bots_pb2.SessionStarted, error: RulesetError) -> None:
        raise error


class StrictRules(ReadsAll):
    """Asks for the list of legal plays, but still fails on a ruleset that it cannot read."""

    lists = True
