"""A bot's deals as its author reads them: on the arena's machine and through a referee."""

import json
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlmodel import select

from arena.bots.deals import read_deals
from arena.bots.journal import DatabaseJournal, read_log, readable_versions
from arena.bots.versions import rotate_version, versions_for
from arena.errors import SpecError, UnknownError
from arena.host.settings import Settings
from arena.play.rounds import planning
from arena.store.models import Match, Session
from arena.store.storage import Storage
from referee.errors import AddressError, LogClosed, LogQueryError
from referee.matches.journal import BotDeal, DealQuery, Entry, EntryKind, LogQuery
from referee.matches.match import DealsFinished, MatchSpec, Progress, SessionResult
from referee.net import client
from tests.arena.cli import Arena, assert_one_line, make_arena
from tests.arena.exported import play_by_table
from tests.arena.fakes import ROOT
from tests.arena.test_journal import running_referee
from tests.arena.world import World

MINE = "owner-0/bot-0"
VOID = "  void: this attempt at the session was broken off, and the fault does not count\n"


@pytest.fixture
def arena(migrated: Settings, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Arena:
    monkeypatch.delenv("ARENA_TOKEN", raising=False)
    return make_arena(migrated.data, capsys)


def play_cup(world: World, bots: int = 4, **fields: object) -> None:
    """Play a cup of 3 sessions of 2 deals, round by round."""
    world.finish(world.tournament(bots, **fields).id, play_by_table)


def places(deals: list[BotDeal]) -> list[tuple[str, int]]:
    return [(deal.session_id, deal.record["deal"]) for deal in deals]


def all_of(world: World, **fields: object) -> list[BotDeal]:
    query = DealQuery(**(vars_of(DealQuery(MINE, limit=1000)) | fields))  # type: ignore[arg-type]
    versions = versions_for(world.storage, ROOT, query.bot)
    found: list[BotDeal] = []
    while len(found) < query.limit:
        page = read_deals(world.storage, versions, replace(query, limit=query.limit - len(found)))
        found += page.deals
        if page.before is None:
            break
        query = replace(query, before=page.before, limit=query.limit)
    return found


def vars_of(query: DealQuery) -> dict[str, object]:
    return {name: getattr(query, name) for name in query.__slots__}


def test_deals_when_a_bot_has_played_then_they_are_its_own_the_newest_first(world: World) -> None:
    play_cup(world, 8, format="swiss", rounds=1)
    deals = all_of(world)
    with world.storage.read() as tx:
        tables = {row.id: row.table_number for row in tx.exec(select(Match))}
        points = {
            (f"cup/1/{tables[row.match_id]}/{row.number}", deal): by_seat
            for row in tx.exec(select(Session))
            for deal, by_seat in enumerate(row.deal_points, start=1)
        }
    assert len(deals) == 6
    assert places(deals) == sorted(places(deals), reverse=True)
    for deal in deals:
        assert deal.bot == deal.record["seats"][deal.seat] == f"{MINE}@1"
        by_seat = points[deal.session_id, deal.record["deal"]]
        assert deal.points == by_seat[deal.seat]
        assert deal.lost == (max(by_seat) > deal.points)
        assert deal.record["format"] == "bigtwo-deal/1"


def test_deals_when_some_are_asked_for_then_others_are_left_out(world: World) -> None:
    play_cup(world, rounds=1, sessions=6)
    deals = all_of(world)
    lost = all_of(world, lost=True)
    assert lost == [deal for deal in deals if deal.lost]
    assert 0 < len(lost) < len(deals)
    for name, count in (
        ("cup", 12),
        ("cup/1", 12),
        ("cup/1/1/", 12),
        ("cup/1/1/2", 2),
        ("cup/2", 0),
        ("c", 0),
    ):
        assert len(all_of(world, session=name)) == count, name
    for name in ("cup/x", "cup/1/1/1/1", "cup//1", "cup/²", "cup/١"):
        with pytest.raises(SpecError, match=r"^session: "):
            all_of(world, session=name)
    assert all_of(world, bot=f"{MINE}@1") == deals
    with pytest.raises(UnknownError):
        all_of(world, bot=f"{MINE}@2")


@pytest.mark.parametrize("lost", [False, True])
def test_deals_when_they_are_read_in_pages_then_none_is_missing_or_twice(
    world: World, lost: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    play_cup(world)
    monkeypatch.setattr("arena.bots.deals.MOST_SESSIONS", 1)
    found: list[BotDeal] = []
    query: DealQuery | None = DealQuery(MINE, lost=lost, limit=1)
    while query is not None:
        page = read_deals(world.storage, {1: f"{MINE}@1"}, query)
        assert len(page.deals) <= 1
        found += page.deals
        query = DealQuery(MINE, lost=lost, limit=1, before=page.before) if page.before else None
    monkeypatch.undo()
    assert found == all_of(world, lost=lost)


def test_deals_when_two_versions_sit_at_one_table_then_each_has_its_own(world: World) -> None:
    names = [*world.register(3), world.register(1)[0]]
    assert names[3] == f"{MINE}@2"
    world.finish(world.tournament_of(names, rounds=1).id, play_by_table)
    deals = all_of(world)
    assert len(deals) == 12
    assert {deal.bot for deal in deals} == {f"{MINE}@1", f"{MINE}@2"}
    paged: list[BotDeal] = []
    before = None
    for _ in range(12):
        page = read_deals(
            world.storage, {1: f"{MINE}@1", 4: f"{MINE}@2"}, DealQuery(MINE, limit=1, before=before)
        )
        paged += page.deals
        before = page.before
    assert paged == deals


def play_one_table(route: int, spec: MatchSpec) -> Generator[SessionResult | Progress]:
    """Play only the first table of a round; the others are still being played."""
    if spec.table == 1:
        yield from play_by_table(route, spec)


@pytest.mark.parametrize("duplicate", [False, True])
def test_deals_when_other_tables_still_play_them_then_they_are_not_shown(
    world: World, duplicate: bool
) -> None:
    cup = world.tournament(8, format="swiss", rounds=1, deals=1, duplicate=duplicate)
    world.advance(cup.id)
    for match in world.messages:
        world.play(match, play_one_table)
    with world.storage.read() as tx:
        first = tx.exec(select(Match).where(Match.table_number == 1)).one()
        assert first.sessions_done == 3
    seen = [deal for number in range(8) for deal in deals_of(world, number)]
    assert len(seen) == (0 if duplicate else 4 * 3)
    world.clock.move(60)
    world.finish(cup.id, play_by_table)
    assert len([deal for number in range(8) for deal in deals_of(world, number)]) == 8 * 3


def deals_of(world: World, number: int) -> list[BotDeal]:
    return all_of(world, bot=f"owner-{number % 4}/bot-{number}")


def test_games_when_shown_then_a_line_tells_how_each_deal_went(world: World, arena: Arena) -> None:
    play_cup(world, rounds=1)
    deals = all_of(world)[::-1]
    lines = arena("bot", "games", MINE).out.splitlines()
    header, *rows, order = [line for line in lines if line.strip(" ─━┃│-")]
    assert order == "the newest deal is the last"
    heads = "session deal bot version seat points best left end turns ms median longest credit"
    assert header.split() == heads.split()
    assert [row.split()[:2] for row in rows] == [[name, str(number)] for name, number in places(deals)]
    assert [row.split()[4] for row in rows] == [f"{deal.points:+d}" for deal in deals]
    found = [json.loads(line) for line in arena("bot", "games", MINE, "--lost", "--json").out.splitlines()]
    lost = [deal for deal in deals if deal.lost]
    assert [(one["session_id"], one["record"]["deal"]) for one in found] == places(lost)
    assert {one["bot"] for one in found} == {f"{MINE}@1"}
    whole = arena("bot", "games", MINE, "--limit", 1, "--whole").out
    last = deals[-1]
    assert whole.startswith(f"{MINE}@1 in {last.session_id}, seat {last.seat}: {last.points:+d}\n")
    assert last.record["hands"][0] in whole
    assert arena("bot", "games", MINE, "--session", "cup/9").out == "no matching deals\n"
    assert arena("bot", "games", MINE, "--session", "cup/9", "--json").out == ""
    assert_one_line(arena("bot", "games", "nobody/here"), 1, "no bot 'nobody/here'")


def test_games_when_an_author_asks_a_referee_then_they_are_those_of_its_bot_alone(
    world: World, arena: Arena, settings: Settings, tmp_path: Path
) -> None:
    play_cup(world, rounds=1)
    token = rotate_version(world.storage, ROOT, MINE, world.clock()).token
    file = tmp_path / "token"
    file.write_text(f"{token}\n", encoding="utf-8-sig")  # as some editors save it
    here = arena("bot", "games", MINE, "--json").out
    with running_referee(world.storage, settings) as address:
        far = ("--referee", address, "--token-file", file)
        assert arena("bot", "games", MINE, "--json", *far).out == here
        assert list(client.read_deals(address, token, DealQuery(MINE, limit=5))) == all_of(world)[:5]
        assert [*client.read_deals(address, token, DealQuery(MINE, lost=True))] == all_of(world, lost=True)
        other = arena("bot", "games", "owner-1/bot-1", *far)
        assert_one_line(other, 1, "token", "not one of owner-1/bot-1")
        with pytest.raises(LogClosed):
            list(client.read_deals(address, token, DealQuery("owner-1/bot-1")))
        with pytest.raises(LogQueryError, match="session: "):
            list(client.read_deals(address, token, DealQuery(MINE, session="cup/x")))
        assert arena("bot", "log", MINE, *far).out == "no matching entries\n"
        assert_one_line(arena("bot", "games", MINE, "--referee", address), 2, "--token", "ARENA_TOKEN")
        missing = arena("bot", "games", MINE, "--referee", address, "--token-file", tmp_path / "none")
        assert_one_line(missing, 2, "--token-file", "cannot read", "No such file")
    with pytest.raises(AddressError, match="has no port"):
        list(client.read_deals("localhost", token, DealQuery(MINE)))


def test_pages_when_a_referee_has_many_deals_then_all_come(
    world: World, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    play_cup(world, rounds=1, sessions=6)
    token = rotate_version(world.storage, ROOT, MINE, world.clock()).token
    monkeypatch.setattr("referee.protocol.logs.LARGEST_PAGE_OF_DEALS", 5)
    with running_referee(world.storage, settings) as address:
        found = list(client.read_deals(address, token, DealQuery(MINE, limit=1000)))
    assert found == all_of(world)
    assert len(found) > 10


def fault(session: str, deal: int, attempt: int = 1) -> Entry:
    details = {"deal": deal} | ({"attempt": attempt} if attempt > 1 else {})
    return Entry(1, EntryKind.FAULT, "illegal", f"{session} {deal} {attempt}", session, details)


def void(storage: Storage) -> list[str]:
    """Return the faults in the log whose attempt was void."""
    entries = read_log(storage, {1: f"{MINE}@1"}, LogQuery(MINE, limit=100))
    return [entry.text for entry in entries if entry.details.get("void")]


def test_fault_when_its_attempt_came_to_nothing_then_the_log_says_so(world: World, arena: Arena) -> None:
    cup = world.tournament(4, rounds=1, sessions=2)
    world.advance(cup.id)
    [message] = world.messages

    def broken(route: int, spec: MatchSpec) -> Generator[SessionResult | Progress | DealsFinished]:
        """Break off before the first session has ended."""
        yield from ()

    faults = [
        fault("cup/1/1/1", 1),
        fault("cup/1/1/2", 1),
        fault("cup/9/1/1", 1),
        fault("nonsense", 1),
    ]
    with DatabaseJournal(world.storage, "here") as journal:
        for one in faults:
            journal.add(one)
    world.play(message, broken)
    assert void(world.storage) == []
    with DatabaseJournal(world.storage, "here") as journal:
        journal.add(fault("cup/1/1/2", 1, 2))
    world.clock.move(3600)
    world.finish(cup.id, play_by_table)
    assert void(world.storage) == ["cup/1/1/1 1 1", "cup/1/1/2 1 1"]
    token = rotate_version(world.storage, ROOT, MINE, world.clock()).token
    shown = arena("bot", "log", MINE, "--token", token).out
    assert shown.count(VOID) == 2
    assert "attempt 2, deal 1" in shown
    assert readable_versions(world.storage, MINE, token) == {1: f"{MINE}@1"}


def test_fault_when_its_tournament_is_cancelled_then_it_is_void(world: World) -> None:
    cup = world.tournament(4, rounds=1)
    world.advance(cup.id)
    with DatabaseJournal(world.storage, "here") as journal:
        journal.add(fault("cup/1/1/1", 1))
    assert void(world.storage) == []
    planning.cancel(world.storage, ROOT, "cup", world.clock())
    assert void(world.storage) == ["cup/1/1/1 1 1"]
