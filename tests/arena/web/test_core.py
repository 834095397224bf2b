"""What holds for every route: errors, who is asking, pages of other sites, limits, ETags, headers."""

import httpx2
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from arena.actors import KeyScope, Role
from arena.bots.versions import register_version
from arena.host.settings import Settings
from arena.store.storage import Storage
from arena.web import limits
from arena.web.app import make_app
from arena.web.asking import COOKIE
from arena.web.headers import POLICY
from arena.web.pages.rendering import static_url
from arena.web.routing import PREFIX
from tests.arena.fakes import ROOT, Clock
from tests.arena.web.conftest import PASSWORD, Ask
from tests.arena.web.served import served, url_of
from tests.arena.world import World
from tests.waiting import DEADLINE, wait_for

ANN = {"account": "ann", "password": PASSWORD}


def test_browser_when_it_signs_up_in_and_out_then_the_cookie_says_who_it_is(anybody: TestClient) -> None:
    made = anybody.post("/accounts", json=ANN)
    assert (made.status_code, made.json()["owners"]) == (201, ["ann"])
    signed_in = anybody.post("/session", json=ANN)
    cookie = signed_in.headers["set-cookie"]
    assert all(part in cookie for part in (COOKIE, "HttpOnly", "SameSite=lax", "Secure"))
    assert anybody.get("/me").json() == {"account": "ann", "role": "author", "owners": ["ann"]}
    assert anybody.delete("/session").status_code == 204
    assert anybody.get("/me").status_code == 401


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 201),
        ({"Sec-Fetch-Site": "same-origin", "Origin": "https://arena.test"}, 201),
        ({"Origin": "https://arena.test"}, 201),
        ({"Sec-Fetch-Site": "none"}, 201),
        ({"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.test"}, 403),
        ({"Sec-Fetch-Site": "same-site", "Origin": "https://other.arena.test"}, 403),
        ({"Origin": "https://evil.test"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://arena.test"}, 403),
    ],
)
def test_change_by_cookie_when_a_page_of_another_site_asks_then_it_is_refused(
    anybody: TestClient, headers: dict[str, str], status: int
) -> None:
    anybody.post("/accounts", json=ANN)
    anybody.post("/session", json=ANN)
    assert anybody.post("/owners", json={"owner": "team"}, headers=headers).status_code == status


def test_key_when_it_has_not_the_scope_then_it_is_told_which_it_takes(client_of: Ask) -> None:
    client = client_of("ann", Role.OPERATOR, (KeyScope.READ,))
    assert client.get("/me").status_code == 200
    refused = client.get("/operator/accounts")
    assert refused.status_code == 403
    assert refused.json()["detail"] == "this key lacks the scope operate"


def test_key_when_it_is_wrong_then_even_what_is_public_is_not_answered(anybody: TestClient) -> None:
    refused = anybody.get("/me", headers={"Authorization": "Bearer bt_key_wrong"})
    assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
    assert refused.json()["detail"] == "the key is unknown, revoked or expired"


@pytest.mark.parametrize(
    ("path", "status", "kind", "field"),
    [
        ("/nowhere", 404, "unknown", None),
        ("/leaderboard?table_size=9", 422, "wrong-fields", "table_size"),
        ("/leaderboard?cursor=x", 422, "wrong-fields", "cursor"),
        ("/leaderboard?owner=nobody", 404, "unknown", None),
        ("/me", 401, "not-signed-in", None),
    ],
)
def test_error_when_something_is_wrong_then_it_is_problem_details(
    anybody: TestClient, path: str, status: int, kind: str, field: str | None
) -> None:
    answer = anybody.get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    body = answer.json()
    assert (body["type"], body["status"]) == (f"/problems/{kind}", status)
    assert [one["field"] for one in body["problems"]] == ([] if field is None else [field])


def test_error_when_nobody_thought_of_it_then_it_is_logged_and_not_told(
    app: FastAPI, anybody: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> None:
        raise RuntimeError("secret detail")

    app.add_api_route("/api/v1/fail", fail)
    answer = anybody.get("/fail")
    assert (answer.status_code, answer.json()["type"]) == (500, "/problems/internal")
    assert answer.headers["Content-Security-Policy"] == POLICY
    assert "secret" not in answer.text
    assert "secret detail" in caplog.text


def test_answer_when_the_asker_has_it_already_then_it_is_not_sent_again(anybody: TestClient) -> None:
    first = anybody.get("/leaderboard")
    tag = first.headers["etag"]
    for known in (tag, f'W/{tag}, "other"', "*"):
        again = anybody.get("/leaderboard", headers={"If-None-Match": known})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    assert anybody.get("/leaderboard", headers={"If-None-Match": '"other"'}).status_code == 200


def test_answers_when_they_are_of_any_kind_then_browsers_are_told_to_trust_nothing_else(
    anybody: TestClient,
) -> None:
    for path in ("/leaderboard", "/nowhere"):
        headers = anybody.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
        assert headers["x-content-type-options"] == "nosniff"


def test_head_when_it_is_asked_for_then_it_is_the_answer_to_get_without_its_body(
    app: FastAPI, world: World
) -> None:
    world.tournament()
    pages = ("/", "/board", "/tournaments/cup", "/nowhere", "/join", static_url("look.css"), "/proto.zip")
    programs = ("/leaderboard", "/openapi.json", "/tournaments/cup", "/me", "/bots/ann/none/feed.atom")
    changing = {"date", "ratelimit-remaining", "ratelimit-reset"}
    with served(app) as server:
        for path in (*pages, *(f"{PREFIX}{path}" for path in programs), "/sign-out"):
            got, headed = (
                httpx2.request(method, url_of(server) + path, timeout=DEADLINE) for method in ("GET", "HEAD")
            )
            assert (headed.status_code, headed.content) == (got.status_code, b""), path
            kept = [
                {name: value for name, value in one.headers.items() if name not in changing}
                for one in (got, headed)
            ]
            assert kept[0] == kept[1], path
        stream = httpx2.head(f"{url_of(server)}{PREFIX}/tournaments/cup/events", timeout=DEADLINE)
        assert (stream.status_code, stream.content) == (200, b"")
        assert stream.headers["content-type"].startswith("text/event-stream")
        wait_for(lambda: not app.state.web.streams.taken)


def test_body_when_it_is_too_large_then_it_is_not_read(anybody: TestClient) -> None:
    answer = anybody.post("/accounts", content=b"x" * (limits.LARGEST_BODY + 1))
    assert (answer.status_code, answer.json()["type"]) == (413, "/problems/too-large")


def test_caller_when_it_signs_in_too_often_then_it_has_to_wait_and_others_have_not(
    anybody: TestClient, client_of: Ask
) -> None:
    wrong = {"account": "ann", "password": "not the password"}
    answers = [anybody.post("/session", json=wrong) for _ in range(limits.SIGN_INS.most + 1)]
    assert [one.status_code for one in answers] == [403] * limits.SIGN_INS.most + [429]
    assert 0 < int(answers[-1].headers["retry-after"]) <= 60
    assert answers[0].headers["ratelimit-remaining"] == str(limits.SIGN_INS.most - 1)
    assert anybody.get("/leaderboard").status_code == 200
    assert client_of("bob").get("/me").status_code == 200


def test_openapi_when_it_is_read_then_every_route_tells_what_it_does_and_how_it_fails(
    anybody: TestClient,
) -> None:
    paths = anybody.get("/openapi.json").json()["paths"]
    routes = [(path, method, one) for path, methods in paths.items() for method, one in methods.items()]
    assert ("/api/v1/leaderboard", "get") in [(path, method) for path, method, _ in routes]
    for path, method, route in routes:
        assert route.get("description"), (path, method)
        assert {"4XX", "5XX"} <= route["responses"].keys(), (path, method)


def test_body_when_it_does_not_say_how_long_it_is_then_it_ends_at_the_same_limit(anybody: TestClient) -> None:
    answer = anybody.post("/accounts", content=(b"x" * 4096 for _ in range(limits.LARGEST_BODY // 4096 + 1)))
    assert (answer.status_code, answer.json()["type"]) == (413, "/problems/too-large")


def test_answer_when_the_host_is_anything_then_it_is_nowhere_in_it(
    migrated: Settings, storage: Storage, clock: Clock
) -> None:
    register_version(storage, ROOT, "ann/one", clock())
    app = make_app(migrated.model_copy(update={"web_url": "https://arena.example"}), storage, clock=clock)
    client = TestClient(app, base_url="http://evil.example", follow_redirects=False)
    paths = [route.path for route in app.routes if "{" not in getattr(route, "path", "{")]  # type: ignore[attr-defined]
    assert len(paths) > 40
    wrong = []
    for path in [*paths, *(f"{path}/" for path in paths), "/bots/ann/one", "/rules/chinese"]:
        for accept in ("text/html", "application/json"):
            answer = client.get(path, headers={"Accept": accept, "X-Forwarded-Host": "evil.example"})
            if "evil.example" in answer.text + str(answer.headers):
                wrong.append(path)
    assert wrong == []
    assert 'content="https://arena.example/rules"' in client.get("/rules").text
