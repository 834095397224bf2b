"""The result of one scenario."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Outcome: TypeAlias = Literal["passed", "failed", "warned", "not_run"]


@dataclass(frozen=True, slots=True)
class Result:
    """How a scenario went."""

    code: str
    """Stable name of the scenario, such as ``PING-02``."""
    title: str
    outcome: Outcome
    """``warned``: the bot can play, but should do better; ``not_run``: see the reason."""
    reason: str
    """What was expected and what was seen, cards as text; empty for ``passed``."""
    seconds: float
    output: tuple[str, ...] = ()
    """What the bot's own process printed meanwhile, shortened; empty unless it failed or was warned."""
