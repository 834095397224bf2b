"""Turns that are answered together: by ``choose_many``, or by coroutines that wait at the same time."""

import asyncio
from collections.abc import Awaitable, Iterator, Sequence
from inspect import isawaitable
from typing import Any, NamedTuple

from referee.bot.bots import finished, own_loop
from referee.bot.failing import FAILURES
from referee.bot.seat import Seat
from referee.bot.turn import Turn


class Open(NamedTuple):
    """A turn to be answered."""

    seat: Seat
    message: Any
    turn: Turn
    came: float
    """When its message came."""


class Batch:
    """The open turns of a bot, each of another session."""

    def __init__(self, bot: object) -> None:
        self._choose_many: Any = getattr(bot, "choose_many", None)
        """None if each turn has a coroutine of its own."""
        self._open: dict[int, Open] = {}

    def add(self, seat: Seat, message: Any, came: float) -> None:
        """Add a lazy turn of a message that came at this time."""
        self._open[message.session] = Open(seat, message, seat.turn_of(message), came)

    def turns(self) -> list[Open]:
        """Return the open turns."""
        return [*self._open.values()]

    def __contains__(self, session: object) -> bool:
        return session in self._open

    def answers(self) -> Iterator[bytes]:
        """Yield PlayRequests with the moves as they are known. Raise BotFailed if a strict bot fails."""
        turns, self._open = [*self._open.values()], {}
        if not turns:
            return iter(())
        return self._each(turns) if self._choose_many is None else self._many(turns)

    def _many(self, turns: Sequence[Open]) -> Iterator[bytes]:
        try:
            answers = self._choose_all(turns)
        except FAILURES as error:
            if len(turns) > 1:
                for open_turn in turns:
                    yield from self._many([open_turn])
                return
            answers = [error]
        yield b"".join(
            open_turn.seat.reply(open_turn.message, open_turn.turn, answer)
            for open_turn, answer in zip(turns, answers, strict=True)
        )

    def _choose_all(self, turns: Sequence[Open]) -> Sequence[object]:
        """Return an answer for each turn. Raise what the bot raises, or TypeError for a wrong number."""
        answers: Any = self._choose_many([turn.turn for turn in turns])
        if isawaitable(answers):
            answers = finished(answers)
        if not isinstance(answers, Sequence) or isinstance(answers, str) or len(answers) != len(turns):
            what = f"{len(answers)} answers" if isinstance(answers, Sequence) else type(answers).__name__
            raise TypeError(f"choose_many returned {what}; a list of {len(turns)} answers is expected")
        return answers

    def _each(self, turns: Sequence[Open]) -> Iterator[bytes]:
        loop = own_loop()
        tasks = {loop.create_task(_answer(turn)): turn for turn in turns}
        waiting: set[asyncio.Task[object]] = {*tasks}
        try:
            while waiting:
                waits = asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                done, waiting = loop.run_until_complete(waits)
                yield b"".join(
                    tasks[task].seat.reply(tasks[task].message, tasks[task].turn, task.result())
                    for task in done
                )
        finally:
            for task in waiting:  # a signal has interrupted the waiting
                task.cancel()
            if waiting:
                loop.run_until_complete(asyncio.wait(waiting))


async def _answer(turn: Open) -> object:
    """Return the bot's answer, or the exception that it raised."""
    try:
        answer: Any = turn.seat.answer_of(turn.turn)
        return await answer if isinstance(answer, Awaitable) else answer
    except FAILURES as error:
        return error
