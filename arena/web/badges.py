"""Small pictures for READMEs that say how a bot's check went, as its author reports it, in the usual form."""

from functools import lru_cache
from html import escape

from arena.bots.checks import CheckSummary

LABEL = "Big Two check"
LABEL_COLOUR = "#454c52"
GREEN, RED, GREY = "#17693f", "#b3261e", "#6b7278"
SIZE, HEIGHT, MARGIN = 11, 20, 7
"""Of letters, of the whole, and at both sides of a text, in pixels."""
NARROW, LETTER = 3.5, 6.5
"""About how wide narrow and other letters are, in pixels; browsers fit the text to the width stated."""


def check_badge(check: CheckSummary | None) -> str:
    """Return the badge of a check as SVG; None for a version that was never checked."""
    if check is None:
        return badge(LABEL, "not checked", GREY)
    counts = check.counts
    if counts.failed:
        return badge(LABEL, f"author reports {counts.failed} failed", RED)
    if not check.passed:
        return badge(LABEL, "author reports it unfinished", GREY)
    return badge(LABEL, f"author reports {counts.passed + counts.warned} of {counts.run}", GREEN)


@lru_cache(200)
def badge(label: str, text: str, colour: str) -> str:
    """Return a badge as SVG: a label, and beside it a text on a colour."""
    left, right = text_width(label), text_width(text)
    middle, width = left + 2 * MARGIN, left + right + 4 * MARGIN
    spoken = escape(f"{label}: {text}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{HEIGHT}" role="img"'
        f' aria-label="{spoken}">'
        f"<title>{spoken}</title>"
        f'<rect width="{width}" height="{HEIGHT}" rx="3" fill="{colour}"/>'
        f'<path d="M3 0H{middle}V{HEIGHT}H3A3 3 0 0 1 0 {HEIGHT - 3}V3A3 3 0 0 1 3 0" fill="{LABEL_COLOUR}"/>'
        f'<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="{SIZE}">'
        f'<text x="{MARGIN}" y="14" textLength="{left}">{escape(label)}</text>'
        f'<text x="{middle + MARGIN}" y="14" textLength="{right}">{escape(text)}</text>'
        "</g></svg>"
    )


def text_width(text: str) -> int:
    """Return how wide a text is about, in pixels."""
    return round(sum(NARROW if letter in "fijlrt.,:' " else LETTER for letter in text))
