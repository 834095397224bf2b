"""The one way for text from outside to a terminal or a log.

Names of SDKs, reasons, output of bots, names in files: whoever wrote them could put sequences into them that
move a terminal's cursor, hide or reverse what is shown, or make one line of a log look like two.
"""


def plain(text: str, keep: str = "") -> str:
    r"""Return the text with everything that is not printable escaped, such as ``\x1b``.

    That is: control characters (C0, DEL and C1), directional marks and other format characters, separators
    other than the space, lone surrogates and noncharacters, except those in ``keep``.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in keep else _written_out(char) for char in text)


def plain_line(text: str, most: int) -> str:
    """Return the text as one line of at most ``most`` characters, with all white space as single spaces."""
    line = plain(" ".join(text.split()))
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _written_out(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
