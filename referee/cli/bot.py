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
    Later(
        "doctor",
        "referee.cli.botdoctor:doctor",
        "Say what is right and wrong with a bot's token, addresses, TLS, version, clock and number of "
        "sessions.",
    ),
    Later("run", "referee.cli.botrun:run", "Run a bot written in Python until Ctrl-C."),
    Later(
        "log",
        "referee.cli.botown:log_",
        "Show a bot's log: faults with the position, notices, connections and why they ended.",
    ),
    Later("games", "referee.cli.botown:games", "Show the deals that a bot has played, oldest first."),
)
"""In the order of the help, which is the first paragraph of their own."""

app = Group(
    "Write, check and run bots, and read what they did.", (*COMMANDS, *map(Elsewhere, ELSEWHERE_OF_BOT))
)
