"""The commands of ``arena bot``; those that run bots locally load nothing of the arena."""

from referee.cli.later import Group, Later

COMMANDS = (
    Later(
        "register",
        "arena.cli.register:register",
        "Register a bot, or a bot's next version, and print its token. The token is shown only once.",
    ),
    Later(
        "describe",
        "arena.cli.register:describe",
        "Change a bot's description, and which organisers may enter it. "
        'An empty text (--link "") removes it.',
    ),
    Later(
        "show",
        "arena.cli.botresults:show_",
        "Show a bot: its standing, results by seat, faults, most frequent opponents, and latest matches.",
    ),
    Later(
        "history",
        "arena.cli.botresults:history_",
        "List how a bot's Elo changed by matches and its strength by fits, the latest change first.",
    ),
    Later(
        "versus",
        "arena.cli.botresults:versus_",
        "Show two bots head to head: who finished ahead, points, by seat, by version, latest matches.",
    ),
    Later(
        "faults",
        "arena.cli.botresults:faults_",
        "List bot versions with faults, the most first, in rated and unrated matches.",
    ),
    Later(
        "mine",
        "arena.cli.bots:mine",
        "Show your bots at a glance: connected, rank, matches to play, check, fault, requests, invitations.",
    ),
    Later("list", "arena.cli.bots:list_", "List bot versions, the newest first."),
    Later(
        "revoke",
        "arena.cli.bots:revoke",
        "Revoke the token of a bot version for good; a bot connected with it is disconnected.",
    ),
    Later(
        "rotate",
        "arena.cli.bots:rotate",
        "Give a bot version a new token. The old one is refused at once; a bot that uses it is disconnected.",
    ),
    Later(
        "log",
        "arena.cli.bots:log_",
        "Show a bot's log: faults with the position, notices, connections and why they ended.",
    ),
    Later("games", "arena.cli.bots:games", "Show the deals that a bot has played, oldest first."),
    Later(
        "new",
        "referee.cli.botnew:new",
        "Create a folder with a starter bot, build the bot, and check that it works.",
    ),
    Later(
        "check",
        "arena.cli.botcheck:check_",
        "Check that a bot follows the protocol, by playing scripted scenarios with it.",
    ),
    Later(
        "test",
        "arena.cli.bots:play_house",
        "Start an unrated match against house bots at once. `arena up` runs some.",
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
        "arena.cli.botrun:doctor",
        "Check a bot's token, addresses, TLS, protocol version, clock and number of sessions.",
    ),
    Later("run", "arena.cli.botrun:run", "Run a bot written in Python until Ctrl-C."),
)
"""The commands in the order of the help; each help line is the first paragraph of the command's own help."""

app = Group("Register, list, check and run bots, and read their logs and deals.", COMMANDS)
