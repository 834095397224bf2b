"""Numbers, times and messages as pages show them: filters of templates."""

import re
from datetime import UTC, datetime

from markupsafe import Markup, escape

from referee.plain import plain

__all__ = [
    "counted",
    "date",
    "day",
    "decimals",
    "duration",
    "limit",
    "marked",
    "moment",
    "number",
    "percent",
    "signed",
    "thousands",
    "until",
    "without_command",
]

MINUS = "−"


_CODE = re.compile(r"(`+)([^`]+)\1")

_COMMAND = re.compile(r"(?:[;,] [^;,:]*)?: arena [a-z].*", re.DOTALL)

SPACE = "\N{NARROW NO-BREAK SPACE}"


def thousands(number: float, digits: int = 0) -> str:
    """Return a number; from 10 000 on, with narrow spaces between thousands."""
    grouped = f"{number:,.{digits}f}" if abs(number) >= 10_000 else f"{number:.{digits}f}"
    return grouped.replace(",", SPACE).replace("-", MINUS)


def signed(number: float, digits: int = 0) -> str:
    """Return a number with its sign, including a plus; zero has none."""
    text = f"{number:+.{digits}f}"
    return f"{0:.{digits}f}" if float(text) == 0 else text.replace("-", MINUS)


def percent(share: float, digits: int = 0) -> str:
    """Return a share from 0 to 1 in percent."""
    return f"{100 * share:.{digits}f}{SPACE}%"


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with the noun that it counts."""
    return f"{thousands(number)} {one if number == 1 else many or one + 's'}"


def decimals(number: float, digits: int) -> str:
    """Return a number with this many decimals."""
    return f"{number:.{digits}f}".replace("-", MINUS)


def number(value: float) -> str:
    """Return a number with at most two decimals, without trailing zeros."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return thousands(0) if text == "-0" else text.replace("-", MINUS)


def day(at: datetime | None) -> str:
    """Return the day of a time in the notation of forms; empty if there is none."""
    return "" if at is None else f"{_in_utc(at):%Y-%m-%d}"


def date(at: datetime | None, none: str = "–") -> Markup | str:
    """Return the day of a time as a machine-readable element."""
    return none if at is None else _element(at, "%b %Y")


def moment(at: datetime | None, none: str = "–") -> Markup | str:
    """Return a time, in UTC, as a machine-readable element."""
    return none if at is None else _element(at, "%b %Y %H:%M")


def duration(seconds: int) -> str:
    """Return how long something takes, in its two largest units."""
    return _left(seconds).removeprefix("in ") if seconds > 0 else "a moment"


def until(at: datetime, now: datetime) -> Markup:
    """Return the time that is left until ``at`` as an element that ``now.js`` counts down."""
    left = max(0, int((_in_utc(at) - _in_utc(now)).total_seconds()))
    exact = _in_utc(at).isoformat(timespec="seconds")
    return Markup(f'<time class="until" datetime="{exact}">{_left(left)}</time>')  # noqa: S704 made of figures


def _left(seconds: int) -> str:
    """Return a time in its two largest units."""
    minutes, hours, days = seconds // 60, seconds // 3_600, seconds // 86_400
    if days:
        return f"in {days} d {hours % 24} h"
    if hours:
        return f"in {hours} h {minutes % 60} min"
    if minutes:
        return f"in {minutes} min {seconds % 60} s"
    return f"in {seconds} s" if seconds else "any moment now"


def _element(at: datetime, form: str) -> Markup:
    utc = _in_utc(at)
    shown = f"{utc.day} {utc:{form}}"
    exact = utc.isoformat(timespec="seconds")
    return Markup(f'<time datetime="{exact}">{shown}</time>')  # noqa: S704 made of figures


def _in_utc(at: datetime) -> datetime:
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


def limit(value: float) -> str:
    """Return a limit in a JSON Schema, where whole numbers are floats."""
    return f"{int(value)}" if value == int(value) else f"{value:g}"


def marked(text: str) -> Markup:
    """Return a docstring as HTML: text in backticks as code, and None as JSON's null."""
    shown = re.sub(r"\bNone\b", "null", plain(text, f"\n{SPACE}"))
    return Markup(_CODE.sub(r"<code>\2</code>", str(escape(shown))))  # noqa: S704 it is escaped


def without_command(message: str) -> str:
    """Return a message without the command line that it ends with: a page has a button or a link for that."""
    return _COMMAND.sub("", message)
