"""A practice: the match that is played, and what was noted of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from arena.practice.plan import Plan
from arena.practice.room import Seated, open_room
from referee.interrupts import interruption
from referee.matches.match import SessionResult

OWN = "my-bot"
"""The name of the bot's process."""


@dataclass
class Practice:
    """What was played, and what was noted."""

    results: list[SessionResult] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    """The first faults of the bot, in words."""
    interrupted: int = 0
    """The exit status where Ctrl-C or another signal ended it."""


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
    ``report`` a line when a bot died. A signal such as Ctrl-C ends it early. Raise StateError if a bot
    does not connect within ``wait`` seconds, ProcessFailed if its program fails, RefereeUnavailable.
    """
    practice = Practice()
    processes = [OWN, *(f"opponent-{place}" for place in range(1, plan.players))]
    seated = [Seated(*one) for one in zip(processes, plan.names, commands, strict=True)]
    with open_room(seated, folder, wait=wait, report=report) as room:
        try:
            for update in room.play(plan.match()):
                if isinstance(update, SessionResult):
                    practice.results.append(update)
                show(len(practice.results))
        except KeyboardInterrupt as error:
            practice.interrupted = interruption(error)
        practice.faults = room.notes.faults.get(1, [])
    return practice
