"""Standings, crosstables and leaderboards from what is stored."""

from itertools import permutations
from statistics import stdev

import pytest
from sqlmodel import col, select

from arena.errors import UnknownError
from arena.queries import leaderboards, scoreboard
from arena.queries.leaderboards import LeaderboardQuery
from arena.store.models import BotVersion, Entrant, Seat, Session
from arena.store.storage import Transaction
from referee.ruleset import load_ruleset
from tests.arena.world import World


def test_standings_when_the_tournament_is_finished_then_everyone_is_ranked(world: World) -> None:
    world.finish(world.tournament(9, format="swiss", rounds=3).id)
    lines = scoreboard.standings(world.storage, "cup")
    assert [line.rank for line in lines] == sorted(line.rank for line in lines)
    assert len({line.bot for line in lines}) == 9
    # Each round: two tables of four (3 + 2 + 1 + 0) and a bye (the mean, 1.5).
    assert sum(line.score for line in lines) == 3 * (2 * 6 + 1.5)


def test_standings_when_nothing_is_played_then_all_are_equal(world: World) -> None:
    world.tournament(5)
    lines = scoreboard.standings(world.storage, "cup")
    assert [(line.rank, line.score) for line in lines] == [(1, 0.0)] * 5


def test_standings_when_a_round_is_played_then_who_sits_out_is_credited_at_its_end(world: World) -> None:
    cup = world.tournament(9, format="swiss", rounds=1)
    world.advance(cup.id)
    world.play(world.messages.pop())
    assert sum(line.score for line in scoreboard.standings(world.storage, "cup")) == 6
    world.finish(cup.id)
    assert sum(line.score for line in scoreboard.standings(world.storage, "cup")) == 2 * 6 + 1.5


def test_standings_when_a_match_is_not_done_then_its_sessions_do_not_count_yet(world: World) -> None:
    cup = world.tournament(8)
    world.advance(cup.id)
    world.play(world.messages[1])
    lines = scoreboard.standings(world.storage, "cup")
    assert sum(line.score for line in lines) == 6


def test_crosstable_when_all_is_played_then_it_counts_the_deals_of_every_pair(world: World) -> None:
    cup = world.tournament(8)
    world.finish(cup.id)
    table = scoreboard.crosstable(world.storage, "cup")
    assert table.bots == tuple(line.bot for line in scoreboard.standings(world.storage, "cup"))
    for a, b in permutations(range(8), 2):
        ahead, behind = table.before[a][b], table.before[b][a]
        assert (ahead or 0) + (behind or 0) <= (table.deals[a][b] or 0) == table.deals[b][a]
    assert {table.before[a][a] for a in range(8)} == {table.deals[a][a] for a in range(8)} == {None}
    # 14 matches of 3 sessions of 2 deals, each with 4 * 3 ordered pairs.
    assert sum(sum(filter(None, row)) for row in table.deals) == 14 * 6 * 12


def test_crosstable_when_limited_then_it_is_that_part_of_the_whole(world: World) -> None:
    world.finish(world.tournament(8, rounds=3).id)
    whole = scoreboard.crosstable(world.storage, "cup")
    part = scoreboard.crosstable(world.storage, "cup", limit=3, offset=4)
    assert part.bots == whole.bots[4:7]
    assert (part.offset, part.entrants, whole.offset, whole.entrants) == (4, 8, 0, 8)
    assert part.before == tuple(row[4:7] for row in whole.before[4:7])
    assert part.deals == tuple(row[4:7] for row in whole.deals[4:7])
    assert scoreboard.crosstable(world.storage, "cup", limit=3, offset=7).before == ((None,),)


def test_standings_have_the_interval_of_their_points(world: World) -> None:
    world.finish(world.tournament(8, rounds=2).id)
    lines = scoreboard.standings(world.storage, "cup")
    assert {line.deals for line in lines} == {2 * 3 * 2}
    assert [line.raw for line in lines] == [line.points for line in lines]
    with world.storage.read() as tx:
        for line in lines:
            points = deal_points(tx, line.bot)
            assert sum(points) == line.raw
            expected = 1.96 * stdev(points) * len(points) ** 0.5
            assert line.plus_minus == pytest.approx(expected)


def deal_points(tx: Transaction, name: str) -> list[int]:
    """Return a bot's points in each deal."""
    rows = tx.exec(
        select(Session, Seat.position)
        .join(Seat, col(Seat.match_id) == Session.match_id)
        .join(Entrant, col(Entrant.id) == Seat.entrant_id)
        .join(BotVersion, col(BotVersion.id) == Entrant.version_id)
        .where(BotVersion.name == name)
    )
    return [
        points[session.seating.index(position)]
        for session, position in rows
        for points in session.deal_points
    ]


def test_standings_of_who_has_not_played_have_no_interval(world: World) -> None:
    world.tournament(5)
    lines = scoreboard.standings(world.storage, "cup")
    assert {(line.plus_minus, line.deals) for line in lines} == {(None, 0)}


def test_leaderboard_when_two_rulesets_are_played_then_each_has_its_pool(world: World) -> None:
    world.finish(world.tournament(4, name="one").id)
    world.finish(world.tournament(8, name="two", ruleset="hong-kong").id)
    pools = [(line.ruleset, line.table_size) for line in leaderboards.leaderboard(world.storage).leaderboard]
    assert pools == [("chinese@1", 4)] * 4 + [("hong-kong@1", 4)] * 8
    for name in ("hong-kong", "hong-kong@1", load_ruleset("hong-kong").hash[:8]):
        lines = leaderboards.leaderboard(world.storage, LeaderboardQuery(name)).leaderboard
        assert [line.place for line in lines] == list(range(1, 9))
        assert [line.rating for line in lines] == sorted((line.rating for line in lines), reverse=True)
        assert {(line.matches, line.deals) for line in lines} == {(7, 42)}
        assert (
            leaderboards.leaderboard(world.storage, LeaderboardQuery(name), limit=3).leaderboard == lines[:3]
        )


def test_leaderboard_when_a_tournament_follows_then_ratings_go_on_from_where_they_were(world: World) -> None:
    names = world.register(4)
    for name in ("one", "two"):
        world.finish(world.tournament_of(names, name=name).id)
    assert {line.matches for line in leaderboards.leaderboard(world.storage).leaderboard} == {2}
    assert sum(line.rating for line in leaderboards.leaderboard(world.storage).leaderboard) == pytest.approx(
        6000
    )


def test_leaderboard_when_the_pool_is_unknown_then_it_is_quoted(world: World) -> None:
    with pytest.raises(UnknownError, match="no ratings under 'chinese'"):
        leaderboards.leaderboard(world.storage, LeaderboardQuery("chinese"))
    assert leaderboards.leaderboard(world.storage).leaderboard == ()
