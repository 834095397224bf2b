"""Bots on the wire that make no mistake, without an SDK: for tests of the check."""

import asyncio
import contextlib
import json
import random
from collections.abc import Iterable
from typing import Any

import grpc

from referee.deals.dealing import landmarks
from referee.deals.options import Constraints, allowed
from referee.protocol.numbers import card_numbers
from referee.rules.plays import compile_ruleset
from referee.ruleset import load_ruleset
from referee.v1 import play_pb2, referee_pb2_grpc

FINAL = {
    grpc.StatusCode.UNAUTHENTICATED,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.PERMISSION_DENIED,
}

Requests = Iterable[play_pb2.PlayRequest]


class GoodBot:
    """Plays the first of the listed legal plays, and needs no rules for it."""

    lists = True
    sdk = "test 1"
    version = 1
    options: tuple[tuple[str, int], ...] = ()

    def __init__(self) -> None:
        self.leaving = asyncio.Event()
        self.attempts = 0

    async def run(self, address: str, token: str) -> None:
        """Plays until it is refused for good."""
        while not self.leaving.is_set():
            self.attempts += 1
            try:
                await self.stream(address, token)
            except grpc.aio.AioRpcError as error:
                if self.gives_up(error.code()):
                    raise
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self.wait()):
                    await self.leaving.wait()

    def gives_up(self, code: grpc.StatusCode) -> bool:
        return code in FINAL

    def wait(self) -> float:
        """Seconds until the next attempt."""
        return min(0.1 * float(2**self.attempts), 1.0) * random.uniform(0.5, 1)

    def hello(self, token: str) -> play_pb2.PlayRequest:
        return play_pb2.PlayRequest(
            hello=play_pb2.Hello(
                token=token, protocol_version=self.version, sdk=self.sdk, list_legal_plays=self.lists
            )
        )

    async def stream(self, address: str, token: str) -> None:
        async with grpc.aio.insecure_channel(address, options=self.options) as channel:
            call: Any = referee_pb2_grpc.RefereeServiceStub(channel).Play(None)
            await self.open(call, token)
            leave = asyncio.create_task(self.leave(call))
            try:
                async for response in call:
                    if response.HasField("welcome"):
                        self.attempts = 0
                    for request in self.respond(response):
                        await call.write(request)
            finally:
                leave.cancel()

    async def open(self, call: Any, token: str) -> None:
        await call.write(self.hello(token))

    async def leave(self, call: Any) -> None:
        await self.leaving.wait()
        await call.write(play_pb2.PlayRequest(goodbye=play_pb2.Goodbye()))
        await call.done_writing()

    def respond(self, response: play_pb2.PlayResponse) -> Requests:
        """What it sends for a message."""
        if response.HasField("ping"):
            yield from self.pong(response)
        moves = [move for event in response.events for move in self.take(event)]
        if moves:
            yield play_pb2.PlayRequest(moves=moves)

    def pong(self, response: play_pb2.PlayResponse) -> Requests:
        yield play_pb2.PlayRequest(pong=play_pb2.Pong(id=response.ping.id))

    def take(self, event: play_pb2.Event) -> Iterable[play_pb2.Move]:
        if event.HasField("turn"):
            yield self.move(event.turn)

    def move(self, turn: play_pb2.Turn) -> play_pb2.Move:
        move = play_pb2.Move(session=turn.session, sequence=turn.sequence)
        unknown = turn.kind not in play_pb2.TurnKind.values()
        if turn.legal_plays and not (unknown and turn.can_pass):
            move.cards.extend(self.pick(turn))
        else:
            move.passes = True
        return move

    def pick(self, turn: play_pb2.Turn) -> Iterable[Any]:
        return turn.legal_plays[0].cards


class Seat:
    """What a bot knows of a session."""

    def __init__(self, started: play_pb2.SessionStarted) -> None:
        self.rules = compile_ruleset(load_ruleset(json.loads(started.ruleset)))
        self.cards = card_numbers(self.rules)
        self.seat = started.seat
        self.deal = self.hand = 0

    def deal_started(self, started: play_pb2.DealStarted) -> None:
        self.deal = started.deal
        self.hand = self.cards.mask(started.hand)

    def deal_ended(self, ended: play_pb2.DealEnded) -> None:
        """What the last actions were matters no more."""

    def happened(self, action: play_pb2.Action) -> None:
        cards = self.cards.mask(action.cards)
        if action.kind == play_pb2.ACTION_KIND_EXCHANGE:
            self.exchanged(action, cards)
        elif action.seat == self.seat:
            self.own(cards, self.cards.mask(action.drawn_cards))

    def exchanged(self, action: play_pb2.Action, card: int) -> None:
        if action.seat == self.seat:
            self.hand = self.rules.remove(self.hand, card)
        elif action.partner == self.seat:
            self.hand = self.rules.add(self.hand, card)

    def own(self, played: int, drawn: int) -> None:
        self.hand = self.rules.add(self.rules.remove(self.hand, played), drawn)

    def legal(self, turn: play_pb2.Turn) -> list[int]:
        """Codes of the legal plays, ascending."""
        rules, plays = self.rules, self.rules.list_plays(self.hand)
        if turn.kind == play_pb2.TURN_KIND_EXCHANGE:
            return [code for code in plays if rules.count(code & rules.full) == 1]
        constraints = Constraints(
            rules.code(self.cards.mask(turn.to_beat)) if turn.to_beat else 0,
            self.cards.mask([turn.must_include]) if turn.must_include else 0,
            landmarks(rules).top if turn.top_card_banned else 0,
            turn.next_has_one,
        )
        bombs_only = turn.kind == play_pb2.TURN_KIND_BOMB
        return [
            code for code in allowed(rules, plays, constraints).plays if rules.is_bomb(code) or not bombs_only
        ]


class RulesBot(GoodBot):
    """Knows the rules: keeps its hand itself, and plays the weakest that it can."""

    lists = False
    knows: type[Seat] = Seat

    def __init__(self) -> None:
        super().__init__()
        self.seats: dict[int, Seat] = {}

    async def stream(self, address: str, token: str) -> None:
        self.seats.clear()
        await super().stream(address, token)

    def take(self, event: play_pb2.Event) -> Iterable[play_pb2.Move]:
        match event.WhichOneof("event"):
            case "session_started":
                self.start(event.session_started)
            case "deal_started":
                self.seats[event.deal_started.session].deal_started(event.deal_started)
            case "deal_ended":
                self.seats[event.deal_ended.session].deal_ended(event.deal_ended)
            case "turn":
                seat = self.seats[event.turn.session]
                for action in event.turn.actions:
                    seat.happened(action)
                yield self.decide(seat, event.turn)

    def start(self, started: play_pb2.SessionStarted) -> None:
        self.seats[started.session] = self.knows(started)

    def decide(self, seat: Seat, turn: play_pb2.Turn) -> play_pb2.Move:
        move = play_pb2.Move(session=turn.session, sequence=turn.sequence)
        codes = self.codes(seat, turn)
        if codes and not (turn.can_pass and turn.kind not in play_pb2.TurnKind.values()):
            move.cards.extend(seat.cards.numbers(codes[0] & seat.rules.full))
        else:
            move.passes = True
        return move

    def codes(self, seat: Seat, turn: play_pb2.Turn) -> list[int]:
        """Codes of the plays it thinks of; the first is played."""
        return seat.legal(turn)
