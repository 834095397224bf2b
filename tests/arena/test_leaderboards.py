"""Leaderboards: who is on them and in which order, in pages and around a bot, for people and for scripts."""

import csv
import io
from datetime import timedelta

import pytest
from sqlmodel import col, select

from arena.bots.descriptions import describe
from arena.cli.doors import print_csv
from arena.cli.leaderboard import show_leaderboards
from arena.core.cursors import make_cursor, read_cursor
from arena.errors import SpecError, UnknownError
from arena.host.settings import Settings
from arena.queries.board import Leaderboard, LeaderboardLine, StrengthLine
from arena.queries.leaderboards import LeaderboardQuery, leaderboard
from arena.results.strength.fitting import fit_due
from arena.results.strength.scale import AT_MOST, ENOUGH
from arena.store.models import Rating
from arena.store.storage import Storage
from tests.arena.cli import Arena, assert_one_line, make_arena
from tests.arena.fakes import ROOT
from tests.arena.leagues import LeagueWorld, winter
from tests.arena.world import World


@pytest.fixture
def arena(migrated: Settings, capsys: pytest.CaptureFixture[str]) -> Arena:
    return make_arena(migrated.data, capsys)


def names(found: Leaderboard) -> list[str]:
    return [line.bot for line in found.leaderboard]


@pytest.mark.parametrize("size", [1, 2, 8, 20])
def test_leaderboard_when_it_is_read_in_pages_then_they_are_the_whole(pool: World, size: int) -> None:
    whole = leaderboard(pool.storage)
    assert whole.next is None
    pages, cursor = list[LeaderboardLine](), None
    while True:
        page = leaderboard(pool.storage, limit=size, cursor=cursor)
        pages += page.leaderboard
        cursor = page.next
        if cursor is None:
            break
        assert len(page.leaderboard) == size
    assert pages == [*whole.leaderboard]
    assert [line.place for line in pages] == list(range(1, len(pages) + 1))
    assert any(line.strength is None for line in pages)


@pytest.mark.parametrize("limit", [1, 4, 40])
def test_leaderboard_when_it_is_around_a_bot_then_it_is_that_part_of_the_whole(
    pool: World, limit: int
) -> None:
    whole = names(leaderboard(pool.storage))
    for at, name in enumerate(whole):
        first = max(0, at - limit // 2)
        assert names(leaderboard(pool.storage, limit=limit, around=name)) == whole[first : first + limit]


def test_leaderboard_when_bots_are_filtered_then_their_places_stay(pool: World) -> None:
    describe(pool.storage, ROOT, "owner-1/bot-1", pool.clock(), language="go")
    whole = {line.bot: line for line in leaderboard(pool.storage).leaderboard}

    def only(**asked: object) -> set[str]:
        found = leaderboard(pool.storage, LeaderboardQuery(**asked)).leaderboard  # type: ignore[arg-type]
        assert [line.place for line in found] == sorted(whole[line.bot].place for line in found)
        assert all(line.place == whole[line.bot].place for line in found)
        return {line.bot for line in found}

    assert only(owner="owner-1") == {"owner-1/bot-1@1", "owner-1/bot-5@1"}
    assert only(language="go") == {"owner-1/bot-1@1"}
    assert only(language="rust") == set()
    assert only(matches=8) == {name for name, line in whole.items() if line.matches >= 8} != {*whole}
    assert only(provisional=True) == {*whole}
    assert only(provisional=False) == set()


def test_leaderboard_when_bots_have_not_played_since_then_they_are_left_out(pool: World) -> None:
    now = pool.clock()
    with pool.storage.write() as tx:
        for number, rating in enumerate(tx.exec(select(Rating).order_by(col(Rating.id)))):
            rating.last_played = now - timedelta(days=number)
    found = leaderboard(pool.storage, LeaderboardQuery(active_since=now - timedelta(days=3))).leaderboard
    assert sorted(line.last_played_at for line in found if line.last_played_at) == (
        [now - timedelta(days=number) for number in (3, 2, 1, 0)]
    )


def test_bots_when_they_have_enough_deals_then_they_are_no_longer_provisional(world: World) -> None:
    world.finish(world.tournament(4, sessions=1, deals=ENOUGH, ruleset="chinese").id)
    assert {line.provisional for line in leaderboard(world.storage).leaderboard} == {True}
    fit_due(world.storage, world.clock())
    found = leaderboard(world.storage, LeaderboardQuery(provisional=False)).leaderboard
    assert [line.provisional for line in found] == [False] * 4


def test_leaderboard_of_a_league_has_the_bots_and_the_pool_of_its_season(world: World) -> None:
    world.finish(world.tournament_of(world.register(4), ruleset="hong-kong").id)
    league = LeagueWorld(world, winter())
    league.join(*(f"member-{number}/bot" for number in range(9)))
    league.week(1)
    found = leaderboard(world.storage, LeaderboardQuery(league="winter"))
    assert {line.ruleset for line in found.leaderboard} == {"chinese@1"}
    assert all(name.startswith("member-") for name in names(found))
    assert (
        leaderboard(world.storage, LeaderboardQuery(league="winter", season=1)).leaderboard
        == found.leaderboard
    )
    assert leaderboard(world.storage, LeaderboardQuery("hong-kong", league="winter")).leaderboard == ()
    for asked, problem in (
        (LeaderboardQuery(league="wintr"), "did you mean 'winter'"),
        (LeaderboardQuery(league="winter", season=7), "no season 7 in winter: "),
        (LeaderboardQuery(league="winter", division="frist"), "no division 'frist' in winter"),
    ):
        with pytest.raises(UnknownError, match=problem):
            leaderboard(world.storage, asked)
    with pytest.raises(SpecError, match="league: "):
        leaderboard(world.storage, LeaderboardQuery(division="first"))


def test_leaderboard_when_asked_since_then_it_tells_how_bots_stood_at_that_time(pool: World) -> None:
    then = pool.clock() - timedelta(hours=12)
    old = {line.bot: line for line in leaderboard(pool.storage).leaderboard}
    fit_due(pool.storage, pool.clock())
    moved: list[float] = []
    for line in leaderboard(pool.storage, LeaderboardQuery(since=then)).leaderboard:
        assert line.before is not None
        if line.bot not in old or old[line.bot].strength is None:
            assert (line.before.rating, line.before.figure, line.before.rank) == (None, None, None)
            continue
        strength = old[line.bot].strength
        assert strength is not None
        assert line.before.figure is not None
        moved.append(line.before.figure - strength.figure)
        assert line.before.rank == strength.rank
        assert (line.before.rating == line.rating) == (line.matches == 7)
    assert max(moved) - min(moved) < 1  # all are against the present anchor
    long_ago = leaderboard(pool.storage, LeaderboardQuery(since=then - timedelta(days=9))).leaderboard
    assert {line.before.rating for line in long_ago if line.before} == {None}
    assert {line.before for line in leaderboard(pool.storage).leaderboard} == {None}


@pytest.mark.parametrize("cursor", ["", "x", "é", "x" * 9999, "W10", "bnVsbA", "WyJhIiwxXQ"])
def test_cursor_when_it_is_none_then_one_line_says_so(arena: Arena, pool: World, cursor: str) -> None:
    assert_one_line(arena("leaderboard", "--cursor", cursor), 1, "cursor: ")


def test_cursor_when_its_numbers_are_too_large_for_a_database_then_it_is_none() -> None:
    asked = LeaderboardQuery()
    with pytest.raises(SpecError, match="cursor: it is not a cursor"):
        read_cursor(asked, make_cursor(asked, (2**70,)), int)
    assert read_cursor(asked, make_cursor(asked, (7, 1.5)), int, float) == (7, 1.5)


def test_cursor_when_other_options_changed_then_one_line_says_so(arena: Arena, pool: World) -> None:
    cursor = arena("leaderboard", "--limit", 3, "--json").json["next"]
    assert arena("leaderboard", "--limit", 4, "--cursor", cursor).status == 0
    changed = arena("leaderboard", "--cursor", cursor, "--owner", "owner-1")
    assert_one_line(changed, 1, "cursor: it belongs to a list with other options")


@pytest.mark.parametrize(
    ("arguments", "status", "part"),
    [
        (["--owner", "ownr-1"], 1, "did you mean 'owner-1'?"),
        (["--around", "owner-1/bot-2"], 1, "did you mean 'owner-1/bot-1'?"),
        (["--around", "owner"], 1, "neither owner/bot"),
        (["--around", "zoe/none"], 1, "not rated"),
        (["--since", "yesterday"], 2, "'yesterday' is not a date"),
        (["--active-since", "2026-13-01"], 2, "'2026-13-01' is not a date"),
        (["--json", "--csv"], 2, "not both"),
        (["--season", 1], 1, "league: "),
    ],
)
def test_leaderboard_when_an_option_is_wrong_then_one_line_says_so(
    arena: Arena, pool: World, arguments: list[object], status: int, part: str
) -> None:
    if "zoe/none" in arguments:
        arena("bot", "register", "zoe/none")
    assert_one_line(arena("leaderboard", *arguments), status, part)


def test_leaderboard_when_nobody_is_as_asked_for_then_that_is_said(arena: Arena, pool: World) -> None:
    assert arena("leaderboard", "--table-size", 5).out == "no such ratings\n"
    assert arena("leaderboard", "--language", "go").out == "no such ratings\n"
    assert arena("leaderboard", "--table-size", 5, "--json").json["leaderboard"] == []


def test_leaderboard_on_a_terminal_tells_changes_and_where_the_next_page_begins(
    arena: Arena, pool: World
) -> None:
    shown = arena("leaderboard", "--limit", 2, "--since", "2020-01-01").out
    assert "rank since" in shown
    cursor = shown.splitlines()[-1].removeprefix("more: --cursor ")
    follows = arena("leaderboard", "--limit", 2, "--since", "2020-01-01", "--cursor", cursor).out
    assert follows.splitlines()[3].split()[0] == "3"


def test_leaderboard_when_several_pools_have_more_places_then_each_says_how_it_goes_on(
    arena: Arena, pool: World
) -> None:
    pool.finish(pool.tournament_of(pool.register(4), name="other", ruleset="hong-kong", deals=1).id)
    whole = [
        one["bot"] for one in arena("leaderboard", "--ruleset", "hong-kong", "--json").json["leaderboard"]
    ]
    found = arena("leaderboard", "--limit", 3, "--json").json
    assert found["next"] is None
    assert [(one["ruleset"], one["table_size"]) for one in found["cut"]] == [
        ("chinese@1", 4),
        ("hong-kong@1", 4),
    ]
    told = [f"more of {one['ruleset']}, tables of 4: --cursor {one['next']}" for one in found["cut"]]
    assert arena("leaderboard", "--limit", 3).out.splitlines()[-2:] == told
    assert arena("leaderboard", "--limit", 3, "--csv").err.splitlines() == told
    rest = arena("leaderboard", "--limit", 3, "--cursor", found["cut"][1]["next"], "--json").json
    assert [one["bot"] for one in rest["leaderboard"]] == whole[3:]
    assert rest["cut"] == []
    assert "more" not in arena("leaderboard", "--ruleset", "hong-kong", "--limit", 4).out.splitlines()[-1]


def test_csv_has_the_keys_of_json_as_columns(arena: Arena, pool: World) -> None:
    found = arena("leaderboard", "--csv", "--limit", 5)
    assert found.out.count("\r\n") == found.out.count("\n") == 6
    assert found.err.startswith("more: --cursor ")
    rows = list(csv.DictReader(io.StringIO(found.out)))
    lines = arena("leaderboard", "--json", "--limit", 5).json["leaderboard"]
    for row, line in zip(rows, lines, strict=True):
        assert row["bot"] == line["bot"]
        assert float(row["rating"]) == line["rating"]
        assert row["strength.tier"] == str(line["strength"]["tier"])
        assert row["last_played_at"] == (line["last_played_at"] or "")
        assert (row["language"], row["before.rank"], row["provisional"]) == ("", "", "true")


def test_csv_when_texts_are_formulas_or_hold_controls_then_they_are_harmless(
    storage: Storage, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = ["=1+1", "+1", "-1", "@x", "a,b", 'a"b', "a\nb", "\x1b[2J", "\t=1"]
    empty = LeaderboardLine("", 4, 1, "", "", None, None, True, -1.5, 0, 0, None, None, None)
    lines = [
        LeaderboardLine(text, *[getattr(empty, name) for name in LeaderboardLine.__slots__[1:]])
        for text in texts
    ]
    print_csv(LeaderboardLine, lines)
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["ruleset"] for row in rows] == (
        ["'=1+1", "'+1", "'-1", "'@x", "a,b", 'a"b', "a\\nb", "\\x1b[2J", "\\t=1"]
    )
    assert {row["rating"] for row in rows} == {"-1.5"}


@pytest.mark.parametrize(
    ("arguments", "columns", "lines"),
    [
        (["tournament", "list"], ["tournament", "format", "state"], 2),
        (["tournament", "list", "--limit", 1], ["tournament", "format", "state"], 1),
        (["tournament", "standings", "cup"], ["rank", "bot", "entrant"], 8),
        (["bot", "list"], ["bot", "owner", "created_at"], 9),
        (["league", "list"], ["league", "divisions", "formats"], 0),
    ],
)
def test_other_lists_as_csv_have_the_keys_of_json_as_columns(
    arena: Arena, pool: World, arguments: list[object], columns: list[str], lines: int
) -> None:
    rows = list(csv.reader(io.StringIO(arena(*arguments, "--csv").out)))
    assert rows[0][:3] == columns
    assert len(rows) == 1 + lines
    found = arena(*arguments, "--json").json
    listed = max((value for value in found.values() if isinstance(value, list)), key=len)
    assert all({name.partition(".")[0] for name in rows[0]} == {*line} for line in listed)
    assert_one_line(arena(*arguments, "--csv", "--json"), 2, "not both")


@pytest.mark.parametrize(
    ("after", "shown"),
    [
        (None, "-"),
        (0, "0"),
        (87, "87"),
        (13_808, "14,000"),
        (AT_MOST - 1, "1,000,000"),
        (AT_MOST, "1,000,000+"),
    ],
)
def test_leaderboard_when_neighbours_part_after_some_deals_then_they_are_shown_to_two_digits(
    after: int | None, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    strength = StrengthLine(0.5, 0.1, 1500, 1400, 1600, "mean", None, None, None, 1, 1, 2, 1, after, 1, 400)
    show_leaderboards(
        [
            LeaderboardLine(
                "chinese@1", 4, 1, "a/b@1", "a", None, strength, False, 1500.0, 9, 400, None, None, None
            )
        ]
    )
    [row] = [line for line in capsys.readouterr().out.splitlines() if "a/b@1" in line]
    assert row.split()[6] == shown
