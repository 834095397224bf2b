"""``arena tournament enter``, ``withdraw``, ``stop`` and ``pairings``."""

import pytest

from arena.host.settings import Settings
from tests.arena.cli import Arena, assert_one_line, make_arena
from tests.arena.world import World


@pytest.fixture
def arena(migrated: Settings, capsys: pytest.CaptureFixture[str]) -> Arena:
    return make_arena(migrated.data, capsys)


def test_pairings_explained_name_places_scores_and_what_was_avoided(arena: Arena, world: World) -> None:
    world.finish(world.tournament(9, format="swiss", rounds=3).id)
    shown = arena("tournament", "pairings", "cup", "--explain").out
    assert "Round 1 (closed)" in shown
    assert "drawn by lot" in shown
    assert shown.count("places ") == 4
    assert "they have met: owner-" in shown
    assert shown.count("sitting out: owner-") == 3
    assert "Balance over 3 rounds, 9 bots" in shown


def test_pairings_of_one_round_show_only_it(arena: Arena, world: World) -> None:
    world.finish(world.tournament(8).id)
    shown = arena("tournament", "pairings", "cup", "--round", 2, "--explain").out
    assert "Round 2" in shown
    assert "Round 1" not in shown
    assert "a round-robin follows its schedule" in shown
    assert_one_line(arena("tournament", "pairings", "cup", "--round", 8), 1, "no round 8 in cup")


def test_pairings_for_scripts_give_reasons_by_number(arena: Arena, world: World) -> None:
    world.finish(world.tournament(8, format="swiss", rounds=2).id)
    found = arena("tournament", "pairings", "cup", "--explain", "--json").json
    first, second = found["rounds"]
    assert first["reasons"] == []
    seated = [[found["bots"][str(who)] for who in reason["entrants"]] for reason in second["reasons"]]
    assert seated == second["tables"]
    assert found["balance"]["byes"] == [0, 0]


def test_entrants_come_and_go_and_the_tournament_is_stopped(arena: Arena, world: World) -> None:
    *names, late = world.register(9)
    cup = world.tournament_of(names, format="swiss", rounds=4)
    world.advance(cup.id)
    entered = arena("tournament", "enter", "cup", late)
    assert f"{late} plays in cup from round 2 on" in entered.out
    assert "warning: no referee reports which bots are connected" in entered.err
    assert arena("tournament", "withdraw", "cup", names[0], "--json").json["last_round"] == 1
    assert_one_line(arena("tournament", "withdraw", "cup", names[0]), 1, "has withdrawn")
    assert "cup ends with round 1" in arena("tournament", "stop", "cup").out
    world.finish(cup.id)
    assert_one_line(arena("tournament", "stop", "cup"), 1, "cup is finished already")


def test_create_takes_options_of_the_format(arena: Arena, world: World) -> None:
    entrants = [part for name in world.register(8, owners=8) for part in ("--entrant", name)]
    options = ["--name", "cup", "--format", "knockout", "--ruleset", "chinese", *entrants]
    assert_one_line(
        arena("tournament", "create", *options, "--option", "advance=4"), 1, "options.advance: ", "not 4"
    )
    assert_one_line(arena("tournament", "create", *options, "--option", "advance"), 2, "NAME=VALUE")
    assert arena("tournament", "create", *options, "--option", "advance=1").status == 0


@pytest.mark.parametrize(
    ("format", "columns"),
    [
        ("swiss", ["score", "cut", "opponents", "wins", "points"]),
        ("knockout", ["round", "last match", "score", "points", "±", "wins"]),
        ("gauntlet", ["mean", "points", "±", "wins", "opponents"]),
    ],
)
def test_standings_show_what_decides_in_the_format(
    arena: Arena, world: World, format: str, columns: list[str]
) -> None:
    rounds = {"rounds": 2} if format == "swiss" else {}
    world.finish(world.tournament(8, format=format, **rounds).id)
    head = arena("tournament", "standings", "cup").out.splitlines()[0]
    places = [
        head.index(f" {column} ") if f" {column} " in head else head.index(column) for column in columns
    ]
    assert places == sorted(places)
