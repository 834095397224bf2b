"""Event streams over a real socket: events as they happen, from where a client left off, to the end."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

import httpx2
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from arena.store.storage import Storage
from arena.tournaments import changing, creation, lifecycle
from arena.tournaments.events import TournamentUpdate, updates
from arena.tournaments.referees import nobody_asked
from arena.web import feeds
from arena.web.callers import Slots
from arena.web.feeds import Feeds
from arena.web.routing import PREFIX
from arena.web.serving import Server
from tests.arena.fakes import ROOT
from tests.arena.web.served import served, url_of
from tests.arena.world import World
from tests.waiting import DEADLINE, wait_for


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list of how many tournaments each look at the database was for."""
    looks: list[int] = []

    def counted(storage: Storage, known: Mapping[str, int | None]) -> list[TournamentUpdate]:
        looks.append(len(known))
        return updates(storage, known)

    monkeypatch.setattr(feeds, "updates", counted)
    return looks


@pytest.fixture
def server(app: FastAPI, world: World) -> Iterator[Server]:
    """Serve the application on a socket, looking at the database often."""
    app.state.web = replace(app.state.web, feeds=Feeds(world.storage, 0.02), streams=Slots("streams", 3, 4))
    with served(app) as server:
        yield server


Told = tuple[str, str | None, dict[str, object]]
"""The type, the id and the data of an event."""


@contextmanager
def followed(server: Server, name: str, after: int | None = None) -> Iterator[Iterator[Told]]:
    """Follow a tournament, and yield its events."""
    headers = {} if after is None else {"Last-Event-ID": str(after)}
    url = f"{url_of(server)}{PREFIX}/tournaments/{name}/events"
    with httpx2.stream("GET", url, headers=headers, timeout=DEADLINE) as answer:
        assert answer.status_code == 200, answer.read()
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield told_in(answer.iter_lines())


def told_in(lines: Iterator[str]) -> Iterator[Told]:
    """Yield the events in the lines of a stream."""
    fields: dict[str, str] = {}
    for line in lines:
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
        elif "event" in fields:
            yield fields["event"], fields.get("id"), json.loads(fields["data"])
            fields = {}


def test_stream_when_a_tournament_goes_on_then_it_tells_that_at_once_and_ends_with_it(
    server: Server, world: World
) -> None:
    id = world.tournament().id
    with followed(server, "cup") as told:
        kind, _, status = next(told)
        assert (kind, status["tournament"], status["state"]) == ("status", "cup", "running")
        kind, number, event = next(told)
        assert (kind, number, event["event"]) == ("event", "1", "started")
        lifecycle.pause(world.storage, ROOT, "cup", world.clock())
        kind, _, status = next(told)
        assert (kind, status["state"]) == ("status", "paused")
        kind, number, event = next(told)
        assert (kind, number, event["event"]) == ("event", "2", "paused")
        lifecycle.resume(world.storage, ROOT, "cup", world.clock())
        world.finish(id)
        rest = list(told)
    assert rest[-1] == ("end", None, {"tournament": "cup", "state": "finished"})
    assert [one["event"] for kind, _, one in rest if kind == "event"] == ["resumed", "finished"]


@pytest.mark.parametrize(("after", "numbers"), [(None, ["1", "2"]), (1, ["2"]), (2, []), (999, ["1", "2"])])
def test_stream_when_it_is_resumed_then_it_goes_on_after_the_last_event(
    server: Server, world: World, after: int | None, numbers: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    world.finish(world.tournament().id)
    monkeypatch.setattr("arena.tournaments.events.MOST_EVENTS", 1)
    with followed(server, "cup", after) as told:
        found = list(told)
    assert [kind for kind, *_ in (found[0], found[-1])] == ["status", "end"]
    assert [number for kind, number, _ in found if kind == "event"] == numbers


def test_streams_when_there_are_several_then_the_database_is_looked_at_once_for_all(
    server: Server, world: World, looks: list[int]
) -> None:
    bots = world.register(8)
    for name in ("cup", "other"):
        world.tournament_of(bots, name=name)
    with followed(server, "cup") as one, followed(server, "cup") as two, followed(server, "other") as three:
        for told in (one, two, three):
            next(told)
        before = len(looks)
        wait_for(lambda: len(looks) > before + 3)
        assert set(looks[before + 1 :]) == {2}
        lifecycle.pause(world.storage, ROOT, "cup", world.clock())
        for told in (one, two):
            assert "paused" in [
                status.get("state") for _, (_, _, status) in zip(range(2), told, strict=False)
            ]
    wait_for(lambda: not server.config.app.state.web.feeds.followed)  # type: ignore[union-attr]


def test_streams_when_a_caller_has_as_many_as_may_be_then_another_is_refused_and_one_that_ends_makes_room(
    server: Server, anybody: TestClient, world: World
) -> None:
    world.tournament()
    slots = server.config.app.state.web.streams  # type: ignore[union-attr]
    with followed(server, "cup") as one, followed(server, "cup") as two:
        for told in (one, two):
            next(told)
        with followed(server, "cup") as three:
            next(three)
            url = f"{url_of(server)}{PREFIX}"
            refused = httpx2.get(f"{url}/tournaments/cup/events")
            assert (refused.status_code, refused.json()["type"]) == (429, "/problems/too-many-requests")
        wait_for(lambda: slots.taken == 2)
        with followed(server, "cup") as again:
            assert next(again)[0] == "status"
    wait_for(lambda: slots.taken == 0)


def test_streams_when_the_server_stops_then_they_end_without_saying_that_the_tournament_has(
    server: Server, world: World
) -> None:
    world.tournament()
    with followed(server, "cup") as told:
        next(told)
        server.should_exit = True
        assert [kind for kind, *_ in told] == ["event"]


def test_stream_when_there_is_no_such_tournament_then_that_is_told(
    app: FastAPI, anybody: TestClient, world: World
) -> None:
    app.state.web = replace(app.state.web, ask=nobody_asked)
    assert anybody.get("/tournaments/nothing/events").status_code == 404
    wrong = anybody.get("/tournaments/nothing/events", headers={"Last-Event-ID": "x"})
    assert wrong.status_code in (404, 422)


def test_feeds_when_a_followed_tournament_is_deleted_then_its_stream_ends_and_others_go_on(
    server: Server, world: World
) -> None:
    bots = world.register(4)
    for name in ("cup", "other"):
        creation.create(world.storage, ROOT, world.spec(bots, name=name), world.clock())
    with followed(server, "cup") as told, followed(server, "other") as others:
        next(told), next(others)
        changing.delete(world.storage, ROOT, "cup", world.clock())
        assert [kind for kind, *_ in told] == ["end"]
        lifecycle.start(world.storage, ROOT, "other", world.clock(), nobody_asked)
        assert next(others)[2]["state"] == "running"
