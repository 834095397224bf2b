"""A conformance check for bots: over real gRPC, a scripted referee plays each situation of the protocol.

    report = await check(command=["./my-bot"])
    print(report.to_text())

The scenarios and what each proves are listed in docs/check.md.
"""

from referee.check.report import Outcome, Report, Result, ResultLines
from referee.check.run import UnknownScenario, check, cut_short, select
from referee.check.scenario import Scenario
from referee.check.scenarios import SCENARIOS

__all__ = [
    "SCENARIOS",
    "Outcome",
    "Report",
    "Result",
    "ResultLines",
    "Scenario",
    "UnknownScenario",
    "check",
    "cut_short",
    "select",
]
