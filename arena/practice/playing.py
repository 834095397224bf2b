"""A referee in this process, bots as processes of their own, and the match that they play."""

import asyncio
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_urlsafe

import uvloop

from arena.errors import ProcessFailed, StateError
from arena.practice.plan import Plan
from arena.processes import Supervisor
from referee.client import run_match
from referee.matches.auth import BotIdentity, Scope
from referee.matches.journal import Entry, EntryKind, NoJournal
from referee.matches.match import SessionResult
from referee.service.server import ServerOptions, serve

OWN = "my-bot"
"""The name of the bot's process."""
POLL_SECONDS = 0.05
MOST_REASONS = 5
"""Faults whose reasons are kept."""


class Tokens:
    """Knows the bots of one practice, and its worker."""

    def __init__(self, names: Sequence[str]) -> None:
        self.worker = token_urlsafe()
        self.of = [token_urlsafe() for _ in names]
        """The bots' tokens, in the order of the names."""
        self._bots = {
            token: BotIdentity(number, name)
            for number, (token, name) in enumerate(zip(self.of, names, strict=True), start=1)
        }

    def bot(self, token: str) -> BotIdentity | None:
        """Return the bot of a token."""
        return self._bots.get(token)

    def scope(self, token: str) -> Scope | None:
        """Return what a token allows."""
        return Scope.WORKER if token == self.worker else None

    def revoked(self, bots: Collection[BotIdentity]) -> Mapping[int, str]:
        """Return none: no token is revoked."""
        return {}


class Notes(NoJournal):
    """What the referee noted: who has connected, and the bot's first faults."""

    def __init__(self) -> None:
        self.connected: set[int] = set()
        self.faults: list[str] = []

    def add(self, entry: Entry) -> None:
        """Take an entry."""
        if entry.kind is EntryKind.CONNECTED:
            self.connected.add(entry.version_id)
        elif entry.kind is EntryKind.FAULT and entry.version_id == 1 and len(self.faults) < MOST_REASONS:
            self.faults.append(f"{entry.session_id}: {entry.code}: {entry.text}")


@dataclass
class Practice:
    """What was played, and what was noted."""

    results: list[SessionResult] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    """The first faults of the bot, in words."""
    interrupted: bool = False
    """Whether Ctrl-C ended it."""


def practise(
    plan: Plan,
    commands: Sequence[Sequence[str]],
    folder: Path,
    *,
    wait: float,
    show: Callable[[int], None],
    report: Callable[[str], None],
) -> Practice:
    """Play what is planned; ``commands`` start the bots, in the order of the plan's names.

    What the bots print goes into ``folder``. ``show`` is given the number of sessions that are finished,
    ``report`` a line when a bot died. Ctrl-C ends it before its end. Raise StateError if a bot does not
    connect within ``wait`` seconds, ProcessFailed if its program fails, RefereeUnavailable.
    """
    notes, tokens = Notes(), Tokens(plan.names)
    practice = Practice(faults=notes.faults)

    def died(line: str) -> None:
        if len(notes.connected) < plan.players:
            raise StateError(f"{line.partition(';')[0]}, before it had connected")
        report(line)

    with running_referee(tokens, notes) as address, Supervisor(folder, report=died, grace=2) as bots:
        for place, command in enumerate(commands):
            given = {"ARENA_TOKEN": tokens.of[place], "ARENA_REFEREE": address, "ARENA_BOT_LOG": "off"}
            name = f"opponent-{place}" if place else OWN
            bots.start(name, command, given, trusted=False)
        _await(bots, notes, plan, wait)
        try:
            for update in run_match(address, tokens.worker, plan.match()):
                bots.check()
                if isinstance(update, SessionResult):
                    practice.results.append(update)
                show(len(practice.results))
        except KeyboardInterrupt:
            practice.interrupted = True
        except ProcessFailed as error:
            name, _, line = str(error).partition(": ")
            raise ProcessFailed(f"{name} ended while it played; its last line: {line}") from None
    return practice


def _await(bots: Supervisor, notes: Notes, plan: Plan, seconds: float) -> None:
    """Wait until all bots are connected."""
    deadline = time.monotonic() + seconds
    while len(notes.connected) < plan.players:
        bots.check()
        if time.monotonic() > deadline:
            missing = [name for number, name in enumerate(plan.names, 1) if number not in notes.connected]
            raise StateError(f"{missing[0]} did not connect within {seconds:g} s")
        time.sleep(POLL_SECONDS)


@contextmanager
def running_referee(tokens: Tokens, notes: Notes) -> Iterator[str]:
    """Run a referee in a thread until the end of the block; yield its address. Raise ListenError."""
    loop, stop = uvloop.new_event_loop(), asyncio.Event()
    port: Future[int] = Future()
    options = ServerOptions(journal=notes, drain_seconds=0)

    def run() -> None:
        try:
            loop.run_until_complete(
                serve("127.0.0.1:0", tokens, stop, options=options, on_ready=port.set_result)
            )
        except Exception as error:
            if port.done():
                raise
            port.set_exception(error)

    thread = threading.Thread(target=run, name="referee", daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{port.result()}"
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()
