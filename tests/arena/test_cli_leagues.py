"""``arena league …`` as organisers use it."""

from pathlib import Path

import pytest

from arena.host.settings import Settings
from arena.leagues import overview
from referee.cli.output import moment
from tests.arena.cli import Arena, assert_one_line, make_arena
from tests.arena.leagues import LeagueWorld, winter
from tests.arena.world import World

TOML = """\
name = "winter"
start = 2026-01-05T18:00:00Z
interval_hours = 168
versions_per_owner = 2
allow_same_owner = true

[tournament]
format = "round-robin"
ruleset = "chinese"
rounds = 1
sessions = 1
deals = 1

[[divisions]]
name = "first"
size = 4

[[divisions]]
name = "second"
promoted = 1
"""


@pytest.fixture
def arena(migrated: Settings, capsys: pytest.CaptureFixture[str]) -> Arena:
    return make_arena(migrated.data, capsys)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "winter.toml"
    file.write_text(TOML)
    return file


@pytest.fixture
def league(world: World) -> LeagueWorld:
    """Play the winter league's first season."""
    league = LeagueWorld(world, winter())
    league.join(*(f"owner-{number}/bot-{number}" for number in range(9)))
    league.week(1)
    return league


def test_apply_without_yes_shows_and_changes_nothing(arena: Arena, world: World, file: Path) -> None:
    shown = arena("league", "apply", file)
    assert shown.status == 0
    assert "+ divisions.first.size: 4" in shown.out
    assert f"arena league apply {file} --yes" in shown.out
    assert overview.list_leagues(world.storage) == []


def test_apply_when_the_start_is_past_then_it_says_when_the_first_season_is_due(
    arena: Arena, world: World, file: Path
) -> None:
    text = file.read_text()
    file.write_text(text.replace("2026-01-05", "2099-01-05"))
    assert "is past" not in arena("league", "apply", file).out
    file.write_text(text.replace("2026-01-05", "2020-01-06"))
    for yes in ([], ["--yes"]):
        [due] = [line for line in arena("league", "apply", file, *yes).out.splitlines() if "is past" in line]
    [league] = overview.list_leagues(world.storage)
    assert league.next_at is not None
    assert due.endswith(moment(league.next_at))


def test_apply_when_owners_would_meet_and_may_not_then_the_field_is_named(arena: Arena, file: Path) -> None:
    file.write_text(TOML.replace("allow_same_owner = true\n", ""))
    assert_one_line(
        arena("league", "apply", file, "--yes"), 1, f"{file}: allow_same_owner: it is false, and in"
    )


def test_apply_twice_changes_something_once(arena: Arena, world: World, file: Path) -> None:
    assert "winter is changed" in arena("league", "apply", file, "--yes").out
    again = arena("league", "apply", file, "--yes", "--json").json
    assert again == {"output": "bigtwo-cli/1", "league": "winter", "applied": True, "changes": []}
    assert "nothing to change" in arena("league", "apply", file).out
    [found] = overview.list_leagues(world.storage)
    assert (found.league, found.divisions, found.season) == ("winter", ("first", "second"), 0)


def test_apply_of_a_changed_file_shows_what_differs(arena: Arena, world: World, file: Path) -> None:
    arena("league", "apply", file, "--yes")
    due = overview.list_leagues(world.storage)[0].next_at
    file.write_text(TOML.replace("size = 4", "size = 8").replace("versions_per_owner = 2\n", ""))
    shown = arena("league", "apply", file, "--yes").out
    assert "~ divisions.first.size: 4 → 8\n- versions_per_owner: 2\n" in shown
    assert overview.list_leagues(world.storage)[0].next_at == due


def test_apply_of_another_schedule_moves_the_next_season(arena: Arena, world: World, file: Path) -> None:
    file.write_text(TOML.replace("2026-01-05", "2400-01-05"))
    arena("league", "apply", file, "--yes")
    file.write_text(TOML.replace("2026-01-05", "2400-01-08"))
    arena("league", "apply", file, "--yes")
    [found] = arena("league", "list", "--json").json["leagues"]
    assert found["next_at"] == "2400-01-08T18:00:00Z"


def test_apply_of_a_wrong_file_is_one_line(arena: Arena, world: World, file: Path) -> None:
    file.write_text(TOML.replace("promoted = 1", "promoted = 9"))
    wrong = arena("league", "apply", file, "--yes")
    assert_one_line(wrong, 1, "winter.toml:20: divisions.second.promoted", "9 are promoted")
    assert overview.list_leagues(world.storage) == []


def test_join_and_leave(arena: Arena, world: World, file: Path) -> None:
    arena("league", "apply", file, "--yes")
    world.register(2)
    assert "owner-0/bot-0 is in winter" in arena("league", "join", "winter", "owner-0/bot-0").out
    assert arena("league", "join", "winter", "owner-1/bot-1@1", "--json").json["bot"] == "owner-1/bot-1@1"
    assert "owner-0/bot-0" in arena("league", "show", "winter").out
    assert "has left" in arena("league", "leave", "winter", "owner-0/bot-0").out
    assert arena("league", "list", "--json").json["leagues"][0]["members"] == 1


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["join", "winter", "owner-0/bot-0"], ["owner-0/bot-0 is in league winter already"]),
        (["join", "winter", "owner-0/bot-9"], ["no bot 'owner-0/bot-9'"]),
        (["join", "winter", "owner-0/bot-0@7"], ["no bot 'owner-0/bot-0@7'"]),
        (["join", "winter", "bot"], ["'bot' is neither owner/bot nor owner/bot@number"]),
        (["join", "winter", "owner-1/bot-1"], ["owner-1/bot-1", "revoked"]),
        (["join", "winter", "owner-0/bot-8"], ["allows 2 per owner", "owner-0/bot-0, owner-0/bot-4"]),
        (["join", "summer", "owner-0/bot-0"], ["no league 'summer'"]),
        (["leave", "winter", "owner-2/bot-2"], ["owner-2/bot-2 is not in league winter"]),
        (["show", "summer"], ["no league 'summer'"]),
        (["history", "summer"], ["no league 'summer'"]),
        (["show", "winter", "--season", "3"], ["no season 3 in winter"]),
        (["apply", "none.toml"], ["none.toml", "cannot be read"]),
    ],
)
def test_wrong_requests_are_one_line(
    arena: Arena, world: World, file: Path, arguments: list[str], parts: list[str]
) -> None:
    arena("league", "apply", file, "--yes")
    world.register(9)
    for bot in ("owner-0/bot-0", "owner-0/bot-4"):
        arena("league", "join", "winter", bot)
    arena("bot", "revoke", "owner-1/bot-1@1", "--yes")
    assert_one_line(arena("league", *arguments), 1, *parts)


def test_list_when_there_is_none_says_how_to_make_one(arena: Arena) -> None:
    assert "arena league apply FILE.toml" in arena("league", "list").out


def test_show_has_divisions_tables_and_the_next_date(arena: Arena, league: LeagueWorld) -> None:
    shown = arena("league", "show", "winter").out.splitlines()
    assert shown[:2] == [
        "winter: 9 bots, first, second, qualification",
        "a season of round-robin, chinese@1 every 168 hours",
    ]
    assert "first (winter-1-first, finished)" in shown
    assert "qualification (too few for a table)" in shown
    [last] = [line.split() for line in shown if "owner-3/bot-3@1" in line]
    assert last[:4] == ["4", "owner-3/bot-3@1", "0", "-3"]
    assert last[-2:] == ["new", "relegated"]


def test_show_for_scripts_has_everything(arena: Arena, league: LeagueWorld) -> None:
    found = arena("league", "show", "winter", "--json").json
    assert (found["league"], found["season"], found["running"]) == ("winter", 1, False)
    assert found["next_at"] == "2026-01-12T18:00:00Z"
    assert found["seasons"][0]["divisions"][1]["lines"][0]["goes"] == "promoted"
    assert found["outside"] == []


def test_history_tells_who_went_where(arena: Arena, league: LeagueWorld) -> None:
    league.week(2)
    seasons = arena("league", "history", "winter", "--json").json["seasons"]
    assert [season["season"] for season in seasons] == [2, 1]
    told = [line for line in arena("league", "history", "winter").out.splitlines() if line.strip()]
    up, down = ["owner-4/bot-4,", "owner-8/bot-8"], ["owner-3/bot-3,", "owner-7/bot-7"]
    assert told[-1].split()[-5:] == ["owner-0/bot-0@1", *up, *down]
    first = arena("league", "show", "winter", "--season", 1).out
    assert "winter-1-first" in first
    assert "winter-2-first" not in first
