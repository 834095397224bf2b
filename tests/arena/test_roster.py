"""A tournament as organisers see it: in full, with warnings where something is missing or makes no sense."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from arena.bots import versions
from arena.core.formats import FORMATS
from arena.core.specs import Plan
from arena.host.settings import Settings
from arena.tournaments import creation, entry
from arena.tournaments.referees import NO_REFEREE, Answer, Ask, nobody_asked
from arena.tournaments.roster import MOST_NAMED, absence, roster
from arena.tournaments.warnings import different_rounds, list_warnings, plan_warnings
from referee.matches.match import Presence
from referee.net.client import RefereeStatus
from referee.v1 import bots_pb2, cards_pb2
from tests.arena.cli import Arena, assert_one_line, make_arena
from tests.arena.fakes import ROOT
from tests.arena.world import World
from tests.referee.support import WORKER_TOKEN, WireBot, referee

NOBODY = (
    f"no referee reports which bots are connected: {NO_REFEREE}; is `arena up` or `arena referee` running?"
)


def here(*connected: int, lacking: Mapping[int, str] | None = None) -> Ask:
    """Stand in for three referees: these versions are connected to the second, and the third is away."""

    def ask(version_ids: Sequence[int], _ruleset: Mapping[str, object] | None) -> list[Answer]:
        none = tuple(Presence(False, 0, 0) for _ in version_ids)
        lacks = {one: (text,) for one, text in (lacking or {}).items()}
        some = tuple(Presence(one in connected, 4, 0, lacks.get(one, ())) for one in version_ids)
        answers = [Answer(":1", RefereeStatus(False, 0, 0, 0, 0, bots)) for bots in (none, some)]
        return [*answers, Answer(":3", None, "away")]

    return ask


@pytest.fixture
def arena(migrated: Settings, capsys: pytest.CaptureFixture[str]) -> Arena:
    return make_arena(migrated.data, capsys)


def test_roster_when_referees_answer_then_it_says_who_is_missing_and_who_cannot_play(world: World) -> None:
    names = world.register(7)
    world.tournament_of(names, format="swiss", rounds=3)
    versions.revoke_version(world.storage, ROOT, names[1], world.clock())
    entry.withdraw(world.storage, ROOT, "cup", names[6], world.clock())
    lines = roster(world.storage, "cup", world.clock(), here(1, 4, 5, 6, 7, lacking={5: "4 seats"}))
    assert [(line.bot, line.connected, line.problem) for line in lines] == [
        (names[0], True, None),
        (names[1], False, "is not connected (its token is revoked)"),
        (names[2], False, "is not connected"),
        (names[3], True, None),
        (names[4], True, "cannot play chinese@1: it asks for 4 seats"),
        (names[5], True, None),
        (names[6], None, None),
    ]
    assert absence(lines, nobody_asked) == [f"{line.bot} {line.problem}" for line in lines if line.problem]


def test_roster_when_another_version_of_a_missing_bot_is_connected_then_it_is_named(world: World) -> None:
    names = world.register(4)
    for _ in range(2):
        versions.register_version(world.storage, ROOT, "owner-1/bot-1", world.clock())
    world.tournament_of(names)
    lines = roster(world.storage, "cup", world.clock(), here(1, 3, 5, 6))
    assert [line.problem for line in lines] == [
        None,
        "is not connected, but owner-1/bot-1@3 is",
        None,
        "is not connected",
    ]


def test_roster_when_no_referee_answers_then_nobody_is_said_to_be_missing(world: World) -> None:
    world.tournament(4)
    lines = roster(world.storage, "cup", world.clock(), nobody_asked)
    assert {(line.connected, line.problem) for line in lines} == {(None, None)}
    assert absence(lines, nobody_asked) == [NOBODY]


def test_roster_when_the_tournament_has_ended_then_no_referee_is_asked(world: World) -> None:
    world.finish(world.tournament(4).id)

    def never(*_: object) -> Sequence[Answer]:
        raise AssertionError

    assert len(roster(world.storage, "cup", world.clock(), never)) == 4


def test_absence_when_many_are_missing_then_some_are_named_and_the_others_counted(world: World) -> None:
    world.tournament(MOST_NAMED + 4)
    lines = absence(roster(world.storage, "cup", world.clock(), here(1)), here(1))
    assert len(lines) == MOST_NAMED + 1
    assert lines[-1] == "3 more could not play now"


async def test_show_and_start_when_bots_are_missing_then_they_say_so_and_start_goes_on(
    world: World, arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = world.register(8)
    creation.create(world.storage, ROOT, world.spec(names, format="swiss", rounds=3), world.clock())
    missing = [name for at, name in enumerate(names) if at not in (1, 2)]
    async with referee() as address:
        monkeypatch.setenv("ARENA_REFEREES", address)
        monkeypatch.setenv("ARENA_WORKER_TOKEN", WORKER_TOKEN)
        async with WireBot(address, 2), WireBot(address, 3):
            shown = await asyncio.to_thread(arena, "tournament", "show", "cup")
            as_json = await asyncio.to_thread(arena, "tournament", "show", "cup", "--json")
            started = await asyncio.to_thread(arena, "tournament", "start", "cup", "--json")
    assert "8 entrants, 2 of 8 connected" in shown.out
    assert shown.out.count("is not connected") == 6
    lines = {line["bot"]: line for line in as_json.json["roster"]}
    assert [name for name, line in lines.items() if not line["connected"]] == missing
    assert started.status == 0
    assert started.json["state"] == "running"
    assert started.json["warnings"] == [f"{name} is not connected" for name in missing]


def test_start_when_no_referee_answers_then_that_is_a_warning(world: World, arena: Arena) -> None:
    creation.create(world.storage, ROOT, world.spec(world.register(8)), world.clock())
    started = arena("tournament", "start", "cup")
    assert (started.status, started.err) == (0, f"warning: {NOBODY}\n")
    assert "cup is running" in started.out


def test_show_has_settings_progress_and_what_became_of_entrants(world: World, arena: Arena) -> None:
    names = world.register(9)
    cup = world.tournament_of(names, format="swiss", rounds=3, bank_ms=60_000)
    world.advance(cup.id)
    entry.withdraw(world.storage, ROOT, "cup", names[0], world.clock())
    entry.withdraw(world.storage, ROOT, "cup", names[1], world.clock())
    world.finish(cup.id)
    shown = arena("tournament", "show", "cup").out.splitlines()
    assert [line.split() for line in shown if "bank_ms" in line] == [["bank_ms", "60000"]]
    assert [line for line in shown if names[0] in line and "withdrew after round 1" in line]
    assert [line for line in shown if "progress: round 3 of 3, " in line]
    found = arena("tournament", "show", "cup", "--json").json
    assert (found["tournament"], found["state"], found["round"]) == ("cup", "finished", 3)
    assert found["settings"]["bank_ms"] == 60_000
    assert [line["withdrawn_after"] for line in found["roster"]] == [1, 1] + [None] * 7
    assert "name" not in found


def test_show_when_the_field_is_large_then_only_those_are_listed_of_whom_there_is_something_to_say(
    world: World, arena: Arena
) -> None:
    names = world.register(60)
    world.tournament_of(names, format="swiss", rounds=3)
    entry.withdraw(world.storage, ROOT, "cup", names[7], world.clock())
    shown = arena("tournament", "show", "cup").out
    assert [name for name in names if name in shown] == [names[7]]
    assert "59 others are not listed; --json has all" in shown


PLAN: dict[str, Any] = {"sessions": 4, "deals": 6}

DOUBTS: dict[str, tuple[str, int, dict[str, Any], str]] = {
    "five rounds for one table": ("swiss", 4, {"rounds": 5}, "4 bots fill tables of 4 in 1 way only"),
    "more rounds than ways": ("swiss", 5, {"rounds": 6}, "5 bots fill tables of 4 in 5 ways only"),
    "a round-robin twice": ("round-robin", 4, {"rounds": 2}, "the 2 rounds repeat them"),
    "one deal": ("swiss", 8, {"rounds": 3, "sessions": 1, "deals": 1}, "a match is a single deal"),
    "nothing to compare": ("swiss", 7, {"rounds": 3, "duplicate": True}, "7 bots fill only one table of 4"),
}

SENSIBLE: dict[str, tuple[str, int, dict[str, Any]]] = {
    "a Swiss": ("swiss", 8, {"rounds": 5}),
    "as many rounds as ways": ("swiss", 5, {"rounds": 5}),
    "a large field": ("swiss", 10_000, {"rounds": 100}),
    "batches": ("continuous", 4, {"rounds": 50}),
    "as many rounds as it takes": ("round-robin", 4, {}),
    "one deal, the same everywhere": (
        "swiss",
        8,
        {"rounds": 3, "sessions": 1, "deals": 1, "duplicate": True},
    ),
    "as the ruleset says": ("swiss", 8, {"rounds": 3, "sessions": 1, "deals": None}),
}


@pytest.mark.parametrize(("format", "entrants", "plan", "told"), DOUBTS.values(), ids=DOUBTS)
def test_plan_when_it_makes_no_sense_then_that_is_said(
    format: str, entrants: int, plan: dict[str, Any], told: str
) -> None:
    [found] = plan_warnings(format, Plan(**PLAN | plan), 4, entrants)
    assert told in found


@pytest.mark.parametrize(("format", "entrants", "plan"), SENSIBLE.values(), ids=SENSIBLE)
def test_plan_when_it_makes_sense_then_nothing_is_said(
    format: str, entrants: int, plan: dict[str, Any]
) -> None:
    assert format in FORMATS
    assert list(plan_warnings(format, Plan(**PLAN | plan), 4, entrants)) == []


@pytest.mark.parametrize(
    ("entrants", "size", "count"), [(4, 4, 1), (5, 4, 5), (8, 4, 35), (4, 2, 3), (5, 2, 15), (3, 4, 1)]
)
def test_different_rounds_are_counted(entrants: int, size: int, count: int) -> None:
    assert different_rounds(entrants, size) == count


def test_doubts_when_a_bot_withdrew_then_those_who_stay_count(world: World) -> None:
    names = world.register(8)
    spec = world.spec(names, format="swiss", rounds=3, sessions=2, min_sessions=3)
    creation.create(world.storage, ROOT, spec, world.clock())
    limits = "min_sessions is 3, but a match has only 2 sessions"
    assert list_warnings(world.storage, "cup") == [limits]
    for name in names[4:]:
        entry.withdraw(world.storage, ROOT, "cup", name, world.clock())
    ways = "4 bots fill tables of 4 in 1 way only: the 3 rounds repeat them"
    assert list_warnings(world.storage, "cup") == [ways, limits]


TOML = """
name = "cup"
format = "swiss"
ruleset = "house.toml"
rounds = 5
sessions = 2
deals = 3
entrants = ["owner-0/bot-0", "owner-1/bot-1", "owner-2/bot-2", "owner-3/bot-3"]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "house.toml").write_text('name = "house"\nextends = "chinese"\n')
    (folder / "cup.toml").write_text(TOML)
    return folder / "cup.toml"


def test_create_when_the_plan_makes_no_sense_then_it_is_made_with_a_warning(
    arena: Arena, world: World, file: Path
) -> None:
    world.register(4)
    made = arena("tournament", "create", file)
    assert made.status == 0
    assert made.err == "warning: 4 bots fill tables of 4 in 1 way only: the 5 rounds repeat them\n"
    assert json.loads(arena("tournament", "start", "cup", "--json").out)["warnings"][0] in made.err


def test_create_from_a_file_and_options_takes_the_options_first(
    arena: Arena, world: World, file: Path
) -> None:
    names = world.register(8)
    entrants = [part for name in names for part in ("--entrant", name)]
    options = ["--allow-same-owner", "--name", "other", "--rounds", 1, *entrants]
    made = arena("tournament", "create", file, *options, "--json").json
    assert (made["ruleset"], made["rounds"], made["sessions"]) == ("house@1", 1, 2)
    assert made["entrants"] == 8
    assert world.status("other").deals == 3


def test_create_with_a_ruleset_file_as_option_looks_for_it_here_and_not_beside_the_file(
    arena: Arena, world: World, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.register(4)
    (tmp_path / "here.toml").write_text('name = "here"\nextends = "chinese"\n')
    monkeypatch.chdir(tmp_path)
    assert arena("tournament", "create", file, "--ruleset", "here.toml", "--json").json["ruleset"] == "here@1"


def test_create_when_an_option_is_wrong_then_the_file_is_not_blamed(
    arena: Arena, world: World, file: Path
) -> None:
    world.register(4)
    file.write_text(TOML.replace("rounds = 5", "rounds = 0").replace("sessions = 2", "sessions = 0"))
    refused = arena("tournament", "create", file, "--rounds", 0)
    assert refused.status == 1
    own, files = sorted(refused.err.splitlines(), key=lambda line: str(file) in line)
    assert own.startswith("error: rounds: ")
    assert files.startswith(f"error: {file}:6: sessions: ")


def test_create_and_start_in_one(arena: Arena, world: World, file: Path) -> None:
    world.register(4)
    made = arena("tournament", "create", file, "--start", "--rounds", 1)
    assert made.status == 0
    assert "cup is running" in made.out
    assert "arena tournament watch cup" in made.out
    assert made.err == f"warning: {NOBODY}\n"


def test_create_and_start_when_there_is_a_beacon_then_nothing_is_created(
    arena: Arena, world: World, file: Path
) -> None:
    world.register(4)
    assert_one_line(arena("tournament", "create", file, "--start", "--beacon", "drand 1"), 2, "--start")
    assert arena("tournament", "list", "--json").json["tournaments"] == []


async def test_create_and_start_when_a_bot_cannot_play_then_it_is_created_and_that_is_said(
    arena: Arena, world: World, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.register(4)
    async with referee() as address:
        monkeypatch.setenv("ARENA_REFEREES", address)
        monkeypatch.setenv("ARENA_WORKER_TOKEN", WORKER_TOKEN)
        async with WireBot(address, 2, capabilities=bots_pb2.Capabilities(max_seats=3)):
            made = await asyncio.to_thread(arena, "tournament", "create", file, "--start", "--rounds", 1)
    assert (made.status, made.out) == (1, "")
    warned, refused = made.err.splitlines()
    assert warned == "warning: cup is created, but not started"
    assert "owner-1/bot-1@1 cannot play house@1" in refused
    assert world.status().state == "created"


def test_help_of_create_says_that_options_come_first(arena: Arena) -> None:
    assert "options override the file's fields" in " ".join(
        arena("tournament", "create", "--help").out.split()
    )


async def test_connected_bots_are_listed_with_referee_sessions_and_what_they_play(
    arena: Arena, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = world.register(5)
    bounds = bots_pb2.Capabilities(max_seats=3, max_packs=1, max_card=cards_pb2.CARD_2S)
    async with referee() as address:
        monkeypatch.setenv("ARENA_REFEREES", f"{address},127.0.0.1:1")
        monkeypatch.setenv("ARENA_WORKER_TOKEN", WORKER_TOKEN)
        async with WireBot(address, 2, capabilities=bounds), WireBot(address, 5, max_sessions=7):
            shown = await asyncio.to_thread(arena, "bot", "list", "--connected")
            as_json = await asyncio.to_thread(arena, "bot", "list", "--connected", "--json")
            of_owner = await asyncio.to_thread(
                arena, "bot", "list", "--connected", "--owner", "owner-0", "--json"
            )
    assert [(one["bot"], one["referee"]) for one in as_json.json["bots"]] == [
        (names[4], address),
        (names[1], address),
    ]
    assert [one["bounds"] for one in as_json.json["bots"]] == [
        [],
        ["at most 3 seats", "at most 1 pack", "cards up to CARD_2S"],
    ]
    assert as_json.json["bots"][0]["max_sessions"] == 7
    assert [one["bot"] for one in of_owner.json["bots"]] == [names[4]]
    assert "everything" in shown.out
    assert shown.err == ("warning: referee 127.0.0.1:1 cannot be reached: nothing listens there\n")


def test_connected_bots_when_no_referee_answers_then_that_is_an_error(
    arena: Arena, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.register(1)
    assert_one_line(arena("bot", "list", "--connected"), 1, "no referee has been started")
    monkeypatch.setenv("ARENA_REFEREES", "127.0.0.1:1")
    monkeypatch.setenv("ARENA_WORKER_TOKEN", WORKER_TOKEN)
    refused = arena("bot", "list", "--connected", "--json")
    assert_one_line(refused, 1, "no referee reported its bots: referee 127.0.0.1:1 cannot be reached")
