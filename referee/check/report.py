"""What a bot's hello says and what a check found: as values, as JSON values, and in words."""

import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Literal, TypeAlias

from google.protobuf.descriptor import EnumDescriptor

from referee.processes.console import PANICKED, RAISED
from referee.v1 import bots_pb2, cards_pb2


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a bot can play; what is empty or None sets no bound."""

    turn_kinds: tuple[str, ...] = ()
    """The kinds of turns that it knows, by their names in the protocol; others as ``number 9``."""
    max_seats: int | None = None
    max_packs: int | None = None
    max_card: str | None = None
    """The highest card that it knows, such as ``CARD_2S``; others as ``number 99``."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a hello says beyond the version of the protocol and the SDK."""

    max_sessions: int | None = None
    """How many sessions it plays at once; None if it leaves that to the referee."""
    wants: tuple[str, ...] = ()
    """What it asks for beyond what every bot is told: ``legal_plays``, ``hands``."""
    capabilities: Capabilities = Capabilities()


def said_in(hello: bots_pb2.Hello) -> Said:
    """Return what a hello says."""
    bounds = hello.capabilities
    return Said(
        hello.max_sessions if hello.HasField("max_sessions") else None,
        tuple(field.name for field, _ in hello.wants.ListFields()),
        Capabilities(
            tuple(dict.fromkeys(_name(bots_pb2.TurnKind.DESCRIPTOR, kind) for kind in bounds.turn_kinds)),
            bounds.max_seats if bounds.HasField("max_seats") else None,
            bounds.max_packs if bounds.HasField("max_packs") else None,
            _name(cards_pb2.Card.DESCRIPTOR, bounds.max_card) if bounds.max_card else None,
        ),
    )


def _name(kinds: EnumDescriptor, number: int) -> str:
    kind = kinds.values_by_number.get(number)
    return kind.name if kind is not None else f"number {number}"


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


@dataclass(frozen=True, slots=True)
class Figures:
    """How much was asked of a bot, and how fast it answered."""

    turns: int = 0
    """How many turns it answered."""
    median_ms: float | None = None
    """Half of the answers took at most this long, in milliseconds; None without answers."""
    slowest_ms: float | None = None
    """The longest time that an answer took; None without answers."""
    seconds: float = 0.0
    """How long the check took."""


def figures_of(turns: int, took: Sequence[float], seconds: float) -> Figures:
    """Return the figures for the times that answers took, in seconds."""
    if not took:
        return Figures(turns, seconds=round(seconds, 3))
    return Figures(turns, round(1000 * median(took), 2), round(1000 * max(took), 2), round(seconds, 3))


@dataclass(frozen=True, slots=True)
class Report:
    """How a whole check went."""

    bot: str
    """The name under which the bot was welcomed."""
    sdk: str
    """The client library that the bot's hello names; empty if no hello came."""
    protocol_version: int
    """The version in the bot's hello; 0 if no hello came."""
    results: tuple[Result, ...]
    """In the order in which they came."""
    stopped: str = ""
    """Why the scenarios after the last result were not tried; empty if all were."""
    left_out: tuple[str, ...] = ()
    """The codes of the scenarios that were not tried."""
    said: Said = field(default_factory=Said)
    """What else the bot's hello says."""
    figures: Figures = field(default_factory=Figures)
    part: bool = False
    """Whether only some of all scenarios were asked for."""

    @property
    def passed(self) -> bool:
        """Whether something was tried, nothing failed, and the check came to its end."""
        return self.passed_so_far and not self.left_out

    @property
    def passed_so_far(self) -> bool:
        """Whether something was tried and nothing failed, even if the check was cut short."""
        outcomes = {result.outcome for result in self.results}
        return "failed" not in outcomes and bool(outcomes & {"passed", "warned"})

    @property
    def counts(self) -> dict[Outcome, int]:
        """How many scenarios have each outcome; those that were left out were not run."""
        numbers = Counter(result.outcome for result in self.results)
        numbers["not_run"] += len(self.left_out)
        every: tuple[Outcome, ...] = ("passed", "warned", "failed", "not_run")
        return {outcome: numbers[outcome] for outcome in every}

    def to_object(self) -> dict[str, object]:
        """Return the report as JSON values."""
        return {
            "bot": self.bot,
            "sdk": self.sdk,
            "protocol_version": self.protocol_version,
            "max_sessions": self.said.max_sessions,
            "wants": list(self.said.wants),
            "capabilities": {
                **asdict(self.said.capabilities),
                "turn_kinds": list(self.said.capabilities.turn_kinds),
            },
            "passed": self.passed,
            "counts": dict(self.counts),
            "stopped": self.stopped,
            "left_out": list(self.left_out),
            "results": [
                {**asdict(result), "seconds": round(result.seconds, 3), "output": list(result.output)}
                for result in self.results
            ],
            "figures": asdict(self.figures),
        }

    def to_text(self, width: int = 100) -> str:
        """Return the report for people, in lines of at most ``width`` columns (not fewer than 40)."""
        worded = ResultLines(width)
        lines = [line for result in self.results for line in worded.result(result)]
        return "\n".join([*lines, *worded.end(self)])


INDENT = " " * 4


class ResultLines:
    """Turn results into lines of at most ``width`` columns (not fewer than 40), one after the other.

    Consecutive scenarios not run for the same reason are told as one, and what the bot printed is shown in
    full only for the first failure of each cause.
    """

    def __init__(self, width: int = 100) -> None:
        self._width = max(width, 40)
        self._not_run: list[Result] = []
        self._causes: dict[str, list[str]] = {}
        """The codes of scenarios that failed, by the cause that the bot printed."""

    def result(self, result: Result) -> list[str]:
        """Return the lines that can be told now that there is another result."""
        if self._not_run and (result.outcome, result.reason) != ("not_run", self._not_run[0].reason):
            return [*self._held(), *self.result(result)]
        if result.outcome == "not_run":
            self._not_run.append(result)
            return []
        cause = _cause(result) if result.outcome == "failed" else ""
        codes = self._causes.setdefault(cause, []) if cause else []
        codes.append(result.code)
        return self._lines(result, codes[0])

    def end(self, report: "Report") -> list[str]:
        """Return the lines at the end, with those that were held back."""
        lines = self._held()
        for cause, codes in self._causes.items():
            if len(codes) > 1:
                lines += ["", f"{cause} in {len(codes)} scenarios, in {codes[0]} first."]
        if report.stopped:
            lines += ["", f"The check stopped here: {report.stopped}."]
            lines += [f"{_scenarios(len(report.left_out))} not run."] if report.left_out else []
        if report.protocol_version or report.sdk:
            sdk = report.sdk or "no SDK named"
            lines += ["", f"{report.bot}, {sdk}, protocol version {report.protocol_version}"]
        return [*self._wrapped(lines), "", *self._wrapped([_verdict(report)])]

    def _wrapped(self, lines: list[str]) -> list[str]:
        return [line for part in lines for line in (textwrap.wrap(part, self._width) or [""])]

    def _held(self) -> list[str]:
        """Return the lines of the scenarios not run that were held back."""
        results, self._not_run = self._not_run, []
        if not results:
            return []
        if len(results) == 1:
            return self._lines(results[0], results[0].code)
        first, last = results[0], results[-1]
        head = f"{first.code} to {last.code}: {_scenarios(len(results))} not run: {first.reason}"
        return textwrap.wrap(head, self._width, subsequent_indent=INDENT)

    def _lines(self, result: Result, first: str) -> list[str]:
        """Return a result as lines; ``first`` is the first scenario that failed for the same cause."""
        head = f"{result.code:<10}{result.outcome.replace('_', ' '):<9}{result.title}"
        lines = textwrap.wrap(head, self._width, subsequent_indent=" " * 19)
        lines += textwrap.wrap(result.reason, self._width, initial_indent=INDENT, subsequent_indent=INDENT)
        if first != result.code:
            return [*lines, f"{INDENT}| {_cause(result)}, as in {first}"[: self._width]]
        for printed in result.output:
            start = f"{INDENT}| {printed[: len(printed) - len(printed.lstrip())]}"
            lines += textwrap.wrap(
                printed.lstrip(), self._width, initial_indent=start, subsequent_indent=f"{INDENT}|     "
            ) or [start.rstrip()]
        return lines


def _cause(result: Result) -> str:
    """Return the error (by its class) or the panic that ended the program, or else its last line."""
    for line in reversed(result.output):
        if panicked := PANICKED.match(line):
            return panicked[1] or panicked[2]
        if raised := RAISED.match(line):
            return raised[1] if raised[1] != "Error" else line  # which says nothing by itself
    return result.output[-1] if result.output else ""


def _verdict(report: "Report") -> str:
    counts = [f"{number} {outcome.replace('_', ' ')}" for outcome, number in report.counts.items() if number]
    verdict = "The bot passes" if report.passed else "The bot does not pass"
    if report.passed_so_far and report.left_out:
        verdict = "The bot passes so far, but not all was tried"
    part = " the scenarios asked for" if report.part and counts else ""
    return f"{verdict}{part}: {', '.join(counts) or 'nothing was tried'}."


def _scenarios(number: int) -> str:
    return f"{number} scenario" if number == 1 else f"{number} scenarios"
