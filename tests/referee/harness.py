"""A lobby whose clock a test controls, and bots whose streams are read when the test says so."""

from collections.abc import Callable

from referee.matches.auth import BotIdentity
from referee.matches.connection import Connection
from referee.matches.events import (
    DealStarted,
    Event,
    Fault,
    Malformed,
    Notice,
    SessionEnded,
    SessionStarted,
    Turn,
)
from referee.matches.lobby import BEAT_SECONDS, Lobby
from referee.matches.match import MatchSpec, SessionResult
from referee.matches.running import Match
from referee.protocol import encode
from tests.referee.key import KEY
from tests.referee.support import ListJournal

STEP = BEAT_SECONDS
"""The interval between the lobby's beats."""


class FakeBot:
    """A bot and the writer of its stream; pending messages are delivered only by ``read``."""

    def __init__(
        self, harness: "Harness", number: int, max_sessions: int = 256, owner: str = "owner", host: str = ""
    ) -> None:
        self.harness = harness
        self.number = number
        identity = BotIdentity(number, f"{owner}/bot{number}@1")
        self.connection = Connection(identity, max_sessions, lambda: None, harness.now, host=host)
        self.events: list[Event] = []
        """All events read so far."""
        self.turns: dict[int, Turn] = {}
        """Turns that are open as far as the bot knows, by session handle."""
        self.pings: list[int] = []

    @property
    def here(self) -> bool:
        return self.harness.lobby.connection(self.number) is self.connection

    def read(self, *, pong: bool = True) -> list[Event]:
        """Read the pending events, and answer a ping."""
        now, connection = self.harness.now, self.connection
        if connection.ping_due:
            self.pings.append(connection.take_ping(now))
            if pong:
                connection.pong(self.pings[-1], now)
        batch: list[Event] = []
        for event in connection.outbox.take(now):
            if isinstance(event, Turn):
                seat = connection.seats.get(event.info.handle)
                if seat is not None and seat.table.hand_out(event, now, connection.round_trip):
                    connection.outbox.owed.add(event.info.handle)
                    self.turns[event.info.handle] = event
                    batch.append(event)
                continue
            if isinstance(event, SessionEnded | DealStarted):
                self.turns.pop(event.info.handle, None)
            if isinstance(event, Fault):
                turn = self.turns.get(event.info.handle)
                if turn is not None and turn.sequence == event.sequence:
                    del self.turns[event.info.handle]
            batch.append(event)
        connection.outbox.note_sent(len(self.turns))
        self.events += batch
        return batch

    def block(self) -> None:
        """Make messages wait, as when the stream accepts none."""
        self.connection.writing(self.harness.now)

    def unblock(self) -> None:
        self.connection.written(self.harness.now)

    def turn(self) -> Turn:
        """Read, and return the only open turn."""
        self.read()
        (turn,) = self.turns.values()
        return turn

    def answer(self, turn: Turn, cards: int | Malformed, sequence: int | None = None) -> None:
        """Answer a turn, with another sequence number if one is given."""
        self.turns.pop(turn.info.handle, None)
        lobby, now = self.harness.lobby, self.harness.now
        self.connection.heard_at = now
        self.send(turn.info.handle, turn.sequence if sequence is None else sequence, cards)
        if self.connection.closing is None:
            self.connection.outbox.heard(1)
            lobby.settle(now)

    def send(self, handle: int, sequence: int, cards: int | Malformed) -> None:
        """Answer any turn in any session."""
        lobby, now = self.harness.lobby, self.harness.now
        seat = self.connection.seats.get(handle)
        if seat is None:
            lobby.misplaced(self.connection, handle, sequence, now)
        elif seat.table.answer(seat.index, sequence, cards, now):
            self.connection.outbox.owed.discard(handle)
        else:
            lobby.useless(self.connection, now)

    def play(self, turn: Turn, choose: Callable[[list[int]], int] = min) -> None:
        """Answer a turn with one of the legal answers."""
        self.answer(turn, choose(turn.deal.choices(turn.seat)) & turn.info.rules.full)

    def faults(self) -> list[Fault]:
        return [event for event in self.events if isinstance(event, Fault)]

    def notices(self) -> list[Notice]:
        return [event for event in self.events if isinstance(event, Notice)]


class Harness:
    """A lobby and its clock."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.journal = ListJournal()
        self.lobby = Lobby(self.journal, encode.sight, KEY.sign)
        self.lobby.beat(self.now)
        self.matches: list[Match] = []
        self.late = 0.0
        """Seconds for which the lobby waits for each tick, while bots read and answer; it is then told when
        the alarm rang."""
        self._rang_at: float | None = None

    def connect(
        self,
        number: int,
        max_sessions: int = 256,
        *,
        welcomed: bool = True,
        owner: str = "owner",
        host: str = "",
    ) -> FakeBot:
        """Connect a bot; ``welcomed`` says whether its stream accepts the welcome."""
        bot = FakeBot(self, number, max_sessions, owner, host)
        self.lobby.connect(bot.connection, self.now)
        if welcomed:
            bot.unblock()
        return bot

    def open(self, spec: MatchSpec) -> Match:
        match = self.lobby.open_match(spec, self.now, lambda: None)
        self.matches.append(match)
        return match

    def advance(self, seconds: float) -> None:
        """Let time pass as the server does: with beats, and with ticks when the lobby asks for them."""
        end = self.now + seconds
        while self.now < end:
            due = self.lobby.next_tick() if self._rang_at is None else self._rang_at + self.late
            self.now = min(end, self.now + STEP, end if due is None else max(self.now, due))
            self.lobby.beat(self.now)
            if due is not None and due <= self.now:
                self._ring()

    def _ring(self) -> None:
        """Tell the lobby that an alarm rang, at once or later."""
        self._rang_at = rang_at = self.now if self._rang_at is None else self._rang_at
        if self.now >= rang_at + self.late:
            self._rang_at = None
            self.lobby.tick(rang_at)

    def pause(self, seconds: float) -> None:
        """Let time pass without beats, as when the referee is stalled."""
        self.now += seconds

    def play_out(self, match: Match, *bots: FakeBot) -> list[SessionResult]:
        """Let these bots answer until the match is over."""
        results = match.take_results()
        for _ in range(100_000):
            if match.done or match.ended:
                return sorted(results + match.take_results(), key=lambda result: result.number)
            for bot in bots:
                bot.read()
                for turn in list(bot.turns.values()):
                    bot.play(turn)
            self.advance(0.001)
            results += match.take_results()
        raise AssertionError("the match does not end")


def four(harness: Harness, max_sessions: int = 256) -> list[FakeBot]:
    """Connect bots 1 to 4."""
    return [harness.connect(number, max_sessions) for number in (1, 2, 3, 4)]


def started(bot: FakeBot) -> list[SessionStarted]:
    """Read, and return the start of every session that was announced to the bot."""
    bot.read()
    return [event for event in bot.events if isinstance(event, SessionStarted)]
