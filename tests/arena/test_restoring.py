"""What is played again after a backup is restored: other cards, and an export that can be verified."""

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Generator
from contextlib import ExitStack, asynccontextmanager, closing
from pathlib import Path

import pytest

from arena.actors import Actor, Role
from arena.errors import NotAllowed
from arena.host.settings import Settings
from arena.play.matches import leases
from arena.play.matches.playing import Run
from arena.running.backups import Lost, contents, deal_anew
from arena.store.models import MatchState
from arena.store.storage import Storage, open_storage
from arena.tournaments import creation, lifecycle
from arena.tournaments.referees import nobody_asked
from arena.trust.verify import check_export, compare, read_log, sessions_in
from referee.bot.client import BotClient
from referee.bot.sessionlog import SessionLog
from referee.matches.match import DealsFinished, MatchSpec, SessionResult, Update
from referee.net.client import run_match
from referee.service.begun import BegunAttempts
from referee.service.server import ServerOptions
from tests.arena.cli import Arena, assert_one_line, make_arena
from tests.arena.exported import check, lines_of, play_by_table, problem, with_new_digests
from tests.arena.fakes import ROOT, Clock
from tests.arena.test_attempts import play_whole, void_after
from tests.arena.world import LEASE, World
from tests.referee.key import KEY
from tests.referee.support import WORKER_TOKEN, lowest, referee


@pytest.fixture
def arena(migrated: Settings, capsys: pytest.CaptureFixture[str]) -> Arena:
    return make_arena(migrated.data, capsys)


def dealt(world: World, name: str = "cup") -> dict[tuple[int, int, int, int], str]:
    """Return the seeds of a tournament's deals, by round, table, session and number."""
    records = [one for one in map(json.loads, lines_of(world, name)) if "deal" in one]
    return {(one["round"], one["table"], one["session"], one["deal"]): one["seed"] for one in records}


Dealt = dict[tuple[str, int, int, int], str]
"""The hands that were dealt, by match, session, attempt and deal."""


def watched(run: Run, dealt: Dealt) -> Run:
    """Return a run that adds to ``dealt`` what is dealt in it."""

    def watched(route: int, spec: MatchSpec) -> Generator[Update]:
        attempts = {session.number: session.attempt for session in spec.sessions}
        with closing(run(route, spec)) as updates:
            for update in updates:
                if isinstance(update, SessionResult | DealsFinished):
                    for deal in map(json.loads, update.records):
                        place = (spec.match_id, update.number, attempts[update.number], deal["deal"])
                        dealt[place] = str(deal["hands"])
                yield update

    return watched


@asynccontextmanager
async def real_bots(folder: Path, count: int, dealt: Dealt) -> AsyncIterator[Run]:
    """Run a referee, which keeps its memory in the folder, and bots with their logs; yield what runs a match.

    What was dealt is added to ``dealt``.
    """
    with ExitStack() as stack:
        begun = stack.enter_context(BegunAttempts(folder / "begun.db"))
        logs = [SessionLog(lambda bot: folder / f"{bot.replace('/', '-')}.log") for _ in range(count)]
        for log in logs:
            stack.callback(log.close)
        options = ServerOptions(drain_seconds=0, key=KEY, begun=begun)
        async with referee(options=options) as address:
            clients = [
                BotClient(lowest, f"bot-{number}", keep=log.add) for number, log in enumerate(logs, start=1)
            ]
            playing = [asyncio.create_task(client.run([address])) for client in clients]

            yield watched(lambda _, spec: run_match(address, WORKER_TOKEN, spec), dealt)
            for client in clients:
                client.leave()
            await asyncio.gather(*playing)


def copy_database(source: Path, target: Path) -> None:
    """Copy what is committed, over whatever the target holds, even if it is open."""
    with closing(sqlite3.connect(source)) as of, closing(sqlite3.connect(target)) as to:
        of.backup(to)


def restored(settings: Settings) -> World:
    return World(open_storage(settings), Clock())


@pytest.mark.parametrize(
    "terms",
    [
        {"format": "swiss", "rounds": 3, "sessions": 2, "deals": 3},
        {"format": "round-robin", "sessions": 2, "deals": 3},
        {"format": "swiss", "rounds": 2, "sessions": 2, "deals": None, "duplicate": True},
    ],
    ids=["swiss", "round-robin", "duplicate"],
)
def test_restore_of_a_tournament_that_went_on_deals_other_cards_and_its_export_can_be_checked(
    arena: Arena, migrated: Settings, tmp_path: Path, terms: dict[str, object]
) -> None:
    copy = tmp_path / "backup.db"
    with open_storage(migrated) as storage:
        world = World(storage, Clock())
        cup = world.tournament(8, **terms).id
        world.advance(cup)
        first, second = world.messages[:2]
        world.play(first, play_whole)
        kept = {
            (1, 1, 1, 1),
            (1, 1, 2, 1),
        }  # which exports still leave out if others have yet to play them
        if terms["deals"]:
            world.play(second, void_after(1))
            kept |= {(1, 2, 1, 1), (1, 2, 2, 1)}
        assert arena("backup", copy).status == 0
        before = dealt(world)
        world.clock.move(60)
        world.finish(cup, play_whole)
        seen = dealt(world)
    back = arena("restore", copy, "--yes")
    assert (back.status, back.err.splitlines()[0]) == (
        0,
        "warning: ended since the backup, and run again: cup",
    )
    assert back.out.splitlines()[-1] == "dealt with new cards from here on: cup"
    world = restored(migrated)
    with world.storage:
        assert world.match_ids(MatchState.RUNNING) == []
        world.clock.move(120)
        world.finish(cup, play_whole)
        again = dealt(world)
        assert {where: again[where] for where in before} == before
        new = {seed for where, seed in again.items() if where not in {*before, *kept}}
        assert new
        assert new.isdisjoint(seen.values())
        assert {again[where] for where in kept} <= {*seen.values()}
        assert check(lines_of(world)).problem is None


@pytest.mark.parametrize("state", ["created", "running"])
async def test_database_when_it_goes_back_under_a_referee_then_no_cards_are_dealt_twice(
    world: World, migrated: Settings, tmp_path: Path, state: str
) -> None:
    database, earlier = migrated.data / "arena.db", tmp_path / "earlier.db"
    spec = world.spec(world.register(8), format="swiss", rounds=2, sessions=2, deals=2)
    cup = creation.create(world.storage, ROOT, spec, world.clock()).id
    copy_database(database, earlier)
    lifecycle.start(world.storage, ROOT, "cup", world.clock(), nobody_asked)
    world.advance(cup)
    if state == "running":
        copy_database(database, earlier)
    dealt: Dealt = {}
    async with real_bots(tmp_path, 8, dealt) as run:
        assert await asyncio.to_thread(world.play, world.messages[0], run)
    lost = len(dealt)
    assert lost == 4
    copy_database(earlier, database)
    world.clock.move(10)
    if state == "created":
        lifecycle.start(world.storage, ROOT, "cup", world.clock(), nobody_asked)
    async with real_bots(tmp_path, 8, dealt) as run:  # the referee, too, was started again
        await asyncio.to_thread(world.finish, cup, run)
    assert len(dealt) == lost + 16
    assert len({*dealt.values()}) == len(dealt)
    lines = lines_of(world)
    events = [one["event"] for one in map(json.loads, lines) if one.get("part") == "event"]
    assert events == ["started", "void", "restored", "finished"]
    logs = [read_log(file) for file in tmp_path.glob("*.log")]
    assert len(logs) == 8
    report = check_export((line.encode() for line in lines), session_names=sessions_in(logs))
    assert (report.problem, report.state) == (None, "finished")
    assert [problem for log in logs for problem in compare(log, [report]).problems] == []


async def test_database_when_it_went_back_before_a_tournament_was_locked_then_the_first_event_says_so(
    world: World, migrated: Settings, tmp_path: Path
) -> None:
    names = world.register(4)
    creation.create(world.storage, ROOT, world.spec(names, sessions=1, deals=1), world.clock())
    deal_anew(world.storage, ROOT, world.clock())
    lifecycle.start(world.storage, ROOT, "cup", world.clock(), nobody_asked)
    world.finish(1, play_whole)
    parts = [json.loads(line) for line in lines_of(world)]
    assert [one["event"] for one in parts if one.get("part") == "event"] == [
        "restored",
        "started",
        "finished",
    ]
    assert check(lines_of(world)).problem is None


def test_restore_twice_of_one_backup_deals_other_cards_each_time(world: World) -> None:
    cup = world.tournament(4, deals=1).id
    for _ in range(2):  # within one second
        assert deal_anew(world.storage, ROOT, world.clock()) == ["cup"]
    world.finish(cup, play_whole)
    [first, second] = [one for one in map(json.loads, lines_of(world)) if one.get("event") == "restored"]
    assert first["details"]["attempts_above"] < second["details"]["attempts_above"]
    attempts = [one["attempt"] for one in map(json.loads, lines_of(world)) if "deal" in one]
    assert {*attempts} == {second["details"]["attempts_above"] + 1}
    assert check(lines_of(world)).problem is None


def test_restore_when_an_attempt_was_running_then_it_came_to_nothing_and_what_it_finished_stays(
    world: World,
) -> None:
    cup = world.tournament(4, sessions=2, deals=3).id
    world.advance(cup)
    match = world.messages.pop()
    world.play(match, void_after(1))
    world.clock.move(10)
    assert leases.claim(world.storage, match, world.clock(), LEASE) is not None
    deal_anew(world.storage, ROOT, world.clock())
    world.finish(cup, play_whole)
    parts = [json.loads(line) for line in lines_of(world)]
    assert check(lines_of(world)).problem is None
    events = [(one["event"], one["details"].get("attempts")) for one in parts if one.get("part") == "event"]
    first, second = {"1": 1, "2": 1}, {"1": 2, "2": 2}
    assert events == [
        ("started", None),
        ("void", first),
        ("void", second),
        ("restored", None),
        ("finished", None),
    ]
    attempts = [one.get("attempt", 1) for one in parts if "deal" in one]
    above = next(one for one in parts if one.get("event") == "restored")["details"]["attempts_above"]
    assert attempts == [1, above + 1, above + 1] * 2


def test_restore_before_a_tournament_is_locked_draws_another_seed(world: World) -> None:
    creation.create(world.storage, ROOT, world.spec(world.register(4)), world.clock())
    before = world.status().seed_hash
    deal_anew(world.storage, ROOT, world.clock())
    assert world.status().seed_hash != before


def test_restore_takes_an_operator(storage: Storage, world: World) -> None:
    with pytest.raises(NotAllowed):
        deal_anew(storage, Actor(Role.AUTHOR, "ann"), world.clock())


def test_restore_without_a_file_gives_new_cards_to_what_was_restored_by_other_means(
    arena: Arena, world: World
) -> None:
    world.tournament(4)
    assert arena("restore", "--json").json["anew"] == ["cup"]
    world.finish(world.tournament(4, name="later").id)
    assert arena("restore").out.splitlines()[-1] == "dealt with new cards from here on: cup"


@pytest.mark.parametrize(
    ("above", "found"),
    [(None, "must be a whole number from 1 on, not null"), (1, "is 1, which is not above 999999999")],
)
def test_verify_when_the_number_after_a_restore_makes_no_sense_then_it_says_so(
    world: World, above: object, found: str
) -> None:
    cup = world.tournament(4, deals=1).id
    deal_anew(world.storage, ROOT, world.clock())
    world.finish(cup, play_by_table)
    parts = [json.loads(line) for line in lines_of(world)]
    next(one for one in parts if one.get("event") == "restored")["details"]["attempts_above"] = above
    assert found in problem(with_new_digests([json.dumps(one) for one in parts]))


def test_verify_when_an_attempt_has_another_number_than_the_event_says_then_it_says_so(world: World) -> None:
    cup = world.tournament(4, deals=1).id
    deal_anew(world.storage, ROOT, world.clock())
    world.finish(cup, play_by_table)
    parts = [json.loads(line) for line in lines_of(world)]
    next(one for one in parts if one.get("event") == "restored")["details"]["attempts_above"] += 1
    assert "attempts" in problem(with_new_digests([json.dumps(one) for one in parts]))


def test_losses_are_what_the_backup_has_not(
    world: World, migrated: Settings, tmp_path: Path, arena: Arena
) -> None:
    cup = world.tournament(4).id
    copy = tmp_path / "backup.db"
    assert arena("backup", copy).status == 0
    world.finish(cup)
    world.finish(world.tournament(5, name="later").id)
    now, then = contents(migrated.data / "arena.db"), contents(copy)
    assert now is not None
    assert then is not None
    assert now - then == Lost(again=("cup",), gone=("later",), sessions=3 + 15, bots=5)
    assert now - now == Lost((), (), 0, 0)
    assert contents(tmp_path / "nothing") is None


def test_restore_when_the_arena_is_in_use_then_that_is_said_before_anything_is_asked(
    arena: Arena, world: World, tmp_path: Path
) -> None:
    copy = tmp_path / "backup.db"
    arena("backup", copy)
    with world.storage.read() as tx:
        tx.connection()
        assert_one_line(arena("restore", copy), 1, "is in use; stop everything first")
