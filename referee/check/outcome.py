"""How a scenario ends early: each of these carries the reason of its result."""


class Failed(Exception):
    """The bot did something wrong."""


class Silent(Failed):
    """The bot sent nothing where something was expected."""


class Lost(Failed):
    """The bot's stream ended where it should live."""


class Absent(Failed):
    """The bot did not connect."""


class Unfinished(Failed):
    """The time for a scenario was over, and the bot did not play."""


class Warned(Exception):
    """The bot can play like this, but should do better."""


class Slow(Warned):
    """The time for a scenario was over, though the bot played."""


class NotRun(Exception):
    """The scenario does not concern this bot, or its play did not lead there."""
