"""What a check found, as a value, as JSON values and as text."""

import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
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
    """The last lines that the bot's own process printed meanwhile; only where it did not pass."""


@dataclass(frozen=True, slots=True)
class Report:
    """How a whole check went."""

    bot: str
    """The name under which the bot was welcomed."""
    sdk: str
    """What the bot's hello names; empty if it never came."""
    protocol_version: int
    """Of the bot's hello; 0 if it never came."""
    results: tuple[Result, ...]
    """In the order of the check."""
    stopped: str = ""
    """Why the scenarios after the last result were not tried; empty where all were."""
    left_out: tuple[str, ...] = ()
    """The codes of these scenarios."""

    @property
    def passed(self) -> bool:
        """Whether something was tried and nothing failed."""
        outcomes = {result.outcome for result in self.results}
        return "failed" not in outcomes and bool(outcomes & {"passed", "warned"})

    @property
    def counts(self) -> dict[Outcome, int]:
        """How many scenarios have each outcome; those that were left out were not run."""
        found = Counter(result.outcome for result in self.results)
        found["not_run"] += len(self.left_out)
        every: tuple[Outcome, ...] = ("passed", "warned", "failed", "not_run")
        return {outcome: found[outcome] for outcome in every}

    def to_object(self) -> dict[str, object]:
        """Return the report as JSON values."""
        return {
            "bot": self.bot,
            "sdk": self.sdk,
            "protocol_version": self.protocol_version,
            "passed": self.passed,
            "counts": dict(self.counts),
            "stopped": self.stopped,
            "left_out": list(self.left_out),
            "results": [
                {**asdict(result), "seconds": round(result.seconds, 3), "output": list(result.output)}
                for result in self.results
            ],
        }

    def to_text(self, width: int = 100) -> str:
        """Return the report for people, in lines of at most ``width`` columns (not fewer than 40)."""
        width = max(width, 40)
        lines = [f"{self.bot}, {self.sdk or 'no SDK named'}, protocol version {self.protocol_version}", ""]
        for _, alike in groupby(self.results, _alike):
            lines += _lines_of(tuple(alike), width)
        counts = [
            f"{number} {outcome.replace('_', ' ')}" for outcome, number in self.counts.items() if number
        ]
        verdict = "The bot passes" if self.passed else "The bot does not pass"
        if self.stopped:
            lines += ["", f"The check stopped here: {self.stopped}."]
            lines += [f"{_scenarios(len(self.left_out))} not run."] if self.left_out else []
        lines += ["", f"{verdict}: {', '.join(counts) or 'nothing was tried'}."]
        return "\n".join(line for part in lines for line in (textwrap.wrap(part, width) or [""]))


def _alike(result: Result) -> str:
    """Return what results in a row must share to be shown as one: the reason of those not run."""
    return result.reason if result.outcome == "not_run" else result.code


def _lines_of(results: Sequence[Result], width: int) -> list[str]:
    """Return results in a row as lines; several that were not run for the same reason are told as one."""
    first, last = results[0], results[-1]
    if len(results) == 1:
        return result_lines(first, width)
    head = f"{first.code} to {last.code}: {_scenarios(len(results))} not run: {first.reason}"
    return textwrap.wrap(head, width, subsequent_indent=" " * 4)


def _scenarios(number: int) -> str:
    return f"{number} scenario" if number == 1 else f"{number} scenarios"


def result_lines(result: Result, width: int) -> list[str]:
    """Return a result as lines: code, outcome and title, under it the reason and what the bot printed."""
    indent = " " * 4
    head = f"{result.code:<10}{result.outcome.replace('_', ' '):<9}{result.title}"
    lines = textwrap.wrap(head, width, subsequent_indent=" " * 19)
    lines += textwrap.wrap(result.reason, width, initial_indent=indent, subsequent_indent=indent)
    room = width - len(indent) - 2
    for printed in result.output:
        lines += [f"{indent}| {printed[at : at + room]}" for at in range(0, len(printed), room)]
    return lines
