"""The client over a real socket: reading every answer and writing it again changes nothing."""

from concurrent.futures import ThreadPoolExecutor
from io import StringIO
from typing import Any

import httpx2
import pytest
from rich.console import Console

from arena.cli.watch import follow_there
from arena.client import Client
from arena.client.call import Call, call_of
from arena.errors import Unreachable
from arena.jsonvalues import from_text, to_json
from arena.operations import accounts, bots, leaderboards, leagues, operator, results, rulesets, tournaments
from arena.play.rounds import planning
from arena.store.models import HighlightKind, utc_now
from arena.web.routing import PREFIX
from tests.arena.client.conftest import Remote
from tests.arena.fakes import ROOT
from tests.waiting import DEADLINE, wait_for

BOT, OTHER = "owner-0/bot-0", "owner-1/bot-1"

READ: tuple[Call[Any], ...] = (
    call_of(accounts.me),
    call_of(accounts.list_keys),
    call_of(accounts.show_owner, "yan"),
    call_of(bots.list_bots),
    call_of(bots.show_bot, BOT),
    call_of(bots.show_history, BOT),
    call_of(bots.show_versus, BOT, OTHER),
    call_of(bots.show_log, BOT),
    call_of(bots.show_own_deals, BOT),
    call_of(bots.list_faults),
    call_of(leagues.list_leagues),
    call_of(leagues.show_league, "winter"),
    call_of(leagues.league_history, "winter"),
    call_of(operator.findings),
    call_of(operator.list_changes),
    call_of(operator.referees),
    call_of(operator.work),
    call_of(operator.list_tokens),
    call_of(accounts.list_accounts),
    call_of(leaderboards.leaderboard),
    call_of(results.list_matches),
    call_of(results.show_match, "cup", 1, 1),
    call_of(results.list_deals, "cup", 1, 1, 1),
    call_of(results.find_deals, HighlightKind.SWING),
    call_of(results.show_crosstable, [BOT, OTHER]),
    call_of(rulesets.list_rulesets),
    call_of(rulesets.show_ruleset, "chinese"),
    call_of(tournaments.list_tournaments),
    call_of(tournaments.show_tournament, "cup"),
    call_of(tournaments.show_tournament, "running"),
    call_of(tournaments.tournament_standings, "cup"),
    call_of(tournaments.tournament_crosstable, "cup"),
    call_of(tournaments.tournament_pairings, "cup", explain=True),
    call_of(tournaments.tournament_head, "cup"),
)


@pytest.mark.parametrize("call", READ, ids=lambda call: call.path)
def test_answer_when_it_is_read_and_written_again_then_it_is_the_same(
    call: Call[Any], remote: Remote
) -> None:
    headers = {"Authorization": f"Bearer {remote.key}"}
    url = f"{remote.url}{PREFIX}{call.place}"
    params = httpx2.QueryParams(call.parameters)
    sent = httpx2.get(url, params=params, headers=headers, timeout=DEADLINE).raise_for_status()
    assert any(sent.json().values())
    assert to_json(from_text(call.answer, sent.content)) == sent.json()


def test_deal_is_a_record(remote: Remote) -> None:
    with Client(remote.url) as client:
        found = client.send(call_of(results.show_deal, "cup", 1, 1, 1, 1))
    assert found["deal"] == 1


def test_pages_of_one_line_have_the_lines_of_one_page(remote: Remote) -> None:
    with Client(remote.url) as client:
        whole = client.send(call_of(results.list_matches, limit=200)).matches
        pages = [page.matches for page in client.pages(results.list_matches, limit=3)]
    assert [line for lines in pages for line in lines] == [*whole]
    assert len(pages) > 1


def test_export_is_what_is_written_here(remote: Remote) -> None:
    with Client(remote.url) as client:
        lines = [f"{line}\n" for line in client.export("cup")]
    assert "".join(lines) == (remote.folder / "cup.jsonl").read_text()


class LosesAnswer(httpx2.HTTPTransport):
    """A transport that loses its connection once, after the arena has done what was asked for."""

    lost = False

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        response = super().handle_request(request)
        if not self.lost:
            self.lost = True
            response.read()
            raise httpx2.ReadError("lost", request=request)
        return response


def test_change_when_its_answer_is_lost_then_it_is_made_once(remote: Remote) -> None:
    with Client(remote.url, remote.key, transport=LosesAnswer(), sleep=lambda _: None) as client:
        assert client.send(call_of(bots.register_bot, "owner-1/once")).bot == "owner-1/once@1"
        assert len(client.send(call_of(bots.show_bot, "owner-1/once")).versions) == 1


def test_client_when_the_environment_names_a_proxy_then_none_leads_to_an_arena_here(
    remote: Remote, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("all_proxy", "socks9://nobody")
    with Client(remote.url) as client:
        assert client.call(rulesets.list_rulesets).rulesets


def test_client_when_a_proxy_leads_to_an_arena_then_what_is_wrong_is_said_with_its_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:1")
    told = r"^https://arena\.test \(through the proxy 127\.0\.0\.1:1 of https_proxy\) cannot be reached: "
    with Client("https://arena.test", sleep=lambda _: None) as client, pytest.raises(Unreachable, match=told):
        client.call(rulesets.list_rulesets)
    monkeypatch.setenv("https_proxy", "socks9://nobody")
    with pytest.raises(Unreachable, match=r"^the proxy that the environment names cannot be used: .*socks9"):
        Client("https://arena.test")


def test_watching_shows_how_a_tournament_stands_until_it_has_ended(remote: Remote) -> None:
    shown = StringIO()

    def cancel() -> None:
        wait_for(lambda: "paused" in shown.getvalue())
        planning.cancel(remote.storage, ROOT, "paused", utc_now())

    with ThreadPoolExecutor(1) as pool, Client(remote.url) as client:
        cancelled = pool.submit(cancel)
        status = follow_there(client, "paused", Console(file=shown))
        cancelled.result(DEADLINE)
    assert status.state == "cancelled"


def test_stream_of_a_tournament_that_has_ended_tells_how_and_ends(remote: Remote) -> None:
    with Client(remote.url) as client:
        told: list[Any] = list(client.follow("cup"))
    status, *events = told
    assert status.tournament == "cup"
    assert [event["event"] for event in events] == ["started", "finished"]
