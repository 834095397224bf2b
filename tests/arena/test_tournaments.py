"""Creating tournaments, and what is refused."""

from datetime import timedelta
from functools import partial

import pytest

from arena.bots import versions
from arena.errors import SpecError, StateError, TakenError, UnknownError
from arena.matches.referees import nobody_asked
from arena.rounds import closing
from arena.tournaments import creation, lifecycle, overview
from referee.deals.shuffle import seed_hash
from tests.arena.fakes import ROOT
from tests.arena.world import World


def test_create_when_done_then_it_waits_to_be_started(world: World) -> None:
    made = creation.create(world.storage, ROOT, world.spec(world.register(5)), world.clock())
    assert (made.state, made.ruleset, made.table_size, made.entrants) == ("created", "chinese@1", 4, 5)
    assert (made.round, made.matches_total, made.seed, made.started_at) == (0, 0, None, None)
    world.advance(made.id)
    assert world.status() == made


def test_create_when_no_seed_is_given_then_each_has_its_own(world: World) -> None:
    names = world.register(4)
    made = [
        creation.create(world.storage, ROOT, world.spec(names, name=name), world.clock())
        for name in ("one", "two")
    ]
    assert made[0].seed_hash != made[1].seed_hash
    ended = closing.cancel(world.storage, ROOT, "one", world.clock())
    assert ended.seed is not None
    assert seed_hash(bytes.fromhex(ended.seed)) == ended.seed_hash


def test_create_when_the_ruleset_is_the_same_then_it_is_stored_once(world: World) -> None:
    names = world.register(4)
    for name in ("one", "two"):
        creation.create(world.storage, ROOT, world.spec(names, name=name), world.clock())
    assert {status.ruleset for status in overview.list_tournaments(world.storage)} == {"chinese@1"}
    assert [status.name for status in overview.list_tournaments(world.storage)] == ["two", "one"]


def test_create_when_entrants_are_too_few_then_nothing_is_made(world: World) -> None:
    message = "entrants: too few: chinese@1 needs 4 at a table, and there are 3"
    with pytest.raises(SpecError, match=message):
        creation.create(world.storage, ROOT, world.spec(world.register(3)), world.clock())
    assert overview.list_tournaments(world.storage) == []


def test_create_when_an_entrant_stands_twice_under_two_names_then_it_is_named(world: World) -> None:
    names = world.register(4)
    with pytest.raises(SpecError, match="entrants: owner-0/bot-0@1 is listed twice"):
        creation.create(world.storage, ROOT, world.spec([*names, "owner-0/bot-0"]), world.clock())


def test_create_when_an_entrants_token_is_revoked_then_it_is_named(world: World) -> None:
    names = world.register(4)
    versions.revoke_version(world.storage, ROOT, names[1], world.clock())
    with pytest.raises(SpecError, match=f"entrants: the token of {names[1]} is revoked"):
        creation.create(world.storage, ROOT, world.spec(names), world.clock())


def test_create_when_an_entrant_is_unknown_then_it_is_named(world: World) -> None:
    with pytest.raises(UnknownError, match="no bot 'ann/a'; it has to be registered first"):
        creation.create(world.storage, ROOT, world.spec([*world.register(4), "ann/a"]), world.clock())


def test_create_when_the_ruleset_is_unknown_then_it_is_named(world: World) -> None:
    with pytest.raises(SpecError, match=r"^ruleset: no preset is called 'chines'; did you mean 'chinese'\?"):
        creation.create(world.storage, ROOT, world.spec(world.register(4), ruleset="chines"), world.clock())


def test_create_when_the_name_is_taken_then_that_is_said(world: World) -> None:
    spec = world.spec(world.register(4))
    creation.create(world.storage, ROOT, spec, world.clock())
    with pytest.raises(TakenError, match="there already is a tournament cup"):
        creation.create(world.storage, ROOT, spec, world.clock())


def test_entrant_when_its_token_has_expired_then_nothing_is_created(world: World) -> None:
    names = world.register(4)
    name = versions.register_version(world.storage, ROOT, "ann/a", world.clock(), expires_in=1).name
    world.clock.now += timedelta(days=2)
    with pytest.raises(SpecError, match=r"^entrants: the token of ann/a@1 has expired$"):
        creation.create(world.storage, ROOT, world.spec([*names, name]), world.clock())
    assert overview.list_tournaments(world.storage) == []


def test_start_when_it_runs_already_then_that_is_said(world: World) -> None:
    world.tournament(4)
    with pytest.raises(StateError, match="tournament cup is running; it cannot be started"):
        lifecycle.start(world.storage, ROOT, "cup", world.clock(), nobody_asked)


def test_tournament_when_unknown_then_it_is_quoted(world: World) -> None:
    for command in (partial(lifecycle.start, ask=nobody_asked), closing.cancel):
        with pytest.raises(UnknownError, match="no tournament 'cap'"):
            command(world.storage, ROOT, "cap", world.clock())
    with pytest.raises(UnknownError, match="no tournament 'cap'"):
        overview.status(world.storage, "cap")


def test_round_robin_when_it_is_given_rounds_then_it_has_as_many(world: World) -> None:
    cup = world.tournament(8, rounds=2)
    world.finish(cup.id)
    assert (world.status().rounds, world.status().matches_done) == (2, 4)


def test_tournament_when_the_points_of_a_match_could_be_too_many_then_that_is_said(world: World) -> None:
    names = world.register(4)
    costly = {"name": "costly", "multipliers": [{"from": 1, "times": 30_000}]}
    told = "sessions: a match of 2000 deals could come to 3120000000 points, and its totals hold 2147483647"
    with pytest.raises(SpecError, match=f"^{told}$"):
        world.tournament_of(names, ruleset=costly, sessions=2, deals=1000)
    assert world.tournament_of(names, ruleset=costly, sessions=1, deals=1000).state == "running"
