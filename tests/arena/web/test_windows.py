"""How often a caller may ask within one minute."""

from arena.web.limits import Counted, Windows


def test_caller_when_it_asks_too_often_then_it_is_allowed_again_once_the_oldest_is_a_minute_old() -> None:
    now = 1000.0
    windows = Windows(lambda: now)
    assert windows.count("ann", 2) == Counted(True, 1, 60.0)
    now += 20
    assert windows.count("ann", 2) == Counted(True, 0, 40.0)
    assert windows.count("ann", 2) == Counted(False, 0, 40.0)
    assert windows.count("bob", 2).allowed
    now += 40
    assert windows.count("ann", 2) == Counted(True, 0, 20.0)


def test_callers_when_they_have_not_asked_for_a_minute_then_they_are_forgotten() -> None:
    now = 1000.0
    windows = Windows(lambda: now)
    for at in range(50):
        windows.count(f"10.0.0.{at}", 9)
    now += 59
    windows.count("ann", 9)
    assert len(windows) == 51
    now += 1
    windows.count("ann", 9)
    assert len(windows) == 1
