"""All scenarios, in the order in which they are tried: those that end streams or processes come last."""

from referee.check.desk import Scenario
from referee.check.scenarios import (
    clocks,
    connection,
    future,
    hello,
    leaving,
    messages,
    pings,
    rules,
    sessions,
    turns,
)

SCENARIOS: tuple[Scenario, ...] = tuple(
    scenario
    for module in (
        hello,
        turns,
        rules,
        sessions,
        messages,
        clocks,
        pings,
        future,
        connection,
        leaving,
    )
    for scenario in module.group.scenarios
)
