"""What is encoded by hand, beside what the protobuf library makes of the same events."""

import os
from random import Random

import pytest

from referee import encode, wire
from referee.events import DealEnded, Event, FaultKind, SessionInfo, Turn
from referee.match import Limits
from referee.plays import compile_ruleset
from referee.ruleset import load_ruleset
from referee.table import Outlets, Table
from referee.v1 import play_pb2

PRESETS = sorted(name[:-5] for name in os.listdir("referee/presets") if name.endswith(".toml"))


def compare(event: Event) -> play_pb2.PlayResponse:
    """Checks that an event is encoded as the library builds it."""
    response = play_pb2.PlayResponse()
    if isinstance(event, Turn):
        wire.write_turn(response.events.add().turn, event, True)
        data = encode.turn_event(event, True)
    else:
        wire.add_event(response, event)
        data = encode.other_event(event)
    assert play_pb2.PlayResponse.FromString(data) == response
    return response


@pytest.mark.parametrize("preset", PRESETS)
def test_encoding_when_sessions_are_played_then_it_is_what_the_library_makes(preset: str) -> None:
    rules = compile_ruleset(load_ruleset(preset))
    players = rules.ruleset.players
    seats = tuple(f"owner/bot{seat}@1" for seat in range(players))
    limits = Limits(bank_ms=70_000, increment_ms=10, faults=1000, ask_forced=preset == "chinese-2")
    info = SessionInfo(70_000, "m/1", 1, "t", "{}", rules, seats, 6, "00", limits)
    waiting: list[tuple[int, Event]] = []
    table: Table
    outlets = Outlets(
        send=lambda seat, event: waiting.append((seat, event)),
        probe=lambda seat: None,
        blame=lambda seat, at: FaultKind.TIMEOUT,
        expect=lambda when: None,
        show=lambda sight: None,
        finished=lambda: None,
    )
    table = Table(info, bytes(32), outlets)
    table.start(0.0, [True] * players)
    rng = Random(preset)
    turns = ends = told = 0
    while waiting:
        batch, waiting[:] = list(waiting), []
        for seat, event in batch:
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
            move = play_pb2.Move(cards=cards, passes=passes)
            table.answer(seat, event.sequence, wire.read_move(rules, move), 1.0)
    assert table.over
    assert not any(table.faults)
    assert turns > 10 * ends / players
    assert told > turns
    assert ends == players * table.session.deals_played
