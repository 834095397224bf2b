"""The pictures in link previews, and the tags that lead to them."""

import re
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from typing import Any
from xml.etree import ElementTree

import pytest
from fastapi.testclient import TestClient
from PIL import Image

from arena.bots.checks import submit_check
from arena.queries.replays.make import make_replay
from arena.web.badges import badge
from arena.web.pages.previews import deal_seen
from arena.web.pictures import (
    LEFT,
    RIGHT,
    BotSeen,
    DealSeen,
    TournamentSeen,
    arena_picture,
    bot_picture,
    card,
    deal_picture,
    drawable,
    felt,
    tournament_picture,
)
from referee.check import SCENARIOS, Capabilities, Figures, Outcome, Report, Result, Said
from tests.arena.exported import play_by_table
from tests.arena.fakes import ROOT
from tests.arena.replays.records import played
from tests.arena.web.markup import Read
from tests.arena.web.test_pages import client as client
from tests.arena.world import World

TAG = re.compile(r'<meta (?:property|name)="([^"]+)" content="([^"]*)">')
LONG = "an-owner-with-a-long-name-of-39-letters/a-bot-with-a-long-name-that-has-39-letters@1234"


def read(picture: bytes) -> Image.Image:
    """Return a picture as a program that shows it would open it."""
    image = Image.open(BytesIO(picture))
    assert (image.format, image.size) == ("PNG", (1200, 630))
    return image.convert("RGB")


def test_link_when_a_program_shows_it_then_its_tags_lead_to_a_picture(
    world: World, client: TestClient
) -> None:
    world.finish(world.tournament(4, rounds=1).id, play_by_table)
    own = {
        "/matches/cup/1/1/2/1?step=3": "/matches/cup/1/1/2/1/picture.png",
        "/bots/owner-0/bot-0": "/bots/owner-0/bot-0/picture.png",
        "/bots/owner-0/bot-0?version=1": "/bots/owner-0/bot-0/picture.png?version=1",
        "/tournaments/cup": "/tournaments/cup/picture.png",
        "/": "/picture.png",
        "/rules": "/picture.png",
    }
    origin = client.app.state.web.settings.web_url  # type: ignore[attr-defined]
    for address, picture in own.items():
        tags = dict(TAG.findall(client.get(address).text))
        assert tags["og:image"] == f"{origin}{picture}"
        assert tags["og:url"] == f"{origin}{address.partition('?')[0]}"
        assert tags["twitter:card"] == "summary_large_image"
        assert tags["og:title"]
        assert tags["og:description"]
        answer = client.get(picture)
        assert (answer.status_code, answer.headers["content-type"]) == (200, "image/png")
        assert answer.headers["cache-control"].startswith("public")
        read(answer.content)
    for nothing in ("/matches/cup/1/1/2/9/picture.png", "/bots/owner-0/no/picture.png"):
        assert client.get(nothing).status_code == 404


def test_picture_of_a_deal_when_it_is_made_then_it_has_the_cards_dealt_and_nothing_of_what_came() -> None:
    record = played("hong-kong")[0]
    seen = deal_seen(make_replay(record))
    assert sorted(text for cards in seen.hands for text in cards) == sorted(
        f"{rank}{suit}" for rank in "3456789TJQKA2" for suit in "DCHS"
    )
    other = {**record, "points": [one + 1 for one in record["points"]]}
    assert deal_seen(make_replay(other)) == seen
    hands = [tuple(reversed(cards)) for cards in seen.hands]
    assert deal_picture(replace(seen, hands=tuple(hands))) != deal_picture(seen)


@pytest.mark.parametrize("seats", range(2, 9))
def test_picture_of_a_deal_when_many_sit_there_then_all_hands_are_within_it(seats: int) -> None:
    cards = tuple(f"{rank}S" for rank in "3456789TJQKA2")
    seen = DealSeen("Deal 1", LONG, (LONG,) * seats, (cards * (8 // seats),) * seats)
    image = read(deal_picture(seen))
    rim = image.crop((0, 600, 1200, 630)).getcolors()
    assert rim is not None
    assert len(rim) <= 3, "something is drawn over the lower edge"


def test_picture_when_names_are_as_long_as_they_may_be_then_they_stay_within_it() -> None:
    bot = BotSeen(LONG, LONG, (("Elo", "1500"),), 1400.0, 1500.0, 1600.0)
    tournament = TournamentSeen(
        LONG, LONG, "running, round 12 of 400", 0.5, ((("999", LONG, "score 120.5"),) * 6)
    )
    for picture in (bot_picture(bot), tournament_picture(tournament), arena_picture()):
        edge = read(picture).crop((RIGHT + 10, 0, 1200, 600)).getcolors()
        assert edge is not None
        assert len(edge) <= 5, "something is drawn over the right edge"


def test_text_when_the_font_lacks_letters_then_others_stand_for_them() -> None:
    assert drawable("2–4, −3’s 12\N{NARROW NO-BREAK SPACE}345") == "2-4, -3's 12 345"
    assert drawable("大老二\u202e\x00é♠") == "???????"
    canvas = felt()
    assert canvas.text((LEFT, 100), "x" * 500, 40, most=300) <= 300
    missing = canvas.text((LEFT, 100), "大", 40)
    assert missing == canvas.text((LEFT, 100), "?", 40)


def test_cards_when_they_are_drawn_then_each_is_another() -> None:
    texts = [f"{rank}{suit}" for rank in "3456789TJQKA2" for suit in "DCHS"] + ["BJ", "RJ"]
    assert len({card(text, 60).tobytes() for text in texts}) == 54


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
    told = ["not checked", f"{many - 1} of {many - 1}", "fails 2", "not finished"]
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
        assert f"It fails the check : 1 of {len(SCENARIOS)} , 1 Jan 2026" in shown
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
