"""Matches in play over HTTP: hands are hidden, and one subscription at the referee serves all viewers."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import httpx2
import pytest
from fastapi.testclient import TestClient
from pydantic import SecretStr

from arena.actors import Role
from arena.host.settings import Settings
from arena.people import accounts, browsers
from arena.store.models import utc_now
from arena.tournaments.overview import TournamentStatus
from arena.web.app import make_app
from arena.web.asking import COOKIE
from arena.web.feeds import PING
from arena.web.routes.events import sent
from arena.web.routing import PREFIX
from arena.web.serving import Server
from arena.web.watching import ENDED, STOP, WITHHELD_WORDS, LeftBehind, Watched, delayed, written
from arena.web.watching import Told as Sent
from referee.ruleset import load_ruleset
from referee.v1 import bots_pb2, spectators_pb2
from tests.arena.exported import play_by_table
from tests.arena.fakes import ROOT
from tests.arena.web.conftest import PASSWORD
from tests.arena.web.markup import Read
from tests.arena.web.served import served, url_of
from tests.arena.web.test_pages import client as client
from tests.arena.world import World
from tests.referee.support import (
    LEGAL_PLAYS,
    OPTIONS,
    WORKER_TOKEN,
    WireBot,
    lowest,
    match_spec,
    play_match,
    referee,
    sdk_bots,
)
from tests.waiting import DEADLINE

Told = tuple[str, Any]
MATCH = "/matches/cup/1/1"
EVENTS = (f"{MATCH}/live/events", f"{PREFIX}{MATCH}/events")
"""The event streams for pages and for programs."""


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask the referees often, and send every step immediately."""
    monkeypatch.setattr("arena.web.watching.RETRY_SECONDS", 0.02)
    monkeypatch.setattr("arena.web.watching.TELL_SECONDS", 0.0)
    monkeypatch.setattr("arena.web.watching.MOST_STEPS", 1_000)


def begun(world: World, **fields: object) -> TournamentStatus:
    """Start a cup of one match."""
    cup = world.tournament(4, rounds=1, **fields)
    world.advance(cup.id)
    return cup


@asynccontextmanager
async def watched(
    server: Server, events: str = EVENTS[0], cookie: str = ""
) -> AsyncIterator[AsyncIterator[Told]]:
    """Watch the cup's first match, with the cookie of a signed-in account, if any; yield the events."""
    async with (
        httpx2.AsyncClient(timeout=DEADLINE, cookies={COOKIE: cookie} if cookie else None) as http,
        http.stream("GET", url_of(server) + events) as answer,
    ):
        assert answer.status_code == 200
        yield told_in(answer.aiter_lines())


async def told_in(lines: AsyncIterator[str]) -> AsyncIterator[Told]:
    """Yield the events in the lines of a stream."""
    fields: dict[str, str] = {}
    async for line in lines:
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
        elif "event" in fields:
            yield fields["event"], json.loads(fields["data"])
            fields = {}


async def until(told: AsyncIterator[Told], kind: str) -> list[Told]:
    """Return the events up to the first one of a kind."""
    found = []
    async with asyncio.timeout(DEADLINE):
        async for one in told:
            found.append(one)
            if one[0] == kind:
                return found
    raise AssertionError(f"the stream ended without {kind}")


async def test_match_when_it_is_watched_then_hands_are_hidden_until_the_deal_is_over_and_all_see_the_same(
    world: World, migrated: Settings
) -> None:
    cup = begun(world, sessions=1, deals=2)
    async with referee() as address, sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)):
        app = make_app(migrated.model_copy(update={"referees": (address,)}), world.storage)
        with served(app) as server:
            async with watched(server) as first:
                assert await until(first, "idle")
                started = asyncio.Event()
                spec = match_spec(deals=2, match_id="cup/1/1")
                running = asyncio.create_task(play_match(address, spec, started))
                async with WireBot(address, 4, wants=LEGAL_PLAYS) as slow:
                    await started.wait()
                    [*_, (_, deal)] = await until(first, "deal")
                    steps = deal["data"]["steps"]
                    assert set(" ".join(steps[0]["hands"].values()).split()) == {"?"}
                    async with watched(server, EVENTS[1]) as second:
                        again = (await until(second, "deal"))[-1][1]["data"]["steps"]
                        assert again[: len(steps)] == steps
                        turn = await slow.next("turn")
                        await slow.move(turn, turn.legal_plays[0].cards)
                        assert app.state.web.watching.watched == 1
                        await until(second, "step")
                async with sdk_bots(address, {4: lowest}):
                    [result] = await running
                told = await until(first, "over")
            deals = [json.loads(record) for record in result.records]
            ends = [one["step"] for kind, one in told if kind == "step" and one["step"]["kind"] == "end"]
            assert [end["points"] for end in ends] == [record["points"] for record in deals]
            assert [one["deal"] for kind, one in told if kind == "deal"] == [2]
            hidden = [one["step"] for kind, one in told if kind == "step" and one["step"]["kind"] != "end"]
            assert {
                card for step in hidden for hand in step.get("hands", {}).values() for card in hand.split()
            } <= {"?"}
            async with watched(server) as third:
                await until(third, "idle")
                await asyncio.to_thread(world.finish, cup.id, play_by_table)
                assert (await until(third, "end"))[-1] == ("end", {})
        assert app.state.web.watching.watched == 0


async def test_match_when_its_deals_are_played_at_other_tables_too_then_it_is_not_shown(
    world: World, migrated: Settings
) -> None:
    begun(world)
    async with referee() as address, sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)):
        app = make_app(migrated.model_copy(update={"referees": (address,)}), world.storage)
        started = asyncio.Event()
        spec = replace(match_spec(deals=1, match_id="cup/1/1"), shared_deals=True)
        running = asyncio.create_task(play_match(address, spec, started))
        async with WireBot(address, 4, wants=LEGAL_PLAYS):
            await started.wait()
            with served(app) as server:
                async with watched(server) as told:
                    [(_, idle)] = await until(told, "idle")
        assert idle["why"] == WITHHELD_WORDS["anyone"]
        async with sdk_bots(address, {4: lowest}):
            await running


async def test_match_when_spectators_need_tokens_then_organisers_see_it_and_others_are_told_why_not(
    world: World, migrated: Settings
) -> None:
    begun(world)
    accounts.create_account(world.storage, ROOT, "olga", Role.ORGANISER, utc_now(), PASSWORD)
    session, _ = browsers.sign_in(world.storage, "olga", PASSWORD, utc_now())
    closed = replace(OPTIONS, open_to_spectators=False)
    async with referee(options=closed) as address, sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)):
        fields = {"referees": (address,), "spectators": "token", "worker_token": SecretStr(WORKER_TOKEN)}
        started = asyncio.Event()
        spec = match_spec(deals=1, match_id="cup/1/1")
        running = asyncio.create_task(play_match(address, spec, started))
        async with WireBot(address, 4, wants=LEGAL_PLAYS):
            await started.wait()
            with served(make_app(migrated.model_copy(update=fields), world.storage)) as server:
                async with watched(server) as told:
                    [(_, idle)] = await until(told, "idle")
                async with watched(server, cookie=session) as told:
                    assert await until(told, "deal")
        assert idle["why"] == WITHHELD_WORDS["token"]
        async with sdk_bots(address, {4: lowest}):
            await running


async def test_server_when_it_is_told_to_stop_then_those_who_watch_are_let_go(
    world: World, migrated: Settings
) -> None:
    begun(world)
    app = make_app(migrated, world.storage)
    with served(app) as server:
        async with watched(server) as told:
            await until(told, "idle")
            server.should_exit = True
            async with asyncio.timeout(DEADLINE):
                assert [one async for one in told] == []


def test_page_of_a_match_when_it_is_played_then_it_leads_to_the_live_page(
    world: World, client: TestClient
) -> None:
    cup = begun(world)
    assert "/matches/cup/1/1/live" in Read(client.get("/matches/cup/1/1").text).links
    assert client.get("/matches/cup/1/1/live").status_code == 200
    world.finish(cup.id, play_by_table)
    assert "/matches/cup/1/1/live" not in Read(client.get("/matches/cup/1/1").text).links
    assert "This match is over." in Read(client.get("/matches/cup/1/1/live").text).text
    for path in ("/matches/cup/2/1/live", *(one.replace("/1/1/", "/2/1/") for one in EVENTS)):
        assert client.get(path).status_code == 404


async def test_updates_when_they_are_delayed_then_all_come_in_order_and_the_failure_last() -> None:
    async def call() -> AsyncIterator[spectators_pb2.WatchMatchResponse]:
        for session in range(5):
            action = spectators_pb2.WatchAction(session=session)
            yield spectators_pb2.WatchMatchResponse(updates=[spectators_pb2.WatchUpdate(action=action)])
        raise ConnectionError("the referee is gone")

    found: list[int] = []

    async def read() -> None:
        async for updates in delayed(call(), 0.01):
            found.extend(update.action.session for update in updates)

    with pytest.raises(ConnectionError, match="the referee is gone"):
        await read()
    assert found == [0, 1, 2, 3, 4]


async def test_stream_when_much_is_told_at_once_then_it_comes_in_one_piece_up_to_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("arena.web.routes.events.PING_SECONDS", 0.0)
    queue: asyncio.Queue[Sent] = asyncio.Queue()
    pieces = sent(queue)
    assert await anext(pieces) == PING
    told = [written(("step", {"n": number})) for number in range(3)]
    for one in (*told, ENDED, STOP):
        queue.put_nowait(one)
    assert [one async for one in pieces] == [b"".join((*told, ENDED))]


async def test_stream_when_the_server_stops_then_it_ends_after_what_was_told() -> None:
    queue: asyncio.Queue[Sent] = asyncio.Queue()
    told = written(("step", {}))
    for one in (told, STOP, told):
        queue.put_nowait(one)
    assert [one async for one in sent(queue)] == [told]


def begin(match: Watched, session: int) -> None:
    """Begin a session and its first deal."""
    ruleset = json.dumps(load_ruleset("chinese").to_object())
    seats = [f"owner/bot-{seat}@1" for seat in range(4)]
    name = f"cup/1/1/{session}"
    started = bots_pb2.SessionStarted(session=session, session_id=name, ruleset=ruleset, seats=seats)
    dealt = bots_pb2.DealStarted(
        session=session, deal=1, hand_sizes=[13] * 4, direction=bots_pb2.DIRECTION_CLOCKWISE
    )
    match.take(spectators_pb2.WatchUpdate(session_started=started))
    match.take(spectators_pb2.WatchUpdate(deal_started=dealt))


def play(match: Watched, session: int, plays: int) -> None:
    """Have the seats of a session play one card each in turn."""
    for number in range(plays):
        played = spectators_pb2.WatchAction(session=session, seat=number % 4, kind=bots_pb2.ACTION_KIND_PLAY)
        played.cards.append(number + 1)  # type: ignore[arg-type]
        match.take(spectators_pb2.WatchUpdate(action=played))


def follower(match: Watched) -> asyncio.Queue[Sent]:
    """Return the queue of a new follower."""
    queue: asyncio.Queue[Sent] = asyncio.Queue()
    match.followers.add(queue)
    return queue


def told_to(queue: asyncio.Queue[Sent]) -> list[Told]:
    """Return what a follower has been sent since the last time."""
    return [read(queue.get_nowait()) for _ in range(queue.qsize())]


def steps_of(told: Told) -> list[str]:
    """Return the kinds of the steps of a deal that was sent as a whole."""
    return [step["kind"] for step in told[1]["data"]["steps"]]


async def test_follower_when_it_is_far_behind_then_it_is_told_anew_how_all_stands(
    migrated: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.web.watching.BEHIND", 3)
    match = Watched(migrated, "cup/1/1", lambda: False)
    behind = follower(match)
    begin(match, 2)
    for _ in range(3):
        play(match, 2, 1)
        match.tell()
    [deal] = told_to(behind)
    assert (deal[0], deal[1]["session"]) == ("deal", 2)
    assert steps_of(deal) == ["dealt", "play", "play", "play"]
    with pytest.raises(LeftBehind):
        match.take(spectators_pb2.WatchUpdate(left_out=spectators_pb2.LeftOut(updates=1)))


async def test_deal_when_it_runs_too_fast_then_how_it_stands_is_told_in_place_of_its_steps(
    migrated: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.web.watching.MOST_STEPS", 4)
    match = Watched(migrated, "cup/1/1", lambda: False)
    one = follower(match)
    begin(match, 1)
    play(match, 1, 3)
    match.tell()
    assert [kind for kind, _ in told_to(one)] == ["deal", "step", "step", "step"]
    play(match, 1, 5)
    ended = bots_pb2.SessionEnded(session=1, scores=[0, 0, 0, 0])
    match.take(spectators_pb2.WatchUpdate(session_ended=ended))
    match.tell()
    deal, over = told_to(one)
    assert (steps_of(deal), over[0]) == (["dealt", *["play"] * 8], "over")


async def test_deal_when_it_is_sent_in_part_then_its_end_is_sent_before_the_next_one(
    migrated: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.web.watching.MOST_STEPS", 4)
    match = Watched(migrated, "cup/1/1", lambda: False)
    one = follower(match)
    begin(match, 1)
    play(match, 1, 3)
    match.tell()
    told_to(one)
    for deal in (2, 3):  # the second one is over before viewers are sent anything of it
        left = [bots_pb2.Hand(cards=[]) for _ in range(4)]
        ended = bots_pb2.DealEnded(session=1, points=[0] * 4, scores=[0] * 4, left=left, out=[0])
        match.take(spectators_pb2.WatchUpdate(deal_ended=ended))
        dealt = bots_pb2.DealStarted(
            session=1, deal=deal, hand_sizes=[13] * 4, direction=bots_pb2.DIRECTION_CLOCKWISE
        )
        match.take(spectators_pb2.WatchUpdate(deal_started=dealt))
        play(match, 1, 2)
    match.tell()
    whole, present = told_to(one)
    assert [told["deal"] for _, told in (whole, present)] == [1, 3]
    assert (steps_of(whole), steps_of(present)) == (["dealt", *["play"] * 3, "end"], ["dealt", *["play"] * 2])


async def test_match_when_it_has_many_sessions_then_some_are_told_of_and_another_one_when_one_has_ended(
    migrated: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.web.watching.SHOWN", 2)
    match = Watched(migrated, "cup/1/1", lambda: False)
    one = follower(match)
    for session in (1, 2, 3):
        begin(match, session)
        play(match, session, 1)
    match.tell()
    assert [(kind, told["session"]) for kind, told in told_to(one)] == [
        ("deal", 1),
        ("step", 1),
        ("deal", 2),
        ("step", 2),
    ]
    ended = bots_pb2.SessionEnded(session=1, scores=[0, 0, 0, 0])
    match.take(spectators_pb2.WatchUpdate(session_ended=ended))
    dealt = bots_pb2.DealStarted(
        session=3, deal=2, hand_sizes=[13] * 4, direction=bots_pb2.DIRECTION_CLOCKWISE
    )
    match.take(spectators_pb2.WatchUpdate(deal_started=dealt))
    match.tell()
    assert [(kind, told["session"]) for kind, told in told_to(one)] == [("over", 1), ("deal", 3)]
    assert [told["session"] for _, told in map(read, match.state())] == [2, 3]


def read(sent: Sent) -> Told:
    """Return the type and the data of a message."""
    kind, data, *_ = sent.decode().splitlines()
    return kind.removeprefix("event: "), json.loads(data.removeprefix("data: "))
