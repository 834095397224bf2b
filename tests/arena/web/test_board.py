"""The leaderboard's page: it shows what the query returns."""

import csv
import re
from collections.abc import Iterator
from io import StringIO
from random import Random
from urllib.parse import parse_qs, urlsplit

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from arena.actors import KeyScope, Role
from arena.host.settings import load_settings
from arena.people import accounts, apikeys, browsers
from arena.queries.board import LeaderboardLine, StrengthLine
from arena.queries.leaderboards import leaderboard
from arena.queries.versus import VerdictKind, verdict
from arena.results.strength.fitting import fit_due
from arena.results.strength.scale import about
from arena.store.storage import Storage, open_storage
from arena.web.app import make_app
from arena.web.pages.figures import scale_of
from arena.web.pages.links import bot_url
from benchmarks import seasons
from benchmarks.reading import NOW
from tests.arena.fakes import ROOT
from tests.arena.web.conftest import PASSWORD
from tests.arena.web.markup import Read

BOTS = 16


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory, empty_database: bytes) -> Iterator[Storage]:
    settings = load_settings({"data": tmp_path_factory.mktemp("board")})
    (settings.prepare().data / "arena.db").write_bytes(empty_database)
    with open_storage(settings) as storage:
        season = seasons.begin(storage, BOTS, 8, NOW)
        for number in range(8):
            seasons.play_round(season, Random(number), NOW)
        fit_due(storage, NOW)
        yield storage


@pytest.fixture(scope="module")
def client(storage: Storage) -> TestClient:
    app = make_app(load_settings({"data": "unused"}), storage, clock=lambda: NOW)
    return TestClient(app, headers={"Accept": "text/html"}, raise_server_exceptions=False)


@pytest.fixture(scope="module")
def lines(storage: Storage) -> tuple[LeaderboardLine, ...]:
    return leaderboard(storage).leaderboard


def test_board_when_it_is_read_then_every_line_of_the_query_is_there_in_order(
    client: TestClient, lines: tuple[LeaderboardLine, ...]
) -> None:
    answer = client.get("/board")
    assert answer.status_code == 200
    page = Read(answer.text)
    shown = [link for link in page.links if link.startswith("/bots/")]
    assert shown == [bot_url(line.bot) for line in lines]
    assert len(lines) == BOTS
    for line in lines:
        assert line.strength is not None
        assert f"{line.strength.figure:.0f}" in page.text
        low, high = line.strength.best, line.strength.worst
        assert (f"{low}–{high}" if low < high else str(low)) in page.text
    rows = [row for row in answer.text.split("<tr") if '<th scope="row"' in row]
    after = [re.findall(r'<td class="num p3">([^<]*)</td>', row)[0] for row in rows]
    parted = [line.strength.parts_after for line in lines if line.strength]
    assert after == ["–" if one is None else about(one) for one in parted]
    assert len({*after}) > 1


def test_board_when_bots_are_filtered_then_others_are_not_shown(client: TestClient) -> None:
    page = Read(client.get("/board?owner=owner-1&language=").text)
    bots = {link for link in page.links if link.startswith("/bots/")}
    assert bots == {"/bots/owner-1/bot-2?version=1", "/bots/owner-1/bot-3?version=1"}


def test_board_when_nobody_fits_then_it_says_so(client: TestClient) -> None:
    assert "No bot of this pool fits" in Read(client.get("/board?language=cobol").text).text
    unknown = client.get("/board?league=none")  # a filter that the form does not have, but the operation
    assert (unknown.status_code, "no league" in Read(unknown.text).text) == (404, True)


def test_board_when_a_bot_is_gone_to_then_its_line_is_marked(
    client: TestClient, lines: tuple[LeaderboardLine, ...]
) -> None:
    name = lines[9].bot.partition("@")[0]
    page = Read(client.get("/board", params={"around": name}).text)
    assert "mine" in page.ids
    assert "no bot" in Read(client.get("/board?around=owner-1/none").text).text


def test_board_when_two_are_compared_then_the_verdict_is_a_sentence(
    client: TestClient, lines: tuple[LeaderboardLine, ...]
) -> None:
    best, last = lines[0], lines[-1]
    page = Read(client.get("/board", params={"a": last.bot, "b": best.bot}).text)
    said = "is stronger than" if verdict(best, last).kind is VerdictKind.APART else "cannot be told apart yet"
    assert "verdict" in page.ids
    assert said in page.text
    name = best.bot
    for trouble in ({"a": name, "b": name}, {"a": name, "b": "owner-1/none"}, {"a": "no name", "b": name}):
        answer = client.get("/board", params=trouble)
        assert (answer.status_code, "verdict" in Read(answer.text).ids) == (200, False)


def test_board_when_it_is_read_as_csv_then_it_has_the_same_lines(
    client: TestClient, lines: tuple[LeaderboardLine, ...]
) -> None:
    answer = client.get("/leaderboard.csv")
    assert answer.headers["content-type"].startswith("text/csv")
    found = list(csv.DictReader(StringIO(answer.text)))
    assert [row["bot"] for row in found] == [line.bot for line in lines]
    assert [row["strength.rank"] for row in found] == [
        str(one.strength and one.strength.rank) for one in lines
    ]


def test_board_when_its_json_is_followed_then_it_is_the_same_question(client: TestClient) -> None:
    page = Read(client.get("/board?owner=owner-1").text)
    [link] = [one for one in page.links if one.startswith("/api/v1/leaderboard") and "owner" in one]
    assert parse_qs(urlsplit(link).query)["owner"] == ["owner-1"]
    found = client.get(link).json()["leaderboard"]
    assert {line["owner"] for line in found} == {"owner-1"}


@pytest.mark.parametrize("query", ["min_matches=0", "since=soon", "table_size=x", "cursor=none"])
def test_board_when_the_address_is_wrong_then_a_page_names_the_field(client: TestClient, query: str) -> None:
    answer = client.get(f"/board?{query}")
    assert (answer.status_code, answer.headers["content-type"]) == (422, "text/html; charset=utf-8")
    assert query.partition("=")[0].replace("_", " ") in Read(answer.text).text


def test_board_when_the_pool_is_unknown_then_there_is_no_such_page(client: TestClient) -> None:
    assert client.get("/board?ruleset=nothing").status_code == 404


def _line(points: float, plus_minus: float, deals: int, group: int = 1) -> LeaderboardLine:
    strength = StrengthLine(
        *(points, plus_minus, 1500, 1400, 1600, "mean", None, None, None, 1, 1, 2, 1, None, group, deals)
    )
    return LeaderboardLine(
        *("chinese@1", 4, 1, "a/b@1", "a", None, strength, False, 1500.0, deals, deals, None, None, None)
    )


def test_verdict_when_strengths_lie_apart_then_the_better_is_named_whoever_is_asked_first() -> None:
    best, last = _line(1.0, 0.3, 400), _line(0.5, 0.3, 400)
    for pair in ((best, last), (last, best)):
        found = verdict(*pair)
        assert (found.kind, found.better, found.worse) == (VerdictKind.APART, best, last)
    assert verdict(best, best).kind is VerdictKind.OPEN


def test_verdict_when_bots_never_met_then_nobody_can_say() -> None:
    assert verdict(_line(1, 0.1, 400), _line(0, 0.1, 400, group=2)).kind is VerdictKind.STRANGERS


@given(
    lead=st.floats(0.01, 1.0),
    errors=st.tuples(st.floats(0.2, 3.0), st.floats(0.2, 3.0)),
    deals=st.tuples(st.integers(2, 5000), st.integers(2, 5000)),
)
def test_verdict_when_it_is_open_then_so_many_more_deals_would_just_do(
    lead: float, errors: tuple[float, float], deals: tuple[int, int]
) -> None:
    found = verdict(_line(lead, errors[0], deals[0]), _line(0.0, errors[1], deals[1]))
    if found.kind is not VerdictKind.OPEN or found.more is None:
        return
    left = [error**2 * had / (had + found.more) for error, had in zip(errors, deals, strict=True)]
    assert sum(left) <= lead**2 * 1.0001
    fewer = found.more * 0.85 - 2
    if fewer > 0:
        left = [error**2 * had / (had + fewer) for error, had in zip(errors, deals, strict=True)]
        assert sum(left) > lead**2


@given(st.lists(st.floats(-1e5, 1e5), max_size=20))
def test_scale_when_values_are_any_then_they_fit_and_ticks_are_few(values: list[float]) -> None:
    scale = scale_of(values)
    assert all(0.0 < scale.share(value) < 1.0 for value in values)
    assert 1 <= len(scale.ticks()) <= 6


def test_board_when_somebody_is_signed_in_then_its_own_bots_are_a_link_away(
    client: TestClient, storage: Storage
) -> None:
    accounts.create_account(storage, ROOT, "owner-1", Role.AUTHOR, NOW, PASSWORD)
    _, author = browsers.sign_in(storage, "owner-1", PASSWORD, NOW)
    key = apikeys.create_key(storage, author, "read", (KeyScope.READ,), NOW).key
    mine = Read(client.get("/board", headers={"Authorization": f"Bearer {key}"}).text)
    assert "/board?owner=owner-1" in mine.links
    assert "/board?owner=owner-1" not in Read(client.get("/board").text).links
