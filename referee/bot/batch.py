"""Turns that are answered together: by ``choose_many``, or by coroutines that wait at the same time."""

import asyncio
from collections.abc import Awaitable, Iterator, Sequence
from inspect import isawaitable
from typing import Any, NamedTuple

from referee.bot.bots import finished, own_loop
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
        self._open[message.session] = Open(seat, message, seat.asked(message), came)

    def turns(self) -> list[tuple[float, Any]]:
        """Return when the open turns came, and their messages."""
        return [(one.came, one.message) for one in self._open.values()]

    def __contains__(self, session: object) -> bool:
        return session in self._open

    def answers(self) -> Iterator[bytes]:
        """Yield PlayRequests with the moves as they are known. Raise BotFailed if a strict bot fails."""
        asked, self._open = [*self._open.values()], {}
        if not asked:
            return iter(())
        return self._each(asked) if self._choose_many is None else self._many(asked)

    def _many(self, asked: Sequence[Open]) -> Iterator[bytes]:
        try:
            answers = self._asked(asked)
        except Exception as error:
            if len(asked) > 1:
                for one in asked:
                    yield from self._many([one])
                return
            answers = [error]
        yield b"".join(
            one.seat.reply(one.message, one.turn, answer) for one, answer in zip(asked, answers, strict=True)
        )

    def _asked(self, asked: Sequence[Open]) -> Sequence[object]:
        """Return an answer for each turn. Raise what the bot raises, or TypeError for a wrong number."""
        found: Any = self._choose_many([one.turn for one in asked])
        if isawaitable(found):
            found = finished(found)
        if not isinstance(found, Sequence) or isinstance(found, str) or len(found) != len(asked):
            what = f"{len(found)} answers" if isinstance(found, Sequence) else type(found).__name__
            raise TypeError(f"choose_many returned {what}; a list of {len(asked)} answers is expected")
        return found

    def _each(self, asked: Sequence[Open]) -> Iterator[bytes]:
        loop = own_loop()
        tasks = {loop.create_task(_answer(one)): one for one in asked}
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


def _reply(asked: Open, answer: object) -> bytes:
    return asked.seat.reply(asked.message, asked.turn, answer)


async def _answer(asked: Open) -> object:
    """Return the bot's answer, or the exception that it raised."""
    try:
        answer: Any = asked.seat.answer_of(asked.turn)
        return await answer if isinstance(answer, Awaitable) else answer
    except Exception as error:
        return error
