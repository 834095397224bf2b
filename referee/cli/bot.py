"""The commands of ``arena bot``: those who run a bot load nothing but the SDK."""

from referee.cli.elsewhere import ELSEWHERE_OF_BOT, Elsewhere
from referee.cli.later import Group, Later

COMMANDS = (
    Later(
        "new",
        "referee.cli.botnew:new",
        "Write a bot to start from into a folder of its own, build it, and check that it works.",
    ),
    Later(
        "check",
        "referee.cli.botcheck:check_",
        "Check that a bot follows the protocol, in scenarios that a special referee plays with it.",
    ),
    Later(
        "explain",
        "referee.cli.explain:explain",
        "Have sage price every decision of a recorded deal, the costliest first. These are estimates.",
    ),
    Later(
        "rewind",
        "referee.cli.rewind:rewind",
        "Hand a recorded position to a bot, with clocks off, and put its answer beside what was played then.",
    ),
    Later("run", "referee.cli.botrun:run", "Run a bot written in Python until Ctrl-C."),
)
"""In the order of the help, which is the first paragraph of their own."""

app = Group("Run and check bots.", (*COMMANDS, *map(Elsewhere, ELSEWHERE_OF_BOT)))
