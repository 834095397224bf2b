"""The command line of the whole arena: its commands, in addition to those for authors in ``referee.cli``."""
