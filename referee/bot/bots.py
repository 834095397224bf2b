"""What a bot can be: a function or a class, which may answer many turns at once or be a coroutine."""

import asyncio
import threading
import weakref
from collections.abc import Awaitable, Callable, Sequence
from inspect import iscoroutinefunction
from typing import Protocol, TypeAlias, TypeVar, runtime_checkable

from referee.bot.turn import Play, Turn

Answer: TypeAlias = Play | str | Sequence[str] | None
"""A play: as a ``Play``, as text ("3D 3C") or as a list of cards. None passes."""


class Chooser(Protocol):
    """A bot: an object whose ``choose`` answers turns of kind ``play``; one for each session.

    It may also have ``exchange``, ``beat_own`` and ``bomb`` for the turns of these kinds; without them it
    returns its lowest card, ends the trick, and does not bomb. If it has ``deal_ended(deal)`` and
    ``session_ended(session)``, they are called with an ``EndedDeal`` and an ``EndedSession``.
    """

    def choose(self, turn: Turn) -> Answer | Awaitable[Answer]: ...


@runtime_checkable
class ManyChooser(Protocol):
    """A bot: one object for all its sessions, whose ``choose_many`` answers all open turns of kind ``play``.

    It returns an answer for each turn, in the same order. A wrong answer, or an exception in place of one,
    harms only the session of its turn; if ``choose_many`` fails as a whole, it is asked again for each turn
    on its own. The other methods are those of a ``Chooser``.
    """

    def choose_many(
        self, turns: Sequence[Turn]
    ) -> Sequence[Answer | Exception] | Awaitable[Sequence[Answer | Exception]]: ...


Bot: TypeAlias = (
    Callable[[Turn], Answer | Awaitable[Answer]] | type[Chooser] | type[ManyChooser] | ManyChooser
)
"""What ``main`` and ``run`` accept. Functions and methods may be coroutines (``async def``)."""

T = TypeVar("T")


def one_for_all(bot: Bot) -> Bot:
    """Return the bot; for a class that answers many turns at once, its only object."""
    return bot() if isinstance(bot, type) and hasattr(bot, "choose_many") else bot


def thinks_together(bot: Bot) -> bool:
    """Return whether turns that are open at the same time are answered together."""
    return hasattr(bot, "choose_many") or is_async(bot)


def is_async(bot: Bot) -> bool:
    """Return whether turns are answered by a coroutine."""
    for name in ("choose_many", "choose"):
        if (method := getattr(bot, name, None)) is not None:
            return iscoroutinefunction(method)
    return iscoroutinefunction(bot)


def finished(awaited: Awaitable[T]) -> T:
    """Wait for an awaitable in this thread, which runs no event loop, and return its result."""
    return own_loop().run_until_complete(_coroutine(awaited))


async def _coroutine(awaited: Awaitable[T]) -> T:
    return await awaited


def own_loop() -> asyncio.AbstractEventLoop:
    """Return the event loop for a bot's coroutines in this thread; it is closed when the thread ends."""
    loop: asyncio.AbstractEventLoop | None = getattr(_OWN, "loop", None)
    if loop is None:
        loop = _OWN.loop = asyncio.new_event_loop()
        weakref.finalize(threading.current_thread(), loop.close)
    return loop


_OWN = threading.local()
