"""A referee's lobby and bots of the SDK, in which everything happens that can happen to a match.

There is no network, and the clock is the lobby's own.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from random import Random
from typing import Any

from referee.bot.bots import Bot
from referee.bot.evidence import Entry, Evidence
from referee.bot.seat import Seat
from referee.bot.turn import Turn as Asked
from referee.bot.view import SessionView
from referee.errors import RefereeUnavailable
from referee.matches.connection import Wants
from referee.matches.events import Malformed, Turn
from referee.matches.kinds import FaultKind
from referee.matches.lobby import STOPPED_BY_WORKER
from referee.matches.match import MatchSpec, Update
from referee.protocol import encode, lazy
from tests.referee.harness import FakeBot, Harness

GONE = "the referee is gone"

Wrong = int | Malformed
"""An answer that is a fault."""


def random_bot(random: Random) -> Bot:
    """Return a bot that plays at random, also in bomb windows and exchanges."""

    class RandomBot:
        def choose(self, turn: Asked) -> Any:
            plays = turn.legal
            if turn.can_pass and (not plays or random.random() < 0.4):
                return None
            return random.choice(plays)

        exchange = beat_own = bomb = choose

    return RandomBot


class Stream(FakeBot):
    """A stream of a bot of the SDK."""

    def __init__(self, harness: Harness, number: int, room: int, bot: Bot) -> None:
        super().__init__(harness, number, room)
        self._bot = bot
        self._seats: dict[int, Seat] = {}
        self.asked: list[tuple[Turn, int]] = []
        """The turns that it was asked and has not answered, each with the cards of its answer."""
        self.kept: list[Entry] = []
        """What it keeps for its log."""

    def see(self) -> list[tuple[Turn, int]]:
        """Read what has come; return the turns that were asked, each with the cards of the bot's answer."""
        turns = []
        for event in self.read():
            if isinstance(event, Turn):
                turn: Any = _sent(encode.turn_event(event, Wants())).turn
                seat = self._seats[turn.session]
                turns.append((event, seat.decide(seat.turn_of(turn))))
            else:
                sent = _sent(encode.other_event(event))
                kind = sent.WhichOneof("event")
                self._happened(kind, getattr(sent, kind))
        return turns

    def _happened(self, kind: str, content: Any) -> None:
        if kind == "session_started":
            seat = self._seats[content.session] = Seat(self._bot, SessionView.of(content))
            seat.evidence = Evidence(content)
        elif kind == "deal_started":
            self._seats[content.session].deal_started(content)
        elif kind == "deal_ended":
            self._seats[content.session].deal_ended(content)
        elif kind == "fault":
            at = self._seats.get(content.session)
            if at is not None and at.evidence is not None:
                at.evidence.fault(content)
        elif kind == "session_ended":
            self._keep(self._seats.pop(content.session), lambda evidence: evidence.ended(content))

    def broke(self) -> None:
        """Keep what the bot has of the sessions that were open when the stream ended."""
        for seat in self._seats.values():
            self._keep(seat, Evidence.left)
        self._seats.clear()

    def _keep(self, seat: Seat, end: Callable[[Evidence], Entry | None]) -> None:
        assert seat.evidence is not None
        if (entry := end(seat.evidence)) is not None:
            assert not entry.differs, entry.line
            self.kept.append(entry)


def _sent(data: bytes) -> Any:
    """Return the event in an encoded response, as the SDK reads it."""
    response: Any = lazy.PlayResponse.FromString(data)
    [event] = response.events
    return event


@dataclass(slots=True)
class Weather:
    """How likely something happens."""

    trouble: float = 0.0
    """That a bot fails at a turn."""
    absence: float = 0.0
    """That a bot is absent at the start of a match, or leaves before a turn."""
    failure: float = 0.0
    """That a referee fails in a match."""
    starved: float = 0.0
    """That the referee's host has no time for it: it stands still, or gets to its alarms late."""


@dataclass(slots=True)
class Hall:
    """A referee that plays one match."""

    spec: MatchSpec
    random: Random
    weather: Weather
    keep: Callable[[Entry], None]
    """Is given what bots keep for their logs."""
    away: set[str]
    """The names of bots that missed something are added to it."""
    meanwhile: Callable[[], None]
    """Is called again and again while the match is played."""
    harness: Harness = field(default_factory=Harness)
    streams: dict[str, Stream] = field(default_factory=dict)
    """By the bot's name."""
    dead: bool = False
    """Whether the referee has died, without telling anybody anything."""

    def hold(self) -> None:
        """Begin no further session."""
        match = self.harness.lobby.match(self.spec.match_id)
        if match is not None:
            self.harness.lobby.hold(match)

    def play(self) -> Generator[Update]:
        """Play the match as a worker follows it. Raise RefereeUnavailable if the referee fails."""
        random, lobby = self.random, self.harness.lobby
        for bot in self.spec.bots:
            if random.random() < self.weather.absence:
                self.away.add(bot.name)
            else:
                self._connect(bot.version_id, bot.name)
        match = self.harness.open(self.spec)
        fails_after = random.expovariate(1 / 60) if random.random() < self.weather.failure else float("inf")
        steps = 0
        try:
            while True:
                over = match.done or bool(match.ended)
                yield from match.take_results()
                if over or random.random() < 0.2:
                    yield from match.take_deals()
                yield lobby.progress(match)
                if over:
                    break
                self._step()
                self.meanwhile()
                steps += 1
                assert steps < 100_000, "the match does not end"
                if steps > fails_after:
                    self._fail()
                    fails_after = float("inf")
            if match.ended:
                raise RefereeUnavailable(match.ended)
        finally:
            if not self.dead:
                lobby.close_match(match, "" if match.done else STOPPED_BY_WORKER)
            for stream in self.streams.values():
                if not self.dead:
                    stream.see()
                self._ended(stream)

    def _connect(self, number: int, name: str) -> None:
        room = self.random.randint(1, 3)
        stream = Stream(self.harness, number, room, random_bot(self.random))
        self.harness.lobby.connect(stream.connection, self.harness.now)
        stream.unblock()
        self.streams[name] = stream

    def _ended(self, stream: Stream) -> None:
        stream.broke()
        for entry in stream.kept:
            self.keep(entry)
        stream.kept = []

    def _step(self) -> None:
        """Let every bot see what has come, and answer, or do something else."""
        random, lobby, idle = self.random, self.harness.lobby, True
        for bot in random.sample(self.spec.bots, len(self.spec.bots)):
            stream = self.streams.get(bot.name)
            if stream is None:
                if random.random() < 0.3 and not lobby.penalty(bot.version_id, self.harness.now):
                    self._connect(bot.version_id, bot.name)
                continue
            stream.asked += stream.see()
            idle = idle and not stream.asked
            if not self.weather.starved or random.random() < 0.5:
                for turn, cards in stream.asked:
                    self._answer(stream, turn, cards)
                stream.asked = []
            gone = stream.connection.closing is not None
            if gone or random.random() < self.weather.absence / 30:
                lobby.disconnect(stream.connection, self.harness.now)
                self._ended(self.streams.pop(bot.name))
                self.away.add(bot.name)
        if random.random() < self.weather.starved:
            self.harness.late = random.choice((0, 0.25, 0.25))
            self.harness.pause(random.choice((0, 0, 0.04, 0.5)))
        paces = (0.05, 0.1, 0.2) if self.weather.starved else (0.0005, 0.01, 0.1)
        self.harness.advance(0.3 if idle else random.choice(paces))

    def _answer(self, stream: Stream, turn: Turn, cards: int) -> None:
        random = self.random
        if random.random() >= self.weather.trouble:
            stream.answer(turn, cards)
            return
        wrong: tuple[Wrong | None, ...] = (
            turn.info.rules.full,
            Malformed("no cards"),
            Malformed("boom", FaultKind.EXCEPTION),
            None,
        )
        chosen = random.choice(wrong)
        if chosen is not None:  # else it never answers
            stream.answer(turn, chosen)

    def _fail(self) -> None:
        """Let the referee die, stop, or end a session that it cannot go on with."""
        lobby, [match] = self.harness.lobby, self.harness.matches
        how = self.random.choice(("dies", "drains", "closes", "voids"))
        if how == "dies":
            self.dead = True
            raise RefereeUnavailable(GONE)
        if how == "drains":
            lobby.drain("the referee is to stop")
        elif how == "closes":
            lobby.close_match(match, "the referee closes")
        else:
            for table in list(match.tables.values())[:1]:
                table.void()
