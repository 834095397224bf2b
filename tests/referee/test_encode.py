"""Tests that what is encoded by hand is what the protobuf library makes of the same events."""

import os
from random import Random

import pytest

from referee.deals.session import Session
from referee.matches.connection import Wants
from referee.matches.events import (
    DealEnded,
    DealStarted,
    Encodings,
    Event,
    Malformed,
    Seen,
    SessionInfo,
    Sight,
    Turn,
)
from referee.matches.kinds import FaultKind
from referee.matches.match import Limits, Signed
from referee.matches.outbox import Outbox
from referee.matches.table import Table
from referee.protocol import encode, lazy, wire
from referee.protocol.numbers import card_numbers
from referee.rules.plays import compile_ruleset
from referee.ruleset import load_ruleset
from referee.v1 import bots_pb2, cards_pb2, spectators_pb2
from tests.referee.key import KEY

EVERYTHING = Wants(legal_plays=True, hands=True)
PRESETS = sorted(name[:-5] for name in os.listdir("referee/presets") if name.endswith(".toml"))


def compare_sight(sight: Sight) -> None:
    """Assert that what a spectator sees is encoded as the library encodes it."""
    response = spectators_pb2.WatchMatchResponse()
    match sight:
        case DealStarted():
            wire.write_deal_started(response.updates.add().deal_started, sight)
        case Seen():
            action = response.updates.add().action
            action.session = sight.info.handle
            wire.write_seen(action, card_numbers(sight.info.rules), sight.deal.log[sight.at])
        case DealEnded():
            wire.write_deal_ended(response.updates.add().deal_ended, sight)
        case _:
            wire.add_sight(response, sight)
    assert spectators_pb2.WatchMatchResponse.FromString(encode.sight(sight)) == response


def compare(event: Event) -> bots_pb2.PlayResponse:
    """Assert that an event is encoded as the library encodes it."""
    response = bots_pb2.PlayResponse()
    if isinstance(event, Turn):
        wire.write_turn(response.events.add().turn, event, EVERYTHING)
        data = encode.turn_event(event, EVERYTHING)
    else:
        wire.add_event(response, event)
        data = encode.other_event(event)
    assert bots_pb2.PlayResponse.FromString(data) == response
    return response


class Surroundings:
    """The surroundings of a table: its outboxes, and spectators, whose messages are compared at once."""

    def __init__(self, outboxes: list[Outbox], sights: list[type]) -> None:
        self.outboxes = outboxes
        self.sights = sights

    def send(self, seat: int, event: Event) -> None:
        self.outboxes[seat].put(event)

    def probe(self, seat: int) -> None:
        pass

    def in_doubt(self, seat: int, ran_out_at: float, now: float) -> bool:
        return False

    def blame(self, seat: int, handed_at: float | None, now: float) -> FaultKind:
        return FaultKind.TIMEOUT

    def expect(self, when: float) -> None:
        pass

    def show(self, sight: Sight) -> None:
        self.sights.append(type(sight))
        compare_sight(sight)

    def sign(self, digest: str) -> Signed:
        return KEY.sign(digest)

    def finished(self) -> None:
        pass


@pytest.mark.parametrize("preset", PRESETS)
def test_encoding_when_sessions_are_played_then_it_is_what_the_library_makes(preset: str) -> None:
    rules = compile_ruleset(load_ruleset(preset))
    players = rules.ruleset.players
    seats = tuple(f"owner/bot{seat}@1" for seat in range(players))
    limits = Limits(bank_ms=70_000, increment_ms=10, faults=1000, ask_forced=preset == "chinese-2")
    info = SessionInfo(70_000, "m/1", 1, "t", "{}", rules, seats, 6, "00", limits)
    outboxes = [Outbox(lambda: None) for _ in seats]
    sights: list[type] = []
    table: Table

    table = Table(info, bytes(32), Surroundings(outboxes, sights))
    table.watched = True
    table.start(0.0, outboxes)
    rng = Random(preset)
    turns = ends = told = 0
    while any(outboxes):
        for seat, event in [(seat, event) for seat, box in enumerate(outboxes) for event in box.take(1.0)]:
            ends += isinstance(event, DealEnded)
            if not isinstance(event, Turn):
                compare(event)
                continue
            if not table.hand_out(event, 1.0, 0.02):
                continue
            turns += 1
            turn = compare(event).events[0].turn
            told += len(turn.actions)
            options = [list(play.cards) for play in turn.legal_plays]
            passes = turn.can_pass and (not options or rng.random() < 0.2)
            cards = [] if passes else rng.choice(options)
            move = bots_pb2.Move(cards=cards, passes=passes)
            table.answer(seat, event.sequence, wire.read_move(rules, move), 1.0)
    assert table.over
    assert not any(table.faults)
    assert turns > 10 * ends / players
    assert told > turns
    assert ends == players * table.session.deals_played
    assert sights.count(DealEnded) == table.session.deals_played
    assert sights.count(Seen) > 10 * sights.count(DealEnded)


def test_deal_start_when_it_is_told_after_draws_then_it_is_as_the_deal_began() -> None:
    rules = compile_ruleset(load_ruleset("hong-kong-relatives-3"))
    info = SessionInfo(7, "m/1", 1, "t", "{}", rules, ("a/a@1", "a/b@1", "a/c@1"), 1, "00", Limits())
    deal = Session(rules, bytes(32)).next_deal()

    def told() -> bots_pb2.PlayResponse:
        response = bots_pb2.PlayResponse()
        wire.add_event(response, DealStarted(info, 0, deal, deal.opening, Encodings()))
        return response

    first = told()
    assert first.events[0].deal_started.stock == 52 - sum(first.events[0].deal_started.hand_sizes) > 0
    while len(deal.stock) == len(deal.leftover):  # by default seats pass, and so draw
        deal.act(deal.turn, deal.default(deal.turn))
    assert told() == first


def read(move: bots_pb2.Move, extra: bytes = b"") -> list[int | Malformed]:
    """Return a move as read from a message, and as read lazily from the same bytes."""
    rules = compile_ruleset(load_ruleset("chinese"))
    data = move.SerializeToString() + extra
    request = lazy.PlayRequest.FromString(b"\x12" + bytes([len(data)]) + data)
    return [
        wire.read_move(rules, bots_pb2.Move.FromString(data)),
        wire.read_encoded_move(rules, request.moves[0]),
    ]


@pytest.mark.parametrize(
    ("move", "extra"),
    [
        (bots_pb2.Move(passes=True), b""),
        (bots_pb2.Move(cards=[cards_pb2.CARD_3D]), b""),
        (bots_pb2.Move(cards=[cards_pb2.CARD_3C, cards_pb2.CARD_3D]), b""),
        (bots_pb2.Move(), b""),
        (bots_pb2.Move(), b"\x1a\x00"),
        (bots_pb2.Move(passes=True), b"\x1a\x00"),
        (bots_pb2.Move(cards=[cards_pb2.CARD_3D], passes=True), b""),
        (bots_pb2.Move(cards=[cards_pb2.CARD_3D, cards_pb2.CARD_3D]), b""),
        (bots_pb2.Move(cards=[cards_pb2.CARD_15S]), b""),
        (bots_pb2.Move(cards=[cards_pb2.CARD_UNSPECIFIED]), b""),
        (bots_pb2.Move(cards=[cards_pb2.CARD_3D] * 60), b""),
        (bots_pb2.Move(), b"\x1a\x02\xff\x01"),
        (bots_pb2.Move(), b"\x18\x01"),  # not packed
        (bots_pb2.Move(), b"\x18\x01\x18\x02"),
        (bots_pb2.Move(cards=[cards_pb2.CARD_3D]), b"\x1a\x01\x02"),  # packed twice: still one list
    ],
)
def test_move_when_read_by_its_bytes_then_it_is_what_the_library_reads(
    move: bots_pb2.Move, extra: bytes
) -> None:
    ours, lazily = read(move, extra)
    assert ours == lazily
    assert type(ours) is type(lazily)
