"""Names of owners, bots, tournaments, leagues and divisions."""

import re

LONGEST_NAME = 39
"""The most characters in a name."""

NAME = re.compile(rf"[a-z0-9][a-z0-9-]{{0,{LONGEST_NAME - 1}}}")

NAME_RULE = f"1 to {LONGEST_NAME} of a-z, 0-9 and -, not beginning with -"
"""The rule for names in words."""


def is_number(text: str, digits: int = 9) -> bool:
    """Return whether a text is a whole number in at most so many ASCII digits; ``int`` takes those of other
    scripts, too.
    """
    return text.isascii() and text.isdigit() and len(text) <= digits


def near_name(text: str) -> str:
    """Return a name similar to a text; empty if there is none."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:LONGEST_NAME].strip("-")
