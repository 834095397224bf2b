"""A local play: blocks are handed out, come back in any order, and are added up in theirs."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Protocol

from referee.interrupts import interruption
from referee.local.field import Block, Session
from referee.local.played import Played
from referee.local.tally import Assembly, Tally


class Engine(Protocol):
    """Plays sessions, and yields them in any order; closing what it returns ends it."""

    def __call__(self, sessions: Iterator[Session]) -> Generator[Played, None, None]: ...


@dataclass(slots=True)
class Look:
    """What shows of a bot while it plays, in sessions of blocks that are not whole, too."""

    decisions: int = 0
    seconds: float = 0.0
    """What they took."""
    faults: int = 0
    reason: str = ""
    """Of the first fault."""


@dataclass
class Course:
    """What was played so far."""

    tally: Tally
    sessions: int = 0
    """Sessions that came back, those of blocks among them that are not whole."""
    interrupted: int = 0
    """The exit status where Ctrl-C or another signal ended it."""
    looks: list[Look] = field(init=False)
    """By bot."""
    thought: Sequence[tuple[int, float]] = ()
    """By bot, decisions and the seconds that they took, also in sessions that go on; empty: not known."""

    def __post_init__(self) -> None:
        self.looks = [Look() for _ in range(self.tally.bots)]

    def look(self, seating: Sequence[int], played: Played) -> None:
        """Look at a session that came back."""
        self.sessions += 1
        for bot, spent in zip(seating, played.spent, strict=True):
            self.looks[bot].decisions += len(spent)
            self.looks[bot].seconds += sum(spent)
        for fault in played.faults:
            one = self.looks[seating[fault.seat]]
            one.faults += 1
            one.reason = one.reason or fault.reason


Watch = Callable[[Block, Sequence[Played], Mapping[int, float]], bool]
"""Is given each block in its order, its sessions, and its value by bot; returns whether that is enough."""


Keep = Callable[[Block, Sequence[Played]], None]
"""Is given each block in its order, and its sessions."""


def play(
    engine: Engine,
    blocks: Iterable[Block],
    course: Course,
    *,
    watch: Watch = lambda _block, _played, _values: False,
    keep: Keep = lambda _block, _played: None,
    show: Callable[[], None] = lambda: None,
) -> None:
    """Play blocks until they are done or ``watch`` has seen enough.

    ``show`` is called after each session. A signal such as Ctrl-C ends it early, with what was
    played. Raise ProgramError where a bot cannot play.
    """
    assembly = Assembly()

    def sessions() -> Iterator[Session]:
        for block in blocks:
            assembly.expect(block)
            yield from block.sessions

    try:
        with closing(engine(sessions())) as found:
            for played in found:
                course.look(assembly.seating(played.number), played)
                for block, together in assembly.add(played):
                    values = course.tally.add(block, together)
                    keep(block, together)
                    if watch(block, together, values):
                        return
                show()
    except KeyboardInterrupt as error:
        course.interrupted = interruption(error)
        for seating, played in assembly.left():
            course.tally.add_unfinished(seating, played)
