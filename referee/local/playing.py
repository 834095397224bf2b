"""Local play: sessions are handed out, come back in any order, and are added up in the order of blocks."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Protocol

from referee.local.field import Block
from referee.local.tally import Assembly, Played, Tally, Thought
from referee.matches.match import SessionSpec
from referee.processes.interrupts import interruption


class Engine(Protocol):
    """Plays sessions, and yields their results in any order; closing the generator ends it."""

    def __call__(self, sessions: Iterator[SessionSpec]) -> Generator[Played, None, None]: ...


@dataclass(slots=True)
class Look:
    """What is known of a bot during play, including sessions of incomplete blocks."""

    decisions: int = 0
    seconds: float = 0.0
    """How long they took in all."""
    faults: int = 0
    reason: str = ""
    """The reason for the first fault."""


@dataclass
class PlayedSoFar:
    """What has been played so far."""

    tally: Tally
    sessions: int = 0
    """How many sessions came back, including those of incomplete blocks."""
    interrupted: int = 0
    """The exit status if Ctrl-C or another signal ended play; else 0."""
    looks: list[Look] = field(init=False)
    """By bot."""
    thought: Thought | None = None
    """What bots have thought, including open sessions; None if not known."""

    def __post_init__(self) -> None:
        self.looks = [Look() for _ in range(self.tally.bots)]

    def look(self, seating: Sequence[int], played: Played) -> None:
        """Take in a session that came back."""
        self.sessions += 1
        for bot, spent in zip(seating, played.spent, strict=True):
            self.looks[bot].decisions += len(spent)
            self.looks[bot].seconds += sum(spent)
        for fault in played.faults:
            faulty = self.looks[seating[fault.seat]]
            faulty.faults += 1
            faulty.reason = faulty.reason or fault.reason


Watch = Callable[[Block, Sequence[Played], Mapping[int, float]], bool]
"""Called with each block in order, its sessions, and its value by bot; returns whether that is enough."""


Keep = Callable[[Block, Sequence[Played]], None]
"""Called with each block in order, and its sessions."""


def play(
    engine: Engine,
    blocks: Iterable[Block],
    so_far: PlayedSoFar,
    *,
    watch: Watch = lambda _block, _played, _values: False,
    keep: Keep = lambda _block, _played: None,
    show: Callable[[], None] = lambda: None,
) -> None:
    """Play blocks until they are done or ``watch`` has seen enough.

    ``show`` is called after each session. A signal such as Ctrl-C ends play early; what was played counts.
    Raise ProgramError if a bot cannot play.
    """
    assembly = Assembly()

    def sessions() -> Iterator[SessionSpec]:
        for block in blocks:
            assembly.expect(block)
            yield from block.sessions

    try:
        with closing(engine(sessions())) as results:
            for played in results:
                so_far.look(assembly.seating(played.result.number), played)
                for block, together in assembly.add(played):
                    values = so_far.tally.add(block, together)
                    keep(block, together)
                    if watch(block, together, values):
                        return
                show()
    except KeyboardInterrupt as error:
        so_far.interrupted = interruption(error)
        for seating, played in assembly.left():
            so_far.tally.add_unfinished(seating, played)
