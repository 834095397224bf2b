"""The matches of an export checked ahead of their turn, in other processes.

These only ever say that the deals of a match are right. Whatever they do not find right is checked again when
its turn comes, as if there were no other process: so what is said about an export, and in which order, does
not depend on their number.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import accumulate
from multiprocessing.process import BaseProcess
from queue import SimpleQueue
from typing import Any, NamedTuple, Self, TypeAlias

from arena.core.canonical import read_json
from arena.core.duplicate import PlayedSession
from arena.core.luck import beginning
from arena.core.parts import FORMAT, MatchPart, ReferencePart
from arena.trust.exports.lines import Difference, Export
from arena.trust.verify.head import Head
from arena.trust.verify.matches import FoundRight, check_deals
from arena.trust.verify.references import References
from arena.trust.verify.report import Key, Report
from referee.processes.spawned import starting
from referee.records.record import FORMAT as DEAL_FORMAT
from referee.reference.values import has_reference
from referee.rules.plays import compile_ruleset

AHEAD = 4 << 20
"""About how many bytes are read ahead for each process, or one match: enough to keep all busy while this one
pairs a round again."""

_DEAL = f'{{"format":"{DEAL_FORMAT}"'.encode()
_MATCH, _REFERENCE = (
    f'{{"format":"{FORMAT}","part":"{part.PART}"'.encode() for part in (MatchPart, ReferencePart)
)
"""How lines begin as an arena writes them; a match whose lines begin otherwise is not checked ahead."""

Pipe: TypeAlias = Any
"""An end of a multiprocessing pipe, which is of another type on Windows."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What the deals of all matches are checked against."""

    head: Head
    keys: Sequence[str]
    """The referees' public keys."""
    session_names: frozenset[str]
    """Public names of the sessions that are to be reported."""
    references: bool
    """Whether what cards were worth is computed again."""


class _Right(NamedTuple):
    """What a process says of a match that it found right."""

    sessions: Sequence[PlayedSession]
    report: Report
    computed: bool


class _Asked(NamedTuple):
    """A match that is being checked."""

    line: int
    texts: Sequence[bytes]
    answer: "Future[_Right | None]"


class Ahead:
    """Hands out the lines of an export, and has its matches checked while they wait there."""

    def __init__(self, texts: Iterable[bytes], processes: int) -> None:
        """Read ``texts`` line by line; with less than two ``processes``, nothing is read or checked ahead."""
        self._texts = iter(texts)
        self._processes = processes
        self._goes_ahead = False
        self._read = 0
        """How many lines were read."""
        self._ready: deque[bytes] = deque()
        """The lines that were read ahead."""
        self._bytes = 0
        """The size of these."""
        self._match: tuple[int, list[bytes]] | None = None
        """The match that is being read, with the number of its line."""
        self._asked: deque[_Asked] = deque()
        self._idle: SimpleQueue[Pipe] = SimpleQueue()
        """Processes that have nothing to do."""
        self._ending = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.close()

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        while self._goes_ahead and self._is_near():
            self._read_ahead()
        if self._ready:
            text = self._ready.popleft()
            self._bytes -= len(text)
            return text
        self._read += 1
        return next(self._texts)

    def _is_near(self) -> bool:
        """Return whether more is to be read ahead."""
        return self._bytes < AHEAD * self._processes or len(self._asked) < self._processes

    def begin(self, terms: Terms) -> None:
        """Start the processes, which end with the block."""
        if self._processes < 2:
            return
        self._threads = ThreadPoolExecutor(self._processes)
        self._ending.callback(self._threads.shutdown, cancel_futures=True)
        with starting() as context:
            for _ in range(self._processes):
                ours, theirs = context.Pipe()
                process = context.Process(target=_work, args=(theirs, terms), daemon=True)
                process.start()
                theirs.close()
                self._ending.callback(_end, process)
                self._idle.put(ours)
        self._goes_ahead = True

    def find_right(self, line: int) -> FoundRight | None:
        """Return the deals of the match on a line if a process found them right."""
        while self._asked and self._asked[0].line < line:
            self._asked.popleft()
        if not self._asked or self._asked[0].line > line:
            return None
        match = self._asked.popleft()
        right = match.answer.result()
        if right is None:
            return None
        return FoundRight(
            right.sessions, _beginnings(match.texts, right.sessions), right.report, right.computed
        )

    def _read_ahead(self) -> None:
        """Read a line, if there is one."""
        text = next(self._texts, None)
        if text is None:
            self._ask()
            self._goes_ahead = False
            return
        self._read += 1
        self._ready.append(text)
        self._bytes += len(text)
        if self._match is not None and text.startswith((_DEAL, _REFERENCE)):
            self._match[1].append(text)
            return
        self._ask()
        if text.startswith(_MATCH):
            self._match = self._read, [text]

    def _ask(self) -> None:
        """Have the match that was read checked."""
        if self._match is not None:
            line, texts = self._match
            self._asked.append(_Asked(line, texts, self._threads.submit(self._have_checked, texts)))
            self._match = None

    def _have_checked(self, texts: Sequence[bytes]) -> _Right | None:
        """Have a process that is idle check a match; this runs in a thread."""
        pipe = self._idle.get()
        try:
            pipe.send(texts)
            right: _Right | None = pipe.recv()
            return right
        except (EOFError, OSError):
            return None  # the process has ended: its matches are checked here
        finally:
            self._idle.put(pipe)


def _end(process: BaseProcess) -> None:
    process.terminate()
    process.join()


def _beginnings(
    texts: Sequence[bytes], sessions: Sequence[PlayedSession]
) -> Callable[[int, int], Mapping[str, Any]]:
    """Return a function that reads a deal of a match again."""
    first = accumulate((len(session.points) for session in sessions), initial=1)
    first_of = {session.number: place for session, place in zip(sessions, first, strict=False)}
    return lambda session, deal: beginning(read_json(texts[first_of[session] + deal]))


def _work(pipe: Pipe, terms: Terms) -> None:
    """Check the matches that come through the pipe until it closes; this runs in a process of its own."""
    try:
        while True:
            pipe.send(_check(pipe.recv(), terms))
    except (EOFError, OSError):
        pass  # nobody wants more


def _check(texts: Sequence[bytes], terms: Terms) -> _Right | None:
    """Return what follows from the lines of a match whose deals are right; None if anything is wrong."""
    report = Report(session_names=terms.session_names, keys={key: Key("") for key in terms.keys})
    try:
        lines = Export(texts)
        match = lines.take_part(MatchPart)
        deals = check_deals(lines, report, terms.head, match)
        rules = compile_ruleset(terms.head.ruleset)
        computed = terms.references and lines.next_is(ReferencePart) and has_reference(rules)
        if computed:
            worth = References(lines, report, terms.head, compute_all=True)
            worth.check(match, False, deals.beginnings, computed=False)
    except (Difference, RecursionError):
        return None
    return _Right(deals.sessions, replace(report, session_names=frozenset()), computed)
