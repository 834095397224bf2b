"""Cached answers: who gets them, for how long, and what is never cached."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from httpx2 import ASGITransport, AsyncClient, Response
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.responses import Response as Answer
from starlette.routing import Route

from arena.web import cache
from arena.web.cache import Remembered
from arena.web.headers import Compressed, Unchanged

Get = Callable[..., Awaitable[Response]]


class Server:
    """An application that notes each time it is asked."""

    def __init__(self, seconds: float = 60, now: Callable[[], float] = lambda: 0.0) -> None:
        self.asked: list[str] = []
        self.go_on = asyncio.Event()
        self.go_on.set()
        routes = [
            Route("/wrong", self.wrong),
            Route("/stream", self.stream),
            Route("/same", self.same),
            Route("/{path:path}", self.page),
        ]
        app = Remembered(Compressed(Unchanged(Starlette(routes=routes))), seconds, now)
        self.client = AsyncClient(transport=ASGITransport(app), base_url="http://arena.test")

    async def page(self, request: Request) -> Answer:
        self.asked.append(request.url.path)
        await self.go_on.wait()
        return PlainTextResponse(f"answer {len(self.asked)} " + "x" * 2_000)

    async def same(self, request: Request) -> Answer:
        self.asked.append(request.url.path)
        return PlainTextResponse("x" * 2_000)

    async def wrong(self, request: Request) -> Answer:
        self.asked.append(request.url.path)
        return PlainTextResponse(f"answer {len(self.asked)}", 404)

    async def stream(self, request: Request) -> Answer:
        self.asked.append(request.url.path)

        async def parts() -> AsyncIterator[str]:
            yield "one "
            await self.go_on.wait()
            yield "two"

        return StreamingResponse(parts())

    async def get(self, path: str, **headers: str) -> str:
        answer = await self.client.get(path, headers=headers)
        return answer.text[:8]


async def test_answer_when_others_ask_for_it_too_then_they_get_the_same_and_it_is_worked_out_once() -> None:
    server = Server()
    server.go_on.clear()
    asking = [asyncio.create_task(server.get("/bots")) for _ in range(5)]
    while not server.asked:
        await asyncio.sleep(0)
    server.go_on.set()
    assert await asyncio.gather(*asking) == ["answer 1"] * 5
    assert await server.get("/bots") == "answer 1"
    assert await server.get("/bots?owner=ann") == "answer 2"


@pytest.mark.parametrize("header", ["Authorization", "Cookie", "Range"])
async def test_answer_when_somebody_in_particular_asks_then_it_is_theirs_alone(header: str) -> None:
    server = Server()
    assert await server.get("/bots", **{header: "one=1"}) == "answer 1"
    assert await server.get("/bots") == "answer 2"
    assert await server.get("/bots", **{header: "one=1"}) == "answer 3"


async def test_answer_when_its_time_is_over_then_it_is_worked_out_anew() -> None:
    now = 100.0
    server = Server(2, lambda: now)
    assert await server.get("/") == "answer 1"
    assert await server.get("/bots/ann/one") == "answer 2"
    now = 101.9
    assert await server.get("/") == "answer 1"
    now = 102.1
    assert await server.get("/") == "answer 3"
    assert await server.get("/bots/ann/one") == "answer 2"


async def test_answer_when_it_is_an_error_or_a_stream_then_it_is_not_kept_and_nobody_waits_for_it() -> None:
    server = Server()
    assert [await server.get("/wrong"), await server.get("/wrong")] == ["answer 1", "answer 2"]
    server.go_on.clear()
    streams = [asyncio.create_task(server.get("/stream")) for _ in range(3)]
    while server.asked.count("/stream") < 3:
        await asyncio.sleep(0)
    server.go_on.set()
    assert await asyncio.gather(*streams) == ["one two"] * 3


async def test_answer_when_the_asker_has_it_then_that_is_told_and_worked_out_once_too() -> None:
    server = Server()
    first = await server.client.get("/same")
    assert first.headers["content-encoding"] == "gzip"
    for _ in range(2):
        again = await server.client.get("/same", headers={"If-None-Match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
    assert len(server.asked) == 2
    plain = await server.client.get("/same", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers


async def test_answer_when_working_it_out_fails_then_the_next_one_who_waits_asks_again() -> None:
    server = Server()
    server.go_on.clear()
    first = asyncio.create_task(server.get("/bots"))
    while not server.asked:
        await asyncio.sleep(0)
    second = asyncio.create_task(server.get("/bots"))
    await asyncio.sleep(0)
    first.cancel()
    server.go_on.set()
    assert await second == "answer 2"


async def test_answers_when_there_are_too_many_then_those_kept_first_are_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cache, "MOST_KEPT", 2)
    server = Server()
    for path in ("/1", "/2", "/3"):
        await server.get(path)
    assert await server.get("/3") == "answer 3"
    assert await server.get("/1") == "answer 4"


async def test_answers_when_none_are_to_be_kept_then_everybody_is_answered_anew() -> None:
    server = Server(0)
    assert [await server.get("/bots"), await server.get("/bots")] == ["answer 1", "answer 2"]
