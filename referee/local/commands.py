"""What can be asked of the local table: a field of bots, each against each."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

from referee.local.field import Block, field_blocks
from referee.local.playing import Course, Engine, play
from referee.local.pool import play_here, play_in_processes
from referee.local.programs import Program
from referee.local.room import chairs_for, play_in_room
from referee.local.table import Setting
from referee.local.tally import Tally
from referee.ruleset import Ruleset

Blocks = Callable[[], Iterator[Block]]

LOOKED_AT = 256
"""Blocks that are looked at for how often a bot sits at one table: that repeats itself much sooner."""


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be played."""

    ruleset: Ruleset
    programs: Sequence[Program]
    slots: Sequence[int]
    """The bots' places in the list of programs, once for each time that a bot is named."""
    seed: str
    decision_ms: int
    deals: int
    """Different deals."""
    wait: float
    """How many seconds a command has to connect."""


def play_field(
    order: Order, jobs: int, *, show: Callable[[Course], None], report: Callable[[str], None]
) -> Course:
    """Play deals between all bots. Raise ProgramError where one cannot play."""
    course = Course(Tally(len(order.programs), order.decision_ms / 1000))
    blocks = partial(field_blocks, order.seed, order.slots, order.ruleset.players)
    engine = engine_for(order, jobs, report, blocks)
    play(engine, islice(blocks(), order.deals), course, show=show)
    return course


def engine_for(order: Order, jobs: int, report: Callable[[str], None], blocks: Blocks) -> Engine:
    """Return what plays the sessions of an order.

    Python files play in this process or in several; if one bot is a command, all play over the network of
    this machine, each in a process of its own.
    """
    files = [one.file for one in order.programs if one.file is not None]
    setting = Setting(
        ruleset=json.dumps(order.ruleset.to_object()),
        names=tuple(one.name for one in order.programs),
        files=tuple(files),
        seed=order.seed,
        decision_ms=order.decision_ms,
    )
    if len(files) < len(order.programs):
        seatings = [session.seating for block in islice(blocks(), LOOKED_AT) for session in block.sessions]
        chairs = chairs_for(order.programs, seatings)
        return partial(play_in_room, setting, chairs, wait=order.wait)
    if jobs == 1:
        return partial(play_here, setting)
    return partial(play_in_processes, setting, jobs=jobs, report=report)
