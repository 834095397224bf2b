"""Entering a tournament again after withdrawing from it."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text
from sqlmodel import select

from arena.bots import versions
from arena.errors import SpecError, StateError, TakenError
from arena.queries import scoreboard
from arena.store.models import Entrant
from arena.tournaments import creation, entry, lifecycle
from arena.tournaments.referees import nobody_asked
from tests.arena.exported import check, lines_of, play_by_table, problem, with_new_digests
from tests.arena.fakes import ROOT
from tests.arena.test_late_entry import Interrupted, seated
from tests.arena.world import World

SHORT: dict[str, Any] = {"sessions": 1, "deals": 1}


def enter(world: World, bot: str) -> int | entry.Waiting:
    return entry.enter(world.storage, ROOT, "cup", bot, world.clock(), nobody_asked)


def withdraw(world: World, bot: str) -> int:
    return entry.withdraw(world.storage, ROOT, "cup", bot, world.clock())


def play_round(world: World, cup: int) -> None:
    """Pair the next round, or batch, and play its matches."""
    world.advance(cup)
    due, world.messages[:] = list(world.messages), []
    for match_id in due:
        world.play(match_id, play_by_table)


def play_with_a_gap(world: World, **fields: object) -> str:
    """Play a tournament that a bot leaves after round 1 and enters again for round 3; return the bot."""
    names = world.register(9)
    cup = world.tournament_of(names, **SHORT, **fields).id
    play_round(world, cup)
    assert withdraw(world, names[0]) == 1
    play_round(world, cup)
    assert enter(world, names[0]) == 3
    play_round(world, cup)
    world.finish(cup, play_by_table)
    return names[0]


def test_bot_when_it_enters_a_swiss_again_then_it_keeps_what_it_made_and_has_nothing_for_what_it_missed(
    world: World,
) -> None:
    back = play_with_a_gap(world, format="swiss", rounds=4)
    assert world.status().state == "finished"
    assert back not in seated(world, 2)
    [line] = [one for one in scoreboard.standings(world.storage, "cup") if one.bot == back]
    played = [back in seated(world, number) for number in (1, 3, 4)]
    assert sum(played) >= 2
    assert line.deals == sum(played)
    assert line.matches == sum(played)


@pytest.mark.parametrize(("format", "rounds"), [("swiss", 4), ("continuous", 6)])
def test_export_when_a_bot_came_back_then_it_is_right_and_says_what_it_missed(
    world: World, format: str, rounds: int
) -> None:
    play_with_a_gap(world, format=format, rounds=rounds)
    lines = lines_of(world)
    assert check(lines).problem is None
    entrant = json.loads(lines[1])["entrants"][0]
    assert (entrant["entered_at_round"], entrant["withdrawn_after"], entrant["absences"]) == (
        1,
        None,
        [[2, 2]],
    )
    events = [one for one in map(json.loads, lines) if one.get("part") == "event"]
    assert [one["event"] for one in events] == ["started", "withdrew", "entered", "finished"]
    assert events[2]["details"] == {"entrant": 1, "bot": entrant["bot"], "first_round": 3}


def test_bot_when_it_comes_and_goes_then_each_absence_stands_and_none_where_no_round_was_missed(
    world: World,
) -> None:
    names = world.register(9)
    cup = world.tournament_of(names, **SHORT, format="swiss", rounds=7).id
    play_round(world, cup)
    for missed in (0, 1, 2):
        withdraw(world, names[0])
        for _ in range(missed):
            play_round(world, cup)
        enter(world, names[0])
        play_round(world, cup)
    world.finish(cup, play_by_table)
    lines = lines_of(world)
    assert check(lines).problem is None
    assert json.loads(lines[1])["entrants"][0]["absences"] == [[3, 3], [5, 6]]


def test_entry_when_the_bot_has_not_withdrawn_then_that_is_said(world: World) -> None:
    names = world.register(8)
    world.tournament_of(names, format="swiss", rounds=3)
    withdraw(world, names[0])
    enter(world, names[0])
    with pytest.raises(TakenError, match=f"^{names[0]} is in tournament cup already$"):
        enter(world, names[0].partition("@")[0])


def test_entry_before_the_lock_when_the_bot_had_withdrawn_then_the_head_has_it(world: World) -> None:
    names = world.register(8)
    creation.create(world.storage, ROOT, world.spec(names, format="swiss", rounds=2, **SHORT), world.clock())
    withdraw(world, names[0])
    withdraw(world, names[1])
    assert enter(world, names[0]) == 1
    lifecycle.lock(world.storage, ROOT, "cup", world.clock())
    with pytest.raises(StateError, match="locked: bots can enter again once it has started"):
        enter(world, names[1])
    started = lifecycle.start(world.storage, ROOT, "cup", world.clock(), nobody_asked)
    play_round(world, started.id)
    assert enter(world, names[1]) == 2
    world.finish(started.id, play_by_table)
    lines = lines_of(world)
    head, tournament = json.loads(lines[0]), json.loads(lines[1])
    assert [one["withdrawn"] for one in head["entrants"]] == [False, True] + [False] * 6
    assert [one["absences"] for one in tournament["entrants"][:2]] == [[], [[1, 1]]]
    assert check(lines).problem is None


def test_entry_when_the_owner_has_filled_its_tables_meanwhile_then_it_is_refused(world: World) -> None:
    named = ["ann/a", "ann/b", "bob/c", "cy/d", "dee/e", "eve/f", "fay/g", "gus/h", "ann/x"]
    names = [versions.register_version(world.storage, ROOT, one, world.clock()).bot for one in named]
    world.tournament_of(names[:8], format="swiss", rounds=3, allow_same_owner=False)
    withdraw(world, "ann/a")
    enter(world, "ann/x")
    with pytest.raises(SpecError, match="entrants: ann has 3 bots"):
        enter(world, "ann/a")
    withdraw(world, "ann/x")
    assert enter(world, "ann/a") == 1


def test_entry_when_the_token_has_expired_then_it_is_refused_until_there_is_another(world: World) -> None:
    names = world.register(8)
    name = versions.register_version(world.storage, ROOT, "ann/a", world.clock(), expires_in=1).bot
    world.tournament_of([*names, name], format="swiss", rounds=3)
    withdraw(world, name)
    world.clock.now += timedelta(days=2)
    with pytest.raises(SpecError, match="entrants: the token of ann/a@1 has expired"):
        enter(world, name)
    versions.rotate_version(world.storage, ROOT, "ann/a", world.clock())
    assert enter(world, "ann/a") == 1


def test_bot_when_it_comes_back_while_a_round_is_paired_then_that_round_has_it(world: World) -> None:
    names = world.register(8)
    cup = world.tournament_of(names, **SHORT, format="swiss", rounds=2)
    withdraw(world, names[0])
    told: list[int | entry.Waiting] = []
    late = Interrupted(world.storage, lambda: told.append(enter(world, names[0])))
    world.advance(cup.id, storage=late)
    world.finish(cup.id, play_by_table)
    assert told == [1]
    assert seated(world, 1) == set(names)
    assert check(lines_of(world)).problem is None


def test_entry_when_it_fails_on_the_way_then_the_bot_has_still_withdrawn(world: World) -> None:
    names = world.register(8)
    cup = world.tournament_of(names, **SHORT, format="swiss", rounds=3)
    withdraw(world, names[0])
    play_round(world, cup.id)
    with world.storage.write() as tx:
        tx.connection().execute(
            text("CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'full'); END")
        )
    with pytest.raises(Exception, match="full"):
        enter(world, names[0])
    with world.storage.write() as tx:
        entrant = tx.exec(select(Entrant).where(Entrant.number == 1)).one()
        assert (entrant.withdrawn_after, entrant.absences) == (0, [])
        tx.connection().execute(text("DROP TRIGGER full"))
    assert enter(world, names[0]) == 2
    world.finish(cup.id, play_by_table)
    assert check(lines_of(world)).problem is None


def set_entrant(name: str, value: object) -> Callable[[list[Any]], None]:
    def change(parts: list[Any]) -> None:
        parts[1]["entrants"][0][name] = value

    return change


def set_event(kind: str, name: str, value: object) -> Callable[[list[Any]], None]:
    def change(parts: list[Any]) -> None:
        next(one for one in parts if one.get("event") == kind)["details"][name] = value

    return change


def seat_the_absent(parts: list[Any]) -> None:
    second = [one for one in parts if one.get("part") == "round"][1]
    second["tables"][0][0] = 1


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (set_entrant("absences", []), "entrants.0.absences: does not match the events"),
        (set_entrant("absences", [[2, 3]]), "entrants.0.absences: does not match the events"),
        (set_entrant("withdrawn_after", 1), "entrants.0.withdrawn_after: does not match the events"),
        (set_event("entered", "bot", "zoe/z@1"), "details.entrant: 1 is owner-0/bot-0@1, which cannot enter"),
        (set_event("entered", "entrant", 2), "details.entrant: 2 is owner-1/bot-1@1, which cannot enter"),
        (set_event("entered", "entrant", 0), "details.entrant: must be a whole number from 1 on, not 0"),
        (set_event("entered", "entrant", 11), "details.entrant: entrant 11 does not exist yet"),
        (set_event("entered", "first_round", 1), "details.first_round: is 1, and it withdrew after round 1"),
        (set_event("withdrew", "entrant", 2), "details.entrant: 1 is owner-0/bot-0@1, which cannot enter"),
        (seat_the_absent, "entrant 1 does not play in this round"),
    ],
)
def test_return_when_it_is_told_otherwise_then_that_is_found_though_digests_are_made_anew(
    world: World, change: Callable[[list[Any]], None], found: str
) -> None:
    play_with_a_gap(world, format="swiss", rounds=4)
    parts = [json.loads(line) for line in lines_of(world)]
    change(parts)
    assert found in problem(with_new_digests([json.dumps(one) for one in parts]))
