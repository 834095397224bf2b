"""How many sessions a tournament has: the same number wherever it is shown, from its start on."""

from typing import Any

import pytest

from arena.cli.watch import Pace, pace_text
from arena.core.formats import FORMATS, Setup
from arena.host.settings import Settings
from arena.tournaments import entry, lifecycle
from arena.tournaments.referees import nobody_asked
from tests.arena.cli import make_arena
from tests.arena.fakes import ROOT
from tests.arena.world import World

KNOWN: dict[str, tuple[int, dict[str, Any]]] = {
    "round-robin of some rounds": (9, {"rounds": 2}),
    "swiss": (10, {"format": "swiss", "rounds": 4}),
    "gauntlet": (9, {"format": "gauntlet"}),
    "gauntlet of some challengers": (11, {"format": "gauntlet", "options": {"challengers": 2}}),
    "knockout": (23, {"format": "knockout"}),
    "knockout of one a table": (23, {"format": "knockout", "options": {"advance": 1}}),
}
"""The number of bots and the fields of tournaments whose number of sessions is known at the start."""


def totals(world: World, cup: int) -> list[int]:
    """Play a tournament, and return the total number of sessions that it reported after each step."""
    found = [world.status().sessions_total]
    world.advance(cup)
    while world.messages:
        found.append(world.status().sessions_total)
        world.play(world.messages.pop(0))
        world.advance(cup)
    return [*found, world.status().sessions_total]


@pytest.mark.parametrize(("count", "fields"), KNOWN.values(), ids=KNOWN)
def test_total_when_nobody_comes_or_goes_then_it_is_known_from_the_start(
    world: World, count: int, fields: dict[str, Any]
) -> None:
    found = totals(world, world.tournament(count, **fields).id)
    status = world.status()
    assert (status.state, set(found)) == ("finished", {status.sessions_done})


def test_total_of_a_whole_round_robin_is_known_once_it_is_paired(world: World) -> None:
    before, *after = totals(world, world.tournament(9).id)
    assert (before, set(after)) == (0, {world.status().sessions_done})


def test_total_before_a_round_robin_is_paired_when_its_schedule_takes_long_then_nobody_waits_for_it() -> None:
    assert FORMATS["round-robin"].tables_to_come(Setup(5), 45, 0) == 0


def test_total_of_batches_is_that_of_those_that_are_paired(world: World) -> None:
    cup = world.tournament(8, format="continuous", rounds=3)
    assert cup.sessions_total == 0
    world.finish(cup.id)
    assert world.status().sessions_total == world.status().sessions_done > 0


def test_total_when_bots_come_and_go_then_it_follows(world: World) -> None:
    *names, late = world.register(9)
    cup = world.tournament_of(names[:7], format="swiss", rounds=3, sessions=1)
    assert cup.sessions_total == 3 * 1
    world.advance(cup.id)
    for name in (names[7], late):
        entry.enter(world.storage, ROOT, "cup", name, world.clock(), nobody_asked)
    assert world.status().sessions_total == 1 + 2 * 2
    for name in names[:5]:
        entry.withdraw(world.storage, ROOT, "cup", name, world.clock())
    assert world.status().sessions_total == 1 + 2 * 1
    lifecycle.stop(world.storage, ROOT, "cup", world.clock())
    assert world.status().sessions_total == 1


def test_list_watch_and_show_say_the_same(
    world: World, migrated: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    cup = world.tournament(9, format="swiss", rounds=3)
    world.advance(cup.id)
    world.play(world.messages.pop(0))
    status = world.status()
    done, total = status.sessions_done, 3 * 2 * 3
    arena = make_arena(migrated.data, capsys)
    assert f"{done} of {total} sessions" in pace_text(status, pace_of(status.sessions_done))
    assert f"{done}/{total}" in arena("tournament", "list").out
    assert f"{done} of {total} sessions" in arena("tournament", "show", "cup").out


def pace_of(done: int) -> Pace:
    pace = Pace()
    pace.add(0.0, done)
    return pace


@pytest.mark.parametrize("format", ["swiss", "round-robin", "continuous"])
def test_explain_when_only_one_table_was_possible_then_one_line_says_so(
    world: World, migrated: Settings, capsys: pytest.CaptureFixture[str], format: str
) -> None:
    cup = world.tournament(4, format=format, rounds=2, options={})
    world.finish(cup.id)
    arena = make_arena(migrated.data, capsys)
    shown = arena("tournament", "pairings", "cup", "--explain").out
    assert shown.count("no other pairing was possible") == 2
    assert "scores" not in shown
    assert "accepted" not in shown
    found = arena("tournament", "pairings", "cup", "--explain", "--json").json
    assert [round["reasons"] for round in found["rounds"]] == [[], []]


def test_explain_when_somebody_sat_out_then_the_table_is_explained(
    world: World, migrated: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    world.finish(world.tournament(5, format="swiss", rounds=2).id)
    shown = make_arena(migrated.data, capsys)("tournament", "pairings", "cup", "--explain").out
    assert "no other pairing was possible" not in shown
    assert "places " in shown
