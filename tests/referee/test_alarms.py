"""Tests for the queue of alarms."""

from referee.matches.clock import Alarms


def test_due_when_the_time_has_come_then_the_earliest_comes_first_and_each_once() -> None:
    alarms = Alarms()
    for when, handle in [(3.0, 1), (1.0, 2), (2.0, 1), (9.0, 3)]:
        alarms.set(when, handle)
    assert list(alarms.due(3.0)) == [(1.0, 2), (2.0, 1), (3.0, 1)]
    assert list(alarms.due(3.0)) == []
    assert alarms.soonest() == 9.0


def test_due_when_an_alarm_is_set_meanwhile_then_it_comes_too_if_it_is_due() -> None:
    alarms = Alarms()
    alarms.set(1.0, 1)
    seen = []
    for when, handle in alarms.due(2.0):
        seen.append((when, handle))
        if handle == 1:
            alarms.set(1.5, 2)
            alarms.set(2.5, 3)
    assert seen == [(1.0, 1), (1.5, 2)]
    assert list(alarms) == [(2.5, 3)]


def test_soonest_when_nothing_waits_then_there_is_none() -> None:
    assert Alarms().soonest() is None
