"""Fuzzing a lobby: whatever happens, in any order, its tables stay consistent and its records valid."""

from collections import Counter
from typing import Any, get_args

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from referee.deals.action import OnForfeit
from referee.errors import Draining
from referee.matches.broadcast import Spectator
from referee.matches.connection import ALLOWANCE
from referee.matches.events import Malformed
from referee.matches.match import Limits, MatchSpec
from referee.matches.running import Match
from referee.matches.table import Table
from referee.v1 import spectators_pb2
from tests.examples import examples
from tests.referee.harness import FakeBot, Harness
from tests.referee.support import check_records, match_spec

BOTS = (1, 2, 3, 4, 5)
RULESETS: list[dict[str, Any]] = [
    {"extends": "chinese", "name": "small", "hand_size": 5, "leftover": "unused"},
    {
        "extends": "chinese-3",
        "name": "exchanging",
        "exchange": "loser_to_winner",
        "lead": "winner",
        "hand_size": 5,
        "leftover": "unused",
    },
    {
        "extends": "hong-kong-relatives-3",
        "name": "drawing",
        "draw_on_pass": "as_needed",
        "restock": True,
        "pass_locks": True,
        "hand_size": 6,
    },
    {
        "extends": "gamesky",
        "name": "bombing",
        "guard": "must",
        "beat_own": True,
        "bombs_out_of_turn": True,
        "hand_size": 7,
        "leftover": "unused",
    },
    {
        "extends": "only-a-game-8",
        "name": "two-packs",
        "players": 3,
        "hand_size": 6,
        "leftover": "stock",
        "draw_on_pass": "one",
    },
]
MOST_ALARMS = 20
"""Alarms for one table: one more is added each time the next look at it becomes due earlier."""
PLAYERS = {"small": 4, "exchanging": 3, "drawing": 3, "bombing": 4, "two-packs": 3}


@st.composite
def specs(draw: st.DrawFn) -> MatchSpec:
    ruleset = draw(st.sampled_from(RULESETS))
    bots = draw(st.permutations(BOTS))[: PLAYERS[ruleset["name"]]]
    limits = Limits(
        decision_ms=draw(st.sampled_from([200, 1000, 3000])),
        join_seconds=draw(st.sampled_from([1, 3])),
        faults=draw(st.sampled_from([1, 3, 1000])),
        bank_ms=draw(st.sampled_from([0, 1500])),
        increment_ms=draw(st.sampled_from([0, 100])),
        ask_forced=draw(st.booleans()),
        on_forfeit=draw(st.sampled_from(get_args(OnForfeit))),
    )
    return match_spec(
        bots,
        sessions=draw(st.integers(1, 4)),
        deals=draw(st.integers(1, 3)),
        ruleset=ruleset,
        match_id=draw(st.sampled_from(["one", "two"])),
        limits=limits,
    )


class AnyLobby(RuleBasedStateMachine):
    """A lobby with bots, workers and spectators that do anything."""

    def __init__(self) -> None:
        super().__init__()
        self.harness = Harness()
        self.lobby = self.harness.lobby
        self.bots: dict[int, FakeBot] = {}
        self.running: list[Match] = []
        self.finished: dict[int, set[int]] = {}
        self.watching: list[tuple[Match, Spectator]] = []
        self.draining = False

    @initialize(absent=st.sets(st.sampled_from(BOTS), max_size=2), spec=specs())
    def begin(self, absent: set[int], spec: MatchSpec) -> None:
        for number in set(BOTS) - absent:
            self.connect(number, 256)
        self.open_match(spec)

    # Bots

    @rule(number=st.sampled_from(BOTS), room=st.sampled_from([0, 1, 2, 256]))
    def connect(self, number: int, room: int) -> None:
        self.forget_closed()
        if number not in self.bots and not self.lobby.penalty(number, self.harness.now):
            self.bots[number] = self.harness.connect(number, room, owner=f"owner{number}")

    @rule(number=st.sampled_from(BOTS))
    def disconnect(self, number: int) -> None:
        if (bot := self.bots.pop(number, None)) is not None:
            self.lobby.disconnect(bot.connection, self.harness.now)

    @rule(number=st.sampled_from(BOTS), pong=st.booleans())
    def read(self, number: int, pong: bool) -> None:
        if bot := self.bots.get(number):
            bot.read(pong=pong)

    @rule(number=st.sampled_from(BOTS), blocked=st.booleans())
    def block(self, number: int, blocked: bool) -> None:
        if bot := self.bots.get(number):
            bot.block() if blocked else bot.unblock()

    @rule(turns=st.integers(1, 8), rounds=st.integers(1, 20))
    def play(self, turns: int, rounds: int) -> None:
        """Have the connected bots answer correctly, each at most ``turns`` of its turns at a time."""
        for _ in range(rounds):
            for bot in list(self.bots.values()):
                bot.read()
                for turn in list(bot.turns.values())[:turns]:
                    bot.play(turn, lambda choices: choices[turns % len(choices)])

    @rule(
        number=st.sampled_from(BOTS),
        cards=st.integers(0, 2**60),
        change=st.sampled_from([0, 0, -1, -7, 1, 999]),
    )
    def answer_with_anything(self, number: int, cards: int, change: int) -> None:
        bot = self.bots.get(number)
        if bot is not None and bot.turns:
            turn = next(iter(bot.turns.values()))
            bot.answer(turn, cards & turn.info.rules.full, turn.sequence + change)

    @rule(number=st.sampled_from(BOTS))
    def answer_malformed(self, number: int) -> None:
        bot = self.bots.get(number)
        if bot is not None and bot.turns:
            bot.answer(next(iter(bot.turns.values())), Malformed("not readable"))

    @rule(number=st.sampled_from(BOTS), handle=st.integers(0, 20), sequence=st.integers(0, 50))
    def answer_at_random(self, number: int, handle: int, sequence: int) -> None:
        if bot := self.bots.get(number):
            bot.send(handle, sequence, 0)

    @rule(number=st.sampled_from(BOTS), id=st.integers(0, 5))
    def pong(self, number: int, id: int) -> None:
        if (bot := self.bots.get(number)) and not bot.connection.pong(id, self.harness.now):
            self.lobby.useless(bot.connection, self.harness.now)

    @rule(number=st.sampled_from(BOTS))
    def flood(self, number: int) -> None:
        if bot := self.bots.get(number):
            for _ in range(int(ALLOWANCE) + 1):
                self.lobby.useless(bot.connection, self.harness.now)
            assert bot.connection.closing is not None

    # Time

    @rule(seconds=st.sampled_from([0.01, 0.2, 0.6, 1.1, 3.5]))
    def time_passes(self, seconds: float) -> None:
        self.harness.advance(seconds)

    @rule(seconds=st.sampled_from([0.3, 2.0, 100.0]))
    def the_referee_is_away(self, seconds: float) -> None:
        self.harness.pause(seconds)

    # Workers

    @precondition(lambda self: not self.draining and self.lobby.connections.uplink.outage is None)
    @rule(spec=specs())
    def open_match(self, spec: MatchSpec) -> None:
        match = self.harness.open(spec)
        self.running.append(match)
        self.finished[id(match)] = set()

    @rule(number=st.integers(0, 3))
    def close_match(self, number: int) -> None:
        if number < len(self.running):
            self.lobby.close_match(self.running[number], "closed")

    @precondition(lambda self: not self.draining and len(self.running) > 1)
    @rule()
    def drain(self) -> None:
        self.draining = True
        self.lobby.drain("draining")
        with pytest.raises(Draining, match="draining"):
            self.harness.open(match_spec())

    # Spectators

    @rule(number=st.integers(0, 3))
    def watch(self, number: int) -> None:
        running = [match for match in self.running if not match.ended]
        if number < len(running):
            self.watching.append((running[number], self.lobby.watch(running[number])))

    @rule(number=st.integers(0, 5))
    def look(self, number: int) -> None:
        if number < len(self.watching):
            spectators_pb2.WatchMatchResponse.FromString(self.watching[number][1].take())

    @rule(number=st.integers(0, 5))
    def unwatch(self, number: int) -> None:
        if number < len(self.watching):
            self.lobby.unwatch(self.watching.pop(number)[0])

    # What must always be true

    @invariant()
    def results_are_right(self) -> None:
        for match in list(self.running):
            for result in match.take_results():
                assert result.number not in self.finished[id(match)], "a session finished twice"
                self.finished[id(match)].add(result.number)
                check_records(match.spec, result)
            if match.ended:
                self.running.remove(match)
            elif match.done:
                finished, sessions = self.finished[id(match)], match.spec.sessions
                assert len(finished) + match.voided + len(match.left) == len(sessions)
                assert match.complete == (finished == {session.number for session in sessions})
                self.lobby.close_match(match, "done")
                self.running.remove(match)

    @invariant()
    def tables_are_consistent(self) -> None:
        lobby = self.lobby
        tables = {handle: table for match in self.running for handle, table in match.tables.items()}
        assert lobby.sessions == len(tables)
        seats = Counter(handle for seats in lobby.connections._seats.values() for handle in seats)
        assert seats == {handle: len(table.info.seats) for handle, table in tables.items()}
        for table in tables.values():
            self.check(table)
        waiting = [handle for _, handle in lobby._alarms]
        assert all(handle in waiting for handle in tables), "a table waits without an alarm"
        assert lobby._tables._open == tables, "a closed table is kept"
        assert max(Counter(waiting).values(), default=0) <= MOST_ALARMS, "alarms pile up"
        for bot in self.bots.values():
            assert lobby.presence(bot.number).sessions <= max(bot.connection.max_sessions, len(tables))

    def check(self, table: Table) -> None:
        deal, rules = table._deal, table.info.rules
        assert deal is not None
        assert not table.over
        waiting = {seat.index for seat in table.seats if seat.turn is not None}
        assert waiting <= set(deal.owing())
        assert waiting, "a table waits for nobody"
        held = Counter(card for hand in deal.start for card in rules.cards(hand))
        drawn = Counter(card for action in deal.actions for card in rules.cards(action.drawn))
        played = Counter(card for action in deal.actions for card in rules.cards(action.cards))
        left = Counter(card for hand in deal.hands for card in rules.cards(hand))
        if deal.stage.value != "exchange":
            assert held + drawn == played + left
        gone = {forfeit.seat for forfeit in table.forfeits.all}
        assert not waiting & gone
        assert not gone or table.info.limits.on_forfeit != "end_session"
        limit = table.info.limits.faults
        assert all(faults < limit for seat, faults in enumerate(table.faults) if seat not in gone)

    def teardown(self) -> None:
        """Assert that bots that connect and answer bring every match to its end, whatever has happened."""
        self.harness.advance(15)
        self.forget_closed()
        self.bots = {n: b for n, b in self.bots.items() if b.connection.max_sessions}
        for number in BOTS:
            connection = self.lobby.connection(number)
            if connection is not None and number not in self.bots:
                self.lobby.disconnect(connection, self.harness.now)
            if number not in self.bots:
                self.bots[number] = self.harness.connect(number, owner=f"owner{number}")
        for _ in range(20_000):
            self.results_are_right()
            if not self.running:
                break
            for bot in self.bots.values():
                bot.unblock()
                bot.read()
                for turn in list(bot.turns.values()):
                    bot.play(turn, max)
            self.harness.advance(0.02)
        assert not self.running, "a match does not end"
        assert not any(self.lobby.connections._seats.values())
        for _, spectator in self.watching:
            while not spectator.done:
                assert spectators_pb2.WatchMatchResponse.FromString(spectator.take()).updates

    def forget_closed(self) -> None:
        self.bots = {number: bot for number, bot in self.bots.items() if bot.here}


AnyLobby.TestCase.settings = examples(60, stateful_step_count=40)
TestAnyLobby = AnyLobby.TestCase
