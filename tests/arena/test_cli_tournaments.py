"""``arena tournament …`` and ``arena leaderboard``."""

from pathlib import Path

import pytest
from sqlmodel import select

from arena.bots.checks import store_check
from arena.core.luck import LuckLine, luck_told
from arena.host.settings import Settings
from arena.store.models import Tournament
from tests.arena.cli import Arena, assert_one_line, make_arena
from tests.arena.fakes import ROOT
from tests.arena.random_play import play_randomly
from tests.arena.test_luck import weigh
from tests.arena.world import World

SPEC = """
name = "autumn"
format = "swiss"
ruleset = "chinese"
rounds = 2
sessions = 2
deals = 3
entrants = ["owner-0/bot-0", "owner-1/bot-1", "owner-2/bot-2", "owner-3/bot-3"]
"""


@pytest.fixture
def arena(migrated: Settings, capsys: pytest.CaptureFixture[str]) -> Arena:
    return make_arena(migrated.data, capsys)


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    file = tmp_path / "autumn.toml"
    file.write_text(SPEC)
    return file


def test_create_from_a_file_shows_the_commitment(arena: Arena, world: World, spec: Path) -> None:
    world.register(4)
    result = arena("tournament", "create", spec)
    assert result.status == 0
    assert "autumn is created: swiss, chinese@1, 4 bots at tables of 4" in result.out
    assert world.status("autumn").seed_hash in result.out
    assert "arena tournament start autumn" in result.out


def test_create_from_options_is_the_same(arena: Arena, world: World) -> None:
    names = world.register(5, owners=5)
    entrants = [part for name in names for part in ("--entrant", name)]
    options = ["--name", "cup", "--format", "round-robin", "--ruleset", "hong-kong", "--sessions", 2]
    status = arena("tournament", "create", *options, *entrants, "--json").json
    assert (status["tournament"], status["ruleset"], status["entrants"]) == ("cup", "hong-kong@1", 5)
    assert status["seed"] is None


def test_baseline_when_it_is_sage_then_one_command_registers_and_enters_it(
    arena: Arena, world: World
) -> None:
    entrants = [part for name in world.register(4) for part in ("--entrant", name)]
    options = ["--name", "cup", "--format", "continuous", "--ruleset", "chinese", "--rounds", 9]
    assert arena("tournament", "create", *options, *entrants).status == 0
    shown = arena("rating", "baseline", "house/sage", "--enter", "cup", "--json")
    assert shown.json["baselines"] == ["house/sage@1"]
    assert "house/sage@1" in arena("tournament", "show", "cup").out
    for wrong in (["--enter", "cup"], ["house/sage", "--remove", "--enter", "cup"]):
        assert_one_line(arena("rating", "baseline", *wrong), 2, "--enter")


def test_create_takes_clocks_and_conditions_as_options(arena: Arena, world: World) -> None:
    names = world.register(4)
    for name in names:
        store_check(world.storage, ROOT, name, {}, True, world.clock())
    entrants = [part for name in names for part in ("--entrant", name)]
    options = ["--name", "cup", "--format", "round-robin", "--ruleset", "chinese"]
    clocks = ["--bank-ms", 60_000, "--increment-ms", 50, "--credit-ms", 0]
    flags = ["--ask-forced", "--require-check", "--duplicate", "--allow-same-owner", "--no-rated"]
    assert arena("tournament", "create", *options, *clocks, *flags, *entrants).status == 0
    with world.storage.read() as tx:
        cup = tx.exec(select(Tournament)).one()
    assert (cup.bank_ms, cup.increment_ms, cup.credit_ms) == (60_000, 50, 0)
    assert (cup.ask_forced, cup.require_check, cup.duplicate) == (True, True, True)
    assert (cup.allow_same_owner, cup.rated) == (True, False)


def test_create_takes_back_a_flag_of_the_file(arena: Arena, world: World, spec: Path) -> None:
    world.register(4)
    spec.write_text("rated = false\nduplicate = true\n" + SPEC)
    made = arena("tournament", "create", spec, "--rated", "--no-duplicate")
    assert made.status == 0
    with world.storage.read() as tx:
        autumn = tx.exec(select(Tournament)).one()
    assert (autumn.rated, autumn.duplicate) == (True, False)


def test_create_with_an_owner_twice_is_refused_unless_it_is_allowed(arena: Arena, world: World) -> None:
    entrants = [part for name in world.register(5) for part in ("--entrant", name)]
    options = ["--name", "cup", "--format", "round-robin", "--ruleset", "chinese", *entrants]
    refused = arena("tournament", "create", *options)
    assert_one_line(refused, 1, "entrants: owner-0 has 2 bots", "(owner-0/bot-0@1, owner-0/bot-4@1)")
    assert_one_line(refused, 1, "would meet in a round-robin; allow_same_owner = true allows it")
    assert arena("tournament", "create", *options, "--allow-same-owner").status == 0


def test_create_with_an_increment_and_no_bank_is_refused(arena: Arena, world: World) -> None:
    options = ["--name", "cup", "--format", "round-robin", "--ruleset", "chinese"]
    entrants = [part for name in world.register(4) for part in ("--entrant", name)]
    result = arena("tournament", "create", *options, *entrants, "--increment-ms", 50)
    assert_one_line(result, 1, "increment_ms", "bank_ms is 0")


def test_watch_for_scripts_ends_with_how_it_ended(arena: Arena, world: World) -> None:
    world.finish(world.tournament(4).id)
    told = arena("tournament", "watch", "cup", "--json")
    assert told.status == 0
    assert (told.json["tournament"], told.json["state"]) == ("cup", "finished")


def test_create_takes_a_ruleset_file(arena: Arena, world: World, tmp_path: Path) -> None:
    (tmp_path / "house.toml").write_text('name = "house"\nextends = "chinese"\nplayers = 3\nhand_size = 17\n')
    entrants = [part for name in world.register(3) for part in ("--entrant", name)]
    options = ["--name", "cup", "--format", "round-robin", "--ruleset", tmp_path / "house.toml"]
    assert arena("tournament", "create", *options, *entrants, "--json").json["table_size"] == 3


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ("rounds = 2", "round = 2", ["round", "did you mean 'rounds'"]),
        ('"swiss"', '"swis"', ["format", "swis"]),
        ('"chinese"', '"chines"', ["ruleset"]),
        ('"chinese"', '"none.toml"', ["none.toml"]),
        ("rounds = 2", "", ["rounds"]),
        ("sessions = 2", "sessions = 0", ["sessions"]),
        ('"autumn"', '"Autumn Cup"', ["name", "Autumn Cup"]),
        ("owner-3/bot-3", "owner-9/nobody", ["owner-9/nobody"]),
        ("owner-3/bot-3", "owner-0/bot-0", ["entrants", "owner-0/bot-0"]),
        ("format =", "format", ["autumn.toml"]),
    ],
)
def test_create_from_a_wrong_file_is_one_line_and_creates_nothing(
    arena: Arena, world: World, spec: Path, old: str, new: str, parts: list[str]
) -> None:
    world.register(4)
    spec.write_text(SPEC.replace(old, new, 1))
    assert_one_line(arena("tournament", "create", spec), 1, *parts)
    assert arena("tournament", "list", "--json").json["tournaments"] == []


def test_create_without_enough_bots_says_how_many_are_missing(arena: Arena, world: World) -> None:
    world.register(4)
    cup = ["--name", "cup", "--format", "knockout", "--ruleset", "chinese"]
    made = arena("tournament", "create", *cup)
    told = "entrants: a table needs at least 4, has {}; add {} before the start"
    assert (made.status, made.err) == (0, f"warning: {told.format(0, 4)}\n")
    assert "enter bots with: arena tournament enter cup BOT" in made.out
    for number in range(3):
        assert arena("tournament", "enter", "cup", f"owner-{number}/bot-{number}").status == 0
    assert f"warning: {told.format(3, 1)}" in arena("tournament", "show", "cup").out
    for step in ("lock", "start"):
        assert_one_line(arena("tournament", step, "cup"), 1, told.format(3, 1))
    arena("tournament", "enter", "cup", "owner-3/bot-3")
    assert arena("tournament", "lock", "cup").status == 0


def test_create_from_a_file_with_many_errors_names_them_all_at_once(
    arena: Arena, world: World, spec: Path
) -> None:
    world.register(4)
    wrong = {'"swiss"': '"swis"', "sessions = 2": "sessions = 0", "owner-3/bot-3": "owner-3/bot-33"}
    text = SPEC
    for old, new in wrong.items():
        text = text.replace(old, new, 1)
    spec.write_text(text)
    result = arena("tournament", "create", spec)
    assert result.status == 1
    lines = result.err.splitlines()
    assert len(lines) == 3
    assert all(line.startswith(f"error: {spec}:") for line in lines)
    for part in (
        "did you mean 'swiss'",
        "sessions: must be",
        "entrants: no bot 'owner-3/bot-33'; did you mean",
    ):
        assert part in result.err


def test_create_from_a_file_with_errors_that_only_the_arena_can_find_names_them_all_at_once(
    arena: Arena, world: World, spec: Path
) -> None:
    world.register(4)
    spec.write_text(SPEC.replace("rounds = 2", "").replace("owner-3/bot-3", "owner-3/bot-33"))
    result = arena("tournament", "create", spec)
    assert [line.partition("entrants: no bot")[1] != "" for line in result.err.splitlines()] == [True, False]
    assert "rounds" in result.err.splitlines()[1]
    assert arena("tournament", "create", spec, "--json").out == ""


def test_create_of_a_name_that_is_taken_is_refused(arena: Arena, world: World, spec: Path) -> None:
    world.register(4)
    arena("tournament", "create", spec)
    assert_one_line(arena("tournament", "create", spec), 1, "autumn")


def test_start_then_cancel_shows_the_state_and_the_seed(arena: Arena, world: World, spec: Path) -> None:
    world.register(4)
    arena("tournament", "create", spec)
    assert "autumn is running" in arena("tournament", "start", "autumn").out
    assert_one_line(arena("tournament", "start", "autumn"), 1, "autumn", "running")
    cancelled = arena("tournament", "cancel", "autumn", "--yes", "--json").json
    assert cancelled["state"] == "cancelled"
    assert len(cancelled["seed"]) == 64
    assert_one_line(arena("tournament", "cancel", "autumn", "--yes"), 1, "autumn", "cancelled")


@pytest.mark.parametrize("command", ["start", "cancel", "watch", "standings"])
def test_a_command_for_an_unknown_tournament_is_one_line(arena: Arena, command: str) -> None:
    assert_one_line(arena("tournament", command, "nowhere"), 1, "nowhere")


def test_watch_before_the_start_says_how_to_start(arena: Arena, world: World, spec: Path) -> None:
    world.register(4)
    arena("tournament", "create", spec)
    assert_one_line(arena("tournament", "watch", "autumn"), 1, "arena tournament start autumn")


def test_watch_of_a_finished_tournament_ends_at_once(arena: Arena, world: World) -> None:
    world.finish(world.tournament(4).id)
    result = arena("tournament", "watch", "cup")
    assert result.status == 0
    assert (
        result.out
        == "cup: round 1 of 1, 3 of 3 sessions\ncup is finished; see: arena tournament standings cup\n"
    )


def test_list_shows_all_tournaments(arena: Arena, world: World) -> None:
    assert arena("tournament", "list").out == "no tournaments yet: arena tournament create\n"
    world.tournament(4)
    shown = arena("tournament", "list").out
    assert "cup" in shown
    assert "running" in shown


def test_standings_show_ranks_and_tie_breaks(arena: Arena, world: World) -> None:
    world.finish(world.tournament(8).id)
    shown = arena("tournament", "standings", "cup").out.splitlines()
    assert shown[0].split() == ["bot", "version", "score", "points", "±", "wins", "opponents"]
    assert len(shown) == 2 + 8
    lines = arena("tournament", "standings", "cup", "--json").json["standings"]
    assert {"rank", "bot", "score", "points", "wins", "opponents"} <= {*lines[0]}
    assert [line["rank"] for line in lines] == list(range(1, 9))
    assert sum(line["score"] for line in lines) == 14 * 6


def test_standings_of_duplicate_deals_show_the_raw_points_too(arena: Arena, world: World) -> None:
    world.finish(world.tournament(8, duplicate=True, sessions=4, deals=1).id, play_randomly)
    shown = arena("tournament", "standings", "cup").out.splitlines()
    assert shown[0].split() == ["bot", "version", "score", "points", "±", "raw", "wins", "opponents"]


def test_standings_and_a_bot_show_luck_once_it_is_known(arena: Arena, world: World) -> None:
    world.finish(world.tournament(4, rounds=1, sessions=4, deals=4).id, play_randomly)
    assert "decides nothing" not in arena("tournament", "standings", "cup").out
    assert "Luck taken out" not in arena("bot", "show", "owner-0/bot-0").out
    weigh(world)
    shown = arena("tournament", "standings", "cup").out
    assert shown.split("\n")[0].split()[-3:] == ["expected", "made", "±"]
    assert "this decides nothing" in shown
    [luck] = [
        line["luck"]
        for line in arena("tournament", "standings", "cup", "--json").json["standings"]
        if line["bot"] == "owner-0/bot-0@1"
    ]
    assert f"{luck['expected']:+.2f} {luck['made']:+.2f} {luck['made_plus_minus']:.2f}" in _spaced(shown)
    said = arena("bot", "show", "owner-0/bot-0").out
    assert f"chinese@1, tables of 4: {luck_told(LuckLine(**luck))}" in said


def _spaced(text: str) -> str:
    return " ".join(text.split())


def test_standings_while_the_tournament_goes_on_say_so(arena: Arena, world: World) -> None:
    world.advance(world.tournament(8).id)
    world.play(world.match_ids()[0])
    shown = arena("tournament", "standings", "cup").out.splitlines()
    assert shown[-1] == "cup is running, so this is not final: round 1 of 7, 3 of 42 sessions"
    assert arena("tournament", "standings", "cup", "--json").json["state"] == "running"
    arena("tournament", "cancel", "cup", "--yes")
    assert "not final" not in arena("tournament", "standings", "cup").out


def test_standings_with_a_crosstable_count_common_deals(arena: Arena, world: World) -> None:
    world.finish(world.tournament(8).id)
    crossed = arena("tournament", "standings", "cup", "--crosstable", "--json").json["crosstable"]
    assert crossed["before"][0][0] is None
    assert {crossed["deals"][a][b] for a in range(8) for b in range(8) if a != b} == {3 * 3 * 2}
    shown = arena("tournament", "standings", "cup", "--crosstable").out
    assert f"{crossed['before'][0][1]}/18" in shown


def test_leaderboard_shows_every_pool(arena: Arena, world: World) -> None:
    assert "no ratings yet" in arena("leaderboard").out
    world.finish(world.tournament(8).id)
    shown = arena("leaderboard").out
    assert "chinese@1, tables of 4" in shown
    lines = arena("leaderboard", "--ruleset", "chinese", "--table-size", 4, "--limit", 3, "--json").json[
        "leaderboard"
    ]
    assert [line["place"] for line in lines] == [1, 2, 3]
    assert set(lines[0]) == {
        *("ruleset", "table_size", "place", "bot", "owner", "language", "strength", "provisional"),
        *("rating", "matches", "deals", "luck", "last_played_at", "before"),
    }
    assert arena("leaderboard", "--table-size", 3, "--json").json["leaderboard"] == []
    assert_one_line(arena("leaderboard", "--ruleset", "nowhere"), 1, "nowhere")
