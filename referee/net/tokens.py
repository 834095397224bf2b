"""Tokens as people give them: in variables, in files, typed."""

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
