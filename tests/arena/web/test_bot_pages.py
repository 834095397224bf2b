"""The pages of bots: they show what the queries return."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from xml.etree import ElementTree

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from arena.actors import KeyScope, Role
from arena.bots import versions
from arena.bots.journal import DatabaseJournal
from arena.host.settings import load_settings
from arena.people import accounts, apikeys, browsers
from arena.queries.histories import HistoryKind, HistoryLine
from arena.queries.meetings import crosstable
from arena.queries.profiles import profile
from arena.queries.versus import versus
from arena.results.strength.fitting import fit_due
from arena.store.storage import Storage, open_storage
from arena.web.app import make_app
from arena.web.pages.bots import match_of, position
from arena.web.pages.links import match_url
from arena.web.pages.timelines import same_span, timeline
from benchmarks import seasons
from benchmarks.reading import NOW
from referee.matches.journal import Entry, EntryKind
from tests.arena.fakes import ROOT
from tests.arena.web.conftest import PASSWORD
from tests.arena.web.markup import Read

BOT = "owner-1/bot-3"


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory, empty_database: bytes) -> Iterator[Storage]:
    settings = load_settings({"data": tmp_path_factory.mktemp("bots")})
    (settings.prepare().data / "arena.db").write_bytes(empty_database)
    with open_storage(settings) as storage:
        season = seasons.begin(storage, 8, 6, NOW - timedelta(days=6))
        for number in range(6):
            now = NOW - timedelta(days=5 - number)
            seasons.play_round(season, Random(number), now)
            fit_due(storage, now)
        versions.register_version(storage, ROOT, "owner-1/idle", NOW, link="https://example.org/?a=1&b=<2>")
        yield storage


@pytest.fixture(scope="module")
def client(storage: Storage) -> TestClient:
    app = make_app(load_settings({"data": "unused"}), storage, clock=lambda: NOW)
    return TestClient(app, headers={"Accept": "text/html"}, raise_server_exceptions=False)


def test_bot_when_its_page_is_read_then_its_matches_opponents_and_seats_are_there(
    client: TestClient, storage: Storage
) -> None:
    answer = client.get(f"/bots/{BOT}")
    assert answer.status_code == 200
    page, told = Read(answer.text), profile(storage, BOT, 15)
    assert told.matches
    for line in told.matches:
        assert match_url(line.tournament, line.round, line.table) in page.links
    assert f"/matches?bot={BOT.replace('/', '%2F')}" in page.links
    for opponent in told.opponents:
        assert f"{opponent.met.deals}" in page.text
    for seat in told.seats:
        assert seat.mean is not None
        assert f"{abs(seat.mean):.2f}" in page.text
    [rated] = told.pools
    assert rated.strength is not None
    assert f"{rated.strength.figure:.0f}" in page.text
    assert "path" in page.tags  # the timeline


def test_bot_when_it_is_followed_then_both_feeds_have_its_matches_and_versions_newest_first(
    client: TestClient, storage: Storage
) -> None:
    page = client.get(f"/bots/{BOT}").text
    for kind, ending in (("application/atom+xml", "atom"), ("application/feed+json", "json")):
        assert f'<link rel="alternate" type="{kind}" title="{BOT}" href="/bots/{BOT}/feed.{ending}">' in page
        assert client.get(f"/bots/{BOT}/feed.{ending}").headers["content-type"] == kind
    told = client.get(f"/bots/{BOT}/feed.json").json()
    root = ElementTree.fromstring(client.get(f"/bots/{BOT}/feed.atom").content)
    entries = root.findall("{*}entry")
    assert [one.findtext("{*}id") for one in entries] == [one["id"] for one in told["items"]]
    assert [one.findtext("{*}title") for one in entries] == [one["title"] for one in told["items"]]
    times = [one["date_published"] for one in told["items"]]
    assert times == sorted(times, reverse=True)
    assert root.findtext("{*}updated") == times[0]
    assert len({one["id"] for one in told["items"]}) == len(times)
    newest = profile(storage, BOT).matches[0]
    [item] = [
        one
        for one in told["items"]
        if one["url"].endswith(match_url(newest.tournament, newest.round, newest.table))
    ]
    own = newest.bots.index(f"{BOT}@1")
    assert f"{abs(newest.points[own])} points in {newest.tournament}, round {newest.round}" in item["title"]
    assert all(name in item["content_text"] for name in newest.bots)
    assert [one["title"] for one in told["items"]].count("Version 1 was registered") == 1
    assert client.get("/bots/owner-1/none/feed.atom").status_code == 404
    [only] = client.get("/bots/owner-1/idle/feed.json").json()["items"]
    assert only["title"] == "Version 1 was registered"


def test_bot_when_one_version_is_asked_for_then_the_page_is_of_that(client: TestClient) -> None:
    assert "version 1" in Read(client.get(f"/bots/{BOT}?version=1").text).text
    for path, status in (
        (f"/bots/{BOT}?version=7", 404),
        ("/bots/owner-1/none", 404),
        (f"/bots/{BOT}?version=x", 422),
    ):
        assert client.get(path).status_code == status


def test_bot_when_it_never_played_then_its_page_says_so(client: TestClient) -> None:
    page = Read(client.get("/bots/owner-1/idle").text)
    assert "It has no rating yet" in page.text
    assert "It has not played a match yet" in page.text
    assert "https://example.org/?a=1&b=<2>" in page.links


def test_versus_when_two_are_named_then_their_meetings_are_counted_and_there_is_a_verdict(
    client: TestClient, storage: Storage
) -> None:
    page = Read(client.get(f"/bots/{BOT}/versus?opponent=owner-0/bot-0").text)
    assert "owner-1/bot-3 against owner-0/bot-0" in page.text
    [pool] = versus(storage, BOT, "owner-0/bot-0").pools
    assert pool.verdict is not None
    assert pool.verdict.plus_minus is not None
    assert "verdict-1" in page.ids
    assert f"by {pool.verdict.lead:.2f} ± {pool.verdict.plus_minus:.2f} points" in page.text
    assert (f"About {pool.verdict.more} more deals" in page.text) == (pool.verdict.more is not None)
    assert client.get(f"/bots/{BOT}/versus?opponent={BOT}").status_code == 422
    assert client.get(f"/bots/{BOT}/versus?opponent=owner-0/none").status_code == 404
    assert client.get(f"/bots/{BOT}/versus").status_code == 422


def test_crosstable_when_bots_are_named_in_any_way_then_each_is_compared_with_each(
    client: TestClient, storage: Storage
) -> None:
    assert "owner/bot@number" in Read(client.get("/crosstable").text).text  # nothing is wrong yet
    met = [line.met for line in crosstable(storage, [BOT, "owner-0/bot-0", "owner-2/bot-4"])]
    ab, ac, ba, bc, ca, cb = (str(round(100 * one.ahead / (one.ahead + one.behind))) for one in met)
    for between in ("&bot=", "%0D%0A"):
        query = f"bot={BOT}{between}owner-0/bot-0{between}owner-2/bot-4"
        cells = re.findall(r'<td class="[^"]*"[^>]*>([^<]*)</td>', client.get(f"/crosstable?{query}").text)
        assert cells == ["·", ab, ac, ba, "·", bc, ca, cb, "·"]
    refused = client.get(f"/crosstable?bot={BOT}")
    assert refused.status_code == 422
    assert "must have at least 2 items, not 1" in Read(refused.text).text
    assert client.get(f"/crosstable?bot={BOT}&bot=owner-0/none").status_code == 404


def test_faults_when_the_author_reads_the_page_then_they_have_positions_and_others_see_none(
    client: TestClient, storage: Storage
) -> None:
    [version] = profile(storage, BOT, 1).versions
    number = int(version.bot.partition("@")[2])
    assert number == 1
    accounts.create_account(storage, ROOT, "owner-1", Role.AUTHOR, NOW, PASSWORD)
    _, author = browsers.sign_in(storage, "owner-1", PASSWORD, NOW)
    key = apikeys.create_key(storage, author, "all", tuple(KeyScope), NOW).key
    with storage.read() as tx:
        [row] = versions.find_versions(tx, [f"{BOT}@1"], None)
    details = {"hand": "3D <b>", "answered": "4D"}
    fault = EntryKind.FAULT
    with DatabaseJournal(storage, "127.0.0.1:1") as journal:
        journal.add(Entry(row.id, fault, "illegal", "not a play", "season/1/1/1", details))
        for session, text in enumerate(("4D does not beat KD", "10S does not beat 2S, nor 3D"), start=2):
            journal.add(Entry(row.id, fault, "illegal", text, f"season/1/1/{session}", {"deal": session}))
        journal.add(Entry(row.id, fault, "illegal", "QH does not beat KD", "season/1/1/4", {"deal": 4}))
    path = f"/bots/{BOT}"
    mine = Read(client.get(path, headers={"Authorization": f"Bearer {key}"}).text)
    assert "not a play" in mine.text
    assert "3D <b>" in mine.text
    assert "2 × illegal QH does not beat KD latest" in mine.text
    assert mine.text.count("does not beat KD") == 2  # the latest in the title, the other beside its place
    assert mine.text.count("10S does not beat") == 1
    assert "not a play" not in Read(client.get(path).text).text


def test_position_when_a_fault_tells_of_it_then_it_is_said_in_words() -> None:
    where = {"deal": 2, "action": 28, "sequence": 11, "turn": "play", "seat": 1}
    cards = {"hand": "4C 5S", "to_beat": "", "answered": "", "default": "-"}
    counted = {"faults": 9, "fault_limit": 10, "elapsed_ms": 1003, "credit_ms": 0}
    assert [*position(where | cards | counted | {"newer": [1]})] == [
        ("Where", "deal 2, action 28, seat 1, sequence 11"),
        ("Hand", "4C 5S"),
        ("To beat", "nothing"),
        ("Answered", "nothing"),
        ("Played instead", "pass"),
        ("Time taken", "1003 ms"),
        ("Faults", "9 of 10 in this session"),
        ("newer", "[1]"),
    ]
    late = {"deal": 1, "attempt": 2, "turn": "exchange", "elapsed_ms": 40, "credit_ms": 3, "void": True}
    assert [*position(late)] == [
        ("Where", "deal 1, attempt 2"),
        ("Turn", "exchange"),
        ("Time taken", "40 ms (network credit 3 ms)"),
        ("Counts", "no: the arena broke off this attempt"),
    ]


@pytest.mark.parametrize(
    ("session", "match"),
    [("cup/2/3/1", "/matches/cup/2/3"), ("", None), ("cup/x/3/1", None), ("cup/٢/3/1", None)],
)
def test_match_of_a_fault_when_its_session_says_one_then_it_is_linked(
    session: str, match: str | None
) -> None:
    assert match_of(session) == match


START = datetime(2026, 1, 1, tzinfo=UTC)
Value = st.floats(-500, 4000)


EMPTY = HistoryLine(START, HistoryKind.ELO, "", "c@1", 4, *[None] * 9)


def _elo(at: datetime, name: str, rating: float) -> HistoryLine:
    return replace(EMPTY, at=at, bot=name, rating=rating, change=1.0)


def _fit(at: datetime, name: str, figure: float, off: float) -> HistoryLine:
    low, high = figure - off, figure + off
    of_fit = replace(EMPTY, at=at, bot=name, kind=HistoryKind.STRENGTH, figure=figure)
    return replace(of_fit, figure_low=low, figure_high=high, deals=10)


@st.composite
def _lines(draw: st.DrawFn) -> list[HistoryLine]:
    found = []
    for day in range(draw(st.integers(1, 6))):
        at, name, value = START + timedelta(days=day), f"a/b@{draw(st.integers(1, 2))}", draw(Value)
        of_fit = draw(st.booleans())
        found.append(_fit(at, name, value, draw(st.floats(0, 300))) if of_fit else _elo(at, name, value))
    return found


@given(_lines())
def test_timeline_when_lines_are_any_then_all_of_it_is_drawn_within(lines: list[HistoryLine]) -> None:
    drawn = timeline(lines, (), ())
    assert drawn is not None
    assert {curve.name for curve in drawn.curves} == {line.bot for line in lines}
    for curve in drawn.curves:
        kinds = {line.kind for line in lines if line.bot == curve.name}
        assert bool(curve.elo) == (HistoryKind.ELO in kinds)
        assert bool(curve.band) == bool(curve.strength) == (HistoryKind.STRENGTH in kinds)
        assert curve.band.endswith("Z") or not curve.band
        assert "nan" not in curve.band + curve.strength + curve.elo


def test_span_when_earlier_lines_of_one_kind_are_missing_then_all_kinds_begin_together() -> None:
    days = [START + timedelta(days=day) for day in range(5)]
    fits = [_fit(at, "a/b@1", 1500.0 + number, 9) for number, at in enumerate(days)]
    elo = [_elo(days[2], "a/b@1", 1520), _elo(days[4], "a/b@1", 1530)]
    assert same_span([*fits, *elo], ()) == [*fits, *elo]
    lines = same_span([*fits, *elo], {HistoryKind.ELO})
    assert sorted(line.at for line in lines if line.kind is HistoryKind.STRENGTH) == days[2:]
    later = same_span([*fits, _elo(days[2] + timedelta(hours=1), "a/b@1", 1)], {HistoryKind.ELO})
    assert min(later, key=lambda line: (line.at, line.kind)).at == days[2] + timedelta(hours=1)
    assert {line.figure for line in later} == {None, 1502.0, 1503.0, 1504.0}


def test_timeline_when_there_are_no_lines_then_there_is_none() -> None:
    assert timeline((), (), ()) is None
