"""Exceptions that end a scenario early; each carries the reason for its result."""


class Failed(Exception):
    """The bot did something wrong."""


class Silent(Failed):
    """The bot sent nothing where something was expected."""


class Lost(Failed):
    """The bot's stream ended where it should have stayed open."""


class Absent(Failed):
    """The bot did not connect."""


class Unfinished(Failed):
    """The time for a scenario ran out, and the bot was no longer answering."""


class Warned(Exception):
    """The bot can play like this, but should do better."""


class Slow(Warned):
    """The time for a scenario ran out while the bot was still answering."""


class NotRun(Exception):
    """The scenario does not concern this bot, or the bot's play did not lead to its situation."""
