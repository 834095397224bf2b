"""A scenario as a value."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from referee.check.desk import Desk

Run: TypeAlias = Callable[[Desk], Awaitable[None]]
Need: TypeAlias = Literal["", "command", "lists"]


@dataclass(frozen=True, slots=True)
class Scenario:
    """Something that every bot must cope with."""

    code: str
    """Stable name: the group and a number, such as ``PING-02``."""
    title: str
    """What the bot does if it passes."""
    proves: str
    """How it is tried."""
    run: Run
    """Raise Failed, Warned or NotRun; else the bot passed."""
    seconds: float = 10.0
    """How long it may take."""
    needs: Need = ""
    """``command``: a bot that the check starts; ``lists``: one that asks for the legal plays."""
    after: tuple[str, ...] = ()
    """The codes of scenarios whose failure makes this one hopeless."""


class Group:
    """Collect the scenarios of a module, in order."""

    def __init__(self) -> None:
        self.scenarios: list[Scenario] = []

    def __call__(
        self,
        code: str,
        title: str,
        proves: str,
        *,
        seconds: float = 10.0,
        needs: Need = "",
        after: tuple[str, ...] = (),
    ) -> Callable[[Run], Run]:
        def add(run: Run) -> Run:
            self.scenarios.append(Scenario(code, title, proves, run, seconds, needs, after))
            return run

        return add
