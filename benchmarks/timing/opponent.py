"""The bots that are spied on."""

import asyncio
import os
import random
import sys
import time
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from benchmarks.spying import patient
from benchmarks.timing.talking import Send, answer
from referee.bot import Turn
from referee.bot.turn import read_turn
from referee.bot.view import SessionView
from referee.v1 import bots_pb2

SAMPLE_BOTS = Path(__file__).parents[2] / "sample_bots" / "python"


class Opponent:
    """A bot that thinks about each turn for a random time, which gives nothing away."""

    def __init__(self, name: str, think: tuple[float, float], hasty: bool) -> None:
        self._choose = _policy(name)
        self._think = think
        self._hasty = hasty
        self._random = random.Random(os.getpid())
        self._views: dict[int, SessionView] = {}
        self._thinking: set[asyncio.Task[None]] = set()

    def seconds(self, turn: Turn) -> float:
        """Return how long to think about a turn."""
        if self._hasty and len(turn.legal_codes) + turn.can_pass == 1:
            return 0.0
        return self._random.uniform(*self._think)

    def decide(self, turn: Turn) -> str | None:
        """Answer a turn of the SDK, thinking about one turn at a time."""
        seconds = self.seconds(turn)
        if seconds:
            time.sleep(seconds)
        return turn.rules.text(self._choose(turn)) or None

    async def take(self, event: Any, came: float, send: Send) -> None:
        """Take in an event, thinking about all turns at once."""
        match event.WhichOneof("event"):
            case "session_started":
                self._views[event.session_started.session] = SessionView.of(event.session_started)
            case "deal_started":
                self._views[event.deal_started.session].deal_started(event.deal_started)
            case "turn":
                view = self._views[event.turn.session]
                view.happened(event.turn.actions)
                turn = read_turn(view, event.turn)
                seconds = self.seconds(turn)
                request = answer(event.turn, view, self._choose(turn))
                if not seconds:
                    await send(request)
                    return
                until = came + seconds
                task = asyncio.create_task(self._later(until, request, send))
                self._thinking.add(task)
                task.add_done_callback(self._thinking.discard)

    async def _later(self, until: float, request: bots_pb2.PlayRequest, send: Send) -> None:
        await asyncio.sleep(max(0.0, until - time.perf_counter()))
        await send(request)


def _policy(name: str) -> Callable[[Turn], int]:
    if name == "patient":
        return lambda turn: patient(turn, turn.hand_mask, turn.legal_codes, turn.can_pass)
    file = SAMPLE_BOTS / f"{name}.py"
    spec = spec_from_file_location(name, file)
    if spec is None or spec.loader is None or not file.exists():
        sys.exit(f"opponents: no sample bot {name!r}")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)

    def policy(turn: Turn) -> int:
        play = module.choose(turn)
        return play.code & turn.rules.full if play is not None else 0

    return policy
