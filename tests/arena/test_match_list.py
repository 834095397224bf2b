"""Lists of finished matches: by bot, opponent, ruleset, tournament, date, faults and result; in pages."""

import csv
import io
from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise

import pytest
from sqlmodel import col, select

from arena.errors import UnknownError
from arena.host.settings import Settings
from arena.queries.matches import MatchLine, MatchQuery, Result, find_matches
from arena.store.models import Match, Seat, Session
from referee.cli.output import change
from tests.arena.cli import Arena, assert_one_line, make_arena
from tests.arena.world import World

BOT = "owner-0/bot-0@1"
OTHER = "owner-1/bot-1@1"


@pytest.fixture
def arena(migrated: Settings, capsys: pytest.CaptureFixture[str]) -> Arena:
    return make_arena(migrated.data, capsys)


def place(line: MatchLine) -> tuple[str, int, int]:
    return line.tournament, line.round, line.table


def points_of(line: MatchLine, bot: str) -> int:
    return line.points[line.bots.index(bot)]


def is_there(name: str) -> Callable[[MatchLine], bool]:
    return lambda line: any(one.startswith(name) for one in line.bots)


def has_won(line: MatchLine) -> bool:
    return BOT in line.bots and points_of(line, BOT) == max(line.points)


def every(world: World) -> list[MatchLine]:
    return [*find_matches(world.storage, MatchQuery(), 1000).matches]


def test_matches_when_all_are_listed_then_they_are_those_that_are_done_newest_first(pool: World) -> None:
    lines = every(pool)
    with pool.storage.read() as tx:
        assert len(lines) == len(tx.exec(select(Match)).all())
        seats = tx.exec(select(Seat.points)).all()
    assert sorted(point for line in lines for point in line.points) == sorted(seats)
    assert all(later.finished_at >= line.finished_at for later, line in pairwise(lines))
    assert {line.tournament for line in lines} == {"cup", "later"}
    assert lines[0].tournament == "later"
    for line in lines:
        assert line.changes is not None
        assert sum(line.changes) == pytest.approx(0)
        assert (line.deals, line.faults, line.ruleset) == (6, (0, 0, 0, 0), "chinese@1")


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        (MatchQuery(bot=BOT), lambda line: BOT in line.bots),
        (
            MatchQuery(bot="owner-0/bot-0"),
            is_there("owner-0/bot-0@"),
        ),
        (MatchQuery(bot=BOT, opponent=OTHER), lambda line: {BOT, OTHER} <= {*line.bots}),
        (
            MatchQuery(bot=BOT, opponent="owner-0/bot-0"),
            lambda line: {BOT, "owner-0/bot-0@2"} <= {*line.bots},
        ),
        (MatchQuery(tournament="cup"), lambda line: line.tournament == "cup"),
        (MatchQuery(tournament="cup", round=2), lambda line: (line.tournament, line.round) == ("cup", 2)),
        (
            MatchQuery(bot=BOT, tournament="cup", round=2),
            lambda line: (line.tournament, line.round) == ("cup", 2) and BOT in line.bots,
        ),
        (MatchQuery(bot=BOT, tournament="cup"), lambda line: BOT in line.bots and line.tournament == "cup"),
        (MatchQuery(ruleset="chinese@1"), lambda line: True),
        (
            MatchQuery(bot=BOT, result=Result.WON),
            has_won,
        ),
        (
            MatchQuery(bot=BOT, result=Result.LOST),
            lambda line: BOT in line.bots and not has_won(line),
        ),
        (MatchQuery(faults=True), lambda line: False),
    ],
    ids=lambda value: "" if callable(value) else str(value)[5:-1],
)
def test_matches_when_some_are_asked_for_then_pages_of_them_are_those(
    pool: World, asked: MatchQuery, wanted: Callable[[MatchLine], bool]
) -> None:
    expected = {place(line) for line in every(pool) if wanted(line)}
    for size in (1, 3, 100):
        found, cursor = list[MatchLine](), None
        while True:
            page = find_matches(pool.storage, asked, size, cursor)
            found += page.matches
            cursor = page.next
            if cursor is None:
                break
        assert {place(line) for line in found} == expected
        assert len(found) == len(expected)
        assert [place(line)[0] for line in found] == sorted((place(line)[0] for line in found), reverse=True)


def test_matches_when_a_time_is_given_then_it_is_the_first_and_the_other_is_not(pool: World) -> None:
    now = pool.clock()

    def tournaments(**asked: object) -> set[str]:
        return {line.tournament for line in find_matches(pool.storage, MatchQuery(**asked), 1000).matches}  # type: ignore[arg-type]

    assert tournaments(since=now) == {"later"}
    assert tournaments(until=now) == {"cup"}
    assert tournaments(since=now, until=now + timedelta(seconds=1), bot=BOT) == {"later"}
    assert tournaments(since=now + timedelta(seconds=1)) == set()


def test_matches_when_bots_made_faults_then_they_are_found_by_bot_and_without(
    arena: Arena, pool: World
) -> None:
    with pool.storage.write() as tx:
        seats = tx.exec(select(Seat)).all()
        seats[2].faults, seats[21].faults, seats[22].faults = 3, 1, 1
    lines = find_matches(pool.storage, MatchQuery(faults=True)).matches
    assert [sorted(line.faults) for line in lines] == [[0, 0, 1, 1], [0, 0, 0, 3]]
    first = find_matches(pool.storage, MatchQuery(faults=True), 1)
    assert find_matches(pool.storage, MatchQuery(faults=True), 1, first.next).matches == lines[1:]
    bot = lines[1].bots[lines[1].faults.index(3)]
    assert lines[1] in find_matches(pool.storage, MatchQuery(bot=bot, faults=True)).matches
    other = lines[1].bots[lines[1].faults.index(0)]
    cup = ["match", "list", "--tournament", "cup", "--round", lines[1].round]
    for name, own in ((bot, ["3", "3"]), (bot.partition("@")[0], ["3", "3"]), (other, ["3"])):
        head, _, *rows = arena(*cup, "--bot", name).out.splitlines()
        assert head.split()[-6:] == ["faults", "of", "it", "faults", "of", "all"]
        [row] = [row for row in rows if bot in row]
        assert row.split()[-len(own) :] == own
    assert change(-0.3) == "+0"


def test_matches_when_bots_forfeited_sessions_then_these_are_counted_by_position(
    arena: Arena, pool: World
) -> None:
    with pool.storage.write() as tx:
        sessions = tx.exec(select(Session).where(Session.match_id == 1).order_by(col(Session.number))).all()
        for session in sessions[:2]:
            session.forfeits = [session.seating.index(3)]
        sessions[2].forfeits = [sessions[2].seating.index(1), sessions[2].seating.index(3)]
    found = {place(line): line.forfeits for line in every(pool)}
    assert found.pop(("cup", 1, 1)) == (0, 1, 0, 3)
    assert set(found.values()) == {(0, 0, 0, 0)}
    shown = arena("match", "list", "--tournament", "cup", "--round", 1).out.splitlines()
    assert shown[0].endswith(" forfeits")
    assert shown[-1].endswith(" 4")
    assert "forfeits" not in arena("match", "list", "--tournament", "cup", "--round", 2).out


def test_matches_when_none_is_done_then_there_are_none(world: World) -> None:
    world.advance(world.tournament(4).id)
    assert find_matches(world.storage, MatchQuery()).matches == ()
    assert find_matches(world.storage, MatchQuery(bot=BOT)).matches == ()


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        (MatchQuery(bot="owner-0/bot-9"), "no bot 'owner-0/bot-9'; did you mean 'owner-0/bot-"),
        (MatchQuery(bot=BOT, opponent="owner-1/bot-1@7"), "did you mean 'owner-1/bot-1@1'"),
        (MatchQuery(tournament="cupp"), "no tournament 'cupp'; did you mean 'cup'"),
        (MatchQuery(tournament="up"), "no tournament 'up'; did you mean 'cup'"),
        (MatchQuery(tournament="zzz"), "no tournament 'zzz'; all are in: arena tournament list$"),
        (MatchQuery(ruleset="chinse"), "no ruleset 'chinse' was played; did you mean 'chinese'"),
    ],
)
def test_matches_when_a_name_is_unknown_then_the_nearest_is_suggested(
    pool: World, asked: MatchQuery, problem: str
) -> None:
    with pytest.raises(UnknownError, match=problem):
        find_matches(pool.storage, asked)


def test_match_list_shows_points_and_changes_and_the_next_page(arena: Arena, pool: World) -> None:
    [line] = find_matches(pool.storage, MatchQuery(bot=BOT), 1).matches
    shown = arena("match", "list", "--bot", BOT, "--limit", 1).out.splitlines()
    assert f"{BOT} {points_of(line, BOT):+d} (" in shown[2]
    cursor = shown[3].removeprefix("more: --cursor ")
    found = arena("match", "list", "--bot", BOT, "--cursor", cursor, "--json").json
    assert len(found["matches"]) == sum(BOT in line.bots for line in every(pool)) - 1
    assert found["next"] is None
    [row] = csv.DictReader(io.StringIO(arena("match", "list", "--bot", BOT, "--limit", 1, "--csv").out))
    assert row["bots"].split() == [*line.bots]
    assert row["points"].removeprefix("'").split() == [str(one) for one in line.points]


@pytest.mark.parametrize(
    ("arguments", "status", "part"),
    [
        (["--opponent", BOT], 1, "bot: missing; opponent and result need it"),
        (["--result", "won"], 1, "bot: missing; opponent and result need it"),
        (["--result", "wonn", "--bot", BOT], 2, "wonn"),
        (["--from", "x"], 2, "'x' is not a date"),
        (["--limit", 0], 2, "--limit"),
        (["--cursor", "abc"], 1, "cursor: "),
        (["--round", 1], 1, "tournament: missing; round needs it"),
        (["--from", "2026-02-01", "--to", "2026-01-01"], 1, "is not after 2026-02-01"),
        (["--round", 9, "--tournament", "cup"], 1, "cup has no round 9 yet"),
        (["--round", 0, "--tournament", "cup"], 2, "--round"),
    ],
)
def test_match_list_when_an_option_is_wrong_then_one_line_says_so(
    arena: Arena, pool: World, arguments: list[object], status: int, part: str
) -> None:
    assert_one_line(arena("match", "list", *arguments), status, part)
