"""Bots without an SDK that make no mistakes, for tests of the check of bots."""

import asyncio
import contextlib
import json
import random
from collections.abc import Iterable
from typing import Any

import grpc

from referee.deals.dealing import landmarks
from referee.deals.options import Constraints, allowed
from referee.errors import RulesetError
from referee.protocol.numbers import card_numbers
from referee.protocol.reasons import Failure, read_failure
from referee.rules.plays import compile_ruleset
from referee.ruleset import load_ruleset
from referee.v1 import bots_pb2, bots_pb2_grpc

Requests = Iterable[bots_pb2.PlayRequest]


class GoodBot:
    """Plays the first of the listed legal plays, for which it need not know any rules."""

    lists = True
    sdk = "test 1"
    version = 1
    options: tuple[tuple[str, int], ...] = ()

    def __init__(self) -> None:
        self.leaving = asyncio.Event()
        self.writing = asyncio.Lock()
        self.attempts = 0
        self.failure = Failure(grpc.StatusCode.OK, "", "", None, {})
        """How the last stream ended."""

    async def run(self, address: str, token: str) -> None:
        """Play until the bot leaves or is refused for good."""
        while not self.leaving.is_set():
            self.attempts += 1
            try:
                await self.stream(address, token)
            except grpc.aio.AioRpcError as error:
                self.failure = read_failure(error)
                if self.gives_up(self.failure):
                    raise
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(max(self.wait(), self.failure.retry_seconds or 0)):
                    await self.leaving.wait()

    def gives_up(self, failure: Failure) -> bool:
        return failure.final

    def wait(self) -> float:
        """Return the seconds until the next attempt."""
        return min(0.1 * float(2**self.attempts), 1.0) * random.uniform(0.5, 1)

    def hello(self) -> bots_pb2.PlayRequest:
        wants = bots_pb2.Wants(legal_plays=self.lists)
        return bots_pb2.PlayRequest(
            hello=bots_pb2.Hello(protocol_version=self.version, sdk=self.sdk, wants=wants)
        )

    def metadata(self, token: str) -> tuple[tuple[str, str], ...]:
        """Return the metadata of the call."""
        return (("authorization", f"Bearer {token}"),)

    async def stream(self, address: str, token: str) -> None:
        async with grpc.aio.insecure_channel(address, options=self.options) as channel:
            stub: Any = bots_pb2_grpc.BotServiceStub(channel)
            call = stub.Play(None, metadata=self.metadata(token))
            await self.open(call, token)
            leave = asyncio.create_task(self.leave(call))
            try:
                async for response in call:
                    if response.HasField("welcome"):
                        self.attempts = 0
                        await self.welcomed(call, response.welcome)
                    for request in self.respond(response):
                        if not self.leaving.is_set():
                            await self.write(call, request)
            finally:
                leave.cancel()
                await self.lost(call)

    async def welcomed(self, call: Any, welcome: bots_pb2.Welcome) -> None:
        """Take in a welcome."""

    async def lost(self, call: Any) -> None:
        """Take in the end of a stream."""

    async def open(self, call: Any, token: str) -> None:
        await call.write(self.hello())

    async def write(self, call: Any, request: bots_pb2.PlayRequest) -> None:
        async with self.writing:  # gRPC takes one message at a time
            with contextlib.suppress(asyncio.InvalidStateError):  # the stream has ended; reading it says how
                await call.write(request)

    async def leave(self, call: Any) -> None:
        await self.leaving.wait()
        await self.write(call, bots_pb2.PlayRequest(goodbye=bots_pb2.Goodbye()))
        with contextlib.suppress(asyncio.InvalidStateError):
            await call.done_writing()

    def respond(self, response: bots_pb2.PlayResponse) -> Requests:
        """Yield what the bot sends in response to a message."""
        if response.HasField("ping"):
            yield from self.pong(response)
        moves = [move for event in response.events for move in self.take(event)]
        if moves:
            yield bots_pb2.PlayRequest(moves=moves)

    def pong(self, response: bots_pb2.PlayResponse) -> Requests:
        yield bots_pb2.PlayRequest(pong=bots_pb2.Pong(id=response.ping.id))

    def take(self, event: bots_pb2.Event) -> Iterable[bots_pb2.Move]:
        if event.HasField("turn"):
            yield self.move(event.turn)

    def move(self, turn: bots_pb2.Turn) -> bots_pb2.Move:
        move = bots_pb2.Move(session=turn.session, sequence=turn.sequence)
        unknown = turn.kind not in bots_pb2.TurnKind.values()
        if turn.legal_plays and not (unknown and turn.can_pass):
            move.cards.extend(self.pick(turn))
        else:
            move.passes = True
        return move

    def pick(self, turn: bots_pb2.Turn) -> Iterable[Any]:
        return turn.legal_plays[0].cards


class SharingBot(GoodBot):
    """Opens a stream to each referee, and tells each its share of the sessions whenever that changes."""

    sessions = 8

    def __init__(self) -> None:
        super().__init__()
        self.token = ""
        self.referees: set[str] = set()
        self.shares: dict[Any, int] = {}
        """What each referee was told, by its call."""
        self.others: list[asyncio.Task[None]] = []

    def hello(self) -> bots_pb2.PlayRequest:
        request = super().hello()
        request.hello.max_sessions = self.sessions
        return request

    async def run(self, address: str, token: str) -> None:
        self.token = token
        await super().run(address, token)

    async def welcomed(self, call: Any, welcome: bots_pb2.Welcome) -> None:
        self.referees.add(welcome.referee_id)
        self.shares[call] = self.sessions
        for referee in welcome.referees:
            if referee.id not in self.referees:
                self.referees.add(referee.id)
                self.others.append(asyncio.create_task(super().run(referee.address, self.token)))
        await self.share()

    async def lost(self, call: Any) -> None:
        if self.shares.pop(call, None) is not None:
            await self.share()

    async def share(self) -> None:
        share = self.sessions // max(len(self.shares), 1)
        for call in [call for call, told in self.shares.items() if told != share]:
            self.shares[call] = share
            await self.write(call, bots_pb2.PlayRequest(capacity=bots_pb2.Capacity(max_sessions=share)))


class Seat:
    """What a bot knows about a session."""

    def __init__(self, started: bots_pb2.SessionStarted) -> None:
        self.rules = compile_ruleset(load_ruleset(json.loads(started.ruleset)))
        self.cards = card_numbers(self.rules)
        self.seat = started.seat
        self.deal = self.hand = 0

    def deal_started(self, started: bots_pb2.DealStarted) -> None:
        self.deal = started.deal
        self.hand = self.cards.mask(started.hand)

    def deal_ended(self, ended: bots_pb2.DealEnded) -> None:
        """Do nothing; bots with a mistake may look at it."""

    def happened(self, action: bots_pb2.Action) -> None:
        cards = self.cards.mask(action.cards)
        if action.kind == bots_pb2.ACTION_KIND_EXCHANGE:
            self.exchanged(action, cards)
        elif action.seat == self.seat:
            self.own(cards, self.cards.mask(action.drawn_cards))

    def exchanged(self, action: bots_pb2.Action, card: int) -> None:
        if action.seat == self.seat:
            self.hand = self.rules.remove(self.hand, card)
        elif action.partner == self.seat:
            self.hand = self.rules.add(self.hand, card)

    def own(self, played: int, drawn: int) -> None:
        self.hand = self.rules.add(self.rules.remove(self.hand, played), drawn)

    def legal(self, turn: bots_pb2.Turn) -> list[int]:
        """Return the codes of the legal plays, ascending."""
        rules, plays = self.rules, self.rules.list_plays(self.hand)
        if turn.kind == bots_pb2.TURN_KIND_EXCHANGE:
            return [code for code in plays if rules.count(code & rules.full) == 1]
        constraints = Constraints(
            rules.code(self.cards.mask(turn.to_beat)) if turn.to_beat else 0,
            self.cards.mask([turn.must_include]) if turn.must_include else 0,
            landmarks(rules).last if turn.top_card_banned else 0,
            turn.next_has_one,
        )
        bombs_only = turn.kind == bots_pb2.TURN_KIND_BOMB
        return [
            code for code in allowed(rules, plays, constraints).plays if rules.is_bomb(code) or not bombs_only
        ]


class RulesBot(GoodBot):
    """Knows the rules: keeps track of its hand, and plays its weakest legal play."""

    lists = False
    knows: type[Seat] = Seat

    def __init__(self) -> None:
        super().__init__()
        self.seats: dict[int, Seat] = {}

    async def stream(self, address: str, token: str) -> None:
        self.seats.clear()
        await super().stream(address, token)

    def take(self, event: bots_pb2.Event) -> Iterable[bots_pb2.Move]:
        match event.WhichOneof("event"):
            case "session_started":
                try:
                    self.start(event.session_started)
                except RulesetError as error:
                    self.unreadable(event.session_started, error)
            case "deal_started" if event.deal_started.session in self.seats:
                self.seats[event.deal_started.session].deal_started(event.deal_started)
            case "deal_ended" if event.deal_ended.session in self.seats:
                self.seats[event.deal_ended.session].deal_ended(event.deal_ended)
            case "turn" if event.turn.session in self.seats:
                seat = self.seats[event.turn.session]
                for action in event.turn.actions:
                    seat.happened(action)
                yield self.decide(seat, event.turn)

    def start(self, started: bots_pb2.SessionStarted) -> None:
        self.seats[started.session] = self.knows(started)

    def unreadable(self, started: bots_pb2.SessionStarted, error: RulesetError) -> None:
        """Leave the session to the referee's default actions."""
        self.seats.pop(started.session, None)

    def decide(self, seat: Seat, turn: bots_pb2.Turn) -> bots_pb2.Move:
        move = bots_pb2.Move(session=turn.session, sequence=turn.sequence)
        codes = self.codes(seat, turn)
        if codes and not (turn.can_pass and turn.kind not in bots_pb2.TurnKind.values()):
            move.cards.extend(seat.cards.numbers(codes[0] & seat.rules.full))
        else:
            move.passes = True
        return move

    def codes(self, seat: Seat, turn: bots_pb2.Turn) -> list[int]:
        """Return the codes of the plays considered; the first is played."""
        return seat.legal(turn)
