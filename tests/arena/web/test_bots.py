"""Bots over HTTP: what the command line prints, changes to one's own bots, and none to anybody else's."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlmodel import select

from arena.actors import KeyScope, Role
from arena.bots import versions
from arena.bots.checks import store_check
from arena.bots.journal import DatabaseJournal
from arena.host.settings import load_settings
from arena.people.tokens import hash_token
from arena.queries.operator import ChangeQuery, changes
from arena.store.models import Bot, BotVersion
from arena.store.storage import Storage, open_storage
from arena.web.app import make_app
from arena.web.routing import PREFIX
from referee.check import SCENARIOS, Report, Result
from referee.matches.journal import Entry, EntryKind
from tests.arena.cli import make_arena
from tests.arena.fakes import ROOT, Clock
from tests.arena.web.conftest import Ask

MINE = "/bots/ann/one"
NEW = {"bot": "ann/one", "language": "go", "link": "https://example.org", "expires_in": 30}
CHECKED: dict[str, Any] = Report(
    "ann/one@1", "own 1", 1, tuple(Result(one.code, one.title, "passed", "", 0.1) for one in SCENARIOS)
).to_object()
BOT, OTHER = "owner-0/bot-0", "owner-1/bot-1"


@pytest.fixture
def everywhere(everything: Path) -> Iterator[TestClient]:
    """Return a client of an arena with data of every kind."""
    settings = load_settings({"data": everything / "data"})
    with (
        open_storage(settings) as storage,
        TestClient(make_app(settings, storage), base_url=f"https://arena.test{PREFIX}") as client,
    ):
        yield client


@pytest.mark.parametrize(
    ("path", "command"),
    [
        ("/bots", "bot list"),
        ("/bots?owner=owner-0", "bot list --owner owner-0"),
        (f"/bots/{BOT}", f"bot show {BOT}"),
        (f"/bots/{BOT}?version=1&limit=2", f"bot show {BOT}@1 --limit 2"),
        (f"/bots/{BOT}/history?limit=7&kind=elo", f"bot history {BOT} --limit 7 --kind elo"),
        (f"/bots/{BOT}/history?version=1&table_size=4", f"bot history {BOT}@1 --table-size 4"),
        (f"/bots/{BOT}/versus?opponent={OTHER}", f"bot versus {BOT} {OTHER}"),
        ("/faults", "bot faults"),
        ("/faults?owner=owner-2&kind=illegal&limit=1", "bot faults --owner owner-2 --kind illegal --limit 1"),
        ("/matches?limit=200", "match list --limit 200"),
        (
            f"/matches?bot={BOT}&opponent={OTHER}&result=lost&limit=1&ruleset=chinese",
            f"match list --bot {BOT} --opponent {OTHER} --result lost --limit 1 --ruleset chinese",
        ),
        (
            "/matches?tournament=faults&round=1&faults=true",
            "match list --tournament faults --round 1 --faults",
        ),
        (
            "/matches?since=2000-01-01T00:00:00&until=2100-01-01T00:00:00%2B02:00",
            "match list --from 2000-01-01 --to 2099-12-31T22:00",
        ),
        ("/deals?kind=swing&limit=3", "deal find swing --limit 3"),
        (f"/deals?kind=longest&bot={BOT}&tournament=cup", f"deal find longest --bot {BOT} --tournament cup"),
        (f"/crosstable?bot={BOT}&bot={OTHER}", f"crosstable {BOT} {OTHER}"),
    ],
)
def test_what_everybody_may_read_is_what_the_command_line_prints(
    everywhere: TestClient, everything: Path, capsys: pytest.CaptureFixture[str], path: str, command: str
) -> None:
    printed = make_arena(everything / "data", capsys)(*command.split(), "--json").json
    del printed["output"]
    answer = everywhere.get(path)
    assert answer.status_code == 200, answer.text
    found = in_utc(answer.json())
    assert {name: found[name] for name in printed} == in_utc(printed)
    assert found.keys() - printed.keys() <= {"next"}  # which lists without pages on the command line lack
    assert any(found.values())


def in_utc(found: Any) -> Any:
    """Return JSON values with all times written in the same way."""
    if isinstance(found, dict):
        return {name: in_utc(value) for name, value in found.items()}
    if isinstance(found, list):
        return [in_utc(value) for value in found]
    return found.replace("+00:00", "Z") if isinstance(found, str) else found


def test_bots_when_they_are_listed_in_pages_then_none_is_missing_or_twice(
    storage: Storage, anybody: TestClient, clock: Clock
) -> None:
    names = ["a/b", "a/b", "a/a", "b/a", "a-a/b"]
    made = [versions.register_version(storage, ROOT, name, clock()).bot for name in names]
    found: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = anybody.get("/bots", params={"limit": 2, **({"cursor": cursor} if cursor else {})}).json()
        assert len(page["bots"]) <= 2
        found += [one["bot"] for one in page["bots"]]
        cursor = page["next"]
    assert found == made[::-1]
    first = anybody.get("/bots?limit=1").json()["next"]
    assert anybody.get(f"/bots?owner=a&cursor={first}").json()["problems"][0]["field"] == "cursor"


def test_author_registers_describes_rotates_and_revokes(storage: Storage, client_of: Ask) -> None:
    ann = client_of("ann")
    made = ann.post("/bots", json=NEW)
    assert (made.status_code, made.json()["bot"]) == (201, "ann/one@1")
    assert hash_of(storage) == hash_token(made.json()["token"])
    shown = ann.get(MINE).json()
    assert (shown["language"], shown["link"], len(shown["versions"])) == ("go", "https://example.org", 1)
    assert ann.get("/bots?owner=ann").json()["bots"][0]["expires_at"] == "2026-01-31T00:00:00Z"

    told = ann.patch(MINE, json={"link": ""})
    assert told.json() == {"bot": "ann/one", "language": "go", "link": None, "open_to": []}

    rotated = ann.put(f"{MINE}/versions/1/token", json={})
    assert rotated.json()["bot"] == "ann/one@1"
    assert hash_of(storage) == hash_token(rotated.json()["token"]) != hash_token(made.json()["token"])

    revoked = ann.delete(f"{MINE}/versions/1/token")
    assert (revoked.status_code, revoked.json()["revoked_at"]) == (200, "2026-01-01T00:00:00Z")
    again = ann.delete(f"{MINE}/versions/1/token")
    assert (again.status_code, again.json()["detail"]) == (409, "the token of ann/one@1 is revoked already")
    assert ann.put(f"{MINE}/versions/1/token", json={}).status_code == 409
    done = [
        (one.action, one.actor.account) for one in changes(storage, ROOT, ChangeQuery("ann/one@1")).entries
    ]
    assert done == [("bot.revoke", "ann"), ("bot.rotate", "ann"), ("bot.register", "ann")]


def hash_of(storage: Storage) -> str:
    """Return the hash of the token of the only version."""
    with storage.read() as tx:
        return tx.exec(select(BotVersion.token_hash)).one()


PRIVATE: list[tuple[str, str, Any, int]] = [
    ("POST", "/bots", NEW, 201),
    ("PATCH", MINE, {"language": "c++"}, 200),
    ("PUT", f"{MINE}/versions/1/check", CHECKED, 200),
    ("GET", f"{MINE}/versions/1/check", None, 200),
    ("GET", f"{MINE}/log", None, 200),
    ("GET", f"{MINE}/deals", None, 200),
    ("PUT", f"{MINE}/versions/1/token", {}, 200),
    ("DELETE", f"{MINE}/versions/1/token", None, 200),
]
"""Requests that only the owner and operators may make, and the status that they get."""


@pytest.mark.parametrize(("method", "path", "body", "status"), PRIVATE)
def test_what_is_an_owners_when_anybody_else_asks_then_it_is_refused(
    storage: Storage,
    clock: Clock,
    anybody: TestClient,
    client_of: Ask,
    method: str,
    path: str,
    body: Any,
    status: int,
) -> None:
    versions.register_version(storage, ROOT, "eve/own", clock())
    ann, eve = client_of("ann"), client_of("eve")
    organiser = client_of("org", Role.ORGANISER)
    ann.post("/bots", json=NEW)
    ann.put(f"{MINE}/versions/1/check", json=CHECKED)

    nobody = anybody.request(method, path, json=body)
    assert (nobody.status_code, nobody.json()["type"]) == (401, "/problems/not-signed-in")
    scopes = [
        scope for scope in KeyScope if scope is not (KeyScope.READ if method == "GET" else KeyScope.BOTS)
    ]
    narrow = client_of("ann-2", scopes=tuple(scopes)).request(method, path, json=body)
    assert (narrow.status_code, "this key lacks the scope" in narrow.text) == (403, True)
    before = dump(storage)
    for other in (eve, organiser):
        refused = other.request(method, path, json=body)
        assert (refused.status_code, refused.json()["type"]) == (403, "/problems/not-allowed")
        assert "it takes ann or an operator" in refused.json()["detail"]
    assert dump(storage) == before
    for allowed in (client_of("boss", Role.OPERATOR), ann):
        answer = allowed.request(method, path, json=body)
        assert answer.status_code == (409 if method == "DELETE" and allowed is ann else status), answer.text


def dump(storage: Storage) -> list[Any]:
    with storage.read() as tx:
        return [row.model_dump() for kind in (Bot, BotVersion) for row in tx.exec(select(kind))]


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "field"),
    [
        ("GET", "/bots/a_b/c", None, 422, "bot"),
        ("GET", "/bots/ann/one%00", None, 422, "path"),
        ("GET", "/bots/ann/nothing", None, 404, None),
        ("GET", f"{MINE}?version=2", None, 404, None),
        ("GET", f"{MINE}?version=0", None, 422, "version"),
        ("GET", f"{MINE}/history?cursor=x", None, 422, "cursor"),
        ("GET", f"{MINE}/history?ruleset=none", None, 404, None),
        ("GET", f"{MINE}/versus", None, 422, "opponent"),
        ("GET", f"{MINE}/versus?opponent=x", None, 422, "bot"),
        ("GET", f"{MINE}/versus?opponent=ann/one", None, 422, "bot"),
        ("GET", "/bots?owner=nobody", None, 404, None),
        ("GET", "/bots?limit=201", None, 422, "limit"),
        ("GET", "/faults?owner=nobody", None, 404, None),
        ("GET", "/faults?kind=late", None, 422, "kind"),
        ("GET", "/crosstable?bot=ann/one", None, 422, "bot"),
        ("GET", "/crosstable?bot=ann/one&bot=ann/one", None, 422, "bot"),
        ("GET", f"{MINE}/log?cursor=x", None, 422, "cursor"),
        ("GET", f"{MINE}/log?kind=gossip", None, 422, "kind"),
        ("GET", f"{MINE}/deals?session=a/b", None, 422, "session"),
        ("GET", f"{MINE}/deals?cursor=x", None, 422, "cursor"),
        ("GET", f"{MINE}/versions/1/check", None, 404, None),
        ("GET", f"{MINE}/versions/7/check", None, 404, None),
        ("POST", "/bots", {"bot": "ann"}, 422, "bot"),
        ("POST", "/bots", {"bot": "ann/One"}, 422, "bot"),
        ("POST", "/bots", {**NEW, "language": "C Sharp"}, 422, "language"),
        ("POST", "/bots", {**NEW, "link": "javascript:x"}, 422, "link"),
        ("POST", "/bots", {**NEW, "expires_in": 0}, 422, "expires_in"),
        ("POST", "/bots", {**NEW, "colour": "red"}, 422, "colour"),
        ("PATCH", MINE, {}, 422, "bot"),
        ("PATCH", "/bots/ann/nothing", {"language": "go"}, 404, None),
        ("PUT", f"{MINE}/versions/2/token", {}, 404, None),
        ("PUT", f"{MINE}/versions/0/token", {}, 422, "number"),
        ("DELETE", f"{MINE}/versions/2/token", None, 404, None),
        ("PUT", f"{MINE}/versions/2/check", {**CHECKED, "bot": "ann/one@2"}, 404, None),
        ("PUT", f"{MINE}/versions/1/check", {**CHECKED, "bot": "eve/own@1"}, 422, "bot"),
        ("PUT", f"{MINE}/versions/1/check", {**CHECKED, "results": CHECKED["results"][1:]}, 422, "results"),
        ("PUT", f"{MINE}/versions/1/check", {**CHECKED, "left_out": ["HELLO-01"]}, 422, "results"),
        ("PUT", f"{MINE}/versions/1/check", {**CHECKED, "protocol_version": -1}, 422, "protocol_version"),
    ],
)
def test_request_when_something_in_it_is_wrong_then_the_field_is_named(
    client_of: Ask, method: str, path: str, body: Any, status: int, field: str | None
) -> None:
    ann = client_of("ann")
    ann.post("/bots", json=NEW)
    answer = ann.request(method, path, json=body)
    assert answer.status_code == status, answer.text
    assert [one["field"] for one in answer.json()["problems"]] == ([] if field is None else [field])


def test_log_when_its_author_reads_it_in_pages_then_each_entry_is_there_once(
    storage: Storage, client_of: Ask
) -> None:
    ann = client_of("ann")
    ann.post("/bots", json=NEW)
    with DatabaseJournal(storage, "127.0.0.1:8710") as journal:
        for number in range(5):
            kind = EntryKind.NOTICE if number % 2 else EntryKind.CONNECTED
            journal.add(Entry(1, kind, "c", f"entry {number}", "cup/1/1/1", {"seat": number}))
    first = ann.get(f"{MINE}/log?limit=2").json()
    second = ann.get(f"{MINE}/log?limit=2&cursor={first['next']}").json()
    last = ann.get(f"{MINE}/log?limit=2&version=1").json()["next"]
    assert ann.get(f"{MINE}/log?limit=2&cursor={last}").json()["problems"][0]["field"] == "cursor"
    third = ann.get(f"{MINE}/log?limit=2&cursor={second['next']}").json()
    told = [one["text"] for page in (first, second, third) for one in page["log"]]
    assert told == [f"entry {number}" for number in (4, 3, 2, 1, 0)]
    assert third["next"] is None
    notices = ann.get(f"{MINE}/log?kind=notice&session=cup/1").json()["log"]
    assert [one["details"] for one in notices] == [{"seat": 3}, {"seat": 1}]
    printed = {"at", "bot", "referee", "kind", "code", "text", "session_id", "details"}
    assert notices[0].keys() == printed


def test_check_when_its_author_stores_it_then_the_arena_says_whether_it_passed(
    storage: Storage, client_of: Ask
) -> None:
    ann = client_of("ann")
    ann.post("/bots", json=NEW)
    stored = ann.put(f"{MINE}/versions/1/check", json={**CHECKED, "bot": "ann/one"}).json()
    assert (stored["bot"], stored["passed"], stored["counts"]["passed"]) == (
        "ann/one@1",
        True,
        len(SCENARIOS),
    )
    assert ann.get(f"{MINE}/versions/1/check").json() == stored
    assert ann.get("/bots").json()["bots"][0]["check_passed_at"] == "2026-01-01T00:00:00Z"

    failed = [{**CHECKED["results"][0], "outcome": "failed"}, *CHECKED["results"][1:]]
    stored = ann.put(f"{MINE}/versions/1/check", json={**CHECKED, "passed": True, "results": failed}).json()
    assert (stored["passed"], stored["counts"]["failed"]) == (False, 1)
    assert ann.get("/bots").json()["bots"][0]["check_passed_at"] is None
    ann.delete(f"{MINE}/versions/1/token")
    assert ann.put(f"{MINE}/versions/1/check", json=CHECKED).status_code == 409


def test_check_when_the_command_line_stored_it_then_it_is_shown_however_long_it_is(
    storage: Storage, client_of: Ask, clock: Clock
) -> None:
    ann = client_of("ann")
    ann.post("/bots", json=NEW)
    long = "x" * 5_000
    result = Result("HELLO-01", "t", "failed", long, 0.1, (long,) * 60)
    report = Report("ann/one@1", long, 1, (result,), long, ("TURN-01",)).to_object()
    store_check(storage, ROOT, "ann/one@1", report, False, clock())
    assert ann.get(f"{MINE}/versions/1/check").json() == report
