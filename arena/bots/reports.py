"""Reports of checks, as authors send them and read them."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from referee.check import Report, Result
from referee.docstrings import tell_fields

LONGEST = 2_000
MOST_LINES = 50

Outcome = Literal["passed", "warned", "failed", "not_run"]
Text = Annotated[str, Field(max_length=LONGEST)]
Code = Annotated[str, Field(max_length=40)]


class Sent(BaseModel):
    """What is sent: no other keys than these."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=tell_fields)


class SentResult(Sent):
    """The result of a scenario, as it is sent."""

    code: Code
    """Of the scenario (docs/check.md)."""
    title: Annotated[str, Field(max_length=200)]
    outcome: Outcome
    reason: Text = ""
    """Empty if there is nothing to say."""
    seconds: Annotated[float, Field(ge=0, le=86_400, allow_inf_nan=False)] = 0.0
    output: Annotated[tuple[Text, ...], Field(max_length=MOST_LINES)] = ()
    """The last lines that the bot printed."""


class CheckedResult(BaseModel):
    """The result of a scenario."""

    code: str
    """Of the scenario (docs/check.md)."""
    title: str
    outcome: Outcome
    reason: str
    """Empty if there is nothing to say."""
    seconds: float
    output: list[str]
    """The last lines that the bot printed."""


class CheckCounts(BaseModel):
    """How many scenarios have each outcome."""

    passed: int
    warned: int
    failed: int
    not_run: int


class CheckReport(BaseModel):
    """The result of a check."""

    bot: str
    """The version."""
    sdk: str
    """The SDK that the bot reports."""
    protocol_version: int
    passed: bool
    counts: CheckCounts
    stopped: str
    """Why the check ended early; empty if it did not."""
    left_out: list[str]
    """Codes of the scenarios that were not run then."""
    results: list[CheckedResult]


class SentReport(Sent):
    """What `arena bot check --json` printed, of all scenarios."""

    output: Literal["bigtwo-cli/1"] | None = None
    bot: Annotated[str, Field(max_length=100)]
    """The bot, or the version."""
    sdk: Text
    protocol_version: Annotated[int, Field(ge=0, le=2**31 - 1)]
    passed: bool | None = None
    """Follows from the results."""
    counts: dict[Outcome, int] | None = None
    """Follows from the results."""
    stopped: Text = ""
    left_out: Annotated[tuple[Code, ...], Field(max_length=1_000)] = ()
    results: Annotated[list[SentResult], Field(max_length=1_000)]

    def report(self) -> Report:
        """Return the report."""
        results = tuple(
            Result(*(getattr(one, name) for name in SentResult.model_fields)) for one in self.results
        )
        return Report(self.bot, self.sdk, self.protocol_version, results, self.stopped, self.left_out)
