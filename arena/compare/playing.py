"""A comparison: plays blocks until the test knows, or the limit is reached."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path

from arena.compare.blocks import ARMS, Blocks, Panel
from arena.compare.sequential import FEWEST, SequentialTest, Sums, Verdict
from arena.practice.room import Room, Seated, open_room
from referee.interrupts import interruption
from referee.matches.match import SessionResult

AT_ONCE = (10, 40)
"""Fewest and most blocks that one bot plays before it is the other's turn."""


@dataclass
class Comparison:
    """What was played, and what it says."""

    test: SequentialTest
    sums: Sums = field(default_factory=Sums)
    """Of the values of blocks: points a deal of the second bot less those of the first."""
    sessions: int = 0
    faults: list[int] = field(default_factory=lambda: [0] * len(ARMS))
    """Of either bot."""
    reasons: list[str] = field(default_factory=list)
    """The first faults of the second bot, in words."""
    interrupted: int = 0
    """The exit status where Ctrl-C or another signal ended it."""

    @property
    def verdict(self) -> Verdict:
        """What is known so far."""
        return self.test.verdict(self.sums)


def compare(
    panel: Panel,
    test: SequentialTest,
    commands: Sequence[Sequence[str]],
    folder: Path,
    *,
    most: int | None,
    wait: float,
    show: Callable[[Comparison], None],
    report: Callable[[str], None],
) -> Comparison:
    """Play until the test knows, or ``most`` blocks have been played; ``commands`` start the panel's names.

    What the bots print goes into ``folder``. ``show`` is given the comparison whenever a session is finished,
    ``report`` a line when a bot died. A signal such as Ctrl-C ends it early. Raise StateError if a bot
    does not connect within ``wait`` seconds, ProcessFailed if its program fails, RefereeUnavailable.
    """
    found = Comparison(test)
    processes = [f"bot-{arm}" for arm in ARMS]
    processes += [f"opponent-{place}" for place in range(1, panel.players)]
    seated = [Seated(*one) for one in zip(processes, panel.names, commands, strict=True)]
    with open_room(seated, folder, wait=wait, report=report) as room:
        try:
            _play(room, panel, found, most, show)
        except KeyboardInterrupt as error:
            found.interrupted = interruption(error)
        found.reasons = room.notes.faults.get(len(ARMS), [])
    return found


def _play(
    room: Room, panel: Panel, found: Comparison, most: int | None, show: Callable[[Comparison], None]
) -> None:
    blocks = Blocks(panel.players)
    while most is None or blocks.next < most:
        chunk = range(blocks.next, blocks.next + _next_blocks(found, blocks.next, most))
        for arm in range(len(ARMS)):
            for result in _results(room, panel, arm, chunk):
                found.sessions += 1
                found.faults[arm] += result.faults[blocks.own_seat(result)]
                if _decided(found, blocks.add(arm, result)):
                    return
                show(found)
        if _decided(found, blocks.skip(chunk.stop)):
            return


def _next_blocks(found: Comparison, played: int, most: int | None) -> int:
    """Return how many blocks to play next: about as many as the test may still take."""
    least, largest = AT_ONCE
    wanted = found.test.blocks_to_go(found.sums) if found.sums.count else FEWEST
    wanted = min(max(ceil(min(wanted, largest)), least), largest)
    return wanted if most is None else min(wanted, most - played)


def _results(room: Room, panel: Panel, arm: int, blocks: range) -> Iterator[SessionResult]:
    """Yield the sessions of one bot in these blocks, as they finish."""
    with closing(room.play(panel.match(arm, blocks))) as updates:
        for update in updates:
            if isinstance(update, SessionResult):
                yield update


def _decided(found: Comparison, values: Iterator[float]) -> bool:
    """Take values in their order until the test knows; return whether it does."""
    for value in values:
        found.sums = found.sums.add(value)
        if found.verdict is not Verdict.OPEN:
            return True
    return False
