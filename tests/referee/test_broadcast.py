"""Tests for what spectators see: the same for everyone, each at their own pace, and bounded."""

import json

from referee.matches.broadcast import BACKLOG, FRESH, Broadcast, Spectator
from referee.matches.events import LeftOut, Sight
from referee.matches.match import Limits
from referee.protocol import encode
from referee.v1 import spectators_pb2
from tests.referee.harness import Harness
from tests.referee.support import match_spec


def update(number: int) -> LeftOut:
    """Return an update that can be recognised by its number."""
    return LeftOut(number)


def numbers(spectator: Spectator) -> list[int]:
    """Return everything that the spectator can see so far."""
    seen: list[int] = []
    while data := spectator.take():
        message = spectators_pb2.WatchMatchResponse.FromString(data)
        seen += [update.left_out.updates for update in message.updates]
    return seen


def test_spectators_when_they_come_early_and_late_then_they_see_the_same() -> None:
    shown: list[Sight] = [update(0)]
    broadcast = Broadcast(lambda: shown, encode.sight)
    early = broadcast.join()
    for number in range(1, FRESH):
        shown.append(update(number))
        broadcast.show(shown[-1])
    late = broadcast.join()
    assert numbers(early) == list(range(FRESH))
    assert numbers(late) == list(range(FRESH))


def test_picture_when_it_is_old_then_a_newcomer_gets_a_new_one() -> None:
    broadcast = Broadcast(lambda: [update(1_000_000 + broadcast.end)], encode.sight)
    broadcast.join()
    for number in range(FRESH + 1):
        broadcast.show(update(number))
    assert numbers(broadcast.join()) == [1_000_000 + FRESH + 1]


def test_picture_when_everybody_had_left_then_a_newcomer_gets_a_new_one() -> None:
    shown = [1]
    broadcast = Broadcast(lambda: [update(number) for number in shown], encode.sight)
    broadcast.join()
    broadcast.leave()
    shown.append(2)
    assert numbers(broadcast.join()) == [1, 2]


def test_spectator_when_it_reads_too_slowly_then_it_is_told_how_much_was_left_out() -> None:
    broadcast = Broadcast(list, encode.sight)
    slow, quick = broadcast.join(), broadcast.join()
    seen: list[int] = []
    for number in range(BACKLOG + 7):
        broadcast.show(update(number))
        seen += numbers(quick)
    assert seen == list(range(BACKLOG + 7))
    assert numbers(slow) == [7, *range(7, BACKLOG + 7)]


def test_spectator_when_the_match_is_over_then_it_is_done_once_all_is_seen() -> None:
    broadcast = Broadcast(lambda: [update(0)], encode.sight)
    spectator = broadcast.join()
    broadcast.show(update(1))
    broadcast.over = True
    assert not spectator.done
    assert numbers(spectator) == [0, 1]
    assert spectator.done


def test_watch_when_spectators_come_and_go_during_a_match_then_each_sees_whole_deals() -> None:
    harness = Harness()
    bots = [harness.connect(number) for number in (1, 2, 3, 4)]
    match = harness.open(match_spec(sessions=2, deals=4, limits=Limits(decision_ms=60_000)))
    seen: list[spectators_pb2.WatchUpdate] = []
    spectator: Spectator | None = None
    results = []
    for step in range(10_000):
        if step % 30 == 0:
            if spectator is not None:
                harness.lobby.unwatch(match)
            spectator, seen = None, []
        elif step % 30 == 20:
            spectator = harness.lobby.watch(match)
        if match.done:
            break
        for bot in bots:
            bot.read()
            for turn in list(bot.turns.values()):
                bot.play(turn)
        results += match.take_results()
        while spectator is not None and (data := spectator.take()):
            seen += spectators_pb2.WatchMatchResponse.FromString(data).updates
        check_sequence(seen)
    assert len(results) == 2
    assert all(len(json.loads(record)["actions"]) for result in results for record in result.records)


def check_sequence(seen: list[spectators_pb2.WatchUpdate]) -> None:
    """Assert that sessions are shown from the start, with their deals in order and no action missing."""
    deals: dict[int, int] = {}
    held: dict[int, list[int]] = {}
    for one in seen:
        match one.WhichOneof("update"):
            case "session_started":
                assert one.session_started.session not in deals
                deals[one.session_started.session] = 0
            case "deal_started":
                started = one.deal_started
                assert not started.hand
                assert started.session not in held
                assert deals[started.session] in (0, started.deal - 1)
                deals[started.session] = started.deal
                held[started.session] = list(started.hand_sizes)
            case "action":
                action = one.action
                held[action.session][action.seat] -= len(action.cards)
            case "deal_ended":
                ended = one.deal_ended
                assert deals[ended.session] == ended.deal
                assert held.pop(ended.session) == [len(left.cards) for left in ended.left]
