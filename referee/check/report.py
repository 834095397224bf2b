"""What a check found, as a value, as JSON values and as text."""

from collections import Counter
from dataclasses import asdict, dataclass

from referee.check.result import Outcome, Result
from referee.check.telling import Telling


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
    part: bool = False
    """Whether only some of all scenarios were asked for."""

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
        telling = Telling(width)
        lines = [line for result in self.results for line in telling.result(result)]
        return "\n".join([*lines, *telling.end(self)])
