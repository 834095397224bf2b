"""Creating tournaments, and what is refused."""

from datetime import timedelta
from functools import partial

import pytest

from arena.bots import versions
from arena.errors import SpecError, StateError, TakenError, UnknownError
from arena.play.rounds import planning
from arena.play.rounds import preview as previews
from arena.queries.scoreboard import standings
from arena.store.models import Tournament
from arena.tournaments import creation, entry, lifecycle, overview
from arena.tournaments.events import events_of
from arena.tournaments.referees import nobody_asked
from arena.tournaments.roster import roster
from arena.tournaments.warnings import list_warnings
from referee.deals.shuffle import seed_hash
from tests.arena.exported import check, lines_of, play_by_table
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
    ended = planning.cancel(world.storage, ROOT, "one", world.clock())
    assert ended.seed is not None
    assert seed_hash(bytes.fromhex(ended.seed)) == ended.seed_hash


def test_create_when_the_ruleset_is_the_same_then_it_is_stored_once(world: World) -> None:
    names = world.register(4)
    for name in ("one", "two"):
        creation.create(world.storage, ROOT, world.spec(names, name=name), world.clock())
    assert {status.ruleset for status in world.statuses()} == {"chinese@1"}
    assert [status.tournament for status in world.statuses()] == [
        "two",
        "one",
    ]


FORMATS: dict[str, dict[str, object]] = {
    "round-robin": {},
    "at-least-once": {"format": "round-robin", "options": {"meetings": "at-least-once"}},
    "swiss": {"rounds": 2},
    "gauntlet": {"options": {"challengers": 2}},
    "knockout": {},
    "continuous": {"rounds": 2},
}


@pytest.mark.parametrize("format", FORMATS)
def test_tournament_when_it_is_announced_then_it_is_filled_and_played(world: World, format: str) -> None:
    """Without allow_same_owner, and with options that suit only the field that it will have."""
    names = world.register(9, owners=9)
    fields = {"format": format} | FORMATS[format] | {"allow_same_owner": False}
    spec, now = world.spec([], **fields), world.clock()
    preview = previews.preview(world.storage, ROOT, spec, now)
    assert (preview.entrants, preview.matches, preview.tables) == (0, 0, [])
    made = creation.create(world.storage, ROOT, spec, now)
    assert (made.entrants, made.sessions_total) == (0, 0)
    start = partial(lifecycle.start, ask=nobody_asked)
    for count, missing in ((0, 4), (2, 2), (3, 1)):
        while world.status().entrants < count:
            name = names[world.status().entrants]
            assert entry.enter(world.storage, ROOT, "cup", name, now, nobody_asked) == 1
        told = f"entrants: a table needs at least 4, has {count}; add {missing} before the start"
        assert list_warnings(world.storage, "cup") == [told]
        for step in (lifecycle.lock, start):
            with pytest.raises(SpecError) as refused:
                step(world.storage, ROOT, "cup", now)
            assert str(refused.value) == told
        assert (world.status().state, world.status().commitment) == ("created", None)
    for name in names[3:]:
        entry.enter(world.storage, ROOT, "cup", name, now, nobody_asked)
    entry.withdraw(world.storage, ROOT, "cup", names[0], now)
    assert list_warnings(world.storage, "cup") == []
    lifecycle.lock(world.storage, ROOT, "cup", now)
    world.finish(start(world.storage, ROOT, "cup", now).id, play_by_table)
    assert world.status().state == "finished"
    played = {line.bot for line in standings(world.storage, "cup") if line.matches}
    assert names[0] not in played
    assert len(played) >= 5
    assert check(lines_of(world)).problem is None


def test_lock_when_options_suit_more_entrants_than_there_are_then_that_is_refused(world: World) -> None:
    """The same is a warning as long as others can still enter."""
    spec = world.spec(world.register(5), format="gauntlet", options={"challengers": 6})
    preview = previews.preview(world.storage, ROOT, spec, world.clock())
    creation.create(world.storage, ROOT, spec, world.clock())
    told = "options.challengers: must be a whole number from 1 to 2, not 6"
    assert preview.warnings == list_warnings(world.storage, "cup") == [told]
    with pytest.raises(SpecError, match=told):
        lifecycle.start(world.storage, ROOT, "cup", world.clock(), nobody_asked)


def test_entry_when_a_whole_round_robin_would_have_too_many_then_it_is_refused(world: World) -> None:
    names = world.register(201)
    options = {"meetings": "at-least-once"}
    creation.create(world.storage, ROOT, world.spec(names[:200], options=options), world.clock())
    with pytest.raises(SpecError, match="at-least-once is for 200 entrants at most, not 201"):
        entry.enter(world.storage, ROOT, "cup", names[200], world.clock(), nobody_asked)


def test_withdrawal_when_a_round_robin_is_not_locked_then_the_others_move_up(world: World) -> None:
    names = world.register(6)
    creation.create(world.storage, ROOT, world.spec(names[:5]), world.clock())
    entry.enter(world.storage, ROOT, "cup", names[5], world.clock(), nobody_asked)
    assert entry.withdraw(world.storage, ROOT, "cup", names[1], world.clock()) == 0
    entry.enter(world.storage, ROOT, "cup", names[1], world.clock(), nobody_asked)
    entered = roster(world.storage, "cup", world.clock(), nobody_asked)
    assert [(line.number, line.bot) for line in entered] == [
        *enumerate([names[0], *names[2:], names[1]], start=1)
    ]


def test_start_when_bots_withdrew_after_the_lock_and_too_few_are_left_then_it_is_refused(
    world: World,
) -> None:
    names = world.register(4)
    creation.create(world.storage, ROOT, world.spec(names, format="swiss", rounds=1), world.clock())
    lifecycle.lock(world.storage, ROOT, "cup", world.clock())
    entry.withdraw(world.storage, ROOT, "cup", names[0], world.clock())
    with pytest.raises(SpecError, match="a table needs at least 4, has 3"):
        lifecycle.start(world.storage, ROOT, "cup", world.clock(), nobody_asked)


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
    with pytest.raises(UnknownError, match="no bot 'ann/a'; register it first"):
        creation.create(world.storage, ROOT, world.spec([*world.register(4), "ann/a"]), world.clock())


def test_create_when_the_ruleset_is_unknown_then_it_is_named(world: World) -> None:
    with pytest.raises(SpecError, match=r"^ruleset: no preset is called 'chines'; did you mean 'chinese'\?"):
        creation.create(world.storage, ROOT, world.spec(world.register(4), ruleset="chines"), world.clock())


def test_create_when_the_name_is_taken_then_that_is_said(world: World) -> None:
    spec = world.spec(world.register(4))
    creation.create(world.storage, ROOT, spec, world.clock())
    with pytest.raises(TakenError, match="tournament cup already exists"):
        creation.create(world.storage, ROOT, spec, world.clock())


def test_entrant_when_its_token_has_expired_then_nothing_is_created(world: World) -> None:
    names = world.register(4)
    name = versions.register_version(world.storage, ROOT, "ann/a", world.clock(), expires_in=1).bot
    world.clock.now += timedelta(days=2)
    with pytest.raises(SpecError, match=r"^entrants: the token of ann/a@1 has expired$"):
        creation.create(world.storage, ROOT, world.spec([*names, name]), world.clock())
    assert world.statuses() == []


def test_start_when_it_runs_already_then_that_is_said(world: World) -> None:
    world.tournament(4)
    with pytest.raises(StateError, match="tournament cup is running; it cannot be started"):
        lifecycle.start(world.storage, ROOT, "cup", world.clock(), nobody_asked)


def test_tournament_when_unknown_then_it_is_quoted(world: World) -> None:
    start = partial(lifecycle.start, ask=nobody_asked)
    for command in (start, lifecycle.pause, lifecycle.resume, planning.cancel):
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


def test_tournament_when_its_time_has_come_then_it_starts_by_itself_and_once(world: World) -> None:
    names, due = world.register(4), world.clock() + timedelta(hours=1)
    made = creation.create(world.storage, ROOT, world.spec(names, start_at=due), world.clock())
    few = world.spec(names[:3], name="few", start_at=due)
    creation.create(world.storage, ROOT, few, world.clock())
    lifecycle.start_due(world.storage, world.clock())
    assert (world.status().state, world.status().start_at) == ("created", due)
    world.clock.now = due
    for _ in range(2):
        lifecycle.start_due(world.storage, world.clock())
    assert (world.status().state, world.status().started_at) == ("running", due)
    with world.storage.read() as tx:
        kinds = [event["event"] for event in events_of(tx, tx.get_one(Tournament, made.id))]
    assert kinds.count("started") == 1
    late = world.status("few")
    assert late.state == "created"
    assert late.problem == "entrants: a table needs at least 4, has 3; add 1 before the start"


def test_tournament_when_it_has_a_beacon_then_it_cannot_start_by_itself(world: World) -> None:
    with pytest.raises(SpecError, match=r"^start_at: whoever knows the beacon's value starts it"):
        world.spec([], start_at=world.clock(), beacon="drand round 1")
    with pytest.raises(SpecError, match=r"^start_at: 2026-12-01T18:00:00 has no zone"):
        world.spec([], start_at="2026-12-01T18:00:00")
