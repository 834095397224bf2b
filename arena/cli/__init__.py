"""The command line of the whole arena: its commands, beside those for authors of bots in ``referee.cli``."""
