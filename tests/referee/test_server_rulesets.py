"""Tests for every kind of turn over real sockets: bots find the same legal plays as the referee."""

import asyncio
import json
import random
from typing import Any

import pytest

from referee.bot.turn import read_turn
from referee.bot.view import SessionView
from referee.matches.match import Limits
from referee.protocol import lazy
from referee.records.record import full_record
from referee.records.replay import Replayer
from referee.ruleset import load_ruleset
from referee.v1 import bots_pb2
from tests.referee.support import LEGAL_PLAYS, WireBot, match_spec, play_match, referee

RULESETS: list[dict[str, Any]] = [
    {"name": "chinese"},
    {"name": "gamesky"},
    {"name": "indonesia"},
    {"name": "hong-kong"},
    {"name": "taiwan-latta"},
    {"name": "choi-dai-di-5"},
    {"name": "lectio"},
    {"name": "only-a-game-8"},
    {"name": "only-a-game-bombs"},
    {"name": "hong-kong-relatives-3"},
    {"name": "zheng-shangyou"},
    {"name": "packs", "decks": 4, "jokers": 2, "removed_cards": ["3D", "3C", "3H", "3S", "9H"], "players": 6},
    {"extends": "chinese-3", "name": "exchanging", "exchange": "loser_to_winner", "lead": "winner"},
    {
        "extends": "hong-kong-relatives-3",
        "name": "drawing",
        "draw_on_pass": "as_needed",
        "restock": True,
        "pass_locks": True,
    },
    {"extends": "gamesky", "name": "guarded", "guard": "must", "beat_own": True, "bombs_out_of_turn": True},
]

SPECIAL = {
    "gamesky": bots_pb2.TURN_KIND_BOMB,
    "indonesia": bots_pb2.TURN_KIND_BEAT_OWN,
    "exchanging": bots_pb2.TURN_KIND_EXCHANGE,
    "guarded": bots_pb2.TURN_KIND_BEAT_OWN,
}
"""The kind of turn that must occur under a ruleset."""


class Checking:
    """Plays at random, and notes where the plays that it finds itself differ from the referee's list."""

    def __init__(self, bot: WireBot, seed: int) -> None:
        self.bot = bot
        self.random = random.Random(seed)
        self.views: dict[int, SessionView] = {}
        self.kinds: set[int] = set()
        self.differences: list[str] = []

    async def play(self) -> None:
        while True:
            event = await self.bot.next_event()
            match event.WhichOneof("event"):
                case "session_started":
                    self.views[event.session_started.session] = SessionView.of(event.session_started)
                case "deal_started":
                    self.views[event.deal_started.session].deal_started(event.deal_started)
                case "deal_ended":
                    self.check_deal_ended(event.deal_ended)
                case "fault":
                    self.differences.append(event.fault.reason)
                case "turn":
                    await self.answer(event.turn)

    async def answer(self, turn: bots_pb2.Turn) -> None:
        view, same = self.views[turn.session], lazily(bots_pb2.Event(turn=turn)).turn
        view.happened(same.actions)
        self.kinds.add(turn.kind)
        found = [view.numbers(code & view.rules.full) for code in read_turn(view, same).legal_codes]
        listed = [list(play.cards) for play in turn.legal_plays]
        if found != listed:
            self.differences.append(f"found {found}, listed {listed}, hand {view.rules.text(view.hand)}")
        answers = listed + ([[]] if turn.can_pass else [])
        await self.bot.move(turn, self.random.choice(answers))

    def check_deal_ended(self, ended: bots_pb2.DealEnded) -> None:
        view = self.views[ended.session]
        view.happened(lazily(bots_pb2.Event(deal_ended=ended)).deal_ended.actions)
        view.deal_ended(ended)
        left = view.mask(ended.left[view.seat].cards)
        if view.hand != left or view.counts != [len(hand.cards) for hand in ended.left]:
            self.differences.append(
                f"deal {ended.deal}: holding {view.hand}, left {left}, counts {view.counts}"
            )


def lazily(event: bots_pb2.Event) -> Any:
    """Return the event as the SDK reads it."""
    response = bots_pb2.PlayResponse(events=[event])
    return lazy.PlayResponse.FromString(response.SerializeToString()).events[0]


@pytest.mark.parametrize("ruleset", RULESETS, ids=lambda ruleset: str(ruleset["name"]))
async def test_match_when_bots_fold_their_events_then_they_know_what_the_referee_knows(
    ruleset: dict[str, Any],
) -> None:
    resolved = load_ruleset(ruleset)
    numbers = list(range(1, resolved.players + 1))
    spec = match_spec(
        numbers, sessions=3, deals=6, ruleset=ruleset, limits=Limits(join_seconds=20, faults=100)
    )
    async with referee() as address:
        wire_bots = [WireBot(address, number, wants=LEGAL_PLAYS) for number in numbers]
        for bot in wire_bots:
            await bot.connect()
        bots = [Checking(bot, number) for number, bot in zip(numbers, wire_bots, strict=True)]
        playing = [asyncio.create_task(bot.play()) for bot in bots]
        results = await play_match(address, spec)
        for task in playing:
            task.cancel()
        await asyncio.gather(*playing, return_exceptions=True)
        for bot in wire_bots:
            await bot.close()
    assert [bot.differences for bot in bots] == [[]] * len(bots)
    kinds = {kind for bot in bots for kind in bot.kinds}
    assert kinds >= {bots_pb2.TURN_KIND_PLAY, SPECIAL.get(resolved.name, bots_pb2.TURN_KIND_PLAY)}
    replayer = Replayer()
    for result in results:
        for record in result.records:
            full = full_record(
                json.loads(record),
                ruleset=spec.ruleset,
                tournament="t",
                round=1,
                table=1,
                session=result.number,
                seats=[f"bot{number}" for number in numbers],
            )
            assert replayer.check(full).over
