"""The commands of ``arena bot``: running a bot loads nothing but the SDK."""

from referee.cli.later import ARENA_BOT_COMMANDS, Group, Later, MissingCommand

COMMANDS = (
    Later(
        "new",
        "referee.cli.botnew:new",
        "Create a folder with a starter bot, build the bot, and check that it works.",
    ),
    Later(
        "check",
        "referee.cli.botcheck:check_",
        "Check that a bot follows the protocol, by playing scripted scenarios with it.",
    ),
    Later(
        "explain",
        "referee.cli.rewind:explain",
        "Estimate what each decision of a recorded deal cost, the costliest first, with the strong bot sage.",
    ),
    Later(
        "rewind",
        "referee.cli.rewind:rewind",
        "Give a bot a recorded position, without clocks, and compare its answer with what was played.",
    ),
    Later(
        "doctor",
        "referee.cli.botdoctor:doctor",
        "Check a bot's token, addresses, TLS, protocol version, clock and number of sessions.",
    ),
    Later("run", "referee.cli.botrun:run", "Run a bot written in Python until Ctrl-C."),
    Later(
        "log",
        "referee.cli.botlog:log_",
        "Show a bot's log: faults with the position, notices, connections and why they ended.",
    ),
    Later("games", "referee.cli.botlog:games", "Show the deals that a bot has played, oldest first."),
)
"""In the order of the help; their texts are the first paragraphs of the commands' own help."""

app = Group(
    "Write, check and run bots, and read what they did.",
    (*COMMANDS, *map(MissingCommand, ARENA_BOT_COMMANDS)),
)
