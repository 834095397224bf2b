"""Tests for the hold rule, with the time passed in."""

import pytest

from referee.matches.events import Notice
from referee.matches.kinds import NoticeCode
from referee.matches.outbox import HOLD_SECONDS, Outbox

EVENT = Notice(NoticeCode.UNEXPECTED, "text")


def sent(outbox: Outbox, now: float, *, owed: bool, turns: int = 1) -> None:
    outbox.put(EVENT)
    outbox.take(now)
    outbox.note_sent(turns)
    if owed:
        outbox.owed.add(1)


def test_hold_when_nothing_was_sent_yet_then_there_is_none() -> None:
    assert Outbox(lambda: None).hold(5.0) == 0


def test_hold_when_the_bot_owes_and_was_not_heard_then_it_lasts_ten_milliseconds() -> None:
    outbox = Outbox(lambda: None)
    sent(outbox, 5.0, owed=True)
    assert outbox.hold(5.0) == pytest.approx(HOLD_SECONDS)
    assert outbox.hold(5.0 + HOLD_SECONDS) == 0


def test_hold_when_the_bot_was_heard_then_there_is_none() -> None:
    outbox = Outbox(lambda: None)
    sent(outbox, 5.0, owed=True)
    outbox.heard(1)
    assert outbox.hold(5.0) == 0


def test_hold_when_fewer_than_half_the_turns_were_answered_then_it_goes_on() -> None:
    outbox = Outbox(lambda: None)
    sent(outbox, 5.0, owed=True, turns=5)
    outbox.heard(2)
    assert outbox.hold(5.0) > 0
    outbox.heard(1)
    assert outbox.hold(5.0) == 0


def test_hold_when_the_bot_owes_nothing_then_there_is_none() -> None:
    outbox = Outbox(lambda: None)
    sent(outbox, 5.0, owed=False)
    assert outbox.hold(5.0) == 0


def test_take_when_events_wait_then_they_come_once_and_in_order() -> None:
    woken: list[int] = []
    outbox = Outbox(lambda: woken.append(1))
    first, second = EVENT, Notice(NoticeCode.STALE_MOVE, "bye")
    outbox.put(first)
    outbox.put(second)
    assert outbox
    assert outbox.take(1.0) == [first, second]
    assert not outbox
    assert outbox.take(1.0) == []
    assert len(woken) == 2


def test_heard_when_events_are_held_then_the_writer_is_woken() -> None:
    woken: list[int] = []
    outbox = Outbox(lambda: woken.append(1))
    sent(outbox, 5.0, owed=True)
    outbox.put(EVENT)
    woken.clear()
    outbox.heard(1)
    assert woken == [1]


def test_put_back_when_a_message_was_full_then_the_rest_comes_first_and_at_once() -> None:
    woken: list[int] = []
    outbox = Outbox(lambda: woken.append(1))
    first, second = EVENT, Notice(NoticeCode.STALE_MOVE, "bye")
    outbox.put(second)
    sent(outbox, 5.0, owed=True)
    woken.clear()
    outbox.put_back([first])
    assert woken == [1]
    assert outbox.hold(5.0) == 0
    assert outbox.take(5.0) == [first]
