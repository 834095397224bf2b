"""The organiser's desk: what is created, steered and decided there, and by whom."""

import html
import re
from collections import Counter
from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlmodel import col, select

from arena.actors import Actor, Role
from arena.bots.versions import register_version
from arena.core.formats import FORMATS
from arena.core.specs import GROUPS, TournamentSpec, described
from arena.leagues import membership
from arena.leagues.membership import find_league
from arena.leagues.spec import LeagueSpec, make_league
from arena.operations.checking import schema_of
from arena.people import accounts
from arena.queries.scoreboard import standings
from arena.store.models import Bot, BotVersion, Entrant, EntrantChances
from arena.store.storage import Storage
from arena.tournaments import admission
from arena.tournaments.overview import find_tournament
from arena.web.pages import files, once
from arena.web.pages.drawing import form_field
from arena.web.pages.files import parameters_of, read_toml, write_toml
from arena.webhooks.hooks import LONGEST_URL
from referee.ruleset import load_ruleset
from tests.arena.fakes import ROOT, Clock
from tests.arena.web.conftest import PASSWORD
from tests.arena.web.markup import Read, Sent
from tests.arena.world import World, open_bots

HIDDEN = re.compile(r'<input type="hidden" name="([^"]*)" value="([^"]*)"')
LONGEST_NAME = 39
LARGEST_COOKIE = 4096
"""Bytes of the name and the value; browsers ignore larger ones."""

Browse = Callable[[str, Role], TestClient]
CUP = """\
name = "cup"
format = "round-robin"
ruleset = "chinese"
entrants = ["ann/one", "ann/two", "bob/one", "bob/two"]
sessions = 1
deals = 2
allow_same_owner = true
"""
SWISS = f'{CUP.replace("round-robin", "swiss")}rounds = 2\nentries = "approved"\n'


@pytest.fixture
def browse(app: FastAPI, storage: Storage, clock: Clock) -> Browse:
    """Return a function that opens the browser of a new account, signed in."""

    def opened(name: str, role: Role) -> TestClient:
        accounts.create_account(storage, ROOT, name, role, clock(), PASSWORD)
        headers = {"Accept": "text/html", "Sec-Fetch-Site": "same-origin"}
        browser = TestClient(
            app, base_url="https://arena.test", headers=headers, raise_server_exceptions=False
        )
        browser.post("/sign-in", data={"account": name, "password": PASSWORD})
        return browser

    return opened


@pytest.fixture
def olga(browse: Browse, world: World) -> TestClient:
    """Return the browser of an organiser, in an arena with bots."""
    for bot in ("ann/one", "ann/two", "bob/one", "bob/two", "ann/three"):
        register_version(world.storage, ROOT, bot, world.clock())
    open_bots(world.storage)
    return browse("olga", Role.ORGANISER)


def steer(browser: TestClient, do: str) -> int:
    return browser.post("/tournaments/cup/desk", data={"do": do}).status_code


def test_tournament_when_it_is_announced_then_its_pages_say_how_many_are_missing(olga: TestClient) -> None:
    file = CUP.replace('["ann/one", "ann/two", "bob/one", "bob/two"]', "[]")
    told = "a table needs at least 4, has 0; add 4 before the start"
    assert told in olga.post("/desk", data={"tab": "file", "file": file, "do": "preview"}).text
    created = olga.post("/desk", data={"tab": "file", "file": file, "do": "create"})
    assert created.status_code == 200
    assert told in created.text
    refused = olga.post("/tournaments/cup/desk", data={"do": "start"})
    assert (refused.status_code, told in refused.text) == (422, True)
    for page in ("", "/crosstable", "/rounds/1"):
        assert olga.get(f"/tournaments/cup{page}").status_code == (404 if page == "/rounds/1" else 200), page
    assert olga.get("/tournaments").status_code == olga.get("/").status_code == 200
    for bot in ("ann/one", "ann/two", "bob/one", "bob/two"):
        olga.post("/tournaments/cup/desk/entries", data={"bot": bot, "do": "enter"})
    assert steer(olga, "start") == 200


def test_tournament_when_it_is_previewed_then_nothing_is_stored(olga: TestClient, world: World) -> None:
    shown = olga.post("/desk", data={"tab": "file", "file": CUP, "do": "preview"})
    assert shown.status_code == 200
    text = Read(shown.text).text
    assert "Preview of cup" in text
    assert "A sample draw of the first round" in text
    assert world.statuses() == []


def test_form_when_the_session_has_expired_then_it_signs_in_on_the_spot_and_goes_on_with_all_that_was_typed(
    olga: TestClient, world: World
) -> None:
    olga.cookies.clear()
    typed = {"tab": "file", "file": f"# <b>&\n{CUP}", "do": "create", "old_password": "secret"}
    for _ in range(2):  # the second time as by a reload
        refused = olga.post("/desk", data=typed)
        assert (refused.status_code, world.statuses()) == (401, [])
    kept = {name: html.unescape(value) for name, value in HIDDEN.findall(refused.text)}
    assert "secret" not in refused.text
    wrong = olga.post("/sign-in", data={**kept, "account": "olga", "password": "not the one"})
    assert wrong.status_code == 403
    assert {name: html.unescape(value) for name, value in HIDDEN.findall(wrong.text)} == kept
    foreign = {"Sec-Fetch-Site": "cross-site"}
    assert olga.post("/desk", data=typed, headers=foreign).status_code == 403
    made = olga.post("/sign-in", data={**kept, "account": "olga", "password": PASSWORD})
    assert made.url.path == "/tournaments/cup/desk"
    assert world.status("cup").entrants == 4
    olga.cookies.clear()
    assert olga.post("/desk", data=typed, headers={"Accept": "*/*"}).json()["status"] == 401


@pytest.mark.parametrize(("format", "matches"), [("round-robin", 3), ("swiss", 2)])
def test_preview_when_rounds_follow_from_a_schedule_then_it_counts_matches_and_sessions(
    olga: TestClient, format: str, matches: int
) -> None:
    entrants = '["ann/one", "ann/two", "bob/one", "bob/two", "ann/three"]'
    file = CUP.replace('["ann/one", "ann/two", "bob/one", "bob/two"]', entrants)
    file = file.replace("round-robin", format).replace("sessions = 1", "sessions = 8")
    file += "rounds = 2\n" if format == "swiss" else "rounds = 3\n" if format == "round-robin" else ""
    shown = Read(olga.post("/desk", data={"tab": "file", "file": file, "do": "preview"}).text).text
    assert f"Matches {matches} Sessions {8 * matches} " in shown
    whole = Read(
        olga.post(
            "/desk",
            data={"tab": "file", "file": CUP.replace("sessions = 1", "sessions = 8"), "do": "preview"},
        ).text
    ).text
    assert "Rounds 1 Matches 1 Sessions 8 " in whole  # as many as everybody needs to meet everybody


def test_start_when_it_is_typed_in_a_zone_then_it_is_stored_in_utc_and_never_in_the_past(
    olga: TestClient, world: World
) -> None:
    form = {"name": "cup", "format": "swiss", "ruleset": "chinese", "rounds": "2", "tab": "form"}
    evening = {**form, "start_at": "2030-07-01T20:00", "zone": "Europe/Berlin"}
    assert (
        "Starts 1 Jul 2030 18:00 UTC" in Read(olga.post("/desk", data={**evening, "do": "preview"}).text).text
    )
    wrong = olga.post("/desk", data={**evening, "zone": "Berlin", "do": "create"})
    assert "must be a time zone, such as Europe/Berlin, not 'Berlin'" in Read(wrong.text).text
    past = {"start_at": world.clock().strftime("%Y-%m-%dT%H:%M"), "zone": "UTC"}
    refused = olga.post("/desk", data={**form, **past, "do": "create"})
    assert (refused.status_code, world.statuses()) == (422, [])
    assert "is in the past" in refused.text
    olga.post("/desk", data={**evening, "do": "create"})
    assert str(world.status("cup").start_at) == "2030-07-01 18:00:00+00:00"
    changed = olga.post("/tournaments/cup/desk/change", data={**form, **past, "do": "change"})
    assert "is in the past" in changed.text


def test_tournament_when_it_is_created_then_its_desk_steers_it(olga: TestClient, world: World) -> None:
    made = olga.post("/desk", data={"tab": "file", "file": CUP.replace("\n", "\r\n"), "do": "create"})
    assert made.url.path == "/tournaments/cup/desk"
    assert "4 bots" in Read(made.text).text
    states = [world.status("cup").state]
    for do in ("start", "pause", "resume", "cancel"):
        assert steer(olga, do) == 200
        states.append(world.status("cup").state)
    assert states == ["created", "running", "paused", "running", "cancelled"]
    assert steer(olga, "pause") == 409


def test_desk_when_the_tournament_has_ended_then_it_says_nothing_of_connections(olga: TestClient) -> None:
    made = olga.post("/desk", data={"tab": "file", "file": CUP, "do": "create"})
    assert "4 bots; no referee says which are connected" in Read(made.text).text
    assert steer(olga, "cancel") == 200
    ended = Read(olga.get("/tournaments/cup/desk").text).text
    assert "4 bots" in ended
    assert "onnected" not in ended


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("", "name: is missing"),
        ("name =", "is not TOML"),
        (CUP + "deal = 3", "deal: is not a field of a tournament; did you mean 'deals'?"),
        (CUP.replace("chinese", "../secret.toml"), "ruleset: must be a preset's name"),
        (CUP.replace("ann/one", "ann/nobody"), "no bot 'ann/nobody'"),
        (CUP.replace("cup", "<i>"), "'<i>' is not a name"),
    ],
)
@pytest.mark.parametrize("do", ["preview", "create"])
def test_tournament_when_its_fields_are_wrong_then_the_form_says_so_and_keeps_them(
    olga: TestClient, file: str, words: str, do: str
) -> None:
    refused = olga.post("/desk", data={"tab": "file", "file": file, "do": do})
    assert refused.status_code in (404, 422)
    assert words in " ".join(Read(refused.text).text.split()).replace(" : ", ": ")
    assert "<i>" not in refused.text


def test_desk_when_the_tournament_is_another_organisers_then_it_does_nothing(
    olga: TestClient, browse: Browse, world: World
) -> None:
    olga.post("/desk", data={"tab": "file", "file": CUP, "do": "create"})
    other, author = browse("otto", Role.ORGANISER), browse("ann", Role.AUTHOR)
    assert [steer(browser, "start") for browser in (other, author)] == [403, 403]
    assert author.get("/desk").status_code == 403
    assert world.status("cup").state == "created"


def test_desk_when_many_have_entered_then_their_list_has_pages_and_leads_to_a_bot(
    olga: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.web.pages.desk.ROSTER", 3)
    olga.post("/desk", data={"tab": "file", "file": CUP, "do": "create"})

    def shown(query: str) -> list[str]:
        page = Read(olga.get(f"/tournaments/cup/desk{query}").text)
        return [link.removeprefix("/bots/") for link in page.links if link.startswith("/bots/")]

    first, second = shown(""), shown("?offset=3")
    assert [len(first), len(second)] == [3, 1]
    assert len({*first, *second}) == 4
    assert shown("?around=bob/two") == shown("?around=Bob/Two@1") == second
    refused = Read(olga.get("/tournaments/cup/desk?around=ann/three").text)
    assert "no ann/three among the entrants" in refused.text


def offers(text: str) -> dict[str, str]:
    """Return what a page says of the reader's own bots, and offers about each."""
    lines = re.findall(r"<li><span>(.*?)</span>\n(.*?)</li>", text, re.DOTALL)
    return {
        Read(bot).text.replace(" ", ""): Read(re.sub(r"<form.*?grave.*?</form>|…", "", rest)).text
        for bot, rest in lines
    }


def test_entry_when_the_organiser_decides_then_the_author_asks_and_is_answered(
    olga: TestClient, browse: Browse, world: World
) -> None:
    olga.post("/desk", data={"tab": "file", "file": SWISS, "do": "create"})
    ann = browse("ann", Role.AUTHOR)
    refused = ann.post("/tournaments/cup/enter", data={"bot": "ann/nobody"})
    assert (refused.status_code, "no bot &#39;ann/nobody&#39;" in refused.text) == (404, True)
    assert offers(refused.text) == {
        "ann/one@1": "is in it Withdraw",
        "ann/two@1": "is in it Withdraw",
        "ann/three@1": "the organiser decides Ask to enter",
    }
    asked = ann.post("/tournaments/cup/enter", data={"bot": "ann/three"})
    assert (asked.url.path, offers(asked.text)["ann/three@1"]) == (
        "/tournaments/cup",
        "has asked, no answer yet Take it back",
    )
    taken_back = ann.post("/me/requests/withdraw", data={"tournament": "cup", "bot": "ann/three@1"})
    assert (taken_back.url.path, "cup" in Read(taken_back.text).text) == ("/me", False)
    ann.post("/tournaments/cup/enter", data={"bot": "ann/three@1"})
    assert "three @1 in cup" in Read(ann.get("/me").text).text
    assert "Requests to enter" in Read(olga.get("/tournaments/cup/desk").text).text
    decided = "/tournaments/cup/desk/entries"
    declined = olga.post(decided, data={"do": "decline", "bot": "ann/three", "reason": "no room"})
    assert "no room" in declined.text
    assert offers(ann.get("/tournaments/cup").text)["ann/three@1"] == (
        "ann/three@1 was declined in tournament cup: no room"
    )
    unexplained = olga.post(decided, data={"do": "decline", "bot": "ann/three", "reason": " "})
    assert (unexplained.status_code, "<b>reason</b>: is missing" in unexplained.text) == (422, True)
    assert olga.post(decided, data={"do": "promote", "bot": "ann/three"}).status_code == 422
    assert olga.post(decided, data={"do": "approve", "bot": "ann/three"}).status_code == 200
    assert world.status("cup").entrants == 5
    assert olga.post(decided, data={"do": "withdraw", "bot": "ann/three"}).status_code == 200
    assert olga.post(decided, data={"do": "enter", "bot": "nobody/x"}).status_code == 404


@pytest.mark.parametrize(
    "fields",
    [
        {"name": "cup", "rated": False, "decision_ms": 250, "entrants": [], "options": {"advance": 2}},
        {
            "beacon": 'a "b" \\ c \x7f\t\u00e9',
            "entrants": [f"owner-{n}/bot-with-a-long-name" for n in range(9)],
        },
        {"a b": 1.5, "divisions": [{"name": "x", "tournament": {"rounds": 2}}, {"name": "y"}], "empty": {}},
    ],
)
def test_file_when_fields_are_written_then_it_has_the_same_fields(fields: dict[str, object]) -> None:
    ruleset = load_ruleset("hong-kong")
    written = read_toml(write_toml({**fields, "none": None, "ruleset": ruleset.to_object()}))
    assert load_ruleset(written.pop("ruleset")) == ruleset
    assert written == fields


def test_form_when_it_is_drawn_then_it_has_every_field_of_a_tournament_once(olga: TestClient) -> None:
    parameters = [*parameters_of(TournamentSpec), files.file_parameter()]
    named = Counter(re.findall(r'<label[^>]* for="desk-(\w+)"', olga.get("/desk").text))
    for parameter in parameters:
        assert form_field(parameter).group in GROUPS, parameter.name
        assert named[parameter.name] == 1, parameter.name
        if words := form_field(parameter).choices:
            enum: Any = schema_of(TournamentSpec, parameter.name)["enum"]
            assert [*dict(words)] == enum


def test_format_when_one_is_chosen_then_form_and_help_say_how_each_goes(olga: TestClient) -> None:
    page, help = olga.get("/desk").text, described(TournamentSpec, "format")
    for name, format in FORMATS.items():
        assert f">{name}: {format.summary}</option>" in page
        assert f"`{name}`: {format.summary}" in help


def test_tournament_of_a_ruleset_of_its_own_when_it_is_changed_by_the_form_then_the_ruleset_stays(
    olga: TestClient, world: World
) -> None:
    file = CUP.replace('"chinese"', '{name = "house", extends = "hong-kong"}')
    olga.post("/desk", data={"tab": "file", "file": file, "do": "create"})
    page = olga.get("/tournaments/cup/desk/change").text
    assert re.search(r'<option value="\w{64}" selected>house@1, 4 at a table</option>', page)
    typed = {
        "format": "round-robin",
        "sessions": "2",
        "allow_same_owner": "true",
        "options": "meetings = all",
    }
    refused = olga.post("/tournaments/cup/desk/change", data={**typed, "do": "change"})
    assert "meetings : must be" in Read(refused.text).text
    typed["options"] = "meetings = at-least-once"
    done = olga.post("/tournaments/cup/desk/change", data={**typed, "do": "change"})
    assert done.url.path == "/tournaments/cup/desk"
    status = world.status("cup")
    assert (status.ruleset, status.sessions, status.deals, status.entrants) == ("house@1", 2, None, 4)


def test_form_when_a_ruleset_is_chosen_that_the_arena_knows_or_typed_as_a_file_then_it_is_played(
    olga: TestClient, world: World
) -> None:
    house = 'name = "house"\r\nextends = "hong-kong"\r\nbomb_scores = 7'
    typed = {"name": "one", "format": "swiss", "rounds": "1", "sessions": "1", "ruleset": "chinese"}
    for file, told in (("no TOML", "is not TOML"), (house, "ruleset.bomb_scores")):
        refused = olga.post("/desk", data={**typed, "ruleset_file": file, "do": "create"})
        assert (refused.status_code, told in Read(refused.text).text) == (422, True)
        assert file.replace("\r", "") in html.unescape(refused.text)
    house = house.partition("\r\nbomb")[0]
    made = olga.post("/desk", data={**typed, "ruleset_file": house, "do": "create"})
    assert (made.url.path, world.status("one").ruleset) == ("/tournaments/one/desk", "house@1")
    page = olga.get("/desk").text
    [hash] = re.findall(r'<option value="(\w{64})">house@1, 4 at a table</option>', page)
    assert hash == load_ruleset({"name": "house", "extends": "hong-kong"}).hash
    olga.post("/desk", data={**typed, "name": "two", "ruleset": hash, "do": "create"})
    assert world.status("two").ruleset == "house@1"
    unknown = olga.post("/desk", data={**typed, "name": "three", "ruleset": "f" * 64, "do": "create"})
    assert (unknown.status_code, "no ruleset" in Read(unknown.text).text) == (404, True)
    changed = {**typed, "ruleset": hash, "ruleset_file": 'name = "new"\nextends = "chinese"', "do": "change"}
    olga.post("/tournaments/two/desk/change", data=changed)
    assert world.status("two").ruleset == "new@1"
    league = {**LEAGUE, "tournament.ruleset": hash, "do": "apply"}
    assert olga.post("/desk/league", data=league).url.path == "/leagues/winter/desk"
    assert f'<option value="{hash}" selected>house@1' in olga.get("/leagues/winter/desk/change").text


def test_desk_when_bots_are_invited_then_it_lists_them_and_takes_invitations_back(
    olga: TestClient, world: World
) -> None:
    olga.post("/desk", data={"tab": "file", "file": f'{CUP}entries = "invited"\n', "do": "create"})
    at = "/tournaments/cup/desk"
    refused = olga.post(f"{at}/invitations", data={"invited": "ann/none"})
    assert (refused.status_code, "ann/none" in refused.text) == (404, True)
    shown = olga.post(f"{at}/invitations", data={"invited": "ann/three\r\nbob"}).text
    assert "all its bots" in Read(shown).text
    olga.post(f"{at}/invitations/take-back", data={"invited": "bob"})
    left = admission.list_entries(world.storage, ROOT, find_tournament, "cup").invitations
    assert [one.invited for one in left] == ["ann/three"]


def test_corrections_when_one_is_previewed_then_the_standings_change_only_once_it_is_made(
    olga: TestClient, world: World
) -> None:
    olga.post("/desk", data={"tab": "file", "file": CUP, "do": "create"})
    olga.post("/tournaments/cup/desk", data={"do": "start"})
    world.finish(world.status("cup").id)
    at = "/tournaments/cup/desk/corrections"
    assert at in olga.get("/tournaments/cup/desk").text
    first, second, *_ = [line.bot for line in standings(world.storage, "cup")]
    asked = {"bot": first, "correction": "disqualified", "reason": "a copy"}
    assert "Preview" not in Read(olga.get(at).text).text  # a bot has to be chosen first
    chosen = olga.get(f"{at}?bot={first}").text
    [match] = re.findall(r'<option value="(1\.1)">round 1, table 1: [+−]?\d+ points</option>', chosen)
    assert "Required." in chosen
    wrong = olga.post(at, data={**asked, "correction": "points", "do": "preview"})
    assert "choose the one whose points change" in wrong.text
    preview = Read(olga.post(at, data={**asked, "do": "preview"}).text).text
    assert "disqualified" in preview.partition("Nothing is stored yet")[0].partition("Preview")[2]
    assert standings(world.storage, "cup")[0].bot == first
    olga.post(at, data={**asked, "do": "correct"})
    lines = standings(world.storage, "cup")
    assert (lines[0].bot, lines[-1].bot, lines[-1].disqualified) == (second, first, True)
    points = {
        "correction": "points",
        "bot": second,
        "match": match,
        "points": "5",
        "reason": "late",
    }
    olga.post(at, data={**points, "do": "preview"})
    assert standings(world.storage, "cup")[0].points == lines[0].points
    olga.post(at, data={**points, "do": "correct"})
    assert standings(world.storage, "cup")[0].points == lines[0].points + 5
    olga.post(at, data={**asked, "correction": "reinstated", "do": "correct"})
    assert not any(line.disqualified for line in standings(world.storage, "cup"))


def test_soft_play_when_a_bot_gives_way_to_one_other_then_its_organiser_reads_of_it(
    olga: TestClient, world: World
) -> None:
    olga.post("/desk", data={"tab": "file", "file": CUP, "do": "create"})
    olga.post("/tournaments/cup/desk", data={"do": "start"})
    at = "/tournaments/cup/desk/soft-play"
    assert at in olga.get("/tournaments/cup/desk").text
    assert "No round has been looked at yet" in olga.get(at).text
    with world.storage.write() as tx:
        ids = tx.exec(select(Entrant.id).order_by(col(Entrant.number))).all()[:3]
        for one, other in permutations(ids, 2):
            passed = 240 if (one, other) == (ids[0], ids[1]) else 40
            tx.add(EntrantChances(entrant_id=one, other_id=other, situation=2, chances=1_000, passed=passed))
        version = select(BotVersion.name).join(Entrant, col(Entrant.version_id) == BotVersion.id)
        soft, partner = (tx.exec(version.where(Entrant.id == id)).one() for id in ids[:2])
    read = Read(olga.get(at).text).text
    assert "6 pairs of a bot and one other looked at" in read
    assert "not a verdict" in read
    table = "".join(read.partition("Difference")[2].split())
    assert table.startswith(f"{soft}standsout{partner}0100024.0%4.0%+20.0+")
    assert table.count("standsout") == 1


def test_webhook_when_it_is_added_on_its_page_then_its_secret_is_shown_till_it_is_put_away(
    olga: TestClient, world: World
) -> None:
    added = {"name": "told", "url": "https://example.org/hook", "events": ["tournament.finished"]}
    shown = olga.post("/webhooks", data=added).text
    assert "whsec_" in shown
    assert "whsec_" in olga.get("/webhooks/told").text
    replaced = olga.post("/webhooks/told/rotate").text
    assert replaced.count("whsec_") == 1  # the earlier one is good no more
    olga.post("/webhooks/secrets/put-away")
    assert "whsec_" not in olga.get("/webhooks").text
    sent = Read(olga.post("/webhooks/told/test").text).text
    assert "pending" in sent
    olga.post("/webhooks/told/remove")
    assert "You have none" in olga.get("/webhooks").text
    assert olga.get("/webhooks/told").status_code == 404


def test_webhooks_when_as_many_as_possible_have_long_addresses_then_browsers_still_keep_their_secrets(
    olga: TestClient,
) -> None:
    for number in range(once.MOST):
        name = f"{number}".ljust(LONGEST_NAME, "n")
        url = f"https://example.org/{name}".ljust(LONGEST_URL, "u")
        assert name in olga.post("/webhooks", data={"name": name, "url": url}).text
    assert olga.get("/webhooks").text.count("whsec_") == once.MOST
    [kept] = [one.value for one in olga.cookies.jar if one.name == once.COOKIE]
    assert len(f"{once.COOKIE}={kept}") <= LARGEST_COOKIE


LEAGUE = {
    "name": "winter",
    "start": "2030-03-30T19:00",
    "zone": "Europe/Berlin",
    "interval_hours": "24",
    "entries": "approved",
    "division.1.name": "first",
    "division.1.size": "4",
    "division.4.name": "second",
    "division.4.promoted": "2",
    "tournament.format": "swiss",
    "tournament.ruleset": "hong-kong",
    "tournament.rounds": "2",
    "tournament.decision_ms": "500",
}


def test_league_when_it_is_made_and_changed_by_a_form_then_it_is_as_its_file_would_make_it(
    olga: TestClient, browse: Browse, world: World
) -> None:
    def spec() -> LeagueSpec:
        with world.storage.read() as tx:
            return make_league(find_league(tx, "winter").spec)

    wrong = olga.post(
        "/desk/league", data={**LEAGUE, "division.1.size": "x", "tournament.rounds": "0", "do": "apply"}
    )
    assert "Places of first" in wrong.text
    wrong = olga.post("/desk/league", data={**LEAGUE, "interval_hours": "٢٤", "do": "apply"})
    assert "must be a number of hours from 0.01 to 100000, not '٢٤'" in Read(wrong.text).text
    assert "winter" not in Read(olga.get("/leagues").text).text
    assert 'id="desk-league-tournament.rounds" name="tournament.rounds"' in wrong.text
    previewed = olga.post("/desk/league", data={**LEAGUE, "do": "preview"}).text
    rows = re.findall(r'name="division.(\d).(\w+)" [^>]*value="([^"]*)"', previewed)
    assert rows[:5] == [
        ("1", "name", "first"),
        ("1", "size", "4"),
        ("2", "name", "second"),
        ("2", "size", ""),
        ("2", "promoted", "2"),
    ]
    assert {number for number, *_ in rows} == {*"1234"}  # with room for two more
    assert '</td><td class="num">2</td></tr>' in previewed  # relegated from the first
    preview = Read(previewed).text
    for number, day, hour in ((1, "Saturday, 30 March", 18), (2, "Sunday, 31 March", 17)):
        assert (
            f"Season {number}: {day} 2030, 19:00 Europe/Berlin, {29 + number} Mar 2030 {hour}:00 in UTC"
            in preview
        )
    assert "Promoted of second" in preview
    made = olga.post("/desk/league", data={**LEAGUE, "do": "apply"})
    assert made.url.path == "/leagues/winter/desk"
    as_file = make_league(
        {
            "name": "winter",
            "start": "2030-03-30T18:00:00Z",
            "zone": "Europe/Berlin",
            "interval_hours": 24,
            "entries": "approved",
            "tournament": {"format": "swiss", "ruleset": "hong-kong", "rounds": 2, "decision_ms": 500},
            "divisions": [{"name": "first", "size": 4}, {"name": "second", "promoted": 2}],
        }
    )
    assert spec() == as_file
    assert "league winter already exists" in olga.post("/desk/league", data={**LEAGUE, "do": "apply"}).text
    own = {
        **as_file.to_object(),
        "tournament": {**as_file.tournament, "ruleset": {"name": "house", "extends": "hong-kong"}},
    }
    own["divisions"] = [{"name": "first", "size": 4, "tournament": {"rounds": 3}}, {"name": "second"}]
    at = "/leagues/winter/desk/change"
    olga.post(at, data={"tab": "file", "file": write_toml(own), "do": "apply"})
    page = olga.get(at).text
    assert re.search(r'<option value="\w{64}" selected>house@1, 4 at a table</option>', page)
    changed: dict[str, str | list[str]] = {}
    for name, value in Sent(page[page.index('<form class="spec"') :].partition("</form>")[0]).fields:
        changed[name] = [*changed.get(name, ()), value]
    changed |= {"tab": "form", "seasons": "9", "do": "preview"}
    previewed = Read(olga.post(at, data=changed).text).text
    assert "What changes Field Before After Seasons – 9 As a file" in previewed
    assert spec().seasons is None
    olga.post(at, data={**changed, "do": "apply"})
    assert spec() == make_league({**own, "seasons": 9})  # the division's own fields, too
    assert browse("otto", Role.ORGANISER).get(at).status_code == 403


def test_league_when_bots_ask_to_join_then_its_desk_answers_invites_and_removes(
    olga: TestClient, world: World
) -> None:
    olga.post("/desk/league", data={**LEAGUE, "do": "apply"})
    ann, at = Actor(Role.AUTHOR, "ann", frozenset({"ann"})), "/leagues/winter/desk"
    for bot in ("ann/one", "ann/two"):
        assert membership.join(world.storage, ann, "winter", bot, world.clock()) == "asked"
    olga.post(f"{at}/requests", data={"bot": "ann/one", "do": "approve"})
    olga.post(f"{at}/requests", data={"bot": "ann/two", "do": "decline", "reason": "a copy"})
    assert "1 member" in Read(olga.get(at).text).text
    olga.post(f"{at}/invitations", data={"invited": "bob"})
    entered = admission.list_entries(world.storage, ROOT, find_league, "winter")
    assert [one.invited for one in entered.invitations] == ["bob"]
    assert [(one.bot, one.state, one.reason) for one in entered.requests] == [
        ("ann/one", "approved", None),
        ("ann/two", "declined", "a copy"),
    ]
    olga.post(f"{at}/members/remove", data={"bot": "ann/one"})
    assert "Nobody has joined yet" in Read(olga.get(at).text).text
    admission.uninvite(world.storage, ROOT, find_league, "winter", "bob", world.clock())
    assert "1 member" in Read(olga.post(f"{at}/members", data={"bot": "bob/two"}).text).text  # it is open
    with world.storage.write() as tx:
        for closed in tx.exec(select(Bot)):
            closed.open_to = None
    added = Read(olga.post(f"{at}/members", data={"bot": "bob/one"}).text).text
    assert "1 member" in added
    entered = admission.list_entries(world.storage, ROOT, find_league, "winter")
    assert [one.invited for one in entered.invitations] == ["bob/one"]
    refused = olga.post(f"{at}/members", data={"bot": "no/body"})
    assert refused.status_code == 404


def test_bot_of_somebody_else_when_it_is_entered_then_its_author_is_invited_and_enters_it(
    olga: TestClient, browse: Browse, world: World
) -> None:
    ann = browse("ann", Role.AUTHOR)
    assert ann.post("/bots/ann/three/open", data={"open_to": ""}).status_code == 200
    olga.post("/desk", data={"tab": "file", "file": CUP.replace("bob/two", "ann/three"), "do": "create"})
    desk = Read(olga.get("/tournaments/cup/desk").text).text
    assert "ann/ three" in desk
    assert world.status().entrants == 3
    for page in ("/me", "/bots/ann/three/manage"):
        shown = Read(ann.get(page).text).text
        assert "ann/ three to cup" in shown
        assert "by olga" in shown
    assert ann.post("/tournaments/cup/enter", data={"bot": "ann/three"}).status_code == 200
    assert world.status().entrants == 4
    assert "ann/ three to cup" not in Read(ann.get("/me").text).text


def test_bot_when_it_is_opened_to_an_organiser_by_its_page_then_that_one_enters_it(
    olga: TestClient, browse: Browse, world: World
) -> None:
    ann = browse("ann", Role.AUTHOR)
    shown = ann.post("/bots/ann/three/open", data={"open_to": "olga\n"})
    assert (shown.status_code, "olga" in shown.text) == (200, True)
    olga.post("/desk", data={"tab": "file", "file": CUP.replace("bob/two", "ann/three"), "do": "create"})
    assert world.status().entrants == 4


def test_form_when_it_is_refused_then_it_names_fields_as_it_calls_them_and_keeps_long_texts(
    olga: TestClient,
) -> None:
    form = {"name": "cup", "format": "swiss", "ruleset": "chinese", "rounds": "2", "tab": "form"}
    wrong = {"increment_ms": "5", "match_seconds": "1", "decision_ms": "x", "description": "y" * 3_000}
    page = olga.post("/desk", data={**form, **wrong, "do": "preview"}).text
    text = Read(page).text
    assert not re.search(r"[a-z]_[a-z]", " ".join(re.findall(r'role="alert">(.*?)</', page, re.DOTALL)))
    assert "Milliseconds allowed for a decision" in text
    assert "y" * 3_000 in page
    as_file = olga.post("/desk", data={"tab": "file", "file": f'{CUP}decision_ms = "x"', "do": "preview"})
    assert "decision_ms :" in Read(as_file.text).text


def test_tournament_when_it_is_scheduled_then_it_stands_once_among_what_comes(olga: TestClient) -> None:
    olga.post("/desk", data={"tab": "file", "file": f"{CUP}start_at = 2030-01-01T18:00:00Z", "do": "create"})
    for page in ("/", "/now"):
        assert Read(olga.get(page).text).links.count("/tournaments/cup") == 1


def test_filter_when_it_names_an_unknown_bot_then_the_page_comes_back_or_is_led_back_to(
    olga: TestClient,
) -> None:
    for page in ("/deals?bot=no/body", "/matches?bot=no/body"):
        answer = olga.get(page)
        assert answer.status_code == 404
        assert 'value="no/body"' in answer.text
    for page, back in (
        ("/bots/ann/one/versus?opponent=no/body", "/bots/ann/one"),
        ("/bots/ann/one?version=9", "/bots/ann/one"),
    ):
        answer = olga.get(page)
        assert answer.status_code == 404
        assert f'href="{back}">Back' in answer.text
