"""No owner twice at a table unless that is allowed: from the creation of a tournament to its export."""

import json
from collections import Counter
from functools import partial
from typing import Any

import pytest
from sqlmodel import col, select

from arena.bots import versions
from arena.errors import SpecError
from arena.play.rounds.batches import everyone, pair_batch
from arena.store.models import BotVersion, Entrant, Match, Round, Seat
from arena.store.storage import Storage
from arena.tournaments import creation, entry, lifecycle
from arena.tournaments.referees import nobody_asked
from tests.arena.exported import check, lines_of, play_by_table, problem, with_new_digests
from tests.arena.fakes import ROOT
from tests.arena.world import World

APART: dict[str, Any] = {"allow_same_owner": False}


def register(world: World, *names: str) -> list[str]:
    return [versions.register_version(world.storage, ROOT, name, world.clock()).bot for name in names]


def eight(world: World) -> list[str]:
    """Register eight bots, two of them ann's."""
    return register(world, "ann/a", "ann/b", "bob/c", "cy/d", "dee/e", "eve/f", "fay/g", "gus/h")


def tables(world: World) -> dict[tuple[int, int], list[str]]:
    """Return the bots at each table, by round and table."""
    rows = (
        select(Round.number, Match.table_number, BotVersion.name)
        .join(Match, col(Match.round_id) == Round.id)
        .join(Seat, col(Seat.match_id) == Match.id)
        .join(Entrant, col(Entrant.id) == Seat.entrant_id)
        .join(BotVersion, col(BotVersion.id) == Entrant.version_id)
    )
    found: dict[tuple[int, int], list[str]] = {}
    with world.storage.read() as tx:
        for round, table, name in tx.exec(rows):
            found.setdefault((round, table), []).append(name)
    return found


def assert_apart(world: World) -> None:
    for table in tables(world).values():
        assert len({name.partition("/")[0] for name in table}) == len(table)


@pytest.mark.parametrize("format", ["round-robin", "gauntlet", "knockout"])
def test_create_when_an_owner_has_two_where_all_may_meet_then_it_is_refused(
    world: World, format: str
) -> None:
    names = eight(world)
    with pytest.raises(
        SpecError, match=r"entrants: ann has 2 bots \(ann/a@1, ann/b@1\), who would meet in a"
    ):
        creation.create(world.storage, ROOT, world.spec(names, format=format, **APART), world.clock())
    assert world.statuses() == []
    allowed = world.spec(names, format=format)
    assert creation.create(world.storage, ROOT, allowed, world.clock()).entrants == 8
    alone = world.spec(names[1:], format=format, name="alone", **APART)
    assert creation.create(world.storage, ROOT, alone, world.clock()).entrants == 7


@pytest.mark.parametrize("format", ["swiss", "continuous"])
def test_start_when_an_owner_has_more_than_there_are_tables_then_it_is_refused(
    world: World, format: str
) -> None:
    names = [*eight(world), *register(world, "ann/x", "hal/i", "ida/j", "jon/k")]
    spec = world.spec(names[:9], format=format, rounds=2, **APART)
    creation.create(world.storage, ROOT, spec, world.clock())
    for step in (lifecycle.lock, partial(lifecycle.start, ask=nobody_asked)):
        with pytest.raises(
            SpecError, match=r"entrants: ann has 3 bots .*, and there are 2 tables of 4 for 9"
        ):
            step(world.storage, ROOT, "cup", world.clock())
    for name in names[9:]:
        entry.enter(world.storage, ROOT, "cup", name, world.clock(), nobody_asked)
    assert lifecycle.lock(world.storage, ROOT, "cup", world.clock()).entrants == 12


def test_swiss_when_owners_have_as_many_as_there_are_tables_then_all_play_and_none_meets_its_own(
    world: World,
) -> None:
    cup = world.tournament_of(world.register(12, owners=4), format="swiss", rounds=4, **APART)
    world.finish(cup.id)
    assert world.status().matches_done == 4 * 3
    assert_apart(world)


@pytest.mark.parametrize("format", ["swiss", "continuous"])
def test_entry_when_it_is_one_too_many_of_its_owner_then_it_is_refused(world: World, format: str) -> None:
    cup = world.tournament_of(eight(world), format=format, rounds=2, **APART)
    register(world, "ann/x", "hal/i", "ida/j", "jon/k", "kim/l")
    refused = r"entrants: ann has 3 bots \(ann/a@1, ann/b@1, ann/x@1\), and there are 2 tables of 4 for 9"
    with pytest.raises(SpecError, match=refused):
        entry.enter(world.storage, ROOT, "cup", "ann/x", world.clock(), nobody_asked)
    for late in ("hal/i", "ida/j", "jon/k"):
        entry.enter(world.storage, ROOT, "cup", late, world.clock(), nobody_asked)
    assert (
        entry.enter(world.storage, ROOT, "cup", "ann/x", world.clock(), nobody_asked) == 1
    )  # the twelfth bot, for three tables
    world.finish(cup.id)
    assert_apart(world)


def test_entry_when_others_have_too_many_of_their_owner_then_only_its_own_count(world: World) -> None:
    names = [*eight(world), *register(world, "hal/i", "ann/x", "cy/y")]
    world.tournament_of(names[:8], format="swiss", rounds=3, **APART)
    for name in names[4:8]:
        entry.withdraw(world.storage, ROOT, "cup", name, world.clock())  # ann's two are left for one table
    entry.enter(world.storage, ROOT, "cup", names[8], world.clock(), nobody_asked)
    for name, own in ((names[9], "ann has 3 bots"), (names[10], "cy has 2 bots")):
        with pytest.raises(SpecError, match=f"entrants: {own} .*, and there is 1 table of 4 for 6"):
            entry.enter(world.storage, ROOT, "cup", name, world.clock(), nobody_asked)


def test_entry_when_another_of_its_owner_has_withdrawn_then_it_is_taken(world: World) -> None:
    world.tournament_of(eight(world), format="swiss", rounds=2, **APART)
    entry.withdraw(world.storage, ROOT, "cup", "ann/a", world.clock())
    register(world, "ann/x")
    assert entry.enter(world.storage, ROOT, "cup", "ann/x", world.clock(), nobody_asked) == 1


def test_entry_when_it_is_allowed_then_any_bot_is_taken(world: World) -> None:
    world.tournament_of(eight(world), format="swiss", rounds=2)
    register(world, "ann/x")
    assert entry.enter(world.storage, ROOT, "cup", "ann/x", world.clock(), nobody_asked) == 1


def test_withdrawal_when_an_owner_then_has_too_many_then_its_bots_take_turns(world: World) -> None:
    names = eight(world)
    cup = world.tournament_of(names, format="swiss", rounds=5, **APART)
    world.advance(cup.id)
    for name in names[5:]:
        entry.withdraw(world.storage, ROOT, "cup", name, world.clock())
    world.finish(cup.id)
    assert world.status().matches_done == 2 + 4  # two of ann's and three others: one table
    assert_apart(world)
    later = Counter(name for (round, _), table in tables(world).items() if round > 1 for name in table)
    assert later["ann/a@1"] == later["ann/b@1"] == 2


def test_withdrawal_when_too_few_owners_are_left_then_the_tournament_ends(world: World) -> None:
    names = eight(world)
    cup = world.tournament_of(names, format="swiss", rounds=5, **APART)
    world.advance(cup.id)
    for name in names[4:]:
        entry.withdraw(world.storage, ROOT, "cup", name, world.clock())
    world.finish(cup.id)  # four bots of three owners are left
    assert (world.status().state, world.status().rounds) == ("finished", 1)
    assert_apart(world)


def test_withdrawal_when_too_few_owners_are_left_and_it_is_allowed_then_it_goes_on(world: World) -> None:
    names = eight(world)
    cup = world.tournament_of(names, format="swiss", rounds=5)
    world.advance(cup.id)
    for name in names[4:]:
        entry.withdraw(world.storage, ROOT, "cup", name, world.clock())
    world.finish(cup.id)
    assert (world.status().state, world.status().rounds) == ("finished", 5)


def test_batches_when_owners_have_several_then_none_meets_its_own_and_everyone_plays(world: World) -> None:
    fields = {"format": "continuous", "rounds": 12, "options": {"gather": 4}}
    cup = world.tournament_of(world.register(10, owners=5), **fields, **APART)
    world.finish(cup.id)
    assert (world.status().state, world.status().round) == ("finished", 12)
    assert_apart(world)
    times = Counter(name for table in tables(world).values() for name in table)
    assert max(times.values()) - min(times[name] for name in times) <= 2
    assert len(times) == 10


def batch(world: World, storage: Storage, tournament_id: int) -> bool:
    return pair_batch(storage, tournament_id, world.clock(), everyone)


def test_batch_when_too_few_owners_are_free_then_no_round_opens_until_another_comes(world: World) -> None:
    names = eight(world)
    cup = world.tournament_of(names, format="continuous", options={"gather": 4}, **APART)
    for name in names[4:]:
        entry.withdraw(world.storage, ROOT, "cup", name, world.clock())
    world.finish(cup.id)  # four bots of three owners are free
    assert not batch(world, world.storage, cup.id)
    assert (world.status().round, tables(world)) == (0, {})
    register(world, "hal/i")
    entry.enter(world.storage, ROOT, "cup", "hal/i", world.clock(), nobody_asked)
    assert batch(world, world.storage, cup.id)
    [table] = tables(world).values()
    assert {"bob/c@1", "cy/d@1", "hal/i@1"} < set(table)
    assert_apart(world)


def test_batches_when_an_owner_has_too_many_for_the_tables_then_its_bots_take_turns(world: World) -> None:
    names = register(world, "ann/a", "ann/b", "ann/c", *(f"bob-{number}/b" for number in range(9)))
    fields = {"format": "continuous", "rounds": 10, "options": {"gather": 4}}
    cup = world.tournament_of(names, **fields, **APART)
    for name in names[6:]:
        entry.withdraw(world.storage, ROOT, "cup", name, world.clock())
    world.finish(cup.id)  # three of ann's and three others: one table at a time, with one of ann's
    times = Counter(name for table in tables(world).values() for name in table)
    assert [times[name] for name in names[3:6]] == [10, 10, 10]
    assert sorted(times[name] for name in names[:3]) == [3, 3, 4]


@pytest.fixture
def cup(world: World) -> list[str]:
    """Export a finished Swiss in which ann's two bots sat at different tables."""
    world.finish(world.tournament_of(eight(world), format="swiss", rounds=1, **APART).id, play_by_table)
    return lines_of(world)


def edited_head(lines: list[str], **fields: object) -> list[str]:
    """Change fields of the first line, and recompute all digests."""
    return with_new_digests([json.dumps(json.loads(lines[0]) | fields), *lines[1:]])


def seated_together(lines: list[str], **fields: object) -> list[str]:
    """Change the head so that the first two bots of the second table have one owner."""
    [round] = [one for one in map(json.loads, lines) if one.get("part") == "round"]
    first, second = round["tables"][1][:2]
    text = "\n".join(lines)
    names = {one["number"]: one["bot"] for one in json.loads(lines[0])["entrants"]}
    text = text.replace(f'"{names[second]}"', f'"{names[first].partition("/")[0]}/other@1"')
    changed = text.split("\n")
    parts = [json.loads(line) for line in changed[:2]]
    for part in parts:
        part["entrants"][second - 1]["owner"] = names[first].partition("/")[0]
    return edited_head([*map(json.dumps, parts), *changed[2:]], **fields)


def test_export_when_owners_are_apart_then_it_says_so_and_is_right(cup: list[str]) -> None:
    assert json.loads(cup[0])["allow_same_owner"] is False
    assert check(cup).problem is None


def test_export_when_an_owner_sits_twice_at_a_table_then_its_tables_are_not_those_of_the_pairing(
    cup: list[str],
) -> None:
    assert ": round 1: tables" in problem(seated_together(cup))


def test_export_when_the_field_is_no_yes_or_no_then_it_is_refused(cup: list[str]) -> None:
    assert problem(edited_head(cup, allow_same_owner="no")).startswith("line 1: allow_same_owner: ")
