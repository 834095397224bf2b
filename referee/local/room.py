"""A room for bots in any language: a referee in this process, on a port of its own, and bots as processes."""

import asyncio
import json
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from itertools import groupby, islice
from pathlib import Path
from secrets import token_urlsafe

from referee.errors import ProgramError
from referee.local.programs import Children, Program, slug
from referee.local.table import TOURNAMENT, Setting
from referee.local.tally import Fault, Played
from referee.matches.auth import BotIdentity, Scope
from referee.matches.journal import Entry, EntryKind, NoJournal
from referee.matches.match import Limits, MatchBot, MatchSpec, SessionResult, SessionSpec
from referee.net.addresses import own_host
from referee.net.client import run_match
from referee.processes.loops import new_event_loop
from referee.records.record import decisions
from referee.service.server import ServerOptions, serve

POLL_SECONDS = 0.05
JOIN_SECONDS = 5
"""How long a bot that was connected may be absent when a match begins."""
AT_ONCE = 200
"""The most sessions in a match; bots get as many of them at a time as they can answer."""


@dataclass(frozen=True, slots=True)
class Chair:
    """A bot's process in a room: a bot that sits at a table twice has two chairs."""

    bot: int
    copy: int
    name: str
    """The bot's name in matches."""
    program: Program


def chairs_for(programs: Sequence[Program], seatings: Sequence[Sequence[int]]) -> list[Chair]:
    """Return the chairs that these seatings need."""
    most: Counter[int] = Counter()
    for seating in seatings:
        most |= Counter(seating)
    return [
        Chair(bot, copy, f"local/{slug(program.name)}{f'-{copy + 1}' if copy else ''}@{bot + 1}", program)
        for bot, program in enumerate(programs)
        for copy in range(most[bot])
    ]


class Tokens:
    """The tokens of one room: those of its bots, and its worker's."""

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
        """Return an empty mapping: no token is revoked."""
        return {}


class Notes(NoJournal):
    """A journal that keeps only who has connected, and faults."""

    def __init__(self) -> None:
        self.connected: set[int] = set()
        self._faults: defaultdict[str, list[Entry]] = defaultdict(list)

    def add(self, entry: Entry) -> None:
        """Take in an entry."""
        if entry.kind is EntryKind.CONNECTED:
            self.connected.add(entry.version_id)
        elif entry.kind is EntryKind.FAULT:
            self._faults[str(entry.session_id)].append(entry)

    def take(self, session_id: str) -> list[Entry]:
        """Return the faults in a session, and forget them."""
        return self._faults.pop(session_id, [])


def play_in_room(
    setting: Setting, chairs: Sequence[Chair], sessions: Iterator[SessionSpec], *, wait: float
) -> Generator[Played, None, None]:
    """Yield sessions as bots play them over the local network interface; closing the generator ends the bots.

    Raise ProgramError if a bot does not connect within ``wait`` seconds, or its process ends during play.
    """
    notes, tokens = Notes(), Tokens([place.name for place in chairs])
    with (
        tempfile.TemporaryDirectory(prefix="arena-play-") as folder,
        _referee(tokens, notes) as address,
        Children(Path(folder)) as bots,
    ):
        for chair, token in zip(chairs, tokens.of, strict=True):
            variables = {"ARENA_TOKEN": token, "ARENA_REFEREE": address, "ARENA_BOT_LOG": "off"}
            bots.start(chair.program.name, chair.program.command, variables)
        _await(chairs, notes, bots, wait)
        table = 0
        while some := sorted(islice(sessions, AT_ONCE), key=_line_up):
            for _, alike in groupby(some, _line_up):
                table += 1
                spec, numbered = match_of(setting, chairs, [*alike], table)
                with closing(run_match(address, tokens.worker, spec)) as updates:
                    for update in updates:
                        bots.check()
                        if isinstance(update, SessionResult):
                            faults = notes.take(f"{spec.match_id}/{update.number}")
                            yield played_of(numbered[update.number], update, faults, chairs)


def _line_up(session: SessionSpec) -> list[int]:
    return sorted(session.seating)


def _await(chairs: Sequence[Chair], notes: Notes, bots: Children, wait: float) -> None:
    """Wait until all bots are connected."""
    deadline = time.monotonic() + wait
    while len(notes.connected) < len(chairs):
        bots.check()
        if time.monotonic() > deadline:
            missing = next(chair for number, chair in enumerate(chairs, 1) if number not in notes.connected)
            raise ProgramError(missing.program.name, f"did not connect within {wait:g} s")
        time.sleep(POLL_SECONDS)


def match_of(
    setting: Setting, chairs: Sequence[Chair], sessions: Sequence[SessionSpec], table: int
) -> tuple[MatchSpec, dict[int, SessionSpec]]:
    """Return the match in which one line-up plays these sessions, and the sessions by their numbers in it."""
    counts = Counter(sessions[0].seating)
    sitting = [number for number, chair in enumerate(chairs) if chair.copy < counts[chair.bot]]
    places = {(chairs[number].bot, chairs[number].copy): at for at, number in enumerate(sitting)}
    numbered = dict(enumerate(sessions, start=1))
    spec = MatchSpec(
        match_id=f"{TOURNAMENT}/1/{table}",
        tournament=TOURNAMENT,
        round=1,
        table=table,
        ruleset=json.loads(setting.ruleset),
        bots=tuple(MatchBot(number + 1, chairs[number].name) for number in sitting),
        sessions=tuple(
            SessionSpec(number, _seats(session.seating, places), session.seed)
            for number, session in numbered.items()
        ),
        deals=setting.deals,
        commitment="",
        limits=Limits(decision_ms=setting.decision_ms, join_seconds=JOIN_SECONDS),
    )
    return spec, numbered


def _seats(seating: Sequence[int], places: Mapping[tuple[int, int], int]) -> tuple[int, ...]:
    """Return, by seat, the place of its bot in the match's list."""
    seen: Counter[int] = Counter()
    seats = []
    for bot in seating:
        seats.append(places[bot, seen[bot]])
        seen[bot] += 1
    return tuple(seats)


def played_of(
    session: SessionSpec, result: SessionResult, faults: Sequence[Entry], chairs: Sequence[Chair]
) -> Played:
    """Return what a tally needs of a session, from its result and the faults noted."""
    records = [json.loads(record) for record in result.records]
    spent: list[list[float]] = [[] for _ in session.seating]
    for record in records:
        for decision in decisions(record):
            spent[decision.seat].append(decision.ms / 1000)
    return Played(
        result=replace(result, number=session.number),
        spent=spent,
        faults=[
            Fault(_seat_of(entry, session, chairs), entry.code, _reason(entry), entry.text)
            for entry in faults
        ],
    )


def _seat_of(entry: Entry, session: SessionSpec, chairs: Sequence[Chair]) -> int:
    """Return the seat of the bot that an entry is about."""
    chair = chairs[entry.version_id - 1]
    seats = [seat for seat, bot in enumerate(session.seating) if bot == chair.bot]
    return seats[chair.copy]


def _reason(entry: Entry) -> str:
    """Describe a fault, with the position."""
    labels = (("holding", "hand"), ("to beat", "to_beat"), ("answered", "answered"), ("played", "default"))
    cards = {"": "nothing", "-": "a pass"}
    position = (
        f"{what} {cards.get(text, text)}" for what, name in labels if (text := _text(entry, name)) is not None
    )
    return f"{entry.session_id}: {entry.code}: {entry.text}; {', '.join(position)}".removesuffix("; ")


def _text(entry: Entry, name: str) -> str | None:
    value = entry.details.get(name)
    return None if value is None else str(value)


@contextmanager
def _referee(tokens: Tokens, notes: Notes) -> Iterator[str]:
    """Run a referee in a thread until the end of the block; yield its address. Raise ListenError."""
    loop, stop = new_event_loop(), asyncio.Event()
    port: Future[int] = Future()
    options = ServerOptions(journal=notes, drain_seconds=0, for_tools=False)

    def run() -> None:
        try:
            loop.run_until_complete(
                serve(f"{own_host()}:0", tokens, stop, options=options, on_ready=port.set_result)
            )
        except Exception as error:
            if port.done():
                raise
            port.set_exception(error)

    thread = threading.Thread(target=run, name="referee", daemon=True)
    thread.start()
    try:
        yield f"{own_host()}:{port.result()}"
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()
