"""Numbers, times and messages as pages show them, and the scales of drawings."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache

from markupsafe import Markup, escape

from arena.core.specs import TournamentSpec
from arena.leagues.spec import LeagueSpec
from referee.reading.docstrings import FormField
from referee.reading.plain import plain

__all__ = [
    "counted",
    "date",
    "day",
    "decimals",
    "duration",
    "field_words",
    "in_words",
    "limit",
    "marked",
    "moment",
    "number",
    "numbers_near",
    "percent",
    "signed",
    "thousands",
    "until",
    "without_command",
]

MINUS = "−"


_CODE = re.compile(r"(`+)([^`]+)\1")

_PATH = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")

_FIELD = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")

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


def counted(number: int, singular: str, many: str = "") -> str:
    """Return a number with the noun that it counts."""
    return f"{thousands(number)} {singular if number == 1 else many or singular + 's'}"


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
    text = f"{utc.day} {utc:{form}}"
    exact = utc.isoformat(timespec="seconds")
    return Markup(f'<time datetime="{exact}">{text}</time>')  # noqa: S704 made of figures


def _in_utc(at: datetime) -> datetime:
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


def numbers_near(last: int, now: int, most: int = 40) -> list[int]:
    """Return the numbers from 1 to ``last`` to link to: those around ``now``, and both ends."""
    first = max(1, min(now - most // 2, last - most + 1))
    return sorted({1, last, *range(first, min(last, first + most - 1) + 1)})


def limit(value: float) -> str:
    """Return a limit in a JSON Schema, where whole numbers are floats."""
    return f"{int(value)}" if value == int(value) else f"{value:g}"


def marked(text: str) -> Markup:
    """Return a docstring as HTML: text in backticks as code, and None as JSON's null."""
    escaped = re.sub(r"\bNone\b", "null", plain(text, f"\n{SPACE}"))
    return Markup(_CODE.sub(r"<code>\2</code>", str(escape(escaped))))  # noqa: S704 it is escaped


@cache
def _labels() -> Mapping[str, str]:
    """Return what forms call the fields of tournaments and leagues, by name."""
    labels = {"size": "Places", "promoted": "Promoted", "ruleset_file": "A ruleset of your own"}
    for model in (LeagueSpec, TournamentSpec):
        for name, field in model.model_fields.items():
            notes = (note.label for note in field.metadata if isinstance(note, FormField))
            labels[name] = next(notes, "") or name.replace("_", " ").capitalize()
    return labels


def field_words(path: str) -> str:
    """Return what forms call a field, from its path as a file has it: ``divisions.first.size``."""
    if path.startswith("ruleset.") or not _PATH.fullmatch(path):
        return path  # it says where in a file something is
    *within, name = path.split(".")
    label = _labels().get(name, name.replace("_", " "))
    return f"{label} of {within[1]}" if within[:1] == ["divisions"] and len(within) > 1 else label


def in_words(text: str) -> str:
    """Return a message with what forms call the fields that it names as files do."""
    labels = _labels()
    return _FIELD.sub(lambda name: f"“{labels[name[0]]}”" if name[0] in labels else name[0], text)


def without_command(message: str) -> str:
    """Return a message without the command line that it ends with: a page has a button or a link for that."""
    return _COMMAND.sub("", message)


STEPS = (1, 2, 5)
"""Possible distances of ticks, times a power of ten."""

EDGE = 0.13
"""Share of the width at both ends within which labels begin, or end, at their values."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A line from ``low`` to ``high``, drawn from 0 to 100 per cent of a width."""

    low: float
    high: float

    def at(self, value: float) -> str:
        """Return the position of a value, as an SVG attribute."""
        return f"{100 * self.share(value):.2f}%"

    def share(self, value: float) -> float:
        """Return the position of a value, from 0 to 1."""
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))

    def anchor(self, value: float) -> str:
        """Return how the label of a value is placed, so that it stays within the drawing."""
        share = self.share(value)
        return "start" if share < EDGE else "end" if share > 1 - EDGE else "middle"

    def ticks(self, most: int = 5) -> Sequence[float]:
        """Return round values on the scale, at most ``most``."""
        step = _step((self.high - self.low) / most)
        first = math.ceil(self.low / step)
        return [step * at for at in range(first, math.floor(self.high / step) + 1)]


def scale_of(values: Iterable[float], margin: float = 0.04, least: float = 1.0) -> Scale:
    """Return a scale that contains these values, with some room at both ends."""
    members = [*values]
    low, high = (min(members), max(members)) if members else (0.0, 0.0)
    if high - low < least:
        low, high = (low + high - least) / 2, (low + high + least) / 2
    room = margin * (high - low)
    return Scale(low - room, high + room)


def _step(least: float) -> float:
    """Return the smallest round step that is at least ``least``."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * step for step in (*STEPS, 10) if power * step >= least)
