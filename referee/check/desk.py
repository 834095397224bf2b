"""Scenarios, and what they work with: the bot's stream, new sessions, and the play of these to their end."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import grpc

from referee.check.outcome import Absent, Failed, Lost, NotRun, Silent, Slow, Unfinished
from referee.check.process import BotProcess
from referee.check.session import BotSession, RulesetObject, describe_request, due, is_capacity, notice
from referee.check.stream import Heard, Line, Switchboard
from referee.matches.connection import Wants
from referee.protocol.capabilities import lacks
from referee.protocol.reasons import Refused
from referee.protocol.version import MAX_MESSAGE_BYTES, PROTOCOL_VERSION
from referee.v1 import bots_pb2

PATIENCE = 5.0
"""How long the bot may take for the next answer, in seconds."""
QUIET_SECONDS = 0.3
"""How long the bot must stay silent where nothing is due, in seconds."""
EXIT_SECONDS = 2.0
"""How long to wait, in seconds, for the exit status of a process whose stream has ended."""
MOST_SESSIONS = 64
"""How many sessions run at once, unless the bot asks for fewer."""

Deliver: TypeAlias = Callable[[bots_pb2.PlayResponse], Awaitable[None]]


class Desk:
    """The referee's side of a check."""

    def __init__(
        self,
        board: Switchboard,
        bot: str,
        token: str,
        process: BotProcess | None,
        patience: float = PATIENCE,
    ) -> None:
        self.board, self.bot, self.token, self.process = board, bot, token, process
        self.patience = patience
        """How long the bot may take for the next answer, in seconds."""
        self.return_seconds = 2 * patience + 2
        """How long the bot may take to connect again."""
        self.line: Line | None = None
        self.opening: list[bots_pb2.PlayRequest] = []
        """What the bot sent on its first stream before it was welcomed."""
        self.hello = bots_pb2.Hello()
        """The latest hello."""
        self.scenario = ""
        """The code of the current scenario; its deals follow from it."""
        self.sessions: list[BotSession] = []
        """Sessions of the current scenario."""
        self.strays: list[str] = []
        """Moves received in the current scenario that belong to no open turn and to no session cut short."""
        self._cut_short: set[int] = set()
        """Handles of sessions that earlier scenarios left open: a slow bot may still answer in them."""
        self.answered = 0
        """Turns that the bot answered in all."""
        self.took: list[float] = []
        """How long its answers took, in seconds; without those to turns that were sent as mere bytes."""
        self._asked: dict[tuple[int, int], float] = {}
        """When turns were sent, in monotonic seconds, by session and sequence."""
        self.last_answer = 0.0
        """When the bot last answered a turn, even one of an earlier scenario, in monotonic seconds."""
        self.failure: Failed | Slow | None = None
        """How the current scenario failed, or the slowness for which the bot is restarted."""
        self.slow: list[str] = []
        """The codes of scenarios that the bot was too slow to finish."""
        self.gone = False
        """Whether the bot stays away even after a restart."""
        self._handles = 0

    # The connection

    async def meet(self, seconds: float) -> None:
        """Wait for the bot's first stream and welcome it. Raise Absent, or Failed for a wrong opening."""
        if self.process is not None:
            await self.process.start()
        line = await self._next_line(seconds)
        heard = await self._first_message(line, "a hello")
        await asyncio.sleep(QUIET_SECONDS)
        self.opening = [heard.request, *line.drain()]
        self.greet(line, self.check_hello(line, heard.request))

    async def ready(self) -> None:
        """Wait for a bot that is not connected. Raise Absent if it does not come back."""
        if self.line is not None and self.line.live:
            return
        if self.process is not None and not self.process.running:
            await self.restart()
        try:
            await self.come_back()
        except (Absent, Silent, Lost):
            if self.process is None:
                raise
            await self.restart()
            await self.come_back()

    async def restart(self) -> None:
        """End the bot's process and start it anew. Raise Absent if that fails."""
        assert self.process is not None
        await self.break_off()
        await self.process.stop()
        while not self.board.lines.empty():
            self.board.lines.get_nowait()
        await self.process.start()

    async def come_back(self, seconds: float | None = None) -> None:
        """Wait for the bot's next stream and welcome it. Raise Absent, or Failed for a wrong opening."""
        line = await self.knock(seconds)
        self.greet(line, self.hello)

    async def knock(self, seconds: float | None = None) -> Line:
        """Return the bot's next stream once it has said hello, without welcoming it."""
        line = await self._next_line(seconds or self.return_seconds)
        heard = await self._first_message(line, "a hello as the first message")
        self.check_hello(line, heard.request)
        return line

    async def _first_message(self, line: Line, expected: str) -> Heard:
        """Return the first message of a stream. Raise Silent, with a likely reason, if none comes."""
        try:
            return await line.receive(self.patience, expected)
        except Silent as error:
            why = "on a stream that it opened; response headers come after the hello, so do not wait for them"
            raise Silent(f"{error} {why}") from None

    def greet(self, line: Line, hello: bots_pb2.Hello, **more: Any) -> None:
        """Welcome the bot on a stream, which becomes the current one."""
        self.line, self.hello = line, hello
        self.send(self.welcome(**more))

    def welcome(self, **more: Any) -> bots_pb2.PlayResponse:
        """Return a welcome; ``more`` replaces some of its fields."""
        sessions = min(self.hello.max_sessions or MOST_SESSIONS, MOST_SESSIONS)
        fields = {
            "bot": self.bot,
            "max_sessions": sessions,
            "max_message_bytes": MAX_MESSAGE_BYTES,
            "referee_id": self.board.referee_id,
            "referees": [self.referee],
        }
        return bots_pb2.PlayResponse(welcome=bots_pb2.Welcome(**{**fields, **more}))

    @property
    def referee(self) -> bots_pb2.Referee:
        """The referee that the desk plays, as a welcome lists it."""
        return bots_pb2.Referee(id=self.board.referee_id, address=self.board.address)

    def check_hello(self, line: Line, request: bots_pb2.PlayRequest) -> bots_pb2.Hello:
        """Return the hello of a first message. Raise Failed if it, or the call, is not as it should be."""
        self._check_token(line.authorization)
        if not request.HasField("hello"):
            raise Failed(f"expected a hello as the first message; got {describe_request(request)}")
        if [field.name for field, _ in request.ListFields()] != ["hello"]:
            raise Failed(f"expected a first message with only a hello; got {describe_request(request)}")
        hello = request.hello
        if hello.HasField("max_sessions") and not hello.max_sessions:
            raise Failed("expected max_sessions of at least 1, or absent; the hello's is 0")
        if hello.protocol_version != PROTOCOL_VERSION:
            raise Failed(
                f"expected a hello with protocol_version {PROTOCOL_VERSION}; got {hello.protocol_version}"
            )
        return hello

    def _check_token(self, authorization: str | None) -> None:
        if authorization is None:
            raise Failed('expected "authorization: Bearer …" in the metadata of the call, which is missing')
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer":
            raise Failed('expected "authorization: Bearer …" in the metadata of the call; got another scheme')
        if token != self.token:
            raise Failed(
                f"expected the token in the metadata as it was given ({len(self.token)} characters); "
                f"got another one ({len(token)} characters)"
            )

    async def refuse(self, refusal: Refused) -> None:
        """End the current stream with a reason."""
        if self.line is not None:
            await self.line.refuse(refusal)
            self.line = None

    async def break_off(
        self,
        code: grpc.StatusCode = grpc.StatusCode.UNAVAILABLE,
        details: str = "the check ends this stream; connect again",
    ) -> None:
        """End the current stream."""
        if self.line is not None:
            await self.line.close(code, details)
            self.line = None

    async def _next_line(self, seconds: float) -> Line:
        """Return the bot's next stream. Raise Absent if none comes, or if the bot's process ended."""
        waiting = asyncio.create_task(self._fetch_line())
        ends: list[asyncio.Task[Any]] = [waiting]
        if self.process is not None:
            ends.append(asyncio.create_task(self._process_gone(seconds)))
        try:
            await asyncio.wait(ends, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if waiting.done():
                self.line = waiting.result()
                return self.line
        finally:
            for task in ends:
                task.cancel()
        if self.process is not None and not self.process.running:
            raise Absent(f"expected the bot to connect; its process {self.process.ending}")
        raise Absent(f"expected the bot to connect; it did not within {seconds:g} s")

    async def _fetch_line(self) -> Line:
        while True:
            line = await self.board.lines.get()
            if line.live or self.board.lines.empty():
                return line

    async def _process_gone(self, seconds: float) -> None:
        """Wait until the process has ended and nothing can come from it any more."""
        assert self.process is not None
        await self.process.ended(seconds)
        await asyncio.sleep(QUIET_SECONDS)

    # Messages

    def send(self, *responses: bots_pb2.PlayResponse | bytes) -> None:
        """Send messages on the current stream."""
        if self.line is None:
            raise Lost("the bot's stream has ended")
        now = time.monotonic()
        for response in responses:
            for event in response.events if isinstance(response, bots_pb2.PlayResponse) else ():
                if event.HasField("turn"):
                    self._asked[event.turn.session, event.turn.sequence] = now
            self.line.send(response)

    async def deliver(self, response: bots_pb2.PlayResponse) -> None:
        """Send a message as it is."""
        self.send(response)

    async def hear(self, expected: str) -> bots_pb2.PlayRequest:
        """Return the bot's next message, which must not be a hello or a goodbye."""
        if self.line is None:
            raise Lost(f"expected {expected}; the bot's stream has ended")
        try:
            request = (await self.line.receive(self.patience, expected)).request
        except Silent as error:
            stray = f" but a move for {self.strays[-1]}, which is not open" if self.strays else ""
            raise Silent(f"{error}{stray}") from None
        except Lost as error:
            raise Lost(f"{error}{await self._exit_note()}") from None
        if request.HasField("hello"):
            raise Failed("expected a hello in the first message only; got another one")
        if request.HasField("goodbye"):
            raise Failed(f"expected {expected}; the bot said goodbye without being asked to leave")
        return request

    async def nothing(self, seconds: float = QUIET_SECONDS, why: str = "as nothing was asked") -> None:
        """Wait a while. Raise Failed if the bot sends anything but a capacity, Lost if its stream ends."""
        await asyncio.sleep(seconds)
        for request in self.take_late():
            if is_capacity(request):
                continue
            raise Failed(f"expected no message, {why}; got {describe_request(request)}")
        if self.line is None or not self.line.live:
            raise Lost(f"expected the bot's stream to stay open; it ended{await self._exit_note()}")

    def take_late(self) -> list[bots_pb2.PlayRequest]:
        """Return what the bot sent on the current stream that has not been read yet."""
        return self.line.drain() if self.line is not None else []

    async def _exit_note(self) -> str:
        if self.process is None:
            return ""
        await self.process.ended(EXIT_SECONDS)
        return "" if self.process.status is None else f", and its process {self.process.ending}"

    # Sessions

    @property
    def sessions_at_once(self) -> int:
        """How many sessions the bot will play at once here."""
        return min(self.hello.max_sessions or MOST_SESSIONS, MOST_SESSIONS)

    def session(self, ruleset: RulesetObject, seat: int, *, handle: int = 0, **more: Any) -> BotSession:
        """Return a new session, which must still be opened; ``more`` is passed on to ``BotSession``.

        Raise NotRun if the capabilities in the bot's hello rule such a session out.
        """
        if not handle:
            self._handles += 1
            handle = self._handles
        session = BotSession(
            handle,
            ruleset,
            seat,
            wants=Wants(self.hello.wants.legal_plays, self.hello.wants.hands),
            bot=self.bot,
            **{"seed": f"{self.scenario} {len(self.sessions)}", **more},
        )
        if missing := lacks(self.hello.capabilities, session.rules.ruleset):
            raise NotRun(f"the bot's hello rules {session.rules.ruleset.name} out: it asks for {missing[0]}")
        self.sessions.append(session)
        return session

    def session_of_each(self, rulesets: Sequence[RulesetObject], seat: int) -> list[BotSession]:
        """Return a new session of each ruleset that the bot can play. Raise NotRun if it can play none."""
        sessions, refused = [], ""
        for ruleset in rulesets:
            try:
                sessions.append(self.session(ruleset, seat))
            except NotRun as error:
                refused = refused or str(error)
        if not sessions:
            raise NotRun(refused)
        return sessions

    async def play(
        self, sessions: Sequence[BotSession], *, deliver: Deliver | None = None, turns: int | None = None
    ) -> None:
        """Open sessions and play them to their end, or stop each after ``turns`` answers of the bot."""
        deliver = deliver or self.deliver
        limit = self.sessions_at_once
        for start in range(0, len(sessions), limit):
            batch = sessions[start : start + limit]
            response = bots_pb2.PlayResponse()
            for session in batch:
                session.open(response)
            await deliver(response)
            await self.go_on(batch, deliver=deliver, turns=turns)

    async def go_on(
        self, sessions: Sequence[BotSession], *, deliver: Deliver | None = None, turns: int | None = None
    ) -> None:
        """Play open sessions to their end, or stop each after ``turns`` answers of the bot."""
        deliver = deliver or self.deliver
        while owing := [session for session in sessions if session.turn is not None]:
            request = await self.hear(due(owing))
            response = bots_pb2.PlayResponse()
            for session, move in self.answers(sessions, request, response):
                session.take(move)
                if turns is not None and session.answered >= turns:
                    session.void(response)
                else:
                    session.go_on(response)
            if response.events:
                await deliver(response)

    def open(self, sessions: Sequence[BotSession]) -> None:
        """Open sessions up to the bot's first turns, all in one message."""
        response = bots_pb2.PlayResponse()
        for session in sessions:
            session.open(response)
        self.send(response)

    def answers(
        self, sessions: Sequence[BotSession], request: bots_pb2.PlayRequest, out: bots_pb2.PlayResponse
    ) -> Iterator[tuple[BotSession, bots_pb2.Move]]:
        """Yield the moves of a message that answer open turns; add a notice to ``out`` for each other one."""
        for move in request.moves:
            owing = [session for session in sessions if session.owes(move)]
            if owing:
                self.answered += 1
                asked = self._asked.pop((move.session, move.sequence), None)
                if asked is not None and self.line is not None:
                    self.took.append(max(self.line.heard_at - asked, 0.0))
                self.last_answer = time.monotonic()
                yield owing[0], move
            else:
                if move.session in self._cut_short:
                    self.last_answer = time.monotonic()  # the bot is still busy with earlier turns
                else:
                    self.strays.append(f"session {move.session}, turn {move.sequence}")
                text = f"turn {move.sequence} of session {move.session} is not open"
                code = bots_pb2.NOTICE_CODE_REPEATED_MOVE
                out.events.append(notice(code, text, session=move.session, sequence=move.sequence))

    async def tidy(self) -> None:
        """Void the sessions that a scenario left open, and start over with a bot that stopped answering."""
        response = bots_pb2.PlayResponse()
        for session in self.sessions:
            if not session.over:
                session.void(response)
                self._cut_short.add(session.handle)
        self.sessions, self.strays = [], []
        if isinstance(self.failure, (Silent, Lost, Absent, Unfinished, Slow)):
            await self.break_off()
            if self.process is not None:
                await self.restart()
        elif self.line is not None and self.line.live:
            if response.events:
                self.send(response)
            self.line.drain()


Run: TypeAlias = Callable[[Desk], Awaitable[None]]
Need: TypeAlias = Literal["", "command", "lists"]


@dataclass(frozen=True, slots=True)
class Scenario:
    """Something that every bot must cope with."""

    code: str
    """Stable name: the group and a number, such as ``PING-02``."""
    title: str
    """What the bot does if it passes."""
    proves: str
    """How it is tried."""
    run: Run
    """Raise Failed, Warned or NotRun; else the bot passed."""
    seconds: float = 10.0
    """How long it may take."""
    needs: Need = ""
    """``command``: a bot that the check starts; ``lists``: one that asks for the legal plays."""
    after: tuple[str, ...] = ()
    """The codes of scenarios whose failure makes this one hopeless."""


class Group:
    """Collect the scenarios of a module, in order."""

    def __init__(self) -> None:
        self.scenarios: list[Scenario] = []

    def __call__(
        self,
        code: str,
        title: str,
        proves: str,
        *,
        seconds: float = 10.0,
        needs: Need = "",
        after: tuple[str, ...] = (),
    ) -> Callable[[Run], Run]:
        def add(run: Run) -> Run:
            self.scenarios.append(Scenario(code, title, proves, run, seconds, needs, after))
            return run

        return add
