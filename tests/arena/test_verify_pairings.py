"""Who met whom, worked out again from the head and the results, whatever happens during the tournament."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from arena.tournaments import creation, entry, lifecycle
from arena.tournaments.referees import nobody_asked
from tests.arena.exported import check, lines_of, play_by_table, problem, with_new_digests
from tests.arena.fakes import ROOT
from tests.arena.world import World

FORMATS: dict[str, tuple[int, dict[str, object]]] = {
    "round-robin": (6, {}),
    "round-robin of some rounds": (9, {"format": "round-robin", "rounds": 3}),
    "round-robin at least once": (9, {"options": {"meetings": "at-least-once"}}),
    "gauntlet of groups": (9, {"format": "gauntlet", "options": {"challengers": 4}}),
    "swiss": (6, {"format": "swiss", "rounds": 3}),
    "gauntlet": (7, {"format": "gauntlet"}),
    "knockout": (9, {"format": "knockout"}),
    "continuous": (9, {"format": "continuous", "rounds": 4}),
}
"""For each case, the number of bots and the tournament's fields."""

SHORT = {"sessions": 1, "deals": 1}


@pytest.mark.parametrize("name", FORMATS)
def test_pairings_of_each_format_are_found_again(world: World, name: str) -> None:
    count, fields = FORMATS[name]
    world.finish(world.tournament(count, **SHORT, **fields).id, play_by_table)
    assert check(lines_of(world)).problem is None


@pytest.mark.parametrize("name", FORMATS)
def test_two_bots_that_changed_tables_are_found(world: World, name: str) -> None:
    count, fields = FORMATS[name]
    world.finish(world.tournament(count, **SHORT, **fields).id, play_by_table)
    lines = lines_of(world)
    at = next(at for at, line in enumerate(lines) if json.loads(line).get("part") == "round")
    part = json.loads(lines[at])
    part["tables"][0] = part["tables"][0][1:] + part["tables"][0][:1]
    lines[at] = json.dumps(part)
    assert problem(with_new_digests(lines))


def test_pairings_with_late_entry_and_withdrawal_are_found_again(world: World) -> None:
    names = world.register(9)
    started = world.tournament_of(names[:8], **SHORT, format="swiss", rounds=3)
    world.advance(started.id)
    entry.enter(world.storage, ROOT, "cup", names[8], world.clock(), nobody_asked)
    entry.withdraw(world.storage, ROOT, "cup", names[0], world.clock())
    lifecycle.pause(world.storage, ROOT, "cup", world.clock())
    lifecycle.resume(world.storage, ROOT, "cup", world.clock())
    world.finish(started.id, play_by_table)
    lines = lines_of(world)
    assert check(lines).problem is None
    events = [one["event"] for one in map(json.loads, lines) if one.get("part") == "event"]
    assert events == ["started", "entered", "withdrew", "paused", "resumed", "finished"]


def test_tournament_that_was_stopped_is_right_and_says_so(world: World) -> None:
    started = world.tournament(6, **SHORT, format="swiss", rounds=3)
    world.advance(started.id)
    lifecycle.stop(world.storage, ROOT, "cup", world.clock())
    world.finish(started.id, play_by_table)
    report = check(lines_of(world))
    assert (report.problem, report.rounds) == (None, 1)


def test_knockout_that_bots_leave_is_right(world: World) -> None:
    names = world.register(9)
    creation.create(world.storage, ROOT, world.spec(names, **SHORT, format="knockout"), world.clock())
    entry.withdraw(world.storage, ROOT, "cup", names[1], world.clock())
    started = lifecycle.start(world.storage, ROOT, "cup", world.clock(), nobody_asked)
    world.advance(started.id)
    entry.withdraw(world.storage, ROOT, "cup", names[2], world.clock())
    world.finish(started.id, play_by_table)
    assert check(lines_of(world)).problem is None


def drop_round(parts: list[Any]) -> list[Any]:
    """Leave out the last round."""
    first = max(at for at, one in enumerate(parts) if one.get("part") == "round")
    last = max(at for at, one in enumerate(parts) if one.get("part") == "round_end")
    parts[1]["rounds"] -= 1
    for one in parts:
        if one.get("event") == "finished":
            one["details"]["rounds"] -= 1
    return [*parts[:first], *parts[last + 1 :]]


def drop_event(kind: str) -> Callable[[list[Any]], list[Any]]:
    def drop(parts: list[Any]) -> list[Any]:
        left = [one for one in parts if one.get("event") != kind]
        for number, one in enumerate((one for one in left if one.get("part") == "event"), start=1):
            one["number"] = number
        return left

    return drop


def enter_at_once(parts: list[Any]) -> list[Any]:
    [event] = [one for one in parts if one.get("event") == "entered"]
    event["details"]["first_round"] = 1
    parts[1]["entrants"][-1]["entered_at_round"] = 1
    return parts


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (drop_round, "2 rounds stand before the end, should be 3"),
        (drop_event("entered"), "entrants.8: does not match the head and the events"),
        (drop_event("withdrew"), "entrants.0.withdrawn_after: does not match the events"),
        (drop_event("finished"), "the events leave the tournament running"),
        (enter_at_once, "round 1: "),
    ],
)
def test_what_is_left_out_or_moved_is_found_though_digests_are_made_anew(
    world: World, change: Callable[[list[Any]], list[Any]], found: str
) -> None:
    names = world.register(9)
    started = world.tournament_of(names[:8], **SHORT, format="swiss", rounds=3)
    world.advance(started.id)
    entry.enter(world.storage, ROOT, "cup", names[8], world.clock(), nobody_asked)
    entry.withdraw(world.storage, ROOT, "cup", names[0], world.clock())
    world.finish(started.id, play_by_table)
    changed = change([json.loads(line) for line in lines_of(world)])
    assert found in problem(with_new_digests([json.dumps(one) for one in changed]))
