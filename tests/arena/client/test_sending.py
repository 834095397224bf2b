"""How clients send requests: what they retry, how long they wait, and how they read the answers."""

import asyncio
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import httpx2
import pytest

from arena.client import AsyncClient, Client
from arena.client.call import LARGEST_PAGE, Call, call_of
from arena.errors import (
    ArenaError,
    NotAllowed,
    NotSignedIn,
    SpecError,
    StateError,
    TooMany,
    UnknownError,
    Unreachable,
)
from arena.operations import bots, leaderboards, rulesets
from arena.queries.board import Leaderboard

URL = "https://arena.test"
EMPTY: dict[str, Any] = {"leaderboard": [], "next": None}

Answer = Callable[[httpx2.Request], httpx2.Response]


class Played:
    """A server's answers in order, and the requests that it received; the last answer is repeated."""

    def __init__(self, *answers: httpx2.Response | Exception) -> None:
        self.answers = list(answers)
        self.requests: list[httpx2.Request] = []
        self.slept: list[float] = []
        self.told: list[str] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        with suppress(httpx2.ResponseNotRead):  # a response can be used by only one client
            return httpx2.Response(answer.status_code, headers=answer.headers, content=answer.content)
        return answer

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


Send = Callable[[Played, Call[Any]], Any]


def send_sync(played: Played, *calls: Call[Any], url: str = URL, key: str | None = "bt_key_x") -> Any:
    how: dict[str, Any] = {"transport": httpx2.MockTransport(played), "report": played.told.append}
    with Client(url, key, sleep=played.slept.append, **how) as client:
        return [client.send(call) for call in calls][-1]


def send_async(played: Played, *calls: Call[Any]) -> Any:
    async def send() -> Any:
        how: dict[str, Any] = {"transport": httpx2.MockTransport(played), "report": played.told.append}
        async with AsyncClient(URL, "bt_key_x", sleep=played.sleep, **how) as client:
            return [await client.send(call) for call in calls][-1]

    return asyncio.run(send())


@pytest.fixture(params=[send_sync, send_async], ids=["sync", "async"])
def send(request: pytest.FixtureRequest) -> Any:
    return request.param


def problem(
    status: int, kind: str, detail: str, headers: dict[str, str] | None = None, **more: Any
) -> httpx2.Response:
    body = {"type": f"/problems/{kind}", "title": "", "status": status, "detail": detail, **more}
    told = {"Content-Type": "application/problem+json", **(headers or {})}
    return httpx2.Response(status, json=body, headers=told)


def ok(body: Any = EMPTY, **headers: str) -> httpx2.Response:
    return httpx2.Response(200, json=body, headers=headers)


def test_answer_is_the_value_that_the_use_case_returns(send: Any) -> None:
    played = Played(ok())
    assert send(played, call_of(leaderboards.leaderboard, ruleset="chinese")) == Leaderboard(
        leaderboard=(), next=None
    )
    [request] = played.requests
    assert str(request.url) == f"{URL}/api/v1/leaderboard?ruleset=chinese&min_matches=1&limit=100"
    assert request.headers["Authorization"] == "Bearer bt_key_x"


REGISTERED = {"bot": "ann/one@1", "token": "bt_x"}


@pytest.mark.parametrize(
    "lost", [httpx2.ReadError(""), httpx2.ReadTimeout(""), httpx2.ConnectError("refused")]
)
def test_post_when_the_connection_is_lost_then_it_is_sent_again_with_the_same_key(
    send: Any, lost: Exception
) -> None:
    played = Played(lost, lost, httpx2.Response(201, json=REGISTERED))
    assert send(played, call_of(bots.register_bot, "ann/one")).bot == "ann/one@1"
    keys = [request.headers["Idempotency-Key"] for request in played.requests]
    assert len(keys) == 3
    assert len({*keys}) == 1
    assert [request.content for request in played.requests][1:] == [played.requests[0].content] * 2
    assert len(played.slept) == 2


def test_posts_have_a_key_each(send: Any) -> None:
    played = Played(httpx2.Response(201, json=REGISTERED))
    send(played, call_of(bots.register_bot, "ann/one"), call_of(bots.register_bot, "ann/one"))
    assert len({request.headers["Idempotency-Key"] for request in played.requests}) == 2


def test_revoking_when_the_connection_is_lost_then_it_is_not_sent_again(send: Any) -> None:
    played = Played(httpx2.ReadError(""))
    with pytest.raises(Unreachable, match=r"^the connection to https://arena.test was lost: ReadError$"):
        send(played, call_of(bots.revoke_bot, "ann/one@1"))
    assert len(played.requests) == 1


def test_server_when_it_stays_away_then_the_third_attempt_is_the_last(send: Any) -> None:
    played = Played(httpx2.ConnectError("Connection refused"))
    with pytest.raises(Unreachable, match=r"^https://arena.test cannot be reached: Connection refused$"):
        send(played, call_of(leaderboards.leaderboard))
    assert len(played.requests) == 3


def test_server_when_its_certificate_is_not_good_then_the_error_says_why(send: Any) -> None:
    cause = ssl.SSLCertVerificationError(1, "certificate verify failed: self-signed certificate")
    cause.verify_code = 18
    error = httpx2.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED]")
    error.__cause__ = cause
    with pytest.raises(Unreachable, match=r"no trusted authority; it is self-signed$"):
        send(Played(error), call_of(leaderboards.leaderboard))


@pytest.mark.parametrize(("status", "kind"), [(429, "too-many-requests"), (503, "storage")])
def test_wait_when_the_arena_asks_for_one_then_it_is_taken_and_told(
    send: Any, status: int, kind: str
) -> None:
    played = Played(problem(status, kind, "later", {"Retry-After": "7"}), ok())
    send(played, call_of(leaderboards.leaderboard))
    assert played.slept == [7]
    assert played.told == ["https://arena.test asks to wait 7 s"]


def test_wait_when_it_is_longer_than_the_clients_patience_then_the_error_is_raised(send: Any) -> None:
    played = Played(*[problem(429, "too-many-requests", "too many", {"Retry-After": "25"})] * 4)
    with pytest.raises(TooMany, match=r"^too many$"):
        send(played, call_of(leaderboards.leaderboard))
    assert played.slept == [25, 25]


@pytest.mark.parametrize(
    ("answer", "kind", "text"),
    [
        (problem(401, "not-signed-in", "the key is unknown"), NotSignedIn, "the key is unknown"),
        (problem(403, "not-allowed", "not yours"), NotAllowed, "not yours"),
        (problem(404, "unknown", "a; b", reasons=["a", "b"]), UnknownError, "a; b"),
        (problem(409, "not-now", "not now"), StateError, "not now"),
        (
            problem(422, "wrong-fields", "x", problems=[{"field": "name", "reason": "is bad"}]),
            SpecError,
            "name: is bad",
        ),
        (problem(422, "wrong-fields", "no ruleset 'x'"), ArenaError, "no ruleset 'x'"),
        (problem(500, "internal", "something went wrong"), ArenaError, "something went wrong"),
        (
            httpx2.Response(502, html="<h1>Bad Gateway</h1>"),
            Unreachable,
            "https://arena.test answers 502 Bad Gateway: is it the address of an arena?",
        ),
        (
            httpx2.Response(404, json={"detail": "Not Found"}),
            Unreachable,
            "https://arena.test answers 404 Not Found: is it the address of an arena?",
        ),
        (
            httpx2.Response(307, headers={"Location": "https://other.test/"}),
            Unreachable,
            "https://arena.test answers 307 with another address, https://other.test/: "
            "is it the address of an arena?",
        ),
        (
            httpx2.Response(200, html="<h1>Welcome</h1>"),
            Unreachable,
            "https://arena.test does not answer like an arena: text/html where JSON was expected",
        ),
        (
            httpx2.Response(200, json=[]),
            Unreachable,
            "https://arena.test does not answer as this version expects: Input should be an object",
        ),
        (
            ok({"leaderboard": [{}], "next": None}),
            Unreachable,
            "https://arena.test does not answer as this version expects: "
            "leaderboard[0].ruleset: Field required",
        ),
    ],
)
def test_answer_when_it_is_none_then_the_error_says_in_one_line_what_it_is(
    send: Any, answer: httpx2.Response, kind: type[Exception], text: str
) -> None:
    with pytest.raises(ArenaError) as raised:
        send(Played(answer), call_of(leaderboards.leaderboard))
    assert (type(raised.value), str(raised.value)) == (kind, text)


def test_answer_when_it_has_more_than_is_known_then_that_is_passed_over(send: Any) -> None:
    assert send(Played(ok({**EMPTY, "weather": "fine"})), call_of(leaderboards.leaderboard)).next is None


def test_answer_when_it_has_not_changed_then_it_is_not_sent_again(send: Any) -> None:
    played = Played(ok(ETag='"1"'), httpx2.Response(304))
    assert send(played, *[call_of(leaderboards.leaderboard)] * 2).next is None
    assert [request.headers.get("If-None-Match") for request in played.requests] == [None, '"1"']


RULESET = {"ruleset": "x@1", "name": "x", "version": 1, "players": 4, "hash": "", "summary": ""}


def test_list_when_it_is_longer_than_a_page_then_pages_are_put_together(send: Any) -> None:
    pages = [{"rulesets": [RULESET] * LARGEST_PAGE, "next": str(number)} for number in (1, 2)]
    played = Played(*map(ok, pages), ok({"rulesets": [RULESET] * 50, "next": "3"}))
    found = send(played, call_of(rulesets.list_rulesets, limit=450))
    assert (len(found.rulesets), found.next) == (450, "3")
    asked = [dict(request.url.params) for request in played.requests]
    assert asked == [{"limit": "200"}, {"limit": "200", "cursor": "1"}, {"limit": "50", "cursor": "2"}]


def test_pages_are_read_to_the_last_one() -> None:
    pages = [{"rulesets": [RULESET], "next": "1"}, {"rulesets": [], "next": None}]
    with Client(URL, transport=httpx2.MockTransport(Played(*map(ok, pages)))) as client:
        assert [len(page.rulesets) for page in client.pages(rulesets.list_rulesets)] == [1, 0]


@pytest.mark.parametrize("url", ["http://arena.test", "http://192.0.2.1:8080"])
def test_key_when_the_connection_is_not_encrypted_then_it_is_not_sent(url: str) -> None:
    with pytest.raises(SpecError, match="is not encrypted") as raised:
        Client(url, "bt_key_secret")
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("url", ["http://localhost:8700", "http://127.0.0.1", "http://[::1]:8700/"])
def test_key_when_the_arena_is_on_this_machine_then_it_is_sent(url: str) -> None:
    played = Played(ok())
    send_sync(played, call_of(leaderboards.leaderboard), url=url)
    assert "Authorization" in played.requests[0].headers


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://arena.test/", "https://arena.test"),
        ("https://arena.test:8443/big/two/", "https://arena.test:8443/big/two"),
        ("https://Arena.test/api/v1", "https://arena.test"),
        ("http://[::1]:80", "http://[::1]:80"),
    ],
)
def test_address_is_kept_in_one_form(url: str, address: str) -> None:
    assert Client(url).address == address


@pytest.mark.parametrize(
    "url",
    [
        "",
        "arena.test",
        "ftp://arena.test",
        "https://",
        "https://u:p@arena.test",
        "https://a/?b",
        "https://[x",
    ],
)
def test_address_when_it_can_be_none_then_a_line_says_so(url: str) -> None:
    with pytest.raises(SpecError, match=r"^server: "):
        Client(url)


EXPORT = "/api/v1/tournaments/cup/export"


class Cut(httpx2.SyncByteStream):
    """The body of a response, which is cut off on the way."""

    def __iter__(self) -> Any:
        yield b'{"one": 1}\n{"tw'
        raise httpx2.RemoteProtocolError("peer closed connection without sending complete message body")


@pytest.mark.parametrize("body", [Cut(), httpx2.ByteStream(b'{"one": 1}\n{"tw')])
def test_export_when_it_is_cut_then_that_is_an_error(body: httpx2.SyncByteStream) -> None:
    played = Played(httpx2.Response(200, stream=body))
    with Client(URL, transport=httpx2.MockTransport(played)) as client:
        lines = client.export("cup")
        assert next(lines) == '{"one": 1}'
        with pytest.raises(Unreachable, match=r"was lost|in the middle of a line"):
            list(lines)
    assert played.requests[0].url.path == EXPORT


def test_export_lines_end_with_line_feeds_alone() -> None:
    text = '{"a": "\u2028\x85"}\n{}\n'
    played = Played(httpx2.Response(200, content=text.encode()))
    with Client(URL, transport=httpx2.MockTransport(played)) as client:
        assert list(client.export("cup")) == text.split("\n")[:-1]


def stream(*events: tuple[str, str | None, str]) -> httpx2.Response:
    """Return a response with these events: kind, id and data."""
    text = "".join(f"event: {kind}\nid: {id or ''}\ndata: {data}\n\n" for kind, id, data in events)
    return httpx2.Response(200, text=text, headers={"Content-Type": "text/event-stream"})


def follow_sync(played: Played) -> list[Any]:
    with Client(URL, sleep=played.slept.append, transport=httpx2.MockTransport(played)) as client:
        return list(client.follow("cup"))


def follow_async(played: Played) -> list[Any]:
    async def follow() -> list[Any]:
        async with AsyncClient(URL, sleep=played.sleep, transport=httpx2.MockTransport(played)) as client:
            return [told async for told in client.follow("cup")]

    return asyncio.run(follow())


@pytest.mark.parametrize("follow", [follow_sync, follow_async])
def test_stream_when_it_ends_before_the_tournament_then_it_goes_on_where_it_was(
    follow: Callable[[Played], list[Any]],
) -> None:
    first = stream(("event", "1", '{"number": 1}'), ("event", "2", '{"number": 2}'))
    played = Played(
        first, httpx2.ConnectError(""), stream(("event", "3", '{"number": 3}'), ("end", None, "{}"))
    )
    assert [told["number"] for told in follow(played)] == [1, 2, 3]
    assert [request.headers["Last-Event-ID"] for request in played.requests] == ["0", "2", "2"]


@pytest.mark.parametrize("follow", [follow_sync, follow_async])
def test_stream_when_it_never_tells_anything_then_nobody_comes_back_for_ever(
    follow: Callable[[Played], list[Any]],
) -> None:
    played = Played(stream())
    with pytest.raises(Unreachable, match=r"^the event stream of cup ends again and again$"):
        follow(played)
    assert len(played.requests) == 5


def test_stream_when_the_tournament_is_unknown_then_the_error_is_the_arenas() -> None:
    with pytest.raises(UnknownError, match=r"^no tournament 'cup'$"):
        follow_sync(Played(problem(404, "unknown", "no tournament 'cup'")))


def watch_sync(played: Played) -> list[Any]:
    with Client(URL, sleep=played.slept.append, transport=httpx2.MockTransport(played)) as client:
        return list(client.watch("cup", 1, 2))


def watch_async(played: Played) -> list[Any]:
    async def watch() -> list[Any]:
        async with AsyncClient(URL, sleep=played.sleep, transport=httpx2.MockTransport(played)) as client:
            return [told async for told in client.watch("cup", 1, 2)]

    return asyncio.run(watch())


@pytest.mark.parametrize("watch", [watch_sync, watch_async])
def test_stream_of_a_match_when_the_connection_is_lost_then_it_begins_again_and_ends_with_the_match(
    watch: Callable[[Played], list[Any]],
) -> None:
    deal = ("deal", None, '{"session": 1}')
    played = Played(stream(deal), httpx2.ConnectError(""), stream(deal, ("end", None, "{}")))
    assert watch(played) == [("deal", {"session": 1})] * 2
    assert {request.url.path for request in played.requests} == {"/api/v1/matches/cup/1/2/events"}
