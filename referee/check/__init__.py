"""A conformance check for bots: over real gRPC, a scripted referee plays each situation of the protocol.

    report = await check(command=["./my-bot"])
    print(report.to_text())

The scenarios and what each proves are listed in docs/check.md.
"""

from referee.check.desk import Scenario
from referee.check.report import Capabilities, Figures, Outcome, Report, Result, ResultLines, Said
from referee.check.run import UnknownScenario, check, select
from referee.check.scenarios import SCENARIOS

__all__ = [
    "SCENARIOS",
    "Capabilities",
    "Figures",
    "Outcome",
    "Report",
    "Result",
    "ResultLines",
    "Said",
    "Scenario",
    "UnknownScenario",
    "check",
    "select",
]
