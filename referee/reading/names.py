"""Names of owners, bots, tournaments, leagues and divisions, and tokens, as people give them."""

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


BOM = "\ufeff"
"""What some editors put before a text; nobody sees it."""


def tidy(text: str) -> str:
    """Return a token without what comes around it when it is copied: white space, and a byte order mark."""
    return text.strip().removeprefix(BOM).strip()


def wrong_with(token: str) -> str:
    """Return what is wrong with a token that is not empty, to follow its name; empty if nothing is."""
    if token[0] in "'\"`" or token[-1] in "'\"`":
        return "is in quotes: leave them out"
    sign = next((char for char in token if not char.isascii() or not char.isprintable() or char == " "), None)
    if sign is None:
        return ""
    return "contains a space" if sign == " " else f"contains {sign!a}, which no token has"
