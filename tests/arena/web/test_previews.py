"""The pictures in link previews, the tags that lead to them, and the badges of checks."""

import re
import struct
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

from fastapi.testclient import TestClient

from arena.bots.checks import submit_check
from arena.web.pages.bots import badge
from referee.check import SCENARIOS, Capabilities, Figures, Outcome, Report, Result, Said
from tests.arena.exported import play_by_table
from tests.arena.fakes import ROOT
from tests.arena.web.markup import Read
from tests.arena.web.test_pages import client as client
from tests.arena.world import World

TAG = re.compile(r'<meta (?:property|name)="([^"]+)" content="([^"]*)">')


def test_link_when_a_program_shows_it_then_its_tags_lead_to_a_picture(
    world: World, client: TestClient
) -> None:
    world.finish(world.tournament(4, rounds=1).id, play_by_table)
    kinds = {
        "/matches/cup/1/1/2/1?step=3": "deal",
        "/bots/owner-0/bot-0?version=1": "bot",
        "/tournaments/cup": "tournament",
        "/": "arena",
        "/rules": "arena",
    }
    origin = client.app.state.web.settings.web_url  # type: ignore[attr-defined]
    for address, kind in kinds.items():
        tags = dict(TAG.findall(client.get(address).text))
        assert tags["og:url"] == f"{origin}{address.partition('?')[0]}"
        assert tags["twitter:card"] == "summary_large_image"
        assert tags["og:title"]
        assert tags["og:description"]
        picture = tags["og:image"].removeprefix(origin)
        assert picture.endswith(f"/preview-{kind}.png")
        answer = client.get(picture)
        assert (answer.status_code, answer.headers["content-type"]) == (200, "image/png")
        # A PNG file has its width and height at byte 16.
        assert struct.unpack(">II", answer.content[16:24]) == (1200, 630)


PASSED: Outcome = "passed"


def checked(outcomes: Sequence[Outcome], **more: Any) -> Report:
    """Return the report of a check with these outcomes; other scenarios were not run."""
    results = [
        Result(one.code, one.title, outcome, "because", 0.1, ("a secret",))
        for one, outcome in zip(SCENARIOS, outcomes, strict=False)
    ]
    left_out = tuple(one.code for one in SCENARIOS[len(results) :])
    return Report("owner-0/bot-0@1", "own 1", 1, tuple(results), left_out=left_out, **more)


def test_badge_when_a_version_is_checked_then_it_says_how_many_scenarios_it_passed(
    world: World, client: TestClient
) -> None:
    world.register(1)
    many = len(SCENARIOS)
    badges = []
    passed: list[Outcome] = ["warned", "not_run", *[PASSED] * (many - 2)]
    failed: list[Outcome] = ["failed", "failed", *passed[2:]]
    for outcomes in (None, passed, failed, [PASSED]):
        if outcomes is not None:
            submit_check(world.storage, ROOT, "owner-0/bot-0@1", checked(outcomes), world.clock())
        answer = client.get("/bots/owner-0/bot-0/check.svg")
        assert (answer.status_code, answer.headers["content-type"]) == (200, "image/svg+xml")
        assert answer.headers["cache-control"] == "public, max-age=300"
        badges.append("".join(text for text in ElementTree.fromstring(answer.text)[0].itertext()))
    reports = [f"{many - 1} of {many - 1}", "2 failed", "it unfinished"]
    told = ["not checked", *(f"author reports {text}" for text in reports)]
    assert badges == [f"Big Two check: {text}" for text in told]
    assert client.get("/bots/owner-0/bot-0/check.svg?version=1").status_code == 200
    for nothing in ("/bots/owner-0/bot-0/check.svg?version=2", "/bots/owner-0/no/check.svg"):
        assert client.get(nothing).status_code == 404


def test_badge_when_its_texts_have_markup_then_they_are_escaped() -> None:
    [title, *_] = ElementTree.fromstring(badge("<&>", '"x"', "#000"))
    assert title.text == '<&>: "x"'


def test_bot_when_it_was_checked_then_everybody_sees_how_it_went_but_not_why(
    world: World, client: TestClient
) -> None:
    world.register(1)
    page = "/bots/owner-0/bot-0"
    assert "the check" not in client.get(page).text
    can = Capabilities(("TURN_KIND_PLAY", "TURN_KIND_BEAT_OWN"), 4, 1, "CARD_2S")
    said, figures = Said(3, ("legal_plays", "hands"), can), Figures(1036, 0.7, 42.6, 25.8)
    outcomes: list[Outcome] = ["failed", *[PASSED] * (len(SCENARIOS) - 1)]
    report = checked(outcomes, said=said, figures=figures)
    submit_check(world.storage, ROOT, "owner-0/bot-0@1", report, world.clock())
    for address in (page, f"{page}?version=1"):
        text = client.get(address).text
        shown = " ".join(Read(text).text.split())
        assert f"It fails the check : 1 of {len(SCENARIOS)} , as its author reports, 1 Jan 2026" in shown
        assert (
            "It plays at most 4 seats, at most 1 pack of cards, cards up to 2S, turns of the kinds play, "
            "beat own, 3 sessions at once; it asks for legal plays and hands and numbers of cards." in shown
        )
        assert (
            "1036 turns answered in 0.7 ms (median), the slowest in 42.6 ms; the check took 25.8 s." in shown
        )
        assert ("because" in text, "a secret" in text) == (False, False)
    [version] = client.get(f"/api/v1{page}").json()["versions"]
    assert version["check"] == {
        "checked_at": "2026-01-01T00:00:00Z",
        "passed": False,
        "counts": {"passed": len(SCENARIOS) - 1, "warned": 0, "failed": 1, "not_run": 0},
        **{name: report.to_object()[name] for name in ("max_sessions", "wants", "capabilities", "figures")},
    }
