"""The two uses of the local table: a field of bots, or whether one bot is better than another."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from math import ceil

from referee.local.field import Block, field_blocks, versus_blocks
from referee.local.playing import Engine, Keep, PlayedSoFar, play
from referee.local.pool import play_in_processes
from referee.local.programs import Program
from referee.local.room import chairs_for, play_in_room
from referee.local.table import Setting
from referee.local.tally import Tally, Thought
from referee.local.versus import Versus
from referee.ruleset import Ruleset

Blocks = Callable[[], Iterator[Block]]

LOOKED_AT = 256
"""Blocks examined for how often a bot sits at one table; the pattern repeats much sooner."""


@dataclass(frozen=True, slots=True)
class Order:
    """What to play, and how."""

    ruleset: Ruleset
    programs: Sequence[Program]
    slots: Sequence[int]
    """The bots' places in the list of programs, once for each time that a bot is named."""
    seed: str
    decision_ms: int
    deals: int | None
    """The most different deals; None for as many as it takes."""
    per_session: int
    """Deals in a row in one seating."""
    jobs: int
    """Processes that play."""
    wait: float
    """How many seconds a command has to connect."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the bots."""
        return tuple(program.name for program in self.programs)

    def nothing_yet(self) -> PlayedSoFar:
        """Return what has been played before the first session."""
        return PlayedSoFar(Tally(len(self.programs), self.decision_ms / 1000, self.per_session))

    @property
    def blocks(self) -> int | None:
        """The most blocks to play, each with as many different deals as a session has; None for no limit."""
        return None if self.deals is None else ceil(self.deals / self.per_session)


def play_field(
    order: Order, so_far: PlayedSoFar, *, keep: Keep, show: Callable[[], None], report: Callable[[str], None]
) -> None:
    """Play deals between all bots. Raise ProgramError if one cannot play.

    ``keep`` is given each block and its sessions, ``show`` is called after each session, and ``report`` is
    given a line when a bot does not answer for long.
    """
    blocks = partial(field_blocks, order.seed, order.slots, order.ruleset.players)
    engine = _engine(order, blocks, report, _tick(so_far, show))
    play(engine, islice(blocks(), order.blocks), so_far, keep=keep, show=show)


def play_versus(
    order: Order,
    versus: Versus,
    so_far: PlayedSoFar,
    *,
    keep: Keep,
    show: Callable[[], None],
    report: Callable[[str], None],
) -> None:
    """Play deals until it is known whether bot 0 is better than bot 1; the slots from 2 on are their panel.

    Raise ProgramError if a bot cannot play; the rest is as for ``play_field``.
    """
    blocks = partial(versus_blocks, order.seed, order.slots[2:])
    play(
        _engine(order, blocks, report, _tick(so_far, show)),
        islice(blocks(), order.blocks),
        so_far,
        watch=versus.take,
        keep=keep,
        show=show,
    )


def _tick(so_far: PlayedSoFar, show: Callable[[], None]) -> Callable[[Thought], None]:
    def tick(thought: Thought) -> None:
        so_far.thought = thought
        show()

    return tick


def _engine(
    order: Order, blocks: Blocks, report: Callable[[str], None], tick: Callable[[Thought], None]
) -> Engine:
    """Return the engine that plays the sessions of an order.

    Python files play in one process or in several; if one bot is a command, all play over the local network
    interface, each in a process of its own.
    """
    files = [program.file for program in order.programs if program.file is not None]
    setting = Setting(
        ruleset=json.dumps(order.ruleset.to_object()),
        names=order.names,
        files=tuple(files),
        seed=order.seed,
        decision_ms=order.decision_ms,
        deals=order.per_session,
    )
    if len(files) < len(order.programs):
        seatings = [session.seating for block in islice(blocks(), LOOKED_AT) for session in block.sessions]
        return partial(play_in_room, setting, chairs_for(order.programs, seatings), wait=order.wait)
    return partial(play_in_processes, setting, jobs=order.jobs, report=report, tick=tick)
