"""Times of decisions in exports: what a referee cannot have measured, even if it is signed."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.arena.exported import check, lines_of, problem, with_new_digests
from tests.arena.test_verify_forfeits import finished, going_on, played_with
from tests.arena.world import World
from tests.referee.key import KEY

Change = Callable[[Any], object]


def forged(lines: list[str], change: Change) -> str:
    """Change the first record with actions, recompute all digests and sign anew; return what is found."""
    objects = [json.loads(line) for line in lines]
    change(next(each for each in objects if "actions" in each))
    return problem(with_new_digests([json.dumps(each) for each in objects], KEY))


def with_time(record: Any, old: Callable[[str], bool], new: str, name: str = "ms") -> None:
    """Change the first time that is so."""
    times = record["ms"].split()
    at = next(index for index, ms in enumerate(times) if old(ms))
    changed = times if name == "ms" else ["-" if ms == "-" else "0" for ms in times]
    changed[at] = new
    record[name] = " ".join(changed)


def with_fault_at_a_pass(record: Any) -> None:
    """Add a fault where the referee passed for a seat that could do nothing else."""
    at = record["ms"].split().index("-")
    record["faults"] = [{"action": at, "seat": int(record["actions"][at][0]), "kind": "illegal", "ms": 0}]


FORGERIES: dict[str, tuple[Change, str]] = {
    "a decision far above its limit": (
        lambda record: with_time(record, str.isdecimal, "9999999"),
        "is 9999999, above the limit of 5000 and the credit of 0, and no fault is recorded",
    ),
    "a credit above its limit": (
        lambda record: with_time(record, str.isdecimal, "9999", "credit_ms"),
        "credit_ms is 9999, and the limit 100",
    ),
    "no time where a bot was asked": (
        lambda record: with_time(record, str.isdecimal, "-"),
        "is -, but the bot was asked",
    ),
    "a time at a forced pass": (
        lambda record: with_time(record, lambda ms: ms == "-", "12"),
        "is 12, but the bot was not asked",
    ),
    "a fault at a forced pass": (with_fault_at_a_pass, "faults.0: the bot was not asked at action"),
    "no times at all": (lambda record: record.pop("ms"), "ms: is missing"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_export_when_times_are_forged_and_signed_again_then_verify_names_them(
    world: World, name: str
) -> None:
    finished(world, played_with())
    lines = lines_of(world)
    assert check(lines).problem is None
    change, expected = FORGERIES[name]
    assert expected in forged(lines, change)


@pytest.mark.parametrize("fields", [{}, {"ask_forced": True}, {"mode": "stand_in"}])
def test_export_when_bots_are_asked_or_played_for_then_its_times_are_right(
    world: World, fields: dict[str, Any]
) -> None:
    assert check(going_on(world, **fields)).problem is None
