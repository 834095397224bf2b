"""Tests for what a bot logs about its sessions."""

import logging
from dataclasses import replace

import pytest

from referee.bot import Play, Turn
from referee.bot.story import MOST_LINES, Story
from referee.bot.view import SessionView
from referee.matches.match import Limits, Rated
from referee.protocol.numbers import card_numbers
from referee.rules.rulebook import rules_of
from referee.v1 import bots_pb2
from tests.referee.support import lowest, match_spec, play_match, referee, sdk_bots

OTHERS = dict.fromkeys((1, 2, 3), lowest)
RULES = rules_of({"extends": "chinese"})


@pytest.fixture(autouse=True)
def _all_lines(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="bot")


def view(seat: int = 1) -> SessionView:
    started = bots_pb2.SessionStarted(
        session_id="cup/1/2/3",
        tournament="cup",
        ruleset='{"extends": "chinese"}',
        seats=["ann/a@1", "me/mine@2", "bob/b@1", "cy/c@4"],
        seat=seat,
        deals=4,
    )
    return SessionView.of(started)


def numbers(cards: str) -> list[int]:
    return list(card_numbers(RULES).numbers(RULES.parse(cards)))


def test_story_when_a_session_begins_then_it_says_against_whom(caplog: pytest.LogCaptureFixture) -> None:
    story = Story()
    story.began(view(), resumed=False)
    story.began(view(), resumed=True)
    against = "in seat 1 against ann/a@1, bob/b@1, cy/c@4; chinese, up to 4 deals"
    assert caplog.messages == [
        f"session cup/1/2/3 in cup begins: {against}",
        f"session cup/1/2/3 in cup goes on: {against}",
    ]


def rated(pool: str, *values: int, matches: int) -> SessionView:
    seen = view()
    seen.ratings = bots_pb2.Ratings(pool=pool, values=values, matches=[7, matches, 0, 9])
    return seen


def test_story_when_a_session_is_rated_then_it_says_how_all_are(caplog: pytest.LogCaptureFixture) -> None:
    Story().began(rated("chinese@1, tables of 4", 1540, 1511, 1500, 1449, matches=3), resumed=False)
    assert caplog.messages == [
        "rated 1511 in chinese@1, tables of 4",
        "session cup/1/2/3 in cup begins: in seat 1 against ann/a@1 (1540), bob/b@1 (not rated yet), "
        "cy/c@4 (1449); chinese, up to 4 deals",
    ]


def test_story_when_a_round_was_rated_then_it_says_once_what_that_changed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    story = Story()
    for pool, own, matches in [
        ("a", 1511, 3),
        ("a", 1523, 4),
        ("a", 1523, 4),
        ("a", 1511, 3),  # of a match that was handed out earlier
        ("b", 1500, 0),
        ("b", 1487, 1),
        ("a", 1519, 6),
    ]:
        story.began(rated(pool, 1540, own, 1500, 1449, matches=matches), resumed=False)
    told = [line for line in caplog.messages if "rated" in line and "session" not in line]
    assert told == [
        "rated 1511 in a",
        "rated 1523 (+12) in a",
        "not rated yet in b: it begins with 1500",
        "rated 1487 (-13) in b",
        "rated 1519 (-4) in a",
    ]


def test_story_when_there_are_too_many_lines_then_a_rating_is_told_all_the_same(
    caplog: pytest.LogCaptureFixture,
) -> None:
    story = Story()
    for _ in range(MOST_LINES):
        story.began(view(), resumed=False)
    story.began(rated("a", 1540, 1511, 1500, 1449, matches=3), resumed=False)
    assert caplog.messages[MOST_LINES:] == ["rated 1511 in a"]


@pytest.mark.parametrize(
    "ratings",
    [bots_pb2.Ratings(pool="a", values=[1, 2, 3]), bots_pb2.Ratings(pool="a", values=[1, 2, 3, 4])],
    ids=["of too few", "without matches"],
)
def test_view_when_not_all_ratings_are_there_then_it_has_none(ratings: bots_pb2.Ratings) -> None:
    started = bots_pb2.SessionStarted(ruleset='{"extends": "chinese"}', seats=["a", "b", "c", "d"])
    started.ratings.CopyFrom(ratings)
    assert SessionView.of(started).ratings is None


@pytest.mark.parametrize(
    ("ended", "told"),
    [
        (
            bots_pb2.SessionEnded(scores=[-12, 20, -3, -5]),
            "has ended: +20 points, place 1 of 4 (ann/a@1 -12, bob/b@1 -3, cy/c@4 -5)",
        ),
        (
            bots_pb2.SessionEnded(scores=[5, -5, 5, -5]),
            "has ended: -5 points, shared place 3 of 4 (ann/a@1 +5, bob/b@1 +5, cy/c@4 -5)",
        ),
        (
            bots_pb2.SessionEnded(scores=[0, -39, 13, 26], forfeited_by=1, forfeits=[1]),
            "has ended: -39 points, place 4 of 4 (ann/a@1 +0, bob/b@1 +13, cy/c@4 +26); "
            "me/mine@2 forfeited it",
        ),
        (
            bots_pb2.SessionEnded(reason=bots_pb2.SESSION_END_VOID),
            "is void: it may be continued later",
        ),
    ],
    ids=["won", "shared", "forfeit", "void"],
)
def test_story_when_a_session_ends_then_it_says_the_result(
    ended: bots_pb2.SessionEnded, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    Story().ended(view(), ended)
    assert caplog.messages == [f"session cup/1/2/3 {told}"]


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        (
            {"kind": bots_pb2.FAULT_KIND_ILLEGAL, "answered": numbers("4D"), "to_beat": numbers("5C")},
            "to beat 5C; answered 4D, played instead: a pass",
        ),
        (
            {"kind": bots_pb2.FAULT_KIND_ILLEGAL, "default_cards": numbers("3D")},
            "to beat nothing; answered a pass, played instead: 3D",
        ),
        (
            {"kind": bots_pb2.FAULT_KIND_TIMEOUT, "to_beat": numbers("5C"), "faults": 3},
            "to beat 5C; answered nothing, with this fault the bot forfeits the session",
        ),
        ({"kind": 99, "answered": [1000]}, "answered cards that are not known here, played instead: a pass"),
    ],
    ids=["illegal", "pass", "forfeit", "of-later"],
)
def test_story_when_a_bot_makes_a_fault_then_it_says_where_and_what_was_played_instead(
    fields: dict[str, object], told: str, caplog: pytest.LogCaptureFixture
) -> None:
    seen = view()
    seen.deal = 2
    usual: dict[str, object] = {"reason": "why", "hand": numbers("3D 4D"), "faults": 1, "fault_limit": 3}
    fault = bots_pb2.Fault(**(usual | fields))  # type: ignore[arg-type]
    Story().fault(seen, fault)
    Story().fault(None, fault)
    count = f"fault {fault.faults} of 3: why"
    assert caplog.messages[0].startswith(f"session cup/1/2/3 deal 2: {count}; holding 3D 4D, to beat ")
    assert caplog.messages[0].endswith(told)
    assert caplog.messages[1] == count
    assert {record.levelno for record in caplog.records} == {logging.WARNING}


def test_story_when_a_bot_forfeits_then_it_says_who_is_played_for(caplog: pytest.LogCaptureFixture) -> None:
    story, seen = Story(), view()
    seen.deal = 3
    story.forfeited(seen, 0)
    story.forfeited(seen, 1)
    gone = "has forfeited the session, and is played for"
    assert caplog.messages == [
        f"session cup/1/2/3 deal 3: ann/a@1 {gone}",
        f"session cup/1/2/3 deal 3: this bot {gone}",
    ]
    for _ in range(MOST_LINES):
        story.forfeited(seen, 0)
    story.sum_up()
    assert caplog.messages[-1] == "not shown one by one: 2 forfeits"


def test_story_when_there_are_many_sessions_then_most_are_only_counted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    story, seen = Story(), view()
    for _ in range(1500):
        story.began(seen, resumed=False)
        story.ended(seen, bots_pb2.SessionEnded(scores=[-2, 2, 0, 0]))
    assert len(caplog.messages) == MOST_LINES
    story.sum_up()
    assert caplog.messages[MOST_LINES:] == [
        "not shown one by one: 1,490 sessions begun, 1,490 ended with +2,980 points"
    ]
    story.sum_up()
    story.began(seen, resumed=False)
    assert len(caplog.messages) == MOST_LINES + 2


async def test_log_when_a_bot_plays_then_it_tells_of_its_sessions_and_faults(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def careless(turn: Turn) -> Play | str | None:
        return "3D 4D" if turn.deal == 2 else lowest(turn)

    limits = Limits(join_seconds=5, faults=100)
    async with referee() as address, sdk_bots(address, {**OTHERS, 4: careless}):
        (result,) = await play_match(address, match_spec(deals=4, limits=limits))
    mine = [line for line in caplog.messages if "against owner/bot1@1, owner/bot2@1, owner/bot3@1" in line]
    assert [line.partition(":")[0] for line in mine] == ["session m/1 in test begins"]
    ended = [line for line in caplog.messages if line.startswith("session m/1 has ended: ")]
    assert sorted(int(line.split()[4]) for line in ended) == sorted(result.points)
    assert all(" turns, thought about for " in line for line in ended)
    faults = [line for line in caplog.messages if "deal 2: fault " in line]
    assert len(faults) == sum(result.faults) > 0
    assert "played instead: " in faults[0]


async def test_bot_when_its_match_is_rated_then_its_log_tells_its_rating(
    caplog: pytest.LogCaptureFixture,
) -> None:
    spec = match_spec(sessions=2)
    bots = tuple(replace(bot, rated=Rated(1500 + bot.version_id, 7)) for bot in spec.bots)
    async with referee() as address, sdk_bots(address, dict.fromkeys((1, 2, 3, 4), lowest)):
        await play_match(address, replace(spec, bots=bots, pool="chinese@1, tables of 4"))
    told = sorted(line for line in caplog.messages if line.startswith("rated"))
    assert told == [f"rated {1500 + bot} in chinese@1, tables of 4" for bot in (1, 2, 3, 4)]
    against = [line for line in caplog.messages if "session m/2 in test begins: in seat 0 against" in line]
    assert [line.partition("against ")[2].partition(";")[0] for line in against] == [
        "owner/bot3@1 (1503), owner/bot4@1 (1504), owner/bot1@1 (1501)"
    ]
