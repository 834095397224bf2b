"""Scales of drawings: values as shares of the width, so that drawings fit any width."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

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
    found = [*values]
    low, high = (min(found), max(found)) if found else (0.0, 0.0)
    if high - low < least:
        low, high = (low + high - least) / 2, (low + high + least) / 2
    room = margin * (high - low)
    return Scale(low - room, high + room)


def _step(least: float) -> float:
    """Return the smallest round step that is at least ``least``."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * step for step in (*STEPS, 10) if power * step >= least)
