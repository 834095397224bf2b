"""Seasons of a league over simulated weeks: who goes where, and that each starts once, on its own."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlmodel import col, func, select

from arena.bots import versions
from arena.bots.checks import store_check
from arena.errors import StateError
from arena.host.settings import Settings
from arena.leagues import applying, membership, overview
from arena.leagues.seasons import advance_leagues, start_season
from arena.play.broker import RUN_MATCH
from arena.play.rounds import planning
from arena.play.rounds.batches import everyone
from arena.play.tasks import Tasks
from arena.store.models import Season, Tournament, TournamentState
from arena.tournaments import creation, lifecycle
from tests.arena.fakes import ROOT, play_at_once
from tests.arena.leagues import START, WEEK, LeagueWorld, members, winter
from tests.arena.world import World

FOUNDERS = [f"owner-{number}/bot-{number}" for number in range(8)]
"""The league's first bots, from the strongest to the weakest."""


def names(*numbers: int) -> list[str]:
    return [f"owner-{number}/bot-{number}" for number in numbers]


@pytest.fixture
def league(world: World) -> LeagueWorld:
    """Make the winter league with eight bots, a day before its first season."""
    league = LeagueWorld(world, winter())
    league.join(*FOUNDERS)
    return league


def test_league_when_nine_weeks_pass_then_bots_rise_fall_leave_come_and_sit_out(world: World) -> None:
    league = LeagueWorld(world, winter())
    league.strengths = dict(zip(["ann/a", *FOUNDERS, "zoe/z"], range(10, 0, -1), strict=True))
    league.join(*reversed(FOUNDERS))

    first = league.week(1)
    assert (first.season, first.due_at, first.started_at, first.finished_at) == (1, START, START, START)
    assert members(first) == [names(4, 5, 6, 7), names(0, 1, 2, 3), []]

    # Week by week, the last of the upper division goes down and the first of the lower one goes up.
    assert members(league.week(2)) == [names(0, 4, 5, 6), names(1, 2, 3, 7), []]
    assert members(league.week(3)) == [names(0, 1, 4, 5), names(2, 3, 6, 7), []]

    # A bot leaves: nobody goes down for the one that goes up. Two others join and wait for a place below.
    membership.leave(world.storage, ROOT, "winter", "owner-1/bot-1", world.clock())
    league.join("zoe/z", "ann/a")
    fourth = league.week(4)
    assert members(fourth) == [names(0, 2, 4, 5), [*names(3, 6, 7), "zoe/z"], ["ann/a"]]
    assert [one.came for one in fourth.divisions[0].lines] == ["stayed", "promoted", "stayed", "stayed"]
    assert (fourth.divisions[2].tournament, fourth.divisions[2].lines[0].came) == (None, "new")

    # Three more join: now the qualification is a tournament, and its best replaces the last above it.
    league.join("kim/k", "lee/l", "mo/m")
    assert members(league.week(5)) == [
        names(0, 2, 3, 4),
        ["ann/a", *names(5, 6, 7)],
        ["zoe/z", "kim/k", "lee/l", "mo/m"],
    ]
    sixth = league.week(6)
    assert sixth.divisions[2].tournament == "winter-6-qualification"
    assert members(sixth) == [
        ["ann/a", *names(0, 2, 3)],
        [*names(4, 5, 6), "zoe/z"],
        [*names(7), "kim/k", "lee/l", "mo/m"],
    ]

    # A token is revoked: its bot sits out, and begins anew once it has a version that can play.
    versions.revoke_version(world.storage, ROOT, "ann/a@1", world.clock())
    [revoked] = league.show().outside
    assert (revoked.bot, revoked.problem) == ("ann/a", "its token is revoked")
    seventh = league.week(7)
    assert members(seventh)[0] == names(0, 2, 3, 4)
    assert all("ann/a" not in division for division in members(seventh))
    league.register("ann/a")

    # The beat is away for two and a half weeks: one season starts late, and none is made up for.
    world.clock.now = START + 9.5 * WEEK
    league.beat()
    league.beat()
    late = league.season()
    assert (late.season, late.due_at, late.started_at) == (8, START + 7 * WEEK, START + 9.5 * WEEK)
    assert "ann/a" in members(late)[2]
    assert league.show().next_at == START + 10 * WEEK
    ninth = league.week(11)
    assert (ninth.season, ninth.started_at) == (9, START + 10 * WEEK)
    assert "ann/a" in members(ninth)[1]
    assert [season.season for season in overview.history(world.storage, "winter", world.clock())] == list(
        range(9, 0, -1)
    )


def test_member_when_its_token_has_expired_then_it_sits_out_until_it_has_another(league: LeagueWorld) -> None:
    world = league.world
    versions.rotate_version(world.storage, ROOT, FOUNDERS[0], world.clock(), expires_in=2)
    world.clock.now = START + timedelta(days=2)
    [sits_out] = [one for one in league.show().outside if one.problem]
    assert (sits_out.bot, sits_out.problem) == (FOUNDERS[0], "its token has expired")
    league.beat()
    assert FOUNDERS[0] not in [name for division in members(league.season()) for name in division]
    versions.rotate_version(world.storage, ROOT, FOUNDERS[0], world.clock())
    assert [one.problem for one in league.show().outside] == [None]


def test_join_when_the_token_has_expired_then_it_is_refused(league: LeagueWorld) -> None:
    world = league.world
    versions.register_version(world.storage, ROOT, "ann/a", world.clock(), expires_in=1)
    world.clock.now += timedelta(days=2)
    with pytest.raises(StateError, match=r"^ann/a: its token has expired$"):
        membership.join(world.storage, ROOT, "winter", "ann/a", world.clock())


def test_season_when_it_is_not_due_then_nothing_starts(league: LeagueWorld) -> None:
    league.beat()
    assert league.show().seasons == []
    assert league.show().next_at == START
    assert [one.bot for one in league.show().outside] == FOUNDERS


def test_season_when_the_one_before_is_still_played_then_it_waits_and_says_why(league: LeagueWorld) -> None:
    league.world.clock.now = START
    league.tick()
    lifecycle.pause(league.world.storage, ROOT, "winter-1-second", league.world.clock())
    league.world.clock.now = START + WEEK
    league.tick()
    league.tick()
    problem = "season 2 is due, and season 1 is still played: winter-1-first, winter-1-second (paused)"
    assert league.show().problem == problem
    lifecycle.resume(league.world.storage, ROOT, "winter-1-second", league.world.clock())
    league.world.clock.move(3600)
    league.beat()
    second = league.season()
    assert (second.season, second.started_at) == (2, START + WEEK + timedelta(hours=1))
    assert (league.show().problem, league.show().next_at) == (None, START + 2 * WEEK)


def test_season_when_there_are_too_few_bots_then_it_starts_as_soon_as_there_are_enough(world: World) -> None:
    league = LeagueWorld(world, winter())
    league.join(*FOUNDERS[:3])
    world.clock.now = START
    league.beat()
    assert league.show().seasons == []
    assert league.show().problem == "season 1: needs at least 4 bots, has 3"
    league.join(FOUNDERS[3])
    league.beat()
    assert members(league.season()) == [FOUNDERS[:4], [], []]
    assert league.show().problem is None


def test_season_when_a_name_is_taken_then_nothing_of_it_is_made(league: LeagueWorld) -> None:
    world = league.world
    creation.create(world.storage, ROOT, world.spec(FOUNDERS, name="winter-1-second"), world.clock())
    world.clock.now = START
    league.tick()
    assert league.show().problem == "tournament winter-1-second already exists"
    assert (league.show().seasons, league.show().season) == ([], 0)
    assert [one.tournament for one in world.statuses()] == ["winter-1-second"]


def test_season_when_several_beats_come_at_once_then_it_starts_once(league: LeagueWorld) -> None:
    world = league.world
    world.clock.now = START
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: advance_leagues(world.storage, world.clock()), range(8)))
    with world.storage.read() as tx:
        assert tx.exec(select(func.count()).select_from(Season)).one() == 1
        names = sorted(tx.exec(select(Tournament.name)))
        assert names == ["winter-1-first", "winter-1-second"]
        assert set(tx.exec(select(Tournament.state))) == {TournamentState.RUNNING}
        assert len(set(tx.exec(select(Tournament.seed)))) == 2


def test_season_when_its_start_dies_in_the_middle_then_the_next_beat_starts_it(league: LeagueWorld) -> None:
    world = league.world
    world.clock.now = START
    seeds = iter([bytes(32)])
    with pytest.raises(StopIteration):  # at the second tournament
        start_season(world.storage, 1, START, lambda: next(seeds))
    assert (league.show().seasons, world.statuses()) == ([], [])
    league.tick()
    assert league.season().season == 1


def test_season_when_a_tournament_is_cancelled_then_the_places_are_those_of_its_standings(
    league: LeagueWorld,
) -> None:
    league.world.clock.now = START
    league.tick()
    planning.cancel(league.world.storage, ROOT, "winter-1-first", START)
    league.beat()
    assert league.season().finished_at == START
    assert members(league.week(2)) == [names(0, 1, 2, 4), names(3, 5, 6, 7), []]


def test_season_when_the_last_has_started_then_no_other_is_due(world: World) -> None:
    league = LeagueWorld(world, winter(seasons=2))
    league.join(*FOUNDERS)
    league.week(1)
    second = league.week(2)
    assert league.show().next_at is None
    assert {line.goes for division in second.divisions for line in division.lines} == {""}
    assert league.week(3).season == 2


def test_place_when_a_newer_version_is_registered_then_it_plays_from_the_next_season_on(
    world: World,
) -> None:
    league = LeagueWorld(world, winter(qualification=None, divisions=[{"name": "only"}]))
    league.join(*FOUNDERS[:3])
    league.register(FOUNDERS[3])
    membership.join(world.storage, ROOT, "winter", FOUNDERS[3] + "@1", world.clock())
    first = league.week(1)
    for bot in FOUNDERS[:4]:
        league.register(bot)
    second = league.week(2)
    versions = [[line.bot for line in season.divisions[0].lines] for season in (first, second)]
    assert versions == [
        [f"{bot}@1" for bot in FOUNDERS[:4]],
        [f"{bot}@2" for bot in FOUNDERS[:3]] + [f"{FOUNDERS[3]}@1"],
    ]
    assert {line.came for line in second.divisions[0].lines} == {"stayed"}


def test_place_when_the_check_is_required_then_only_those_who_passed_get_one(world: World) -> None:
    fields = {"format": "round-robin", "ruleset": "chinese", "rounds": 1, "require_check": True}
    league = LeagueWorld(world, winter(tournament=fields, qualification=None, divisions=[{"name": "only"}]))
    league.join(*FOUNDERS[:5])
    for bot in FOUNDERS[1:5]:
        store_check(world.storage, ROOT, f"{bot}@1", {}, True, world.clock())
    assert members(league.week(1)) == [FOUNDERS[1:5]]
    [outside] = league.show().outside
    assert outside.problem == "owner-0/bot-0@1 has not passed the check"


def test_place_when_an_owner_has_too_many_after_a_change_then_those_who_joined_first_play(
    world: World,
) -> None:
    league = LeagueWorld(world, winter())
    league.join("ann/a", "ann/b", *FOUNDERS[:3])
    applying.apply(world.storage, ROOT, winter(versions_per_owner=1), world.clock())
    assert members(league.week(1))[0] == ["ann/a", *FOUNDERS[:3]]
    assert [one.bot for one in league.show().outside] == ["ann/b"]


SWISS = {"format": "swiss", "ruleset": "chinese", "rounds": 1, "sessions": 1, "deals": 1}


def test_place_when_an_owner_has_one_at_each_table_already_then_its_next_does_not_come_up(
    world: World,
) -> None:
    league = LeagueWorld(world, winter(tournament=SWISS, allow_same_owner=False))
    league.join(*FOUNDERS[:2], "owner-0/other", *FOUNDERS[2:])
    first = league.week(1)
    assert [sorted(division) for division in members(first)] == [
        FOUNDERS[:4],
        ["owner-0/other", *FOUNDERS[4:7]],
        FOUNDERS[7:],
    ]
    league.strengths |= {"owner-0/other": 9}  # it wins its division, and its owner's other bot stays above
    world.clock.now = START + WEEK
    league.beat()
    second = league.week(3)
    assert members(second)[0][0] == FOUNDERS[0]
    assert "owner-0/other" in members(second)[1]
    with world.storage.read() as tx:
        assert set(tx.exec(select(Tournament.allow_same_owner))) == {False}


def test_place_when_the_lowest_division_has_its_owner_at_each_table_then_it_sits_out_and_that_is_said(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    only = winter(tournament=SWISS, qualification=None, divisions=[{"name": "only"}], allow_same_owner=False)
    league = LeagueWorld(world, only)
    league.join(*FOUNDERS[:3], "owner-0/other", *FOUNDERS[3:5])
    reason = "its owner has one before it for each table of only, where none may be twice at a table"
    told = [(one.bot, one.problem) for one in league.show().outside if one.problem]
    assert told == [("owner-0/other", reason)]
    with caplog.at_level("INFO", "arena.leagues"):
        first = league.week(1)
    assert f"winter: season 1: owner-0/other@1 sits out: {reason}" in caplog.messages
    assert sorted(members(first)[0]) == FOUNDERS[:5]
    assert [(one.bot, one.problem) for one in league.show().outside] == [("owner-0/other", reason)]
    league.join(*FOUNDERS[5:])
    assert "owner-0/other" in members(league.week(2))[0]  # there are two tables now


def test_season_when_bots_are_enough_and_owners_are_not_then_it_waits_and_says_so(world: World) -> None:
    league = LeagueWorld(world, winter(tournament=SWISS, allow_same_owner=False))
    league.join(*FOUNDERS[:3], "owner-0/other", "owner-1/other")
    world.clock.now = START
    league.beat()
    problem = "season 1: needs at least 4 bots of different owners, has 3"
    assert (league.show().seasons, league.show().problem) == ([], problem)
    league.join(FOUNDERS[3])
    league.beat()
    assert sorted(members(league.season())[0]) == FOUNDERS[:4]
    assert members(league.season())[1] == ["owner-0/other", "owner-1/other"]  # too few for a table


def test_season_when_owners_have_as_many_as_tables_then_all_have_places(world: World) -> None:
    fields = winter(
        tournament=SWISS, qualification=None, divisions=[{"name": "only"}], allow_same_owner=False
    )
    league = LeagueWorld(world, fields)
    league.join(*FOUNDERS[:4], *(f"owner-{number}/other" for number in range(4)))
    assert len(members(league.week(1))[0]) == 8
    assert league.show().outside == ()


def test_place_when_its_owner_may_meet_itself_then_nobody_sits_out(world: World) -> None:
    league = LeagueWorld(world, winter(tournament=SWISS))
    league.join("ann/a", "ann/b", *FOUNDERS[:2])
    assert sorted(members(league.week(1))[0]) == ["ann/a", "ann/b", *FOUNDERS[:2]]
    with world.storage.read() as tx:
        assert set(tx.exec(select(Tournament.allow_same_owner))) == {True}


def test_place_when_a_bot_leaves_and_joins_again_then_it_begins_anew(league: LeagueWorld) -> None:
    league.week(1)
    membership.leave(league.world.storage, ROOT, "winter", FOUNDERS[0], league.world.clock())
    league.world.clock.move(1)
    membership.join(league.world.storage, ROOT, "winter", FOUNDERS[0], league.world.clock())
    second = league.week(2)
    assert members(second) == [names(1, 2, 3, 4), [*names(0), *names(5, 6, 7)], []]
    [again] = [line for line in second.divisions[1].lines if line.member == FOUNDERS[0]]
    assert again.came == "new"


def test_division_when_renamed_or_added_then_nobody_loses_a_place(league: LeagueWorld) -> None:
    league.week(1)
    divisions = [
        {"name": "premier", "size": 4},
        {"name": "second", "size": 4, "promoted": 1},
    ]
    applying.apply(league.world.storage, ROOT, winter(divisions=divisions), league.world.clock())
    second = league.week(2)
    assert [division.division for division in second.divisions] == ["premier", "second", "qualification"]
    assert members(second)[:2] == [FOUNDERS[:4], FOUNDERS[4:]]


def test_show_when_a_season_runs_then_the_table_is_that_of_now(league: LeagueWorld) -> None:
    league.world.clock.now = START
    league.tick()
    running = league.season()
    assert running.finished_at is None
    assert [one.score for one in running.divisions[0].lines] == [0.0] * 4
    assert members(running) == [FOUNDERS[:4], FOUNDERS[4:], []]
    league.beat()
    done = league.season()
    assert [one.score for one in done.divisions[0].lines] == [3, 2, 1, 0]
    assert [one.goes for one in done.divisions[0].lines] == ["stayed"] * 3 + ["relegated"]
    assert [one.goes for one in done.divisions[1].lines] == ["promoted"] + ["stayed"] * 3


def test_beat_when_a_season_is_due_then_its_task_starts_it_and_hands_out_its_matches(
    league: LeagueWorld, settings: Settings
) -> None:
    sent: list[tuple[str, int]] = []
    storage = league.world.storage
    tasks = Tasks(settings, storage, play_at_once, lambda *message: sent.append(message), everyone)
    tasks.advance_all()
    assert league.season().due_at == START
    tasks.advance_all()
    assert [task for task, _ in sent] == [RUN_MATCH, RUN_MATCH]
    for _, match_id in sent:
        tasks.run_match(match_id)
    tasks.advance_all()
    assert league.season().finished_at is not None


def test_tournaments_when_of_a_season_then_they_are_ordinary_ones(league: LeagueWorld) -> None:
    league.week(1)
    with league.world.storage.read() as tx:
        found = tx.exec(select(Tournament).order_by(col(Tournament.id))).all()
    assert [(one.name, one.state, one.sessions, one.deals) for one in found] == [
        ("winter-1-first", "finished", 1, 1),
        ("winter-1-second", "finished", 1, 1),
    ]


def test_season_when_a_clock_was_ahead_for_a_beat_then_the_next_one_is_due_by_the_schedule(
    league: LeagueWorld,
) -> None:
    league.world.clock.now = START + 60 * WEEK
    league.beat()
    assert league.season().season == 1
    league.world.clock.now = START + timedelta(days=1)
    league.tick()
    assert league.show().next_at == START + WEEK
    assert league.week(2).season == 2
