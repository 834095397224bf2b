"""Finding notable deals among all that may be shown, and bots with faults."""

import csv
import io
import json
import shlex
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlmodel import select

from arena.errors import UnknownError
from arena.host.settings import Settings
from arena.queries import faults, highlights
from arena.queries.highlights import DealLine, HighlightQuery, deal_of_day, find_deals, notable_deals
from arena.store.models import BotVersion, FaultTally, HighlightKind, Session
from referee.matches.kinds import FaultKind
from tests.arena.cli import Arena, assert_one_line, make_arena
from tests.arena.random_play import play_randomly, play_with_faults
from tests.arena.world import World

BOT = "owner-0/bot-0@1"
BOTS = [f"owner-{number % 4}/bot-{number}" for number in range(8)]
"""The bots of a tournament of eight."""


@pytest.fixture
def arena(migrated: Settings, capsys: pytest.CaptureFixture[str]) -> Arena:
    return make_arena(migrated.data, capsys)


def test_deals_when_the_swing_is_asked_for_then_the_largest_of_each_session_come_first(pool: World) -> None:
    found = find_deals(pool.storage, HighlightQuery(HighlightKind.SWING), 1000).deals
    with pool.storage.read() as tx:
        swings = [
            max(max(map(abs, points)) for points in row.deal_points) for row in tx.exec(select(Session))
        ]
    assert [line.value for line in found] == sorted(swings, reverse=True)
    assert all(line.value == max(map(abs, line.points)) for line in found)
    closest = find_deals(pool.storage, HighlightQuery(HighlightKind.CLOSEST), 1000).deals
    assert [line.value for line in closest] == sorted(line.value for line in closest)
    for line in closest:
        second, first = sorted(line.points)[-2:]
        assert line.value == first - second


@pytest.mark.parametrize("kind", [HighlightKind.CLOSEST, HighlightKind.LONGEST])
@pytest.mark.parametrize("size", [1, 7])
def test_deals_when_they_are_read_in_pages_then_they_are_the_whole(
    pool: World, kind: HighlightKind, size: int
) -> None:
    pool.finish(pool.tournament_of(pool.register(2), name="two", ruleset="chinese-2").id, play_randomly)
    whole = find_deals(pool.storage, HighlightQuery(kind), 1000)
    assert {line.table_size for line in whole.deals} == {2, 4}
    found, cursor = list[DealLine](), None
    while True:
        page = find_deals(pool.storage, HighlightQuery(kind), size, cursor)
        found += page.deals
        cursor = page.next
        if cursor is None:
            break
    assert found == [*whole.deals]


def test_deals_when_some_are_asked_for_then_the_others_are_left_out(pool: World) -> None:
    whole = find_deals(pool.storage, HighlightQuery(HighlightKind.LONGEST), 1000).deals
    for asked, wanted in (
        (HighlightQuery(HighlightKind.LONGEST, bot=BOT), [line for line in whole if BOT in line.bots]),
        (
            HighlightQuery(HighlightKind.LONGEST, tournament="later"),
            [line for line in whole if line.tournament == "later"],
        ),
        (HighlightQuery(HighlightKind.LONGEST, ruleset="chinese", table_size=4), [*whole]),
        (HighlightQuery(HighlightKind.LONGEST, table_size=2), []),
    ):
        assert [*find_deals(pool.storage, asked, 1000).deals] == wanted
    for asked, meant in (
        (HighlightQuery(HighlightKind.SWING, bot="owner-0/bt-0"), "owner-0/bot-0"),
        (HighlightQuery(HighlightKind.SWING, tournament="lter"), "later"),
        (HighlightQuery(HighlightKind.SWING, ruleset="chinee"), "chinese"),
    ):
        with pytest.raises(UnknownError, match=f"did you mean '{meant}"):
            find_deals(pool.storage, asked)


def test_deal_of_the_day_when_days_follow_then_it_stands_out_most_among_those_of_the_newest(
    pool: World,
) -> None:
    first, second = (pool.status(name).finished_at for name in ("cup", "later"))
    assert first is not None
    assert second is not None
    assert deal_of_day(pool.storage, first) is None
    for until, played in ((second, "cup"), (second + timedelta(seconds=1), "later")):
        found = deal_of_day(pool.storage, until)
        assert found is not None
        kinds = [*HighlightKind]
        turn = found.finished_at.toordinal() % len(kinds)
        alike = [
            line
            for kind in (kinds + kinds)[turn : turn + len(kinds)]
            for line in find_deals(pool.storage, HighlightQuery(kind, tournament=played), 1000).deals
        ]
        assert found == alike[0]


@pytest.mark.parametrize("kind", HighlightKind)
@pytest.mark.parametrize("looked_up", [True, False])
def test_deals_of_a_bot_and_of_a_tournament_are_the_same_however_they_are_found(
    pool: World, kind: HighlightKind, looked_up: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = find_deals(pool.storage, HighlightQuery(kind), 1000).deals
    monkeypatch.setattr(highlights, "AT_ONCE", 1)
    if not looked_up:
        monkeypatch.setattr(highlights, "_few_matches", lambda *_: None)
    for asked, wanted in (
        (HighlightQuery(kind, bot=BOT), [line for line in whole if BOT in line.bots]),
        (HighlightQuery(kind, tournament="later"), [line for line in whole if line.tournament == "later"]),
    ):
        first = find_deals(pool.storage, asked, 2)
        rest = () if first.next is None else find_deals(pool.storage, asked, 1000, first.next).deals
        assert [*first.deals, *rest] == wanted


def test_deals_when_others_are_still_to_play_them_then_they_are_left_out(world: World) -> None:
    cup = world.tournament(8, duplicate=True, rounds=1, deals=1)
    world.advance(cup.id)
    world.play(world.messages.pop(), play_randomly)
    every = HighlightQuery(HighlightKind.SWING)
    found = {
        asked: find_deals(world.storage, asked, 1000).deals
        for asked in (every, replace(every, tournament="cup"), *(replace(every, bot=bot) for bot in BOTS))
    }
    assert {*found.values()} == {()}
    assert all(notable_deals(world.storage, bot) == () for bot in BOTS)
    world.finish(cup.id, play_randomly)
    for asked in found:
        assert find_deals(world.storage, asked).deals != ()
    assert all(notable_deals(world.storage, bot) != () for bot in BOTS)


def test_deal_find_prints_the_command_that_shows_the_deal(arena: Arena, pool: World) -> None:
    shown = arena("deal", "find", "longest", "--limit", 1).out.splitlines()
    command = shown[2][shown[2].index("arena match show") :].rstrip()
    assert shown[3].startswith("more: --cursor ")
    _, *words = shlex.split(command)
    seen = arena(*words)
    [line] = find_deals(pool.storage, HighlightQuery(HighlightKind.LONGEST), 1).deals
    assert seen.status == 0
    assert f"session {line.session}, deal {line.deal}: chinese@1" in seen.out
    [row] = csv.DictReader(io.StringIO(arena("deal", "find", "longest", "--limit", 1, "--csv").out))
    assert (row["kind"], row["value"], row["deal"]) == ("longest", str(line.value), str(line.deal))


@pytest.mark.parametrize("kind", ["best-made", "worst-made"])
def test_deal_find_when_it_is_of_what_was_made_then_the_command_shows_how_lucky_the_deal_was(
    arena: Arena, pool: World, kind: str
) -> None:
    shown = arena("deal", "find", kind, "--limit", 1).out.splitlines()[2]
    _, *words = shlex.split(shown[shown.index("arena deal luck") :])
    seen = arena(*words)
    [line] = find_deals(pool.storage, HighlightQuery(HighlightKind(kind)), 1).deals
    luck = arena(*words, "--json").json["luck"]
    assert line.value in (round(max(luck["made"])), round(-min(luck["made"])))
    heads, _, *rows = seen.out.splitlines()
    assert " ".join(heads.split()) == "seat bot version points expected from the cards made of them"
    for seat, bot in enumerate(line.bots):
        figures = [f"{line.points[seat]:+d}", *(f"{luck[key][seat]:+.2f}" for key in ("expected", "made"))]
        assert rows[seat].split() == [str(seat), bot, *figures]
    assert seen.out.endswith("standings follow the points and scores that were made\n")


def test_deal_luck_when_it_is_not_known_then_it_says_so(arena: Arena, world: World) -> None:
    world.finish(world.tournament(4).id, play_randomly)
    assert "not known yet: workers compute" in arena("deal", "luck", "cup", 1, 1, 1, 1).out


@pytest.mark.parametrize(
    ("arguments", "status", "part"),
    [
        (["deal", "find", "best"], 2, "'KIND': 'best' is not one of"),
        (["deal", "find", "swing", "--cursor", "xx"], 1, "cursor: "),
        (["deal", "find", "swing", "--tournament", "cupp"], 1, "did you mean 'cup'?"),
        (["bot", "faults", "--owner", "ownr-1"], 1, "did you mean 'owner-1'?"),
        (["bot", "faults", "--kind", "none"], 2, "none"),
        (["bot", "faults", "--cursor", "W10"], 1, "cursor: "),
    ],
)
def test_question_when_it_is_wrong_then_one_line_says_so(
    arena: Arena, pool: World, arguments: list[object], status: int, part: str
) -> None:
    assert_one_line(arena(*arguments), status, part)


def test_faults_when_bots_made_some_then_they_are_counted_by_kind(arena: Arena, world: World) -> None:
    world.finish(world.tournament(4).id, play_with_faults)
    found = faults.faults_by_bot(world.storage).bots
    assert [(line.faults, line.illegal, line.timeout) for line in found] == [(6, 3, 3), (3, 0, 3)]
    names = json.loads(arena("match", "show", "cup", 1, 1, "--json").out)["bots"]
    assert [line.bot for line in found] == [names[1], names[0]]
    shown = arena("bot", "faults").out.splitlines()
    assert shown[2].split() == [names[1], "6", "3", "3"]
    assert "faults, rated or not: 6 (illegal 3, timeout 3)" in arena("bot", "show", names[1]).out


def test_faults_when_they_are_read_in_pages_or_filtered_then_they_are_those(pool: World) -> None:
    with pool.storage.write() as tx:
        for row in tx.exec(select(BotVersion)).all():
            for kind in (FaultKind.TIMEOUT, FaultKind.FLOOD):
                count = 1 + row.id % 3
                tx.add(FaultTally(version_id=row.id, ruleset_id=1, table_size=4, kind=kind, count=count))
    whole = faults.faults_by_bot(pool.storage).bots
    assert len(whole) == 9
    assert [line.faults for line in whole] == sorted((line.faults for line in whole), reverse=True)
    assert all((line.timeout, line.flood) == (line.faults / 2, line.faults / 2) for line in whole)
    pages, cursor = list[faults.FaultsLine](), None
    while True:
        page = faults.faults_by_bot(pool.storage, limit=2, cursor=cursor)
        pages += page.bots
        cursor = page.next
        if cursor is None:
            break
    assert pages == [*whole]
    own = faults.faults_by_bot(pool.storage, faults.FaultQuery(owner="owner-1", kind=FaultKind.FLOOD)).bots
    assert {line.bot for line in own} == {"owner-1/bot-1@1", "owner-1/bot-5@1"}
    assert all((line.faults, line.timeout) == (line.flood, 0) for line in own)
    assert faults.faults_by_bot(pool.storage, faults.FaultQuery(table_size=5)).bots == ()
