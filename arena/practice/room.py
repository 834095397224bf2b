"""A room to play in: a referee in this process, on a port of its own, and bots as processes."""

import asyncio
import threading
import time
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from secrets import token_urlsafe

from arena.errors import ProcessFailed, StateError
from arena.processes import Supervisor
from referee.client import run_match
from referee.loops import new_event_loop
from referee.matches.auth import BotIdentity, Scope
from referee.matches.journal import Entry, EntryKind, NoJournal
from referee.matches.match import MatchSpec, Update
from referee.service.server import ServerOptions, serve

POLL_SECONDS = 0.05
GRACE_SECONDS = 2
"""How long bots have to end when the room is closed."""
MOST_REASONS = 5
"""Faults of a bot whose reasons are kept."""


@dataclass(frozen=True, slots=True)
class Seated:
    """A bot in a room."""

    process: str
    """Name of its process, and of its log."""
    name: str
    """Its name in matches, where its number is its place in the room, counted from 1."""
    command: Sequence[str]
    """What starts it."""


class Tokens:
    """Knows the bots of one room, and its worker."""

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
    """What the referee noted: who has connected, and the first faults of each bot."""

    def __init__(self) -> None:
        self.connected: set[int] = set()
        self.faults: dict[int, list[str]] = {}
        """Reasons in words, by the number of the bot."""

    def add(self, entry: Entry) -> None:
        """Take an entry."""
        if entry.kind is EntryKind.CONNECTED:
            self.connected.add(entry.version_id)
        elif entry.kind is EntryKind.FAULT:
            reasons = self.faults.setdefault(entry.version_id, [])
            if len(reasons) < MOST_REASONS:
                reasons.append(_reason(entry))


def _reason(entry: Entry) -> str:
    """Return a fault in words, with the position."""
    told = (("holding", "hand"), ("to beat", "to_beat"), ("answered", "answered"), ("played", "default"))
    cards = {"": "nothing", "-": "a pass"}
    position = (
        f"{what} {cards.get(text, text)}" for what, name in told if (text := _text(entry, name)) is not None
    )
    return f"{entry.session_id}: {entry.code}: {entry.text}; {', '.join(position)}".removesuffix("; ")


def _text(entry: Entry, name: str) -> str | None:
    found = entry.details.get(name)
    return None if found is None else str(found)


@dataclass(frozen=True)
class Room:
    """An open room, in which one match is played after another."""

    seated: Sequence[Seated]
    notes: Notes
    _address: str
    _worker: str
    _bots: Supervisor

    def play(self, spec: MatchSpec) -> Generator[Update, None, None]:
        """Play a match between bots of the room; closing the iterator stops it.

        Raise ProcessFailed if the program of a bot fails, RefereeUnavailable.
        """
        try:
            for update in run_match(self._address, self._worker, spec):
                self._bots.check()
                yield update
        except ProcessFailed as error:
            name = str(error).partition(": ")[0]
            last = f"; its last line: {error.cause}" if error.cause else ""
            raise ProcessFailed(
                f"{name} ended with status {error.status} while it played{last}", error.printed, error.status
            ) from None

    def wait(self, seconds: float) -> None:
        """Wait until all bots are connected. Raise StateError if one is not within so many seconds."""
        deadline = time.monotonic() + seconds
        while len(self.notes.connected) < len(self.seated):
            self._bots.check()
            if time.monotonic() > deadline:
                connected = self.notes.connected
                missing = [one.name for number, one in enumerate(self.seated, 1) if number not in connected]
                raise StateError(f"{missing[0]} did not connect within {seconds:g} s")
            time.sleep(POLL_SECONDS)


@contextmanager
def open_room(
    seated: Sequence[Seated], folder: Path, *, wait: float, report: Callable[[str], None]
) -> Iterator[Room]:
    """Open a room, and close it at the end of the block. What the bots print goes into ``folder``.

    ``report`` is given a line when a bot died and is started again. Raise StateError if a bot does not
    connect within ``wait`` seconds, ProcessFailed if its program fails, ListenError.
    """
    notes, tokens = Notes(), Tokens([one.name for one in seated])

    def died(line: str) -> None:
        if len(notes.connected) < len(seated):
            raise StateError(f"{line.partition(';')[0]}, before it had connected")
        report(line)

    with (
        running_referee(tokens, notes) as address,
        Supervisor(folder, report=died, grace=GRACE_SECONDS) as bots,
    ):
        for one, token in zip(seated, tokens.of, strict=True):
            given = {"ARENA_TOKEN": token, "ARENA_REFEREE": address, "ARENA_BOT_LOG": "off"}
            bots.start(one.process, one.command, given, trusted=False)
        room = Room(seated, notes, address, tokens.worker, bots)
        room.wait(wait)
        yield room


@contextmanager
def running_referee(tokens: Tokens, notes: Notes) -> Iterator[str]:
    """Run a referee in a thread until the end of the block; yield its address. Raise ListenError."""
    loop, stop = new_event_loop(), asyncio.Event()
    port: Future[int] = Future()
    options = ServerOptions(journal=notes, drain_seconds=0, for_tools=False)

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
