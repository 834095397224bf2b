"""The page of a deal without scripts, and the files that are made from it."""

import json
import re
from collections.abc import Callable, Generator
from html import unescape
from itertools import count
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlmodel import select

from arena.actors import Role
from arena.bots.estimates import Place, estimate_due, estimates_of
from arena.core.formats import FORMATS
from arena.queries import scoreboard
from arena.queries.deals import DealInSession, one_deal
from arena.queries.replays.make import make_replay
from arena.queries.replays.moments import steps_of_actions
from arena.queries.replays.steps import Replay, spoken
from arena.store.models import Session
from arena.web.headers import POLICY
from arena.web.pages.deals import Shown, deal_values, offline_file
from arena.web.pages.figures import signed
from arena.web.pages.rendering import fill
from referee.errors import RefereeUnavailable
from referee.local.rewind import Replayed, priced
from referee.matches.match import MatchSpec, Update
from tests.arena.exported import play_by_table
from tests.arena.random_play import play_randomly
from tests.arena.replays.records import NAMES, plain, played, timed
from tests.arena.test_bot_deals import play_one_table
from tests.arena.test_luck import weigh
from tests.arena.web.markup import Read
from tests.arena.web.test_desk import Browse
from tests.arena.web.test_desk import browse as browse
from tests.arena.web.test_pages import client as client
from tests.arena.world import World

DEAL = "/matches/cup/1/1/2/1"
FILES = ("", "/replay.html")
HOSTILE = '"><script>alert(1)</script>&{{ 7 * 7 }}'


@pytest.fixture
def replay(world: World) -> Replay:
    """Play a cup of 3 sessions of 2 deals, and return the replay of one deal."""
    world.finish(world.tournament(4, rounds=1).id, play_by_table)
    return make_replay(one_deal(world.storage, "cup", 1, 1, 2, 1))


def test_steps_of_a_deal_when_they_are_asked_for_by_its_address_then_it_has_its_cards_and_words(
    replay: Replay, client: TestClient
) -> None:
    for step in (*replay.steps[::5], replay.steps[-1]):
        answer = client.get(f"{DEAL}?step={step.number}")
        assert answer.status_code == 200
        page = Read(answer.text)
        assert f"Step {step.number} of {replay.last}" in page.text
        assert not [link for link in page.links if "//" in link]
        table = answer.text.partition('id="table"')[2].partition('class="controls"')[0]
        for hand in step.hands:
            for card in hand:
                assert f'role="img" aria-label="{spoken(card)}"' in table
        for text in filter(None, (part for part in step.words if isinstance(part, str))):
            assert " ".join(text.split()) in page.text


def test_deal_when_its_session_has_neighbours_then_it_leads_to_the_first_deal_of_each(
    replay: Replay, client: TestClient
) -> None:
    beside = {
        number: {
            link
            for link in Read(client.get(f"/matches/cup/1/1/{number}/2").text).links
            if link.startswith("/matches/cup/1/1/") and link.count("/") == 6
        }
        for number in (1, 2, 3)
    }
    for number, sessions in ((1, {2}), (2, {1, 3}), (3, {2})):
        deals = {link for link in beside[number] if not link.endswith("replay.html")}
        assert deals == {f"/matches/cup/1/1/{number}/1"} | {f"/matches/cup/1/1/{one}/1" for one in sessions}


def test_deal_when_it_is_seen_from_a_seat_then_no_other_card_is_in_the_table(
    replay: Replay, client: TestClient
) -> None:
    text = client.get(f"{DEAL}?step=0&view=2").text
    table = text.partition('id="table"')[2].partition('class="controls"')[0]
    assert [card for card in replay.steps[0].hands[2] if f'"{spoken(card)}"' not in table] == []
    for seat in (0, 1, 3):
        assert [card for card in replay.steps[0].hands[seat] if f'"{spoken(card)}"' in table] == []
    assert table.count('aria-label="13 cards, face down"') == 3


def test_deal_when_what_is_asked_is_not_there_then_the_page_says_what_is_wrong(
    replay: Replay, client: TestClient
) -> None:
    for query, told in (
        ("step=-1", "step"),
        ("step=100000", f"step must be a whole number from 0 to {replay.last}, not 100000"),
        ("step=first", "step"),
        ("view=4", "view must be open, or a seat from 0 to 3, not 4"),
        ("view=none", "view"),
        ("spoilers=maybe", "spoilers"),
    ):
        answer = client.get(f"{DEAL}?{query}")
        assert answer.status_code == 422
        assert told in Read(answer.text).text
    for path in ("/matches/cup/1/1/2/3", "/matches/cup/1/1/9/1", "/matches/cap/1/1/1/1"):
        for file in FILES:
            assert client.get(path + file).status_code == 404


def test_deal_when_it_is_known_what_its_cards_were_worth_then_each_seat_has_what_it_made_of_them(
    world: World, client: TestClient
) -> None:
    world.finish(world.tournament(4, rounds=1).id, play_randomly)
    assert "What the cards were worth" not in client.get(DEAL).text
    path = "/api/v1/matches/cup/1/1/sessions/2/deals/1/luck"
    record, before = one_deal(world.storage, "cup", 1, 1, 2, 1), client.get(path).json()
    assert before == {"bots": record["seats"], "points": record["points"], "luck": None}
    weigh(world)
    luck = client.get(path).json()["luck"]
    points: Any = record["points"]
    average = sum(points) / 4
    assert average != 0
    for own, share, made in zip(points, luck["expected"], luck["made"], strict=True):
        assert made == own - average - share
    text = client.get(DEAL).text
    part = text.partition('class="scroll worth"')[2].partition("</table>")[0]
    cells = re.findall(r"<td[^>]*>(?:<b>)?([^<]*)", part)
    for seat, own in enumerate(points):
        row = cells[4 * seat : 4 * seat + 4]
        values = (own - average, luck["expected"][seat], luck["made"][seat])
        assert row == [signed(own), *(signed(value, 2) for value in values)]
    assert text.index('<div class="later">') < text.index('class="scroll worth"')  # hidden with what comes


@pytest.mark.parametrize("format", FORMATS)
def test_page_when_it_says_what_decides_then_that_is_what_the_format_ranks_by(
    world: World, client: TestClient, format: str
) -> None:
    rounds = None if format in ("knockout", "gauntlet") else 1
    world.finish(world.tournament(4, format=format, rounds=rounds).id, play_randomly)
    weigh(world)
    criteria = ", then by ".join(
        f"{column.head} ({column.about})" for column in scoreboard.criteria_of(format)
    )
    assert f"Decided by {criteria}." in Read(client.get("/tournaments/cup").text).text
    told = f"the standings of this {format} tournament are decided by {criteria}."
    assert told in Read(client.get(DEAL).text).text


def test_deal_when_a_bot_did_not_play_it_to_the_end_then_only_what_was_expected_is_shown(
    world: World, client: TestClient
) -> None:
    world.finish(world.tournament(4, rounds=1).id, play_randomly)
    weigh(world)
    with world.storage.write() as tx:
        tx.exec(select(Session).where(Session.number == 2)).one().forfeited_from = [0, 2, 2, 2]
    page = Read(client.get(DEAL).text)
    assert "not counted here, because a bot did not play the deal to its end" in page.text


def test_match_when_it_is_over_then_its_live_page_shows_how_its_last_deal_ended(
    replay: Replay, client: TestClient
) -> None:
    page = Read(client.get("/matches/cup/1/1/live").text)
    assert "Its last deal ended like this." in page.text
    [last] = [link for link in page.links if "?step=" in link]
    assert last.startswith("/matches/cup/1/1/3/2?step=")
    assert "The deal is over." in Read(client.get(last).text).text


def test_deal_when_other_tables_still_play_it_then_nobody_sees_it(world: World, client: TestClient) -> None:
    cup = world.tournament(8, format="swiss", rounds=1, deals=1, duplicate=True)
    world.advance(cup.id)
    for match in world.messages:
        world.play(match, play_one_table)
    for file in FILES:
        answer = client.get(f"/matches/cup/1/1/1/1{file}")
        assert (answer.status_code, 'role="img"' in answer.text) == (409, False)


def test_match_when_other_tables_still_play_its_deals_then_nobody_sees_what_they_brought(
    world: World, client: TestClient
) -> None:
    """Points by seat would reveal which seat has the good cards of a deal, also at a half-played table."""
    cup = world.tournament(8, format="swiss", rounds=1, sessions=2, deals=1, duplicate=True)
    world.advance(cup.id)
    first, second = world.messages

    def half(route: int, spec: MatchSpec) -> Generator[Update]:
        yield next(play_by_table(route, spec))
        raise RefereeUnavailable("gone")

    world.play(first, play_by_table)
    world.play(second, half)
    for table, done in ((1, True), (2, False)):
        match = client.get(f"/api/v1/matches/cup/1/{table}").json()
        assert "other tables still have to play" in match["withheld"]
        assert match["sessions"]
        assert {str((one["points"], one["deal_points"])) for one in match["sessions"]} == {"(None, None)"}
        line = client.get("/api/v1/tournaments/cup/rounds/1/tables").json()["tables"][table - 1]
        assert (line["sessions"], bool(line["points"])) == (2 if done else 1, done)
        page = client.get(f"/matches/cup/1/{table}")
        assert (page.status_code, "Other tables still have to play" in page.text) == (200, True)
        assert "Deal 1" not in page.text
    assert client.get("/tournaments/cup/rounds/1/live").status_code == 200
    world.clock.move(60)
    world.finish(cup.id, play_by_table)
    match = client.get("/api/v1/matches/cup/1/2").json()
    assert (match["withheld"], all(one["deal_points"] for one in match["sessions"])) == (None, True)


def test_page_of_a_deal_when_it_is_read_then_nothing_in_it_is_against_the_policy(
    replay: Replay, client: TestClient
) -> None:
    answer = client.get(DEAL)
    page = Read(answer.text)
    assert answer.headers["content-security-policy"] == POLICY
    assert not page.tags & {"style", "iframe"}
    assert not [name for name in page.attributes if name == "style" or name.startswith("on")]
    sources = answer.text.count("<script src=") + answer.text.count('<script type="module" src=')
    assert answer.text.count("<script") == sources + 1  # the data of the replay
    assert '<script type="application/json"' in answer.text
    assert '<script type="module" src="/static/' in answer.text
    assert page.inner_scripts == ""
    data = answer.text.partition('id="replay-data">')[2].partition("</script>")[0]
    assert len(json.loads(data)["steps"]) == replay.last + 1
    for link in page.links:
        if link.startswith((DEAL, "/api/", "/static/")):
            assert client.get(link).status_code == 200, link


def test_log_when_it_is_read_then_every_step_is_a_sentence_with_its_cards_said(
    replay: Replay, client: TestClient
) -> None:
    text = client.get(DEAL).text.partition('<ol id="log"')[2].partition("</ol>")[0]
    lines = text.split("<li ")[1:]
    assert len(lines) == replay.last + 1
    for line, step in zip(lines, replay.steps, strict=True):
        assert f'href="?step={step.number}&amp;view=open"' in line
        said = [spoken(card) for part in step.words if not isinstance(part, str) for card in part]
        assert [part.partition('"')[0] for part in line.split('aria-label="')[1:]] == said


def found(record: dict[str, Any]) -> DealInSession:
    return DealInSession(record, 6, (1, 2, 4), shared=False)


def page_of(record: dict[str, Any], step: int = 0, viewer: int | None = None) -> str:
    values = deal_values(found(record), Shown(step, viewer))
    return fill("deal.html", "/", origin="http://arena.test", **values)


@pytest.mark.parametrize("name", NAMES)
def test_page_of_a_deal_when_it_was_played_under_any_ruleset_then_it_can_be_read(name: str) -> None:
    record = timed(played(name)[0])
    last = make_replay(record).last
    assert f"Step {last // 2} of {last}" in Read(page_of(record, last // 2, 1)).text
    assert Read(page_of(record, last)).text.count("The deal is over") == 2


def test_names_when_they_are_hostile_then_they_are_text_everywhere() -> None:
    record = {
        **played("hong-kong")[0],
        "tournament": HOSTILE,
        "seats": [f"{HOSTILE}/{at}" for at in range(4)],
    }
    values = deal_values(found(record), Shown())
    for text in (page_of(record), offline_file(values)):
        assert "<script>alert" not in text
        assert "49" not in Read(text).text or "{{ 7 * 7 }}" in Read(text).text
        assert HOSTILE in unescape(text)


def test_fault_when_the_referee_decided_then_table_log_and_sentence_show_it() -> None:
    record = played("hong-kong")[0]
    index = next(at for at, text in enumerate(record["actions"]) if text.endswith(":-"))
    seat = int(record["actions"][index][0])
    fault = {"action": index, "seat": seat, "kind": "timeout", "ms": 1040, "credit_ms": 40}
    given = {**record, "faults": [fault]}
    step = next(step for step in make_replay(given).steps if step.faults)
    text = page_of(given, step.number)
    assert text.count(" faulty") == 2
    assert '<span class="did fault">fault</span>' in text
    assert text.count("ran out of time, so the referee decided.") == 3  # in sentence, log and data


def test_file_of_a_deal_when_it_is_made_then_its_policy_lets_only_itself_run() -> None:
    record = timed(played("hong-kong")[0])
    text = offline_file(deal_values(found(record), Shown()))
    assert "src=" not in text
    assert "@import" not in text
    assert "default-src &#39;none&#39;" in text
    assert plain(make_replay(record).steps[0].words).split()[0] in text


def ticking() -> Callable[[], float]:
    """Return a clock of which each look takes 2 ms."""
    looks = count()
    return lambda: next(looks) / 500


def test_costs_when_somebody_asks_then_a_worker_computes_them_once_and_the_page_marks_them(
    replay: Replay, world: World, browse: Browse, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, ask = browse("owner-0", Role.AUTHOR), f"{DEAL}/estimate"
    seat = next(at for at, name in enumerate(replay.seats) if name.startswith("owner-0/"))
    first = re.search(r'<select id="cost-seat" name="seat"><option value="(\d)"', ann.get(DEAL).text)
    assert first is not None
    assert int(first[1]) == seat  # the reader's own comes first
    asked = ann.post(ask, data={"seat": str(seat)})
    assert (asked.url.path, "a worker computes it" in asked.text) == (DEAL, True)
    assert ann.post(ask, data={"seat": str(seat)}).status_code == 200  # as somebody has asked already
    other = ann.post(ask, data={"seat": str((seat + 1) % 4)})
    assert (other.status_code, "is not ready yet" in other.text) == (409, True)
    for wrong, status in (({"seat": "7"}, 422), ({"seat": "x"}, 422), ({}, 422)):
        assert ann.post(ask, data=wrong).status_code == status
    shown = {"seat": str(seat), "step": "3", "view": "2", "spoilers": "off"}
    led = ann.post(ask, data=shown, follow_redirects=False).headers["location"]
    assert led == f"{DEAL}?step=3&view=2&spoilers=off#costs"
    assert ann.post("/matches/cup/1/1/2/9/estimate", data={"seat": "0"}).status_code == 404
    assert ann.post("/matches/cup/1/1/2/١/estimate", data={"seat": "0"}).status_code == 404
    estimate_due(world.storage, world.clock, ticking(), seconds=2)
    page = ann.get(DEAL)
    decisions = priced(Replayed(replay.record, seat), 2, ticking(), lambda *_: None)
    clear = [one for one in decisions if one.is_clear]
    assert clear
    assert (
        f"{len(clear)} of {len(decisions)} decisions could clearly have been better" in Read(page.text).text
    )
    for one in clear:
        [step] = [step for step in replay.steps if step.number == steps_of_actions(replay)[one.turn - 1]]
        assert (step.seat, " ".join(step.cards) or "-") == (seat, one.played)
        told = f'data-step="{step.number}">Step {step.number}</a>'
        assert told in page.text
        assert f"<b>{one.cost:.2f}</b>" in page.text
    assert page.text.count('<a class="cost') == len(clear)
    monkeypatch.setattr("arena.bots.estimates.MOST_WAITING", 0)
    full = ann.post(ask, data={"seat": str((seat + 1) % 4)})
    assert (full.status_code, "wait for the workers" in full.text) == (409, True)
    monkeypatch.undo()
    monkeypatch.setattr("arena.bots.estimates.KEPT", 1)
    ann.post(ask, data={"seat": str((seat + 1) % 4)})
    assert [one.seat for one in estimates_of(world.storage, Place("cup", 1, 1, 2, 1))] == [(seat + 1) % 4]
