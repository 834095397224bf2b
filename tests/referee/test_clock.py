"""Tests for a seat's clock, with the time passed in."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.matches.clock import UNSENT_GRACE, Clock, TimeControl
from referee.matches.match import Limits

CONTROL = TimeControl(limit=1.0, bank=0.0, increment=0.0, credit=0.1)
BANK = replace(CONTROL, bank=3.0, increment=0.5)


def asked(control: TimeControl = CONTROL, now: float = 10.0) -> Clock:
    clock = Clock(control)
    clock.ask(now)
    return clock


def test_time_control_when_made_of_limits_then_it_is_in_seconds() -> None:
    limits = Limits(decision_ms=1500, bank_ms=60_000, increment_ms=20, credit_ms=80)
    assert TimeControl.of(limits) == TimeControl(1.5, 60.0, 0.02, 0.08)


def test_clock_when_the_turn_is_not_handed_out_then_only_the_grace_for_that_runs() -> None:
    clock = asked()
    assert clock.deadline == 11 + UNSENT_GRACE
    assert clock.elapsed(12) == 0
    assert clock.settle(12) == 0


@pytest.mark.parametrize(("credit", "deadline"), [(0.0, 12.0), (0.04, 12.04), (0.3, 12.1)])
def test_clock_when_it_starts_then_the_credit_lengthens_it_up_to_the_most(
    credit: float, deadline: float
) -> None:
    clock = asked()
    clock.start(11.0, credit)
    assert clock.deadline == pytest.approx(deadline)
    assert clock.left(11.25) == pytest.approx(0.75)
    assert clock.left(20.0) == 0
    assert clock.elapsed(11.25) == 0.25


def test_clock_when_the_next_decision_begins_then_nothing_of_the_last_is_left() -> None:
    clock = asked()
    clock.start(10.0, 0.1)
    clock.looked()
    clock.ask(20.0)
    assert (clock.handed_at, clock.credit, clock.look) == (None, 0.0, 20.5 + UNSENT_GRACE)


def test_bank_when_a_decision_ends_then_it_pays_for_all_of_its_time_and_grows_by_the_increment() -> None:
    clock = asked(BANK)
    clock.start(10.0, 0.1)
    assert clock.settle(10.9) == pytest.approx(0.9)
    assert clock.bank == pytest.approx(2.6)


def test_bank_when_less_is_in_it_than_the_limit_then_that_is_the_limit() -> None:
    clock = Clock(BANK)
    clock.bank = 0.25
    clock.ask(10.0)
    clock.start(10.0, 0.1)
    assert clock.deadline == pytest.approx(10.35)
    clock.settle(10.35)
    assert clock.bank == 0.5


def test_bank_when_there_is_none_then_it_stays_empty() -> None:
    clock = asked()
    clock.start(10.0)
    assert clock.settle(10.9) == pytest.approx(0.9)
    assert clock.bank == 0


@pytest.mark.parametrize("handed", [False, True])
def test_delay_when_the_referee_was_away_then_it_did_not_run(handed: bool) -> None:
    clock = asked()
    if handed:
        clock.start(10.0)
    before = clock.deadline
    clock.delay(5.0)
    assert clock.deadline == before + 5
    assert clock.elapsed(15.25) == (0.25 if handed else 0)


def test_settle_when_the_delay_reaches_beyond_now_then_the_decision_took_no_time() -> None:
    clock = asked(BANK)
    clock.start(10.0)
    clock.delay(1.0)
    assert clock.settle(10.5) == 0
    assert clock.bank == 3.5


def test_look_when_half_of_the_time_is_up_then_the_next_one_is_at_the_deadline() -> None:
    clock = asked()
    clock.start(10.0)
    assert clock.look == 10.5
    clock.looked()
    assert clock.look == 11.0


TIMES = st.floats(0, 100)
CONTROLS = st.builds(
    TimeControl,
    limit=st.floats(0.001, 10),
    bank=st.just(0.0) | TIMES,
    increment=TIMES,
    credit=st.floats(0, 1),
)
STEPS = st.one_of(
    st.builds(lambda now: lambda clock: clock.ask(now), TIMES),
    st.builds(lambda now, credit: lambda clock: clock.start(now, credit), TIMES, TIMES),
    st.builds(lambda seconds: lambda clock: clock.delay(seconds), TIMES),
    st.just(Clock.looked),
    st.builds(lambda now: lambda clock: clock.settle(now), TIMES),
)


@given(CONTROLS, st.lists(STEPS, max_size=12), TIMES)
def test_clock_when_times_come_in_any_order_then_no_decision_takes_less_than_no_time(
    control: TimeControl, steps: list[Callable[[Clock], object]], now: float
) -> None:
    clock = Clock(control)
    clock.ask(0.0)
    for step in steps:
        before = clock.used
        step(clock)
        assert clock.used >= before
        assert clock.bank >= 0
    elapsed, used = clock.elapsed(now), clock.used
    assert elapsed >= 0
    assert 0 <= clock.left(now) <= clock.time
    assert clock.look <= clock.deadline
    if clock.time:
        assert clock.part(now) <= elapsed / clock.time
    assert clock.settle(now) == elapsed
    assert clock.used == used + elapsed
