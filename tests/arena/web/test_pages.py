"""What all pages share: the layout, the files they load, and how errors are shown."""

from hashlib import sha256
from importlib.metadata import version

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from markupsafe import Markup

from arena.actors import Role
from arena.bots import versions
from arena.errors import BrokerError, UnknownError
from arena.people import accounts
from arena.queries.highlights import deal_of_day
from arena.queries.leaderboards import leaderboard
from arena.queries.names import search
from arena.queries.scoreboard import certainty, scoreboard
from arena.web.headers import POLICY
from arena.web.pages.docs import AUTHORS, FOR_WHOM, GUIDE, documents, page_of
from arena.web.pages.figures import without_command
from arena.web.pages.links import bot_url, deal_url, tournament_url
from arena.web.pages.rendering import environment, fill, statics
from tests.arena.exported import play_by_table
from tests.arena.fakes import ROOT, Clock
from tests.arena.web.conftest import Ask
from tests.arena.web.markup import Read
from tests.arena.world import World

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.fixture
def client(app: FastAPI) -> TestClient:
    """Return a browser for visiting pages."""
    return TestClient(app, headers=BROWSER, raise_server_exceptions=False)


def test_front_page_when_bots_have_played_then_it_shows_who_won_a_deal_and_the_top_of_the_board(
    world: World, client: TestClient, clock: Clock
) -> None:
    assert "Nothing has been played here yet" in Read(client.get("/").text).text
    names = world.register(8)
    world.finish(world.tournament_of(names, name="won").id, play_by_table)
    world.tournament_of(names, name="on")
    assert client.get("/?owner=owner-1", follow_redirects=False).headers["location"] == "/board?owner=owner-1"
    clock.move(86_400)
    page = Read(client.get("/?ref=elsewhere").text)
    board = scoreboard(world.storage, "won").standings
    first = certainty(board[0], board[1])
    assert first is not None
    assert first in page.text
    top = [bot_url(line.bot) for line in leaderboard(world.storage, limit=5).leaderboard]
    assert len(top) == 5
    assert set(top) <= {*page.links}
    deal = deal_of_day(world.storage, clock())
    assert deal is not None
    assert deal_url(deal.tournament, deal.round, deal.table, deal.session, deal.deal) in page.links
    assert {tournament_url("on"), tournament_url("won"), "/board"} <= {*page.links}


def test_front_page_when_nothing_was_played_then_it_says_what_to_do_first_by_role(
    client_of: Ask, client: TestClient
) -> None:
    firsts = {
        None: "/sign-up",
        Role.AUTHOR: "/join",
        Role.ORGANISER: "/desk",
        Role.OPERATOR: "/operator/accounts",
    }
    for role, first in firsts.items():
        asking = client if role is None else client_of(f"a-{role}", role)
        page = Read(asking.get("https://arena.test/", headers=BROWSER).text)
        assert first in page.links
        assert [link for link in ("/operator/accounts",) if link in page.links] == (
            ["/operator/accounts"] if role is Role.OPERATOR else []
        )


def test_docs_when_they_are_read_then_every_route_is_told(app: FastAPI, client: TestClient) -> None:
    answer = client.get("/docs")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    page = Read(answer.text)
    routes = [one for routes in app.openapi()["paths"].values() for one in routes.values()]
    assert {one["operationId"] for one in routes} <= page.ids
    assert {*app.openapi()["components"]["schemas"]} <= page.ids
    assert "``" not in answer.text
    assert "None:" not in answer.text
    assert "from 1 to 200" in answer.text
    for link in page.links:
        assert link[1:] in page.ids if link.startswith("#") else client.get(link).status_code == 200


def test_guide_when_its_links_are_followed_then_each_leads_to_a_part_of_a_page(client: TestClient) -> None:
    listed = {name for names in FOR_WHOM.values() for name in names}
    assert {name for name in documents() if name == AUTHORS or "/" not in name} == listed
    read = {page_of(name): Read(client.get(page_of(name)).text) for name in documents()}
    read |= {path: Read(client.get(path).text) for path in (GUIDE, "/proto")}
    others = set()
    for at, page in read.items():
        assert "style" not in page.attributes
        for link in (link for link in page.links if "://" not in link):
            path, _, part = link.partition("#")
            if (path or at) in read:
                assert not part or part in read[path or at].ids, (at, link)
            else:
                others.add(path)
    assert {"/proto.zip", "/starters/go.zip", "/guide/schemas/league.schema.json"} <= others
    assert {path: client.get(path).status_code for path in others} == dict.fromkeys(others, 200)


def test_document_when_it_installs_something_then_it_shows_the_line_that_works_here(
    client: TestClient,
) -> None:
    authors, learning = (client.get(f"/guide/authors{page}").text for page in ("", "/learning"))
    bot, arena = (
        f"/simple/bigtwo-{name}/bigtwo_{name}-{version('bigtwo-arena')}-py3-none-any.whl"
        for name in ("bot", "arena")
    )
    assert f"pip install {bot}    #" in authors
    assert f"pip install {bot} {arena}    #" in authors
    assert f"pip install 'bigtwo-bot[rl] @ {bot}'" in learning


@pytest.mark.parametrize("project", ["bigtwo-bot", "bigtwo-verify", "bigtwo-arena"])
def test_index_of_packages_when_it_is_read_then_both_formats_lead_to_the_wheel_by_its_digest(
    client: TestClient, project: str
) -> None:
    [link] = Read(client.get(f"/simple/{project}/").text).links
    accept = {"Accept": "application/vnd.pypi.simple.v1+json"}
    told = client.get(f"/simple/{project}/", headers=accept).json()
    assert told["name"] == project
    [file] = told["files"]
    sent = client.get(file["url"], headers={"Accept-Encoding": "gzip"})
    content = sent.content
    assert "content-encoding" not in sent.headers  # it is compressed already
    assert sha256(content).hexdigest() == file["hashes"]["sha256"]
    assert link == f"{file['url']}#sha256={file['hashes']['sha256']}"
    assert len(content) == file["size"]
    projects = [f"/simple/bigtwo-{name}/" for name in ("bot", "verify", "arena")]
    assert Read(client.get("/simple/").text).links == projects
    assert client.get("/simple/pip/").status_code == 404


def test_search_when_a_name_begins_with_it_then_it_is_found_and_the_only_one_is_led_to(
    world: World, client: TestClient
) -> None:
    for name in ("spare", "spare-time", "sparrow", "own"):
        versions.register_version(world.storage, ROOT, f"zoe/{name}", world.clock())
    world.tournament(4, name="own-cup", rounds=1)
    accounts.create_account(world.storage, ROOT, "owner-of-nothing", Role.OPERATOR, world.clock())
    found = search(world.storage, "own", 8)
    assert (found.bots, found.owners, found.tournaments) == (
        ("zoe/own",),
        ("owner-0", "owner-1", "owner-2", "owner-3"),
        ("own-cup",),
    )
    assert search(world.storage, " SPARE", 8).bots == ("zoe/spare", "zoe/spare-time")
    assert search(world.storage, "zoe/spar", 2).bots == ("zoe/spare", "zoe/spare-time")
    assert search(world.storage, "owner-0/bot-0@1", 8).bots == ("owner-0/bot-0",)
    assert search(world.storage, "bot-", 3).bots == ("owner-0/bot-0", "owner-1/bot-1", "owner-2/bot-2")
    for nothing in ("", " ", "cup", "%", "_wn", "zoe-"):
        assert search(world.storage, nothing, 8).names == ()
    assert "/bots/zoe/own" in Read(client.get("/search").text).links  # it is one of the newest
    page = Read(client.get("/search?q=own").text)
    assert "Newest bots" not in page.text
    assert {"/bots/zoe/own", "/tournaments/own-cup", "/search?q=owner-0%2F"} <= {*page.links}
    led = client.get("/search?q=own-cup", follow_redirects=False)
    assert (led.status_code, led.headers["location"]) == (303, "/tournaments/own-cup")
    assert "No name begins with" in Read(client.get("/search?q=cup").text).text


def test_page_when_it_is_read_then_nothing_in_it_is_against_the_policy(client: TestClient) -> None:
    answer = client.get("/docs")
    page = Read(answer.text)
    assert answer.headers["content-security-policy"] == POLICY
    assert not page.tags & {"style", "iframe"}
    assert not [name for name in page.attributes if name == "style" or name.startswith("on")]
    assert page.inner_scripts == ""
    assert not [link for link in page.links if "//" in link]


def test_page_when_it_has_not_changed_then_it_is_not_sent_again(client: TestClient) -> None:
    first = client.get("/docs")
    again = client.get("/docs", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.text) == (304, "")


def test_file_when_it_is_loaded_then_browsers_may_keep_it_for_ever(client: TestClient) -> None:
    for name, content in statics().contents.items():
        answer = client.get(f"/static/{statics().hash}/{name}")
        assert answer.content == content
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert answer.headers["x-content-type-options"] == "nosniff"
    kinds = {
        name: client.get(f"/static/{statics().hash}/{name}").headers["content-type"]
        for name in statics().contents
    }
    assert kinds["pages.css"].startswith("text/css")
    assert kinds["theme.js"].startswith("text/javascript")
    assert kinds["icon.svg"].startswith("image/svg+xml")


def test_file_when_its_hash_is_another_then_there_is_none(client: TestClient) -> None:
    for path in ("/static/0000000000000000/pages.css", f"/static/{statics().hash}/none.css"):
        assert client.get(path).status_code == 404


def test_page_when_there_is_none_then_a_browser_reads_so_and_a_program_gets_problem_details(
    client: TestClient,
) -> None:
    shown = client.get("/<b>nothing</b>")
    assert (shown.status_code, shown.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "/<b>nothing</b> not found" in Read(shown.text).text
    assert "b" not in Read(shown.text).tags
    for path, accept in (("/nothing", "*/*"), ("/api/v1/nothing", BROWSER["Accept"])):
        answer = client.get(path, headers={"Accept": accept})
        assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")


@pytest.mark.parametrize(
    ("error", "status", "title"),
    [
        (UnknownError("no bot 'a/b'"), 404, "Nothing here"),
        (BrokerError("the broker does not answer"), 503, "Back in a moment"),
        (RuntimeError("secret"), 500, "Something went wrong"),
    ],
    ids=["unknown", "broker", "bug"],
)
def test_page_when_it_fails_then_a_browser_reads_why(
    app: FastAPI, error: Exception, status: int, title: str
) -> None:
    def fail() -> None:
        raise error

    app.add_api_route("/failing", fail)
    answer = TestClient(app, headers=BROWSER, raise_server_exceptions=False).get("/failing")
    assert answer.status_code == status
    page = Read(answer.text)
    assert title in page.text
    assert ("secret" in page.text) is False
    assert answer.headers["content-security-policy"] == POLICY


def test_page_when_the_path_has_a_nul_then_a_browser_reads_what_was_wrong(client: TestClient) -> None:
    answer = client.get("/docs?x=%00")
    assert answer.status_code == 422
    assert "must not have a NUL character" in Read(answer.text).text


def test_text_when_it_is_hostile_then_it_is_shown_and_does_nothing() -> None:
    template = environment().from_string("<p title='{{ name }}'>{{ name }}</p>")
    shown = Read(template.render(name="<script>alert(1)</script>'\"\u202eevil\x1b[2J"))
    assert shown.tags == {"p"}
    assert shown.text == "<script>alert(1)</script>'\"\\u202eevil\\x1b[2J"
    assert Read(template.render(name=Markup("<b>ours</b>"))).tags == {"p", "b"}


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("paused; resume with: arena tournament resume cup", "paused"),
        ("a bot has no answer: arena tournament entries cup", "a bot has no answer"),
        (
            "its entries are open: close them first, with: arena tournament lock cup",
            "its entries are open: close them first",
        ),
        ("is `arena up` running?", "is `arena up` running?"),
    ],
)
def test_message_when_it_ends_with_a_command_then_pages_leave_that_out(message: str, shown: str) -> None:
    assert without_command(message) == shown


def test_layout_when_it_is_filled_then_a_reader_may_skip_to_the_contents() -> None:
    page = Read(fill("error.html", "/x", title="T", status=404, detail="d", problems=(), back=None))
    assert "#main" in page.links
    assert "main" in page.ids
    assert page.tags >= {"header", "nav", "main", "footer", "h1"}


def test_root_of_the_api_leads_to_its_page(client: TestClient) -> None:
    answer = client.get("/api/v1", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (307, "/docs")


@pytest.mark.parametrize(
    ("method", "asked", "field", "reason"),
    [
        ("GET", "/bots?limt=3", "limt", "is not a parameter; did you mean 'limit'?"),
        ("GET", "/rulesets?x=1", "x", "is not a parameter; allowed: limit, cursor"),
        ("GET", "/crosstable?bot=ann/greedy", "bot", "must have at least 2 items, not 1"),
        ("POST", "/rulesets/check", "body", "must be JSON, with the header Content-Type: application/json"),
    ],
)
def test_request_when_it_is_wrong_then_the_reason_is_in_words_of_the_caller(
    client: TestClient, method: str, asked: str, field: str, reason: str
) -> None:
    answer = client.request(
        method,
        f"/api/v1{asked}",
        content="x=1" if method == "POST" else None,
        headers={"Accept": "application/json", "Content-Type": "application/x-www-form-urlencoded"},
    )
    assert answer.status_code == 422
    assert answer.json()["problems"] == [{"field": field, "reason": reason}]


def test_page_when_it_is_read_then_it_is_compressed_and_what_programs_read_is_not(
    client: TestClient,
) -> None:
    page = client.get("/docs")
    assert page.headers["Content-Encoding"] == "gzip"
    assert int(page.headers["Content-Length"]) < len(page.content) / 3
    again = client.get("/docs", headers={"If-None-Match": page.headers["ETag"]})
    assert again.status_code == 304
    assert "Content-Encoding" not in client.get("/api/v1/openapi.json").headers
